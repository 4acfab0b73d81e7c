/// The queries by which a save finds dangling references. The keys are one parameter.
///
/// Run within the transaction of a save (`ReferenceCheck`), with the keys of the objects concerned as JSON or as an
/// array.
package struct ReferenceStatements: Sendable {
  private let dialect: Dialect

  package init(_ dialect: Dialect) { self.dialect = dialect }

  /// The keys without a row in a table. The result has these keys in one column.
  package func missing(from table: String) -> String {
    dialect.statement(
      "SELECT value FROM \(dialect.keyTable) WHERE NOT EXISTS (SELECT 1 FROM \(identifier(table)) WHERE Z_PK = value)")
  }

  /// The rows of a table that refer to one of the keys: key, own key, entity number. `column` is that of a to-one
  /// relationship.
  package func rows(of table: String, leadingBy column: String) -> String {
    let column = identifier(column)
    return dialect.statement(
      "SELECT \(column), Z_PK, Z_ENT FROM \(identifier(table)) WHERE \(dialect.isOneOfKeys(column))")
  }

  /// The rows of `rows(of:leadingBy:)` for a one-to-one relationship, without those to which the destination refers
  /// back.
  ///
  /// `other` is the table of the keys' objects, and `back` their column for the inverse.
  package func rows(of table: String, leadingBy column: String, butNotBackFrom other: String, by back: String) -> String
  {
    let column = "o.\(identifier(column))"
    return dialect.statement(
      "SELECT \(column), o.Z_PK, o.Z_ENT FROM \(identifier(table)) o LEFT JOIN \(identifier(other)) s "
        + "ON s.Z_PK = \(column) WHERE \(dialect.isOneOfKeys(column)) "
        + "AND s.\(identifier(back)) \(dialect.nullSafe.distinct) o.Z_PK")
  }

  /// The destinations of a one-to-one relationship that do not refer back to the rows of some keys. Each follows the
  /// key of its row. Three columns: the key, the destination's key and its entity number.
  package func destinations(by column: String, of table: String, in other: String, notLeadingBackBy back: String)
    -> String
  {
    dialect.statement(
      "SELECT s.Z_PK, o.Z_PK, o.Z_ENT FROM \(identifier(table)) s JOIN \(identifier(other)) o "
        + "ON o.Z_PK = s.\(identifier(column)) WHERE \(dialect.isOneOfKeys("s.Z_PK")) "
        + "AND o.\(identifier(back)) \(dialect.nullSafe.distinct) s.Z_PK")
  }
}
