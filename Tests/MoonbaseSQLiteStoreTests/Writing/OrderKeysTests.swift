import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore

/// Position numbers of ordered relationships.
@Suite struct OrderKeysTests {
  /// Keeps the longest ascending sequence of old positions; without room between them, all positions are new.
  @Test func placesAscendStrictlyAndAsManyOldOnesStayAsCan() {
    var random = SplitMix(1)
    var kept = 0
    for round in 0..<1000 {
      let reach = round % 2 == 0 ? 41 : 40_001
      let old = (0..<random.next(12)).map { _ in random.next(2) == 0 ? Int64(random.next(reach) - reach / 2) : nil }
      let new = OrderKeys.ascending(old)
      #expect(new.count == old.count)
      #expect(zip(new, new.dropFirst()).allSatisfy { $0 < $1 }, "\(old) gave \(new)")
      let isAnew = new == (0..<new.count).map { Int64($0 + 1) * OrderKeys.gap }
      let staying = zip(old, new).count { $0 == $1 }
      #expect(isAnew || staying == longestAscent(of: old.compactMap { $0 }), "\(old) gave \(new)")
      if !isAnew { kept += 1 }
    }
    #expect(kept > 400)
  }

  /// The length of the longest ascending sequence, by exhaustive search.
  private func longestAscent(of places: [Int64]) -> Int {
    var lengths: [Int] = []
    for (index, place) in places.enumerated() {
      lengths.append(1 + (places.indices.prefix(index).filter { places[$0] < place }.map { lengths[$0] }.max() ?? 0))
    }
    return lengths.max() ?? 0
  }

  @Test func ofRowsInOrderNoneIsTouchedAndOfOneThatMovesOnlyIt() {
    let places = OrderKeys.ascending([nil, nil, nil, nil])
    #expect(OrderKeys.ascending(places) == places)
    let moved = [places[3], places[0], places[1], places[2]]
    #expect(zip(moved, OrderKeys.ascending(moved)).count { $0 != $1 } == 1)
    #expect(OrderKeys.ascending(places.map(Optional.some) + [nil]).dropLast() == places[...])
  }

  @Test func placesAreFoundBetweenTwoThatStayOrNoneWhereTheyDoNotFit() {
    #expect(OrderKeys.between(1024, and: nil, old: [nil]) == [2048])
    #expect(OrderKeys.between(nil, and: 1024, old: [nil, nil]) == [-1024, 0])
    #expect(OrderKeys.between(10, and: 20, old: [15, nil])?.first == 15)
    // Positions beyond the ends move, even if more of them could stay.
    let moved = OrderKeys.between(5000, and: nil, old: [1, 2, 3])
    #expect(moved.map { 5000 < $0[0] && $0[0] < $0[1] && $0[1] < $0[2] } == true)
    #expect(OrderKeys.between(1, and: 2, old: [nil]) == nil && OrderKeys.between(2, and: 1, old: []) == nil)
    #expect(
      OrderKeys.between(.max, and: nil, old: [nil]) == nil && OrderKeys.between(nil, and: .min, old: [nil]) == nil)
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
