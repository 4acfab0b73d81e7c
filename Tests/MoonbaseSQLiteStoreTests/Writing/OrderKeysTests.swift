import Testing

@testable import MoonbaseSQLiteStore

/// Places in an ordered relationship.
@Suite struct OrderKeysTests {
  @Test func placesAscendStrictlyAndAsManyOldOnesStayAsCan() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let count = Int.random(in: 0..<12, using: &generator)
      let old = (0..<count).map { _ in
        Bool.random(using: &generator) ? Int64.random(in: -20...20, using: &generator) : nil
      }
      let new = OrderKeys.ascending(old)
      #expect(new.count == count)
      #expect(zip(new, new.dropFirst()).allSatisfy { $0 < $1 }, "\(old) gave \(new)")
    }
  }

  @Test func ofRowsInOrderNoneIsTouchedAndOfOneThatMovesOnlyIt() {
    let places = OrderKeys.ascending([nil, nil, nil, nil])
    #expect(OrderKeys.ascending(places) == places)
    let moved = [places[3], places[0], places[1], places[2]]
    #expect(zip(moved, OrderKeys.ascending(moved)).count { $0 != $1 } == 1)
    #expect(OrderKeys.ascending(places.map(Optional.some) + [nil]).dropLast() == places[...])
  }

  @Test func whereThereIsNoRoomAllArePlacedAnew() {
    let new = OrderKeys.ascending([1, nil, 2])
    #expect(zip(new, new.dropFirst()).allSatisfy { $0 < $1 })
    let extremes = OrderKeys.ascending([.max, nil])
    #expect(extremes[0] < extremes[1])
    let low = OrderKeys.ascending([nil, .min])
    #expect(low[0] < low[1])
  }
}
