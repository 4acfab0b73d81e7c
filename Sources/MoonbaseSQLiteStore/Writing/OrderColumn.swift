import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// The column with the places of an ordered relationship's destinations.
///
/// Implements `PlaceColumn` for SQLite. The column is in the pair table of a many-to-many relationship, or in the
/// destination's table. A value is made for each list of a save.
struct OrderColumn: PlaceColumn {
  /// The SQL for this column.
  private let statements: OrderStatements
  /// Identifies the column in `OrderEnds`.
  private let identity: OrderEnds.Column
  /// The connection of the transaction.
  private let connection: Connection
  /// The known last positions.
  private let ends: OrderEnds

  /// For a many-to-many relationship.
  init(join: JoinLayout, column: String, on connection: Connection, ends: OrderEnds) {
    (self.connection, self.ends) = (connection, ends)
    statements = OrderStatements(join, column: column, dialect: .sqlite)
    identity = OrderEnds.Column(table: join.table, name: column)
  }

  /// For a one-to-many relationship; `table` is that of the destinations.
  init(toOne: ToOneLayout, table: String, column: String, on connection: Connection, ends: OrderEnds) {
    (self.connection, self.ends) = (connection, ends)
    statements = OrderStatements(toOne, table: table, column: column, dialect: .sqlite)
    identity = OrderEnds.Column(table: table, name: column)
  }

  /// The place in a result column. Throws for a value that is no integer: SQLite would sort it differently. The code is
  /// `.invalidStore`.
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

  /// Whether an owner has a destination. By a query for the pair or the row.
  private func has(_ key: Int64, of owner: Int64) throws -> Bool {
    let statement = try connection.statement(statements.presence)
    statement.bind(owner, at: 1)
    statement.bind(key, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }

  /// The places of some of an owner's destinations, without those that have no place. `keys` may have any length; they
  /// are bound as one list.
  func read(_ owner: Int64, some keys: [Int64]) throws -> [Int64: Int64] {
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

  /// An owner's destinations in order, and the places of those that have a place. Destinations without a position come
  /// last.
  func listing(_ owner: Int64) throws -> (keys: [Int64], places: [Int64: Int64]) {
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

  /// The last place of an owner's destinations, nil where no destination has a place, and the number of destinations
  /// without a place. Takes one query, by an index of the owner.
  func end(_ owner: Int64) throws -> (last: Int64?, missing: Int) {
    let statement = try connection.statement(statements.end)
    statement.bind(owner, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return (nil, 0) }
    return (statement.isNull(0) ? nil : try place(statement, at: 0, of: nil), Int(statement.integer(1)))
  }

  /// Throws `.constraintConflict` where the file ignores a position.
  func write(_ places: [(key: Int64, place: Int64)], of owner: ManagedObjectID, _ order: StoreChanges.Order) throws {
    let statement = try connection.statement(statements.update)
    defer { statement.reset() }
    for (key, place) in places {
      statement.bind(place, at: 1)
      statement.bind(owner.key, at: 2)
      statement.bind(key, at: 3)
      try statement.step()
      statement.rewind()
      // A deleted row needs no place; its deletion is reported elsewhere.
      guard connection.changes == 0, try has(key, of: owner.key) else { continue }
      throw GraphError.ignored("its place in an ordered relationship", of: order.id(of: key) ?? owner)
    }
  }

  /// Nil if the last position has to be read.
  func knownEnd(of owner: Int64, before members: [Int64]) -> Int64? { ends.last(identity, of: owner, before: members) }

  /// Pass nil for an unknown position.
  func note(end place: Int64?, of owner: Int64) { ends.set(identity, owner, to: place) }
}
