import MoonbaseModel

/// The rows of one entity in an in-memory store, in the order of their keys, in stretches of 512 keys.
///
/// Keys are assigned in sequence, so the key nearly always tells a row's place directly. A copy shares all stretches
/// except those that either copy changes afterwards.
struct InMemoryTable {
  /// The rows of 512 consecutive keys; missing rows are nil.
  fileprivate struct Stretch {
    let number: Int64
    /// The rows by the key's place in the stretch, up to the last place used.
    var rows: ContiguousArray<Snapshot?> = []
    var count = 0

    /// Stores rows of a page; `last` is the greatest place among them. Returns the number of new rows.
    mutating func put(_ page: RowPage, _ places: Range<Int>, upTo last: Int) -> Int {
      while rows.count <= last { rows.append(nil) }
      var added = 0
      rows.withUnsafeMutableBufferPointer { rows in
        for place in places {
          let index = InMemoryTable.place(of: page.key(place))
          if rows[index] == nil { added &+= 1 }
          rows[index] = Snapshot(unchecked: page, at: place)
        }
      }
      count &+= added
      return added
    }
  }

  private static let bits: Int64 = 9
  private static func number(of key: Int64) -> Int64 { key >> bits }
  fileprivate static func place(of key: Int64) -> Int { Int(key & (1 << bits - 1)) }

  /// The stretches that have rows, in order.
  fileprivate private(set) var stretches: ContiguousArray<Stretch> = []
  private(set) var count = 0

  subscript(key: Int64) -> Snapshot? {
    guard let index = index(of: Self.number(of: key)) else { return nil }
    let place = Self.place(of: key)
    return place < stretches[index].rows.count ? stretches[index].rows[place] : nil
  }

  /// Stores a row; returns the row that it replaces.
  mutating func put(_ row: Snapshot, at key: Int64) -> Snapshot? {
    let (number, place) = (Self.number(of: key), Self.place(of: key))
    let index = index(of: number) ?? makeStretch(number)
    while stretches[index].rows.count <= place { stretches[index].rows.append(nil) }
    let old = stretches[index].rows[place]
    stretches[index].rows[place] = row
    if old == nil {
      stretches[index].count += 1
      count += 1
    }
    return old
  }

  /// Stores rows without returning the replaced rows.
  mutating func put(_ new: RowBatch.Stretch) {
    var rest = new.places
    while let first = rest.first {
      let number = Self.number(of: new.page.key(first))
      let index = index(of: number) ?? makeStretch(number)
      // All following rows whose keys lie in the same stretch.
      var (end, last) = (first, 0)
      while end < rest.upperBound, Self.number(of: new.page.key(end)) == number {
        last = max(last, Self.place(of: new.page.key(end)))
        end &+= 1
      }
      let added = stretches[index].put(new.page, rest.lowerBound..<end, upTo: last)
      count += added
      rest = end..<rest.upperBound
    }
  }

  /// Folds over rows of a page: `body` receives the result so far, the row's place in the page, and the stored row with
  /// the same key, if there is one.
  @inline(__always)
  func reduce<Result>(
    _ first: Result, over rows: RowBatch.Stretch, _ body: (Result, Int, borrowing Snapshot?) -> Result
  ) -> Result {
    var result = first
    stretches.withUnsafeBufferPointer { stretches in
      var index = 0
      for place in rows.places {
        let key = rows.page.key(place)
        let number = Self.number(of: key)
        if index >= stretches.count || stretches[index].number != number {
          index = self.index(of: number) ?? stretches.count
        }
        let inner = Self.place(of: key)
        if index < stretches.count, inner < stretches[index].rows.count {
          result = stretches[index].rows.withUnsafeBufferPointer { body(result, place, $0[inner]) }
        } else {
          result = body(result, place, nil)
        }
      }
    }
    return result
  }

  /// Removes a row and returns it.
  mutating func remove(_ key: Int64) -> Snapshot? {
    guard let index = index(of: Self.number(of: key)), let old = self[key] else { return nil }
    stretches[index].rows[Self.place(of: key)] = nil
    stretches[index].count -= 1
    count -= 1
    if stretches[index].count == 0 { stretches.remove(at: index) }
    return old
  }

  /// All rows.
  var rows: some Sequence<Snapshot> { stretches.lazy.flatMap { $0.rows.lazy.compactMap { $0 } } }

  private mutating func makeStretch(_ number: Int64) -> Int {
    let index = lowerBound(of: number)
    stretches.insert(Stretch(number: number), at: index)
    return index
  }

  private func index(of number: Int64) -> Int? {
    // If no stretch is missing (no deleted rows, no other entity's keys in between), the number is the index.
    if number >= 0, number < stretches.count, stretches[Int(number)].number == number { return Int(number) }
    let index = lowerBound(of: number)
    return index < stretches.count && stretches[index].number == number ? index : nil
  }

  /// The index of the first stretch whose number is not smaller.
  private func lowerBound(of number: Int64) -> Int {
    var (low, high) = (0, stretches.count)
    while low < high {
      let middle = (low + high) / 2
      if stretches[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Iterates over the rows of some entities of an in-memory store in the order of their keys, as of the start of the
/// iteration.
struct InMemoryWalk: IteratorProtocol, Sequence {
  private struct Part {
    let table: InMemoryTable
    var stretch = 0
    var place = 0
    var next: Snapshot?

    mutating func advance() {
      while stretch < table.stretches.count {
        let rows = table.stretches[stretch].rows
        while place < rows.count {
          defer { place += 1 }
          if let row = rows[place] { return next = row }
        }
        (stretch, place) = (stretch + 1, 0)
      }
      next = nil
    }
  }

  private var parts: [Part] = []

  init() {}

  mutating func add(_ table: InMemoryTable) {
    var part = Part(table: table)
    part.advance()
    if part.next != nil { parts.append(part) }
  }

  mutating func next() -> Snapshot? {
    guard var least = parts.indices.first else { return nil }
    if parts.count > 1 {
      for index in parts.indices.dropFirst()
      where parts[index].next?.id.key ?? .max < parts[least].next?.id.key ?? .max { least = index }
    }
    let row = parts[least].next
    parts[least].advance()
    if parts[least].next == nil { parts.remove(at: least) }
    return row
  }
}
