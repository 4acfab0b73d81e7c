/// The changes in the order in which they were made.
///
/// They are stored in parts of fixed size, so that appending a change moves no other. A single large array would spend
/// as much time on growing as all other work takes.
package struct ChangeSequence: RandomAccessCollection {
  private static let shift = 9
  private static var partCount: Int { 1 << shift }

  /// The full parts.
  private var parts: ContiguousArray<ContiguousArray<Change>> = []
  private var last: ContiguousArray<Change> = []

  package var startIndex: Int { 0 }
  package var endIndex: Int { parts.count << Self.shift &+ last.count }

  package subscript(position: Int) -> Change {
    get {
      let part = position >> Self.shift
      return part < parts.count ? parts[part][position & (Self.partCount - 1)] : last[position & (Self.partCount - 1)]
    }
    _modify {
      let part = position >> Self.shift
      if part < parts.count {
        yield &parts[part][position & (Self.partCount - 1)]
      } else {
        yield &last[position & (Self.partCount - 1)]
      }
    }
  }

  /// Appends a change. Moves it, because a copy would cost as much as all other work here.
  @inline(__always)
  mutating func append(_ change: consuming Change) {
    if last.count == Self.partCount { beginPart() }
    last.append(change)
  }

  @inline(never)  // once for each part
  private mutating func beginPart() {
    parts.append(last)
    last = []
    last.reserveCapacity(Self.partCount)
  }

  /// Removes all changes from a position on.
  mutating func truncate(to count: Int) {
    if count >> Self.shift < parts.count {
      last = parts[count >> Self.shift]
      parts.removeSubrange((count >> Self.shift)...)
    }
    // Few changes are removed singly, because removing a range takes longer than a change and its undoing.
    let rest = count - parts.count << Self.shift
    if last.count - rest < 64 { while last.count > rest { last.removeLast() } } else { last.removeSubrange(rest...) }
  }

  mutating func removeAll() {
    parts = []
    truncate(to: 0)
  }
}
