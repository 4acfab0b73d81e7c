import MoonbaseModel
import Testing

@testable import MoonbaseGraph

/// The instance size of a class, header included, from the class metadata.
private func instanceSize(of type: AnyClass) -> Int {
  Int(unsafeBitCast(type, to: UnsafeRawPointer.self).load(fromByteOffset: 24, as: UInt32.self))
}

/// Memory sizes of objects: a context may hold a million objects.
struct SizeTests {
  private final class Known {
    var (one, two) = (1, 2)
  }

  @Test func sizesAreThoseOfInstances() {
    #expect(instanceSize(of: Known.self) == 32)
  }

  @Test func aFaultTakesAtMost96Bytes() {
    #expect(instanceSize(of: ManagedObject.self) <= 96)
  }

  /// With an undo manager each assignment records an entry.
  @Test func anEntryOfTheJournalTakesAtMost48Bytes() {
    #expect(MemoryLayout<Change>.stride <= 48)
  }

  @Test func anObjectOfEightSlotsTakesAtMost250BytesWithItsRow() throws {
    let page = RowPageBuilder(StoreNumber("size"), entity: Symbol("Person"), slotCount: 8, capacity: RowPage.capacity)
    for key in 1...Int64(RowPage.capacity) {
      page.addRow(key: key, version: 1, values: [.int(key)] + Array(repeating: .double(1.5), count: 7))
    }
    let row = Snapshot(page.finish(), at: 0)
    #expect(instanceSize(of: ManagedObject.self) + row.weight <= 250)
  }
}
