import MoonbaseModel
import MoonbasePlatform

/// Rows in their order, as stretches of rows that follow each other in a page.
///
/// What a cursor gives. Rows of one entity come page by page, so that a batch of them is one stretch, and nothing is allocated or
/// retained for each row.
///
/// ```swift
/// let rows = try cursor.next(upTo: 512)
/// for row in rows { print(row.id, row.version) }
/// ```
public struct RowBatch: Sendable {
  /// Places of a page.
  struct Stretch: Sendable {
    let page: RowPage
    var places: Range<Int>
    /// The index of the first of them in the batch.
    let start: Int

    var end: Int { start &+ places.count }
  }

  private(set) var stretches: ContiguousArray<Stretch> = []
  /// How many rows there are.
  public private(set) var count = 0

  /// No rows.
  public init() {}

  /// The rows of others, in their order.
  public init(_ rows: some Sequence<Snapshot>) {
    for row in rows { append(row) }
  }

  /// Adds a row at the end.
  public mutating func append(_ row: Snapshot) { append(row.page, row.place..<row.place &+ 1) }

  /// Adds rows at the end.
  package mutating func append(_ other: RowBatch) {
    for stretch in other.stretches { append(stretch.page, stretch.places) }
  }

  /// Adds rows of a page at the end.
  mutating func append(_ page: RowPage, _ places: Range<Int>) {
    if places.isEmpty { return }
    if let last = stretches.last, last.page === page, last.places.upperBound == places.lowerBound {
      stretches[stretches.count - 1].places = last.places.lowerBound..<places.upperBound
    } else {
      stretches.append(Stretch(page: page, places: places, start: count))
    }
    count &+= places.count
  }

  /// Some of the rows that follow each other.
  func rows(_ range: Range<Int>) -> RowBatch {
    if range == 0..<count { return self }
    var result = RowBatch()
    if range.isEmpty { return result }
    for stretch in stretches[place(of: range.lowerBound)...].prefix(while: { $0.start < range.upperBound }) {
      let shift = stretch.places.lowerBound - stretch.start
      let common = range.clamped(to: stretch.start..<stretch.end)
      result.append(stretch.page, common.lowerBound + shift..<common.upperBound + shift)
    }
    return result
  }

  /// The IDs of the rows' objects.
  var ids: [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(count)
    for stretch in stretches {
      let kind = stretch.page.kind
      for place in stretch.places { ids.append(ManagedObjectID(kind, key: stretch.page.key(place))) }
    }
    return ids
  }

  /// The bytes that the rows keep, by estimate.
  package var weight: Int { stretches.reduce(0) { $0 &+ $1.page.rowWeight &* $1.places.count } }

  /// Which stretch a row is in.
  private func place(of index: Int) -> Int {
    precondition(index >= 0 && index < count, "there are \(count) rows, and none at \(index)")
    var (low, high) = (0, stretches.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if stretches[middle].start <= index { low = middle } else { high = middle - 1 }
    }
    return low
  }
}

extension RowBatch: RandomAccessCollection, ExpressibleByArrayLiteral {
  /// The rows of a literal.
  public init(arrayLiteral rows: Snapshot...) { self.init(rows) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// One past the last place.
  public var endIndex: Int { count }

  /// A row.
  public subscript(index: Int) -> Snapshot {
    let stretch = stretches[place(of: index)]
    return Snapshot(unchecked: stretch.page, at: stretch.places.lowerBound + (index - stretch.start))
  }

  /// Goes through the rows from the first on.
  public func makeIterator() -> Iterator { Iterator(rest: stretches[...]) }

  /// Goes through the rows.
  public struct Iterator: IteratorProtocol {
    private var rest: ArraySlice<Stretch>
    private var place = 0

    fileprivate init(rest: ContiguousArray<Stretch>.SubSequence) {
      self.rest = rest
      place = rest.first?.places.lowerBound ?? 0
    }

    /// The next row.
    public mutating func next() -> Snapshot? {
      guard let stretch = rest.first else { return nil }
      let row = Snapshot(unchecked: stretch.page, at: place)
      place &+= 1
      if place == stretch.places.upperBound {
        rest.removeFirst()
        place = rest.first?.places.lowerBound ?? 0
      }
      return row
    }
  }
}
