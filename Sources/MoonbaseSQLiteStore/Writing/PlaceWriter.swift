import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Writes the places of one owner's ordered destinations: of as few rows as it can, beside those that stay.
struct PlaceWriter {
  /// How many neighbours on each side make room together where there is none.
  private static let margin = 32

  private let owner: Int64
  private let order: [ManagedObjectID]
  private let column: OrderColumn
  private let connection: Connection

  init(_ owner: ManagedObjectID, order: [ManagedObjectID], column: OrderColumn, on connection: Connection) {
    self.owner = owner.key
    self.order = order
    self.column = column
    self.connection = connection
  }

  /// Gives places to those at the moved positions; to all where it is not known who moved, or their neighbours leave no room.
  func write(moved: [Int]?) throws {
    if let moved, try moved.isEmpty || place(moved, margin: 0) || place(moved, margin: Self.margin) { return }
    let known = try column.read(owner, some: nil, on: connection)
    let old = order.map { known[$0.key] }
    try write(OrderKeys.ascending(old), at: order.indices, known: known)
  }

  /// False where neighbours leave no room, and nothing was written.
  private func place(_ moved: [Int], margin: Int) throws -> Bool {
    let runs = runs(around: moved, margin: margin)
    let neighbourhood = runs.flatMap { run in order[max(0, run.lowerBound - 1)..<min(order.count, run.upperBound + 1)] }
    let known = try column.read(owner, some: neighbourhood, on: connection)
    let new = runs.map { places(for: $0, known: known, keepingOld: margin == 0) }
    for case nil in new { return false }
    for (run, places) in zip(runs, new) { try write(places ?? [], at: run, known: known) }
    return true
  }

  /// The moved positions with so many beside them; neighbours as one.
  private func runs(around moved: [Int], margin: Int) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for position in moved {
      let run = max(0, position - margin)..<min(order.count, position + margin + 1)
      if let last = runs.last, last.upperBound >= run.lowerBound {
        runs[runs.count - 1] = last.lowerBound..<run.upperBound
      } else {
        runs.append(run)
      }
    }
    return runs
  }

  /// Places between those of the neighbours; nil where there is no room.
  private func places(for run: Range<Int>, known: [Int64: Int64], keepingOld: Bool) -> [Int64]? {
    let (before, after) = (run.lowerBound - 1, run.upperBound)
    let (low, high) = (order.indices.contains(before), order.indices.contains(after))
    let ends = (low ? known[order[before].key] : nil, high ? known[order[after].key] : nil)
    // A neighbour without a place comes behind all that have one.
    guard low == (ends.0 != nil), high == (ends.1 != nil) else { return nil }
    let old = run.map { keepingOld ? known[order[$0].key] : nil }
    return OrderKeys.between(ends.0, and: ends.1, old: old)
  }

  private func write(_ places: [Int64], at positions: Range<Int>, known: [Int64: Int64]) throws {
    let statement = try connection.statement(column.statements.update)
    defer { statement.reset() }
    for (id, place) in zip(order[positions], places) where known[id.key] != place {
      statement.bind(place, at: 1)
      statement.bind(owner, at: 2)
      statement.bind(id.key, at: 3)
      try statement.step()
      statement.rewind()
      // A row that is gone needs no place, and that it is gone is told elsewhere.
      guard connection.changes == 0, try column.has(id.key, of: owner, on: connection) else { continue }
      throw GraphError.ignored("its place in an ordered relationship", of: id)
    }
  }
}

/// The column that keeps the places of an ordered relationship's destinations.
struct OrderColumn {
  let statements: OrderStatements

  init(join: JoinLayout, column: String) { statements = OrderStatements(join, column: column, dialect: .sqlite) }

  init(toOne: ToOneLayout, table: String, column: String) {
    statements = OrderStatements(toOne, table: table, column: column, dialect: .sqlite)
  }

  /// Whether an owner has a destination.
  func has(_ key: Int64, of owner: Int64, on connection: Connection) throws -> Bool {
    let statement = try connection.statement(statements.presence)
    statement.bind(owner, at: 1)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }

  /// The places of an owner's destinations, or of some; without those that have none.
  func read(_ owner: Int64, some: [ManagedObjectID]?, on connection: Connection) throws -> [Int64: Int64] {
    let statement = try connection.statement(
      some == nil ? statements.selection : statements.selectionOfSome)
    statement.bind(owner, at: 1)
    if let some { SQLValue.bind(.list(some.map(Value.objectID)), at: 2, to: statement) }
    defer { statement.reset() }
    var result: [Int64: Int64] = [:]
    while try statement.step() { result[statement.integer(0)] = statement.integer(1) }
    return result
  }
}
