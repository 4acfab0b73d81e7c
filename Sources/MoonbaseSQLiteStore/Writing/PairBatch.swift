import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Inserts new pairs into a pair table, many in one statement: beginning and ending a statement for each pair would
/// take more than a third of the time.
///
/// An existing pair is left unchanged. Every other refusal of the file fails the save.
///
/// Belongs to a `LinkWriter`. Pairs of one table wait until there are 16 or the table changes.
struct PairBatch {
  /// The number of pairs in one statement.
  private static let size = 16

  /// The table with its prepared statements.
  private struct Target {
    /// The table, for messages.
    let table: PairTable
    /// Inserts one pair.
    let one: Statement
    /// Nil where SQLite cannot tell by a key whether a pair exists.
    let many: Statement?
  }

  /// The connection of the transaction.
  private let connection: Connection
  /// Nil before the first pair.
  private var target: Target?
  /// The pairs that are not written yet.
  private var pairs: [PairTable.Pair] = []

  /// No table is set yet.
  init(_ connection: Connection) { self.connection = connection }

  /// Sets the table for the next pairs. The owners of a relationship are adjacent. Writes waiting pairs of another
  /// table.
  mutating func begin(_ join: JoinLayout, relationship: String) throws {
    let table = PairTable(join, relationship: relationship)
    if target?.table.isSame(as: table) == true { return }
    try write()
    target = try Self.target(table, on: connection)
  }

  /// Both statements are prepared once per table.
  private static func target(_ table: PairTable, on connection: Connection) throws -> Target {
    // A table without the format's primary key does not accept the conflict clause.
    if let many = try? connection.statement(table.statements.insertion(size)) {
      return Target(table: table, one: try connection.statement(table.statements.insertion(1)), many: many)
    }
    return Target(table: table, one: try connection.statement(table.statements.insertionWithoutKey), many: nil)
  }

  /// Writes the batch when it is full.
  mutating func add(owner: ManagedObjectID, destination: ManagedObjectID) throws {
    pairs.append(PairTable.Pair(owner: owner, destination: destination))
    if pairs.count == Self.size { try write() }
  }

  /// Writes the waiting pairs. Fewer than 16 pairs are written singly.
  mutating func write() throws {
    guard let target, !pairs.isEmpty else { return }
    if let many = target.many, pairs.count == Self.size {
      try run(many, pairs[...], target: target)
    } else {
      for index in pairs.indices { try run(target.one, pairs[index...index], target: target) }
    }
    pairs.removeAll(keepingCapacity: true)
  }

  /// Throws `.constraintConflict` with the refused pair, if it is known.
  private func run(_ statement: Statement, _ pairs: ArraySlice<PairTable.Pair>, target: Target) throws {
    do {
      try insert(pairs, with: statement)
    } catch let error as SQLiteError where error.code.primary == .constraint {
      // Single insertions show which pair is refused. After a rollback by a trigger they would be committed, so
      // they are not run.
      if pairs.count > 1, connection.isInTransaction {
        for index in pairs.indices { try run(target.one, pairs[index...index], target: target) }
      }
      throw target.table.refused(pairs, of: pairs[pairs.startIndex].owner, by: error)
    }
    if connection.changes < pairs.count { try target.table.check(pairs, on: connection) }
  }

  /// Binds and runs; existing pairs are skipped by the conflict clause.
  private func insert(_ pairs: ArraySlice<PairTable.Pair>, with statement: Statement) throws {
    var index: Int32 = 1
    for pair in pairs {
      statement.bind(pair.owner.key, at: index)
      statement.bind(pair.destination.key, at: index + 1)
      index += 2
    }
    defer { statement.reset() }
    while try statement.step() {}
  }
}
