import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// A pair table, and the errors for pairs that are not written.
struct PairTable {
  struct Pair {
    let owner: ManagedObjectID
    let destination: ManagedObjectID
  }

  private let join: JoinLayout
  /// The name of the relationship.
  private let relationship: String
  let statements: PairStatements

  init(_ join: JoinLayout, relationship: String) {
    self.join = join
    self.relationship = relationship
    statements = PairStatements(join, dialect: .sqlite)
  }

  func isSame(as other: PairTable) -> Bool {
    join.table == other.join.table && join.ownerColumn == other.join.ownerColumn
  }

  /// Throws where a pair does not exist (or still exists, with `gone`): the file ignored the statement.
  func check(_ pairs: ArraySlice<Pair>, gone: Bool = false, on connection: Connection) throws {
    let statement = try connection.statement(statements.presence)
    for pair in pairs {
      statement.bind(pair.owner.key, at: 1)
      statement.bind(pair.destination.key, at: 2)
      defer { statement.reset() }
      guard try statement.step() == gone else { continue }
      let what = "that \(relationship) \(Self.verb(gone)) \(pair.destination)"
      throw GraphError.ignored(what, of: pair.owner, property: relationship)
    }
  }

  private static func verb(_ gone: Bool) -> String { gone ? "gives up" : "takes in" }

  /// The error for a refused pair. Among several it is not known which pair was refused.
  func refused(_ pairs: ArraySlice<Pair>, gone: Bool = false, of owner: ManagedObjectID, by error: SQLiteError)
    -> GraphError
  {
    let destination = pairs.count == 1 ? pairs.first.map { "\($0.destination)" } : nil
    return .refused(
      "that \(relationship) \(Self.verb(gone)) \(destination ?? "its destinations")", of: owner, property: relationship,
      by: error)
  }
}
