package import MoonbaseModel
import MoonbasePlatform

/// Rows in order, as ranges of rows in pages.
///
/// Cursors return batches. Rows of one entity fill page after page, so a batch of them is mostly a single range: no row
/// is allocated or retained separately.
///
/// ```swift
/// let rows = try cursor.next(upTo: 512)
/// for row in rows { print(row.id, row.version) }
/// ```
public struct RowBatch: Sendable {
  /// A range of places in a page.
  @usableFromInline
  package struct Stretch: Sendable {
    @usableFromInline package let page: RowPage
    @usableFromInline package var places: Range<Int>
    /// The index in the batch of the first row.
    @usableFromInline package let start: Int

    @inlinable package var end: Int { start &+ places.count }
  }

  @usableFromInline package private(set) var stretches: ContiguousArray<Stretch> = []
  /// The number of rows.
  public private(set) var count = 0

  /// No rows.
  public init() {}

  /// Makes a batch of rows in their order.
  public init(_ rows: some Sequence<Snapshot>) {
    for row in rows { append(row) }
  }

  /// Appends a row.
  public mutating func append(_ row: Snapshot) { append(row.page, row.place..<row.place &+ 1) }

  /// Appends rows.
  package mutating func append(_ other: RowBatch) {
    for stretch in other.stretches { append(stretch.page, stretch.places) }
  }

  /// Appends rows of a page.
  mutating func append(_ page: RowPage, _ places: Range<Int>) {
    if places.isEmpty { return }
    if let last = stretches.last, last.page === page, last.places.upperBound == places.lowerBound {
      stretches[stretches.count - 1].places = last.places.lowerBound..<places.upperBound
    } else {
      stretches.append(Stretch(page: page, places: places, start: count))
    }
    count &+= places.count
  }

  /// The rows of an index range.
  package func rows(_ range: Range<Int>) -> RowBatch {
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

  /// The object IDs of the rows.
  package var ids: [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(count)
    for stretch in stretches {
      let kind = stretch.page.kind
      for place in stretch.places { ids.append(ManagedObjectID(kind, key: stretch.page.key(place))) }
    }
    return ids
  }

  /// The estimated bytes that the rows keep in memory.
  package var weight: Int { stretches.reduce(0) { $0 &+ $1.page.rowWeight &* $1.places.count } }

  /// The index of the stretch that has a row.
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
  /// The place after the last row.
  public var endIndex: Int { count }

  /// The row at an index.
  public subscript(index: Int) -> Snapshot {
    let stretch = stretches[place(of: index)]
    return Snapshot(unchecked: stretch.page, at: stretch.places.lowerBound + (index - stretch.start))
  }

  /// Iterates over the rows in order.
  public func makeIterator() -> Iterator { Iterator(rest: stretches[...]) }

  /// Iterates over rows.
  public struct Iterator: IteratorProtocol {
    @usableFromInline var rest: ArraySlice<Stretch>
    @usableFromInline var place = 0

    fileprivate init(rest: ContiguousArray<Stretch>.SubSequence) {
      self.rest = rest
      place = rest.first?.places.lowerBound ?? 0
    }

    /// The next row.
    @inlinable
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
