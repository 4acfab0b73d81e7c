import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// A pair table, and the errors for pairs that are not written.
///
/// Made for a relationship of a save. It only knows the table; statements run elsewhere.
struct PairTable {
  /// A link.
  struct Pair {
    /// The object with the relationship.
    let owner: ManagedObjectID
    /// Its destination.
    let destination: ManagedObjectID
  }

  /// The table and its columns.
  private let join: JoinLayout
  /// The name of the relationship.
  private let relationship: String
  /// The SQL for the table.
  let statements: PairStatements

  /// `relationship` is the name for messages.
  init(_ join: JoinLayout, relationship: String) {
    self.join = join
    self.relationship = relationship
    statements = PairStatements(join, dialect: .sqlite)
  }

  /// The inverse side of a table is not the same.
  func isSame(as other: PairTable) -> Bool {
    join.table == other.join.table && join.ownerColumn == other.join.ownerColumn
  }

  /// Throws where a pair does not exist (or still exists, with `gone`): the file ignored the statement. Called when
  /// SQLite changed fewer rows than there are pairs.
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

  /// For messages.
  private static func verb(_ gone: Bool) -> String { gone ? "gives up" : "takes in" }

  /// The error for a refused pair. Among several it is not known which pair was refused. The code is
  /// `.constraintConflict`.
  func refused(_ pairs: ArraySlice<Pair>, gone: Bool = false, of owner: ManagedObjectID, by error: SQLiteError)
    -> GraphError
  {
    let destination = pairs.count == 1 ? pairs.first.map { "\($0.destination)" } : nil
    return .refused(
      "that \(relationship) \(Self.verb(gone)) \(destination ?? "its destinations")", of: owner, property: relationship,
      by: error)
  }
}
