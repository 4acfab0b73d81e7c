/// A set of chunk numbers as ranges, in which adjacent ranges are merged: `1-17,20`.
///
/// Searching is logarithmic in the number of ranges. The text form is stored in the ledger.
package struct ChunkSet: Equatable, Sendable, CustomStringConvertible {
  /// The ranges in ascending order.
  package private(set) var ranges: [ClosedRange<Int>] = []

  /// An empty set.
  package init() {}

  /// The numbers of a range.
  package init(_ range: ClosedRange<Int>) { ranges = [range] }

  /// Parses the text form; nil for other texts.
  ///
  /// The empty text is the empty set. Numbers must be positive and ranges ascending.
  package init?(_ text: String) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) where !text.isEmpty {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { word in
        word.allSatisfy(\.isASCII) && word.allSatisfy(\.isNumber) ? Int(word).flatMap { $0 < .max ? $0 : nil } : nil
      }
      guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first > 0,
        first <= last
      else { return nil }
      insert(first...last)
    }
  }

  package var description: String {
    ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
  }

  /// The number of chunks.
  package var count: Int { ranges.reduce(0) { $0 + $1.count } }
  /// Whether the set is empty.
  package var isEmpty: Bool { ranges.isEmpty }

  /// Whether the set has a chunk.
  package func contains(_ number: Int) -> Bool {
    let place = firstRange(endingAtOrAfter: number)
    return place < ranges.count && ranges[place].contains(number)
  }

  /// Adds the chunks of a range.
  ///
  /// Ranges that overlap or touch the new one are merged with it.
  package mutating func insert(_ range: ClosedRange<Int>) {
    let first = firstRange(endingAtOrAfter: range.lowerBound - 1)
    var last = first
    var (lower, upper) = (range.lowerBound, range.upperBound)
    while last < ranges.count, ranges[last].lowerBound <= range.upperBound + 1 {
      (lower, upper) = (min(lower, ranges[last].lowerBound), max(upper, ranges[last].upperBound))
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: CollectionOfOne(lower...upper))
  }

  /// The numbers from 1 to `count` that are not in the set.
  package func rest(of count: Int) -> ChunkSet {
    var rest = ChunkSet()
    var next = 1
    for range in ranges where next <= count {
      if range.lowerBound > next { rest.ranges.append(next...min(count, range.lowerBound - 1)) }
      next = max(next, range.upperBound + 1)
    }
    if next <= count { rest.ranges.append(next...count) }
    return rest
  }

  /// The index of the first range that ends at or after a number, by binary search.
  private func firstRange(endingAtOrAfter number: Int) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
