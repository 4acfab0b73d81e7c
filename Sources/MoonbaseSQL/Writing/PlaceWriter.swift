package import MoonbaseGraph
package import MoonbaseModel

/// Writes the places of an owner's ordered destinations, and changes as few rows as possible.
///
/// Generic over the engine: the column reads and writes places. An appended member costs one row; a move inside the
/// list costs one row where the neighbours leave a gap. Without a gap the neighbourhood is spread out, and without room
/// there the whole list.
package struct PlaceWriter<Column: PlaceColumn> {
  /// The number of neighbours on each side that also get new places where there is no room. A wider neighbourhood makes
  /// room for later moves.
  private static var margin: Int { StoreChanges.Stretch.margin - 1 }

  /// The object whose list changed.
  private let owner: ManagedObjectID
  /// The change: the whole list, members at the end, or stretches around moved members.
  private let order: StoreChanges.Order
  /// The column of the relationship.
  private let column: Column

  /// Makes a writer for an owner's changed order. Writes nothing yet.
  package init(_ owner: ManagedObjectID, order: StoreChanges.Order, column: Column) {
    self.owner = owner
    self.order = order
    self.column = column
  }

  /// Writes the places of the changed order. Throws the errors of the engine.
  package func write() throws {
    if case .appended(let ids, let returned) = order { return try append(ids, returned: returned) }
    column.note(end: nil, of: owner.key)
    switch order {
    case .all(let ids): try arrange(ids.map(\.key), known: column.listing(owner.key).places)
    case .stretches(let stretches):
      if try place(stretches, margin: 0) || place(stretches, margin: Self.margin) { return }
      let (listed, places) = try column.listing(owner.key)
      try arrange(Self.list(listed, with: stretches), known: places)
    case .appended: break
    }
  }

  /// Writes places for all keys. As many old places as possible are kept. Returns the places in the order of the keys.
  @discardableResult
  private func arrange(_ keys: [Int64], known: [Int64: Int64]) throws -> [Int64] {
    let places = OrderKeys.ascending(keys.map { known[$0] })
    try write(places, to: keys[...], known: known)
    return places
  }

  // MARK: At the end

  /// Members that have a place already are skipped, unless they were removed and came back.
  private func append(_ ids: [ManagedObjectID], returned: Set<ManagedObjectID>) throws {
    let known = try column.read(owner.key, some: ids.map(\.key))
    let coming = ids.filter { known[$0.key] == nil || returned.contains($0) }.map(\.key)
    guard !coming.isEmpty else { return }
    let last = column.knownEnd(of: owner.key, before: coming)
    let end = try last.map { (last: $0, missing: 0) } ?? column.end(owner.key)
    column.note(end: nil, of: owner.key)
    // Members without a place sort after all that have a place, and must come before the appended members.
    if end.missing <= coming.count(where: { known[$0] == nil }),
      let places = OrderKeys.between(end.last, and: nil, old: coming.map { _ in nil })
    {
      try write(places, to: coming[...], known: known)
      return column.note(end: places.last, of: owner.key)
    }
    let (listed, places) = try column.listing(owner.key)
    let new = Set(coming)
    let arranged = try arrange(
      listed.filter { !new.contains($0) } + coming, known: places.filter { !new.contains($0.key) })
    column.note(end: arranged.last, of: owner.key)
  }

  // MARK: Between others

  /// Returns false where neighbours leave no room. Nothing is written then. First without neighbours (`margin` 0), then
  /// with some.
  private func place(_ stretches: [StoreChanges.Stretch], margin: Int) throws -> Bool {
    let runs = stretches.flatMap { stretch in
      let keys = stretch.ids.map(\.key)
      return Self.runs(around: stretch.moved, margin: margin, count: keys.count).map { (keys: keys, run: $0) }
    }
    let neighbourhood = runs.flatMap { keys, run in
      keys[max(0, run.lowerBound - 1)..<min(keys.count, run.upperBound + 1)]
    }
    let known = try column.read(owner.key, some: neighbourhood)
    let new = runs.map { Self.places(for: $1, of: $0, known: known, keepingOld: margin == 0) }
    for case nil in new { return false }
    for ((keys, run), places) in zip(runs, new) { try write(places ?? [], to: keys[run], known: known) }
    return true
  }

  /// The ranges of moved positions with `margin` neighbours on each side. Adjacent ranges are joined. For example,
  /// moved positions 3 and 5 with a margin of 1 give the range 2..<7.
  private static func runs(around moved: [Int], margin: Int, count: Int) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for position in moved {
      let run = max(0, position - margin)..<min(count, position + margin + 1)
      if let last = runs.last, last.upperBound >= run.lowerBound {
        runs[runs.count - 1] = last.lowerBound..<run.upperBound
      } else {
        runs.append(run)
      }
    }
    return runs
  }

  /// Places between those of the neighbours. Nil where there is no room. Old places are kept where they still ascend,
  /// if wanted.
  private static func places(
    for run: Range<Int>, of keys: [Int64], known: [Int64: Int64], keepingOld: Bool
  ) -> [Int64]? {
    let (before, after) = (run.lowerBound - 1, run.upperBound)
    let (low, high) = (keys.indices.contains(before), keys.indices.contains(after))
    let ends = (low ? known[keys[before]] : nil, high ? known[keys[after]] : nil)
    // A neighbour without a place sorts after all that have one.
    guard low == (ends.0 != nil), high == (ends.1 != nil) else { return nil }
    let old = run.map { keepingOld ? known[keys[$0]] : nil }
    return OrderKeys.between(ends.0, and: ends.1, old: old)
  }

  /// The list in the file, with each moved member after its predecessor in the stretches. Members whose predecessor was
  /// deleted by another context come last.
  private static func list(_ listed: [Int64], with stretches: [StoreChanges.Stretch]) -> [Int64] {
    var first: Int64?
    var followers: [Int64: Int64] = [:]
    var moved: Set<Int64> = []
    for stretch in stretches {
      for position in stretch.moved {
        let key = stretch.ids[position].key
        moved.insert(key)
        if position > 0 { followers[stretch.ids[position - 1].key] = key } else { first = key }
      }
    }
    var result: [Int64] = []
    func put(_ key: Int64?) {
      var next = key
      while let key = next {
        result.append(key)
        next = followers.removeValue(forKey: key)
      }
    }
    put(first)
    for key in listed where !moved.contains(key) { put(key) }
    // The predecessor of these members is deleted.
    for key in followers.keys.sorted() where !moved.contains(key) { put(followers.removeValue(forKey: key)) }
    return result
  }

  // MARK: Rows

  /// Writes the places that differ from the known ones.
  private func write(_ places: [Int64], to keys: ArraySlice<Int64>, known: [Int64: Int64]) throws {
    let changed = zip(keys, places).filter { known[$0] != $1 }
    if !changed.isEmpty { try column.write(changed.map { (key: $0, place: $1) }, of: owner, order) }
  }
}

