import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Inserts new pairs into a pair table, many in one statement: beginning and ending a statement for each pair would
/// take more than a third of the time.
///
/// An existing pair is left unchanged. Every other refusal of the file fails the save.
struct PairBatch {
  private static let size = 16

  private struct Target {
    let table: PairTable
    let one: Statement
    /// Nil where SQLite cannot tell by a key whether a pair exists.
    let many: Statement?
  }

  private let connection: Connection
  private var target: Target?
  /// The pairs that are not written yet.
  private var pairs: [PairTable.Pair] = []

  init(_ connection: Connection) { self.connection = connection }

  /// Sets the table for the next pairs. The owners of a relationship are adjacent.
  mutating func begin(_ join: JoinLayout, relationship: String) throws {
    let table = PairTable(join, relationship: relationship)
    if target?.table.isSame(as: table) == true { return }
    try write()
    target = try Self.target(table, on: connection)
  }

  private static func target(_ table: PairTable, on connection: Connection) throws -> Target {
    // A table without the format's primary key does not accept the conflict clause.
    if let many = try? connection.statement(table.statements.insertion(size)) {
      return Target(table: table, one: try connection.statement(table.statements.insertion(1)), many: many)
    }
    return Target(table: table, one: try connection.statement(table.statements.insertionWithoutKey), many: nil)
  }

  mutating func add(owner: ManagedObjectID, destination: ManagedObjectID) throws {
    pairs.append(PairTable.Pair(owner: owner, destination: destination))
    if pairs.count == Self.size { try write() }
  }

  /// Writes the waiting pairs.
  mutating func write() throws {
    guard let target, !pairs.isEmpty else { return }
    if let many = target.many, pairs.count == Self.size {
      try run(many, pairs[...], target: target)
    } else {
      for index in pairs.indices { try run(target.one, pairs[index...index], target: target) }
    }
    pairs.removeAll(keepingCapacity: true)
  }

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
