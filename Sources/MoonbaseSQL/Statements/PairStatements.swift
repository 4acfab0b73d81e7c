/// The statements that write pairs of a many-to-many relationship. Parameters are owners and destinations in turn.
///
/// Made once per pair table and used for all owners of a save.
package struct PairStatements: Sendable {
  /// The quoted pair table.
  private let table: String
  /// The quoted column with the owner's key.
  private let owner: String
  /// The quoted column with the destination's key.
  private let destination: String
  /// Texts are made for the engine of this dialect.
  private let dialect: Dialect

  /// Makes the statements for a pair table.
  package init(_ join: JoinLayout, dialect: Dialect) {
    (table, owner, destination) = (
      identifier(join.table), identifier(join.ownerColumn), identifier(join.destinationColumn)
    )
    self.dialect = dialect
  }

  /// Both columns, for a list.
  private var keys: String { "\(owner), \(destination)" }
  /// The condition of a single pair.
  private var isPair: String { "\(owner) = ? AND \(destination) = ?" }

  /// Inserts `count` pairs, of which some may exist. The statement fails on any other conflict. The parameters are `2 *
  /// count` keys.
  package func insertion(_ count: Int) -> String {
    let rows = [String](repeating: "(?, ?)", count: count).joined(separator: ", ")
    return dialect.statement("INSERT\(dialect.failing) INTO \(table) (\(keys)) VALUES \(rows)\(dialect.ignore(keys))")
  }

  /// Inserts a pair into a table without a primary key. Old frameworks made such tables; a duplicate is avoided by a
  /// condition.
  package var insertionWithoutKey: String {
    dialect.statement(
      "INSERT\(dialect.failing) INTO \(table) (\(keys)) SELECT n.o, n.d FROM (SELECT CAST(? AS BIGINT) o, CAST(? AS BIGINT) d) n "
        + "WHERE NOT EXISTS (SELECT 1 FROM \(table) WHERE \(owner) = n.o AND \(destination) = n.d)")
  }

  /// Deletes a pair. Parameters: owner and destination.
  package var deletion: String { dialect.statement("DELETE FROM \(table) WHERE \(isPair)") }

  /// Tests whether a pair exists. A row for yes.
  package var presence: String { dialect.statement("SELECT 1 FROM \(table) WHERE \(isPair)") }

  /// Deletes all pairs of an owner, or of a destination. The parameter is the key.
  package func deletion(ofAllOf side: Side) -> String {
    dialect.statement("DELETE FROM \(table) WHERE \(key(side)) = ?")
  }

  /// Tests whether an owner, or a destination, has any pair. A row for yes.
  package func presence(ofAnyOf side: Side) -> String {
    dialect.statement("SELECT 1 FROM \(table) WHERE \(key(side)) = ? LIMIT 1")
  }

  /// The column of a side.
  private func key(_ side: Side) -> String { side == .owner ? owner : destination }

  /// A side of a pair.
  package enum Side: Sendable {
    case owner, destination
  }
}