extension StoreChanges.Order {
  /// The ID of a destination that this order contains. Linear in the changed members. Used for messages and conflicts.
  package func id(of key: Int64) -> ManagedObjectID? {
    switch self {
    case .all(let ids), .appended(let ids, _): ids.first { $0.key == key }
    case .stretches(let stretches): stretches.lazy.flatMap(\.ids).first { $0.key == key }
    }
  }
}

/// The column with the places of an ordered relationship's destinations, as an engine reads and writes it.
///
/// Implemented by each store, over `OrderStatements`. Known ends are a cache for the time of a save: appending many
/// members one after another then needs a single query.
package protocol PlaceColumn {
  /// The places of some of an owner's destinations, without those that have no place.
  func read(_ owner: Int64, some keys: [Int64]) throws -> [Int64: Int64]
  /// An owner's destinations in order, and the places of those that have a place.
  func listing(_ owner: Int64) throws -> (keys: [Int64], places: [Int64: Int64])
  /// The last place of an owner's destinations, nil where no destination has a place, and the number of destinations
  /// without a place.
  func end(_ owner: Int64) throws -> (last: Int64?, missing: Int)
  /// Sets the places of an owner's destinations. `order` is the change that they belong to.
  func write(_ places: [(key: Int64, place: Int64)], of owner: ManagedObjectID, _ order: StoreChanges.Order) throws
  /// The last place of a list to which these members are about to be appended, where it is known without a query.
  func knownEnd(of owner: Int64, before members: [Int64]) -> Int64?
  /// Notes the last place of a list; nil where it is not known.
  func note(end place: Int64?, of owner: Int64)
}
