import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// New pairs on their way into a table of pairs, many of them in one statement: to begin and to end one for each pair would cost
/// more than a third of the whole.
///
/// A pair that is there already is left as it is. All else that the file has against a pair fails the save.
struct PairBatch {
  private static let size = 16

  private struct Target {
    let table: PairTable
    let one: Statement
    /// Nil where SQLite cannot tell by a key whether a pair is there.
    let many: Statement?
  }

  private let connection: Connection
  private var target: Target?
  /// Pairs that wait.
  private var pairs: [PairTable.Pair] = []

  init(_ connection: Connection) { self.connection = connection }

  /// Says where the next pairs go: owners of one relationship come one after another.
  mutating func begin(_ join: JoinLayout, relationship: String) throws {
    let table = PairTable(join, relationship: relationship)
    if target?.table.isSame(as: table) == true { return }
    try write()
    target = try Self.target(table, on: connection)
  }

  private static func target(_ table: PairTable, on connection: Connection) throws -> Target {
    // A table that somebody made without the format's primary key takes no such clause.
    if let many = try? connection.statement(table.statements.insertion(size)) {
      return Target(table: table, one: try connection.statement(table.statements.insertion(1)), many: many)
    }
    return Target(table: table, one: try connection.statement(table.statements.insertionWithoutKey), many: nil)
  }

  mutating func add(owner: ManagedObjectID, destination: ManagedObjectID) throws {
    pairs.append(PairTable.Pair(owner: owner, destination: destination))
    if pairs.count == Self.size { try write() }
  }

  /// Writes the pairs that wait.
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
      // One by one they show which it is; unless a trigger ended the transaction, without which they would stay.
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
