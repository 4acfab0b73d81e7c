import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseStore

/// Rows in pages, and pages with few rows in use.
@Suite struct RowPageTests {
  private static let store = StoreNumber(rawValue: 1)
  private static let values: [Value] = [
    .null, .bool(true), .bool(false), .int(.min), .int(.max), .double(-0.0), .double(.nan), .double(.infinity),
    .date(Date(timeIntervalSinceReferenceDate: 0.1)), .string(""), .string("a\u{0}b"), .string("é漢🌙"),
    .string(String(repeating: "x", count: 4096)), .string(String(repeating: "y", count: 4097)), .data(Data()),
    .data(Data([0, 255])), .data(Data(repeating: 7, count: 5000)), .uuid(UUID()), .decimal(Decimal(string: "1.5") ?? 0),
    .uri(URL(fileURLWithPath: "/a b")), .list([.int(1), .null]), .map(["a": .string("b")]),
    .objectID(ManagedObjectID(store: store, entity: Symbol("Thing"), key: 3)),
    .objectID(ManagedObjectID(store: .init(rawValue: 2), entity: Symbol("Other"), key: -3)),
  ]

  private func isSame(_ one: Snapshot, _ values: [Value]) -> Bool {
    one.values.count == values.count && zip(one.values, values).allSatisfy { $0.isSame(as: $1) }
  }

  @Test func valuesComeBackAsTheyWentIn() {
    let row = Snapshot(id: .init(store: Self.store, entity: Symbol("Thing"), key: 9), version: 4, values: Self.values)
    #expect(isSame(row, Self.values))
    #expect(row.id.key == 9)
    #expect(row.version == 4)
    for (slot, value) in Self.values.enumerated() {
      #expect(row.cell(slot).isSame(as: value))
      for (other, another) in Self.values.enumerated() where other != slot {
        #expect(row.cell(slot).isSame(as: another) == value.isSame(as: another), "\(value) and \(another)")
      }
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func rowsOfSeveralEntitiesComeBackInTheirOrderAndAsCopies(seed: UInt64) {
    var random = SplitMix(seed)
    let collector = RowCollector(store: Self.store)
    var expected: [(id: ManagedObjectID, values: [Value])] = []
    for key in 0..<3000 {
      let entity = random.next(3)
      let values = (0..<(entity + 1) * 3).map { _ in Self.values[random.next(Self.values.count)] }
      let id = ManagedObjectID(store: Self.store, entity: Symbol("E\(entity)"), key: Int64(key))
      let page = collector.page(for: id.entitySymbol, slotCount: values.count)
      // A row that was begun and not ended is dropped.
      if random.next(10) == 0 { page.beginRow(key: -1, version: 0) }
      page.beginRow(key: id.key, version: 1)
      for (slot, value) in values.enumerated() { page.set(value, slot: slot) }
      page.endRow()
      expected.append((id, values))
    }
    let rows = collector.finish()
    #expect(rows.map(\.id) == expected.map(\.id))
    #expect(zip(rows, expected).allSatisfy { isSame($0, $1.values) })
    let copies = Snapshot.copies(of: rows)
    #expect(copies.map(\.id) == expected.map(\.id))
    #expect(zip(copies, expected).allSatisfy { isSame($0, $1.values) })
    #expect(zip(copies, rows).allSatisfy { $0.page !== $1.page })
  }

  /// Objects kept from a large result keep their own rows, not all pages.
  @Test(arguments: StoreKind.allCases) func theLastObjectsOfAPageGetARowOfTheirOwn(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let writer = bench.context()
    for number in 0..<2048 { try writer.insert("Person", values: ["firstName": .string("p\(number)")]) }
    try writer.save()
    let context = bench.context()
    var kept: [ManagedObject] = []
    do {
      let all = try context.fetch(FetchRequest("Person"))
      for person in all { try person.fireFault() }
      kept = stride(from: 0, to: all.count, by: 500).map { all[$0] }
      kept[1]["firstName"] = "changed"
    }
    let names = kept.map { $0["firstName"] }
    _ = try context.loadObjects(with: [])
    for (person, name) in zip(kept, names) {
      #expect(person["firstName"] == name)
      #expect(try #require(person.snapshot).page.count < 8)
    }
    #expect(context.brokenInvariants().isEmpty)
    try context.save()
    let other = bench.context()
    #expect(try other.existingObject(with: kept[1].objectID)?["firstName"] == "changed")
  }

  @Test func aPageOfWhichManyObjectsAreLeftStaysWhole() throws {
    let bench = try StoreBench(.sqlite)
    let writer = bench.context()
    for number in 0..<512 { try writer.insert("Person", values: ["firstName": .string("p\(number)")]) }
    try writer.save()
    let context = bench.context()
    let all = try context.fetch(FetchRequest("Person"))
    for person in all { try person.fireFault() }
    let half = Array(all.prefix(256))
    _ = consume all
    // Objects are released repeatedly, so that more releases are counted than there are rows.
    for _ in 0..<4 { _ = try context.fetch(FetchRequest("Person")).count }
    _ = try context.loadObjects(with: [])
    #expect(half.allSatisfy { ($0.snapshot?.page.count ?? 0) >= 8 })
  }
}
