/// The statements that write pairs of a many-to-many relationship. Parameters are owners and destinations in turn.
package struct PairStatements: Sendable {
  private let table: String
  private let owner: String
  private let destination: String
  private let dialect: Dialect

  /// Makes the statements for a pair table.
  package init(_ join: JoinLayout, dialect: Dialect) {
    (table, owner, destination) = (
      identifier(join.table), identifier(join.ownerColumn), identifier(join.destinationColumn)
    )
    self.dialect = dialect
  }

  private var keys: String { "\(owner), \(destination)" }
  private var isPair: String { "\(owner) = ? AND \(destination) = ?" }

  /// Inserts `count` pairs, of which some may exist. The statement fails on any other conflict.
  package func insertion(_ count: Int) -> String {
    let rows = [String](repeating: "(?, ?)", count: count).joined(separator: ", ")
    return dialect.statement("INSERT\(dialect.failing) INTO \(table) (\(keys)) VALUES \(rows)\(dialect.ignore(keys))")
  }

  /// Inserts a pair into a table without a primary key.
  package var insertionWithoutKey: String {
    dialect.statement(
      "INSERT\(dialect.failing) INTO \(table) (\(keys)) SELECT n.o, n.d FROM (SELECT CAST(? AS BIGINT) o, CAST(? AS BIGINT) d) n "
        + "WHERE NOT EXISTS (SELECT 1 FROM \(table) WHERE \(owner) = n.o AND \(destination) = n.d)")
  }

  /// Deletes a pair.
  package var deletion: String { dialect.statement("DELETE FROM \(table) WHERE \(isPair)") }

  /// Tests whether a pair exists.
  package var presence: String { dialect.statement("SELECT 1 FROM \(table) WHERE \(isPair)") }

  /// Deletes all pairs of an owner, or of a destination.
  package func deletion(ofAllOf side: Side) -> String {
    dialect.statement("DELETE FROM \(table) WHERE \(key(side)) = ?")
  }

  /// Tests whether an owner, or a destination, has any pair.
  package func presence(ofAnyOf side: Side) -> String {
    dialect.statement("SELECT 1 FROM \(table) WHERE \(key(side)) = ? LIMIT 1")
  }

  private func key(_ side: Side) -> String { side == .owner ? owner : destination }

  /// A side of a pair.
  package enum Side: Sendable {
    case owner, destination
  }
}
