public import MoonbaseModel

extension StoreChanges {
  /// A changed row.
  public struct Update: Sendable {
    /// The new row; its version is one more than `expectedVersion`.
    public var snapshot: Snapshot
    /// The slots of attributes and to-one relationships that differ from the stored row. May be empty if only a to-many
    /// relationship changed.
    public var changedSlots: [Slot]
    /// The version that the store's row must have; nil overwrites any version (the new version is then the stored one
    /// plus 1).
    public var expectedVersion: Int64?

    /// Makes an update.
    public init(snapshot: Snapshot, changedSlots: [Slot], expectedVersion: Int64?) {
      self.snapshot = snapshot
      self.changedSlots = changedSlots
      self.expectedVersion = expectedVersion
    }
  }

  /// Changed rows in order.
  ///
  /// The rows are ranges of pages. Consecutive rows that differ in the same slots share one description, so nothing is
  /// allocated or retained for a single row.
  ///
  /// ```swift
  /// for update in changes.updated { print(update.snapshot.id, update.changedSlots) }
  /// ```
  public struct Updates: Sendable {
    /// Consecutive rows that share a description.
    package struct Run: Sendable {
      let slots: [Slot]
      /// The difference between the expected version and the row's version; nil if any version is accepted.
      let offset: Int64?
      /// The index after the last row.
      var end: Int
    }

    /// The rows.
    public private(set) var rows = RowBatch()
    private var runs: ContiguousArray<Run> = []

    /// No rows.
    public init() {}

    /// Makes updates of rows and their descriptions.
    package init(_ rows: RowBatch, _ notes: Notes) {
      precondition(notes.count == rows.count, "there are \(rows.count) rows, and notes of \(notes.count)")
      (self.rows, runs) = (rows, notes.runs)
    }

    /// The index of the run that has a row.
    private func run(of index: Int) -> Int {
      var (low, high) = (0, runs.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if runs[middle].end <= index { low = middle + 1 } else { high = middle }
      }
      return low
    }

    private static func update(_ row: Snapshot, _ run: Run) -> Update {
      Update(snapshot: row, changedSlots: run.slots, expectedVersion: run.offset.map { row.version &+ $0 })
    }

    /// Calls `body` for each range of rows in a page that shares a description.
    @inline(__always)
    func forEachStretch(_ body: (RowPage, Range<Int>, Run) throws -> Void) rethrows {
      var run = 0
      for stretch in rows.stretches {
        var start = stretch.start
        while start < stretch.end {
          let end = Swift.min(runs[run].end, stretch.end)
          let shift = stretch.places.lowerBound &- stretch.start
          try body(stretch.page, start &+ shift..<end &+ shift, runs[run])
          if end == runs[run].end { run &+= 1 }
          start = end
        }
      }
    }

    /// The descriptions of rows that are still being collected.
    package struct Notes {
      private(set) var runs: ContiguousArray<Run> = []
      private var lastSlots = SlotSet()
      private(set) var count = 0

      /// No descriptions.
      package init() {}

      /// Adds the description of one more row: its changed slots, with its previous version as the expected one.
      package mutating func append(_ slots: SlotSet) {
        count &+= 1
        if !runs.isEmpty, slots == lastSlots {
          runs[runs.count &- 1].end = count
        } else {
          runs.append(Run(slots: slots.slots, offset: -1, end: count))
          lastSlots = slots
        }
      }
    }
  }
}

extension StoreChanges.Updates: RandomAccessCollection, RangeReplaceableCollection, ExpressibleByArrayLiteral {
  /// The rows of a literal.
  public init(arrayLiteral updates: StoreChanges.Update...) { self.init(updates) }

  /// The first place.
  public var startIndex: Int { 0 }
  /// The place after the last row.
  public var endIndex: Int { rows.count }

  /// The changed row at an index.
  public subscript(index: Int) -> StoreChanges.Update { Self.update(rows[index], runs[run(of: index)]) }

  /// Appends a changed row.
  public mutating func append(_ update: StoreChanges.Update) {
    let offset = update.expectedVersion.map { $0 &- update.snapshot.version }
    rows.append(update.snapshot)
    if let last = runs.last, last.slots == update.changedSlots, last.offset == offset {
      runs[runs.count - 1].end = rows.count
    } else {
      runs.append(Run(slots: update.changedSlots, offset: offset, end: rows.count))
    }
  }

  /// Replaces a range of rows.
  public mutating func replaceSubrange(
    _ range: Range<Int>, with others: some Collection<StoreChanges.Update>
  ) {
    var all = Self()
    for update in self[..<range.lowerBound] { all.append(update) }
    for update in others { all.append(update) }
    for update in self[range.upperBound...] { all.append(update) }
    self = all
  }

  /// Iterates over the rows in order.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// Iterates over changed rows.
  public struct Iterator: IteratorProtocol {
    private let runs: ContiguousArray<Run>
    private var rows: RowBatch.Iterator
    private var (index, run) = (0, 0)

    fileprivate init(_ updates: StoreChanges.Updates) { (runs, rows) = (updates.runs, updates.rows.makeIterator()) }

    /// The next changed row.
    public mutating func next() -> StoreChanges.Update? {
      guard let row = rows.next() else { return nil }
      if index == runs[run].end { run += 1 }
      index += 1
      return StoreChanges.Updates.update(row, runs[run])
    }
  }
}
