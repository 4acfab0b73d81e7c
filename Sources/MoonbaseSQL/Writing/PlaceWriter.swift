package import MoonbaseGraph
package import MoonbaseModel

/// Writes the places of one owner's ordered destinations: of as few rows as it can, beside those that stay.
package struct PlaceWriter<Column: PlaceColumn> {
  /// How many neighbours on each side make room together where there is none.
  private static var margin: Int { StoreChanges.Stretch.margin - 1 }

  private let owner: ManagedObjectID
  private let order: StoreChanges.Order
  private let column: Column

  package init(_ owner: ManagedObjectID, order: StoreChanges.Order, column: Column) {
    self.owner = owner
    self.order = order
    self.column = column
  }

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

  /// Places for all, of which as many as can stay where they are.
  @discardableResult
  private func arrange(_ keys: [Int64], known: [Int64: Int64]) throws -> [Int64] {
    let places = OrderKeys.ascending(keys.map { known[$0] })
    try write(places, to: keys[...], known: known)
    return places
  }

  // MARK: At the end

  private func append(_ ids: [ManagedObjectID], returned: Set<ManagedObjectID>) throws {
    let known = try column.read(owner.key, some: ids.map(\.key))
    let coming = ids.filter { known[$0.key] == nil || returned.contains($0) }.map(\.key)
    guard !coming.isEmpty else { return }
    let last = column.knownEnd(of: owner.key, before: coming)
    let end = try last.map { (last: $0, missing: 0) } ?? column.end(owner.key)
    column.note(end: nil, of: owner.key)
    // Others without a place stand behind all that have one, and so before what comes.
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

  /// False where neighbours leave no room, and nothing was written.
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

  /// The moved positions with so many beside them; neighbours as one.
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

  /// Places between those of the neighbours; nil where there is no room.
  private static func places(
    for run: Range<Int>, of keys: [Int64], known: [Int64: Int64], keepingOld: Bool
  ) -> [Int64]? {
    let (before, after) = (run.lowerBound - 1, run.upperBound)
    let (low, high) = (keys.indices.contains(before), keys.indices.contains(after))
    let ends = (low ? known[keys[before]] : nil, high ? known[keys[after]] : nil)
    // A neighbour without a place comes behind all that have one.
    guard low == (ends.0 != nil), high == (ends.1 != nil) else { return nil }
    let old = run.map { keepingOld ? known[keys[$0]] : nil }
    return OrderKeys.between(ends.0, and: ends.1, old: old)
  }

  /// A list as the file has it, with those that moved behind whom the stretches show before them.
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
    // Whoever stood before these is gone.
    for key in followers.keys.sorted() where !moved.contains(key) { put(followers.removeValue(forKey: key)) }
    return result
  }

  // MARK: Rows

  private func write(_ places: [Int64], to keys: ArraySlice<Int64>, known: [Int64: Int64]) throws {
    let changed = zip(keys, places).filter { known[$0] != $1 }
    if !changed.isEmpty { try column.write(changed.map { (key: $0, place: $1) }, of: owner, order) }
  }
}

extension StoreChanges.Order {
  /// The ID of a destination that is named here.
  package func id(of key: Int64) -> ManagedObjectID? {
    switch self {
    case .all(let ids), .appended(let ids, _): ids.first { $0.key == key }
    case .stretches(let stretches): stretches.lazy.flatMap(\.ids).first { $0.key == key }
    }
  }
}

/// The column that keeps the places of an ordered relationship's destinations, as an engine reads and writes it.
package protocol PlaceColumn {
  /// The places of some of an owner's destinations; without those that have none.
  func read(_ owner: Int64, some keys: [Int64]) throws -> [Int64: Int64]
  /// An owner's destinations in their order, and the places of those that have one.
  func listing(_ owner: Int64) throws -> (keys: [Int64], places: [Int64: Int64])
  /// The last place of an owner's destinations, nil where none has one, and how many have none.
  func end(_ owner: Int64) throws -> (last: Int64?, missing: Int)
  /// Gives destinations of an owner places, of which `order` speaks.
  func write(_ places: [(key: Int64, place: Int64)], of owner: ManagedObjectID, _ order: StoreChanges.Order) throws
  /// The last place of a list to which these are about to be appended, where it is known without asking the engine.
  func knownEnd(of owner: Int64, before members: [Int64]) -> Int64?
  /// The last place of a list is this one; nil where it is not known.
  func note(end place: Int64?, of owner: Int64)
}
