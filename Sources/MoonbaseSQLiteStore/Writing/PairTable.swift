import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// The statements for a table of pairs, and what is wrong with a pair that is not written.
struct PairTable {
  struct Pair {
    let owner: ManagedObjectID
    let destination: ManagedObjectID
  }

  private let join: JoinLayout
  /// The name of the relationship.
  private let relationship: String

  init(_ join: JoinLayout, relationship: String) {
    self.join = join
    self.relationship = relationship
  }

  func isSame(as other: PairTable) -> Bool {
    join.table == other.join.table && join.ownerColumn == other.join.ownerColumn
  }

  private var table: String { identifier(join.table) }
  private var columns: (owner: String, destination: String) {
    (identifier(join.ownerColumn), identifier(join.destinationColumn))
  }
  private var keys: String { "\(columns.owner), \(columns.destination)" }

  /// Inserts so many pairs that may be there already. No other conflict is passed over.
  func insertion(_ count: Int) -> String {
    let rows = [String](repeating: "(?, ?)", count: count).joined(separator: ", ")
    return "INSERT INTO \(table) (\(keys)) VALUES \(rows) ON CONFLICT (\(keys)) DO NOTHING"
  }

  var insertionWithoutKey: String {
    "INSERT INTO \(table) (\(keys)) SELECT ?1, ?2 WHERE NOT EXISTS "
      + "(SELECT 1 FROM \(table) WHERE \(columns.owner) = ?1 AND \(columns.destination) = ?2)"
  }

  var deletion: String { "DELETE FROM \(table) WHERE \(columns.owner) = ? AND \(columns.destination) = ?" }

  /// Throws where one of these pairs is not there (or is, when `gone`): the file ignored its statement.
  func check(_ pairs: ArraySlice<Pair>, gone: Bool = false, on connection: Connection) throws {
    let statement = try connection.statement(
      "SELECT 1 FROM \(table) WHERE \(columns.owner) = ? AND \(columns.destination) = ?")
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

  /// The error of a pair that is refused; of several it is not known which one it is.
  func refused(_ pairs: ArraySlice<Pair>, gone: Bool = false, of owner: ManagedObjectID, by error: SQLiteError)
    -> GraphError
  {
    let destination = pairs.count == 1 ? pairs.first.map { "\($0.destination)" } : nil
    return .refused(
      "that \(relationship) \(Self.verb(gone)) \(destination ?? "its destinations")", of: owner, property: relationship,
      by: error)
  }
}
