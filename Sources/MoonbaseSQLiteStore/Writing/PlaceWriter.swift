import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the places of one owner's ordered destinations: of as few rows as it can, beside those that stay.
struct PlaceWriter {
  /// How many neighbours on each side make room together where there is none.
  private static let margin = StoreChanges.Stretch.margin - 1

  private let owner: ManagedObjectID
  private let order: StoreChanges.Order
  private let column: OrderColumn
  private let connection: Connection
  private let ends: OrderEnds

  init(
    _ owner: ManagedObjectID, order: StoreChanges.Order, column: OrderColumn, on connection: Connection, ends: OrderEnds
  ) {
    self.owner = owner
    self.order = order
    self.column = column
    self.connection = connection
    self.ends = ends
  }

  func write() throws {
    if case .appended(let ids, let returned) = order { return try append(ids, returned: returned) }
    ends.set(column.identity, owner.key, to: nil)
    switch order {
    case .all(let ids): try arrange(ids.map(\.key), known: column.listing(owner.key, on: connection).places)
    case .stretches(let stretches):
      if try place(stretches, margin: 0) || place(stretches, margin: Self.margin) { return }
      let (listed, places) = try column.listing(owner.key, on: connection)
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
    let known = try column.read(owner.key, some: ids.map(\.key), on: connection)
    let coming = ids.filter { known[$0.key] == nil || returned.contains($0) }.map(\.key)
    guard !coming.isEmpty else { return }
    let last = ends.last(column.identity, of: owner.key, before: coming)
    let end = try last.map { (last: $0, missing: 0) } ?? column.end(owner.key, on: connection)
    ends.set(column.identity, owner.key, to: nil)
    // Others without a place stand behind all that have one, and so before what comes.
    if end.missing <= coming.count(where: { known[$0] == nil }),
      let places = OrderKeys.between(end.last, and: nil, old: coming.map { _ in nil })
    {
      try write(places, to: coming[...], known: known)
      return ends.set(column.identity, owner.key, to: places.last)
    }
    let (listed, places) = try column.listing(owner.key, on: connection)
    let new = Set(coming)
    let arranged = try arrange(
      listed.filter { !new.contains($0) } + coming, known: places.filter { !new.contains($0.key) })
    ends.set(column.identity, owner.key, to: arranged.last)
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
    let known = try column.read(owner.key, some: neighbourhood, on: connection)
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
    let statement = try connection.statement(column.statements.update)
    defer { statement.reset() }
    for (key, place) in zip(keys, places) where known[key] != place {
      statement.bind(place, at: 1)
      statement.bind(owner.key, at: 2)
      statement.bind(key, at: 3)
      try statement.step()
      statement.rewind()
      // A row that is gone needs no place, and that it is gone is told elsewhere.
      guard connection.changes == 0, try column.has(key, of: owner.key, on: connection) else { continue }
      throw GraphError.ignored("its place in an ordered relationship", of: order.id(of: key) ?? owner)
    }
  }
}

extension StoreChanges.Order {
  /// The ID of a destination that is named here.
  fileprivate func id(of key: Int64) -> ManagedObjectID? {
    switch self {
    case .all(let ids), .appended(let ids, _): ids.first { $0.key == key }
    case .stretches(let stretches): stretches.lazy.flatMap(\.ids).first { $0.key == key }
    }
  }
}

/// The column that keeps the places of an ordered relationship's destinations.
struct OrderColumn {
  let statements: OrderStatements
  /// Which column it is.
  let identity: OrderEnds.Column

  init(join: JoinLayout, column: String) {
    statements = OrderStatements(join, column: column, dialect: .sqlite)
    identity = OrderEnds.Column(table: join.table, name: column)
  }

  init(toOne: ToOneLayout, table: String, column: String) {
    statements = OrderStatements(toOne, table: table, column: column, dialect: .sqlite)
    identity = OrderEnds.Column(table: table, name: column)
  }

  /// A place that a statement gives. Throws for what is none: it would be taken for another place than where the file sorts it.
  private func place(_ statement: Statement, at index: Int32, of row: Int64?) throws -> Int64 {
    let storage = statement.storage(index)
    if storage == .integer { return statement.integer(index) }
    let mismatch = ColumnMismatch(statement, column: index, storage: storage, wanted: "place in an order")
    let which = row.map { ", destination \($0)" } ?? ""
    throw GraphError(
      .invalidStore,
      message:
        "the store is damaged: table \(identity.table)\(which): \(identity.name) \(mismatch.description); set it to a number, or to NULL for a place at the end"
    )
  }

  /// Whether an owner has a destination.
  func has(_ key: Int64, of owner: Int64, on connection: Connection) throws -> Bool {
    let statement = try connection.statement(statements.presence)
    statement.bind(owner, at: 1)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }

  /// The places of some of an owner's destinations; without those that have none.
  func read(_ owner: Int64, some keys: [Int64], on connection: Connection) throws -> [Int64: Int64] {
    let statement = try connection.statement(statements.selectionOfSome)
    statement.bind(owner, at: 1)
    SQLValue.bind(.list(keys.map(Value.int)), at: 2, to: statement)
    defer { statement.reset() }
    var result: [Int64: Int64] = [:]
    while try statement.step() {
      let key = statement.integer(0)
      result[key] = try place(statement, at: 1, of: key)
    }
    return result
  }

  /// An owner's destinations in their order, and the places of those that have one.
  func listing(_ owner: Int64, on connection: Connection) throws -> (keys: [Int64], places: [Int64: Int64]) {
    let statement = try connection.statement(statements.listing)
    statement.bind(owner, at: 1)
    defer { statement.reset() }
    var (keys, places): ([Int64], [Int64: Int64]) = ([], [:])
    while try statement.step() {
      let key = statement.integer(0)
      keys.append(key)
      if !statement.isNull(1) { places[key] = try place(statement, at: 1, of: key) }
    }
    return (keys, places)
  }

  /// The last place of an owner's destinations, nil where none has one, and how many have none.
  func end(_ owner: Int64, on connection: Connection) throws -> (last: Int64?, missing: Int) {
    let statement = try connection.statement(statements.end)
    statement.bind(owner, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return (nil, 0) }
    return (statement.isNull(0) ? nil : try place(statement, at: 0, of: nil), Int(statement.integer(1)))
  }
}
