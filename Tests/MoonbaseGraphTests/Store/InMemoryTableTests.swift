import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseStore

/// The rows of an in-memory store, compared with a dictionary.
@Suite struct InMemoryTableTests {
  private static func row(_ key: Int64, _ version: Int64) throws -> Snapshot {
    let id = ManagedObjectID(store: StoreNumber(rawValue: 1), entity: Symbol("Thing"), key: key)
    return Snapshot(id: id, version: version, values: [])
  }

  /// Consecutive keys, keys with large gaps, and keys that no store assigns.
  @Test(arguments: [1, 2, 3, 4]) func rowsAreFoundAndWalkedInTheOrderOfTheirKeys(_ seed: UInt64) throws {
    var random = SplitMix(seed)
    var table = InMemoryTable()
    var naive: [Int64: Int64] = [:]
    let edges: [Int64] = [.min, -513, -1, 0, 511, 512, .max]
    for version in 1..<3000 {
      let key: Int64 =
        switch random.next() % 8 {
        case 0: edges[Int(random.next() % UInt64(edges.count))]
        case 1: Int64(random.next() % 1_000_000)
        default: Int64(random.next() % 2000)
        }
      if random.next() % 3 == 0 {
        #expect(table.remove(key)?.version == naive.removeValue(forKey: key))
      } else {
        let old = table.put(try Self.row(key, Int64(version)), at: key)
        #expect(old?.version == naive.updateValue(Int64(version), forKey: key))
      }
      #expect(table.count == naive.count)
      #expect(table[key]?.version == naive[key])
    }
    var walk = InMemoryWalk()
    walk.add(table)
    #expect(walk.map(\.version) == naive.sorted { $0.key < $1.key }.map(\.value))
    #expect(table.rows.map(\.id.key) == naive.keys.sorted())
  }

  @Test func aCopyKeepsWhatItHad() throws {
    var table = InMemoryTable()
    for key in 1...2000 { _ = table.put(try Self.row(Int64(key), 1), at: Int64(key)) }
    let copy = table
    _ = table.remove(700)
    _ = table.put(try Self.row(1500, 2), at: 1500)
    #expect(copy.count == 2000 && copy[700]?.version == 1 && copy[1500]?.version == 1)
    #expect(table.count == 1999 && table[700] == nil && table[1500]?.version == 2)
  }
}
