/// Places in an ordered relationship: integers with gaps, so that a move changes one row.
///
/// Core Data writes places in steps of its own; only their order counts, so places of both programs can be mixed in a
/// table.
package enum OrderKeys {
  /// The gap between new places.
  package static let gap: Int64 = 1024

  /// Strictly ascending places. As many old places as possible are kept, with the others between them. Where there is
  /// no room, all places are new.
  ///
  /// `old` has the members in their new order, with nil for a member without a place. For example, `[1024, 3072, 2048]`
  /// becomes `[1024, 1536, 2048]`. Takes n log n time.
  package static func ascending(_ old: [Int64?]) -> [Int64] {
    let kept = longestAscending(old)
    var result = old.map { $0 ?? 0 }
    var start = 0
    var last: Int64?
    for anchor in kept + [old.count] {
      let next = anchor < old.count ? old[anchor] : nil
      guard let places = between(last, next, count: anchor - start) else { return numbered(old.count) }
      for (offset, place) in places.enumerated() { result[start + offset] = place }
      start = anchor + 1
      last = next
    }
    return result
  }

  /// Places between two fixed places, keeping as many of the old places as possible. Nil where there is no room. `low`
  /// and `high` are exclusive; nil stands for the end of the list.
  package static func between(_ low: Int64?, and high: Int64?, old: [Int64?]) -> [Int64]? {
    if let low, let high, low >= high { return nil }
    // Old places beyond the ends cannot be kept. Without this filter they could replace the ends in the longest
    // sequence.
    let inner = old.map { place in place.flatMap { $0 > low ?? .min && $0 < high ?? .max ? $0 : nil } }
    let ends = (low.map { [$0] } ?? [], high.map { [$0] } ?? [])
    let all = ascending(ends.0 + inner + ends.1)
    guard low == nil || all.first == low, high == nil || all.last == high else { return nil }
    return Array(all[ends.0.count..<(all.count - ends.1.count)])
  }

  /// The places of a new list: 1024, 2048 and so on.
  private static func numbered(_ count: Int) -> [Int64] { (0..<count).map { Int64($0 + 1) * gap } }

  /// `count` places between two others. Nil where there is no room. Beyond an open end the places have the usual gap.
  private static func between(_ low: Int64?, _ high: Int64?, count: Int) -> [Int64]? {
    guard count > 0 else { return [] }
    let steps = Int64(count)
    guard let high else {
      let (top, overflow) = (low ?? 0).addingReportingOverflow((steps + 1) * gap)
      return overflow ? nil : (1...steps).map { top - (steps + 1 - $0) * gap }
    }
    let (floor, underflow) = high.subtractingReportingOverflow((steps + 1) * gap)
    let bottom = low ?? floor
    let (room, overflow) = high.subtractingReportingOverflow(bottom)
    guard !underflow || low != nil, !overflow, room > steps else { return nil }
    return (1...steps).map { bottom + room / (steps + 1) * $0 + min(room % (steps + 1), $0) }
  }

  /// The indexes of a longest strictly ascending subsequence of the known places. By patience sorting, in n log n time.
  private static func longestAscending(_ places: [Int64?]) -> [Int] {
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: places.count)
    for (index, place) in places.enumerated() {
      guard let place else { continue }
      let position = tails.firstIndexAscending { (places[$0] ?? .min) >= place }
      if position > 0 { previous[index] = tails[position - 1] }
      if position == tails.count { tails.append(index) } else { tails[position] = index }
    }
    var result: [Int] = []
    var current = tails.last ?? -1
    while current >= 0 {
      result.append(current)
      current = previous[current]
    }
    return result.reversed()
  }
}

extension [Int] {
  /// The first position whose element satisfies a condition that holds from there on; the count where there is none. A
  /// binary search.
  fileprivate func firstIndexAscending(where condition: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
