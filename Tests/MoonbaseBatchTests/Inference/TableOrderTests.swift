import MoonbaseTestSupport
import Testing

@testable import MoonbaseBatch

/// The order in which the tables of a database are imported.
@Suite struct TableOrderTests {
  /// The naive reference: the first table whose parents are all imported, or else the first table.
  private func plainOrder(_ tables: [Int], _ parents: [[Int]]) -> [Int] {
    var (rest, order) = (tables, [Int]())
    while !rest.isEmpty {
      let ready = rest.firstIndex { table in parents[table].allSatisfy { $0 == table || order.contains($0) } }
      order.append(rest.remove(at: ready ?? 0))
    }
    return order
  }

  @Test(arguments: 1...Repetition.tableOrderSeeds.count) func theFirstTableWhoseDestinationsAreThereComesNext(
    _ seed: Int
  ) {
    var random = SplitMix(UInt64(seed))
    let count = 2 + random.next(12)
    let parents = (0..<count).map { _ in (0..<random.next(4)).map { _ in random.next(count) } }
    let order = TableOrder(Array(0..<count), leadingTo: parents)
    #expect(order.tables == plainOrder(Array(0..<count), parents))
    for (place, table) in order.tables.enumerated() { #expect(order.places[table] == place) }
  }

  /// The cost of each step does not grow with the length of the cycle.
  @Test func aRingOfManyTablesIsPutInOrder() {
    let count = 50_000
    let order = TableOrder(Array(0..<count), leadingTo: (0..<count).map { [($0 + 1) % count] })
    #expect(order.tables.first == 0 && order.tables.count == count && order.tables[1] == count - 1)
    #expect(!order.comes(0, after: 1) && order.comes(count - 1, after: 0))
  }
}
