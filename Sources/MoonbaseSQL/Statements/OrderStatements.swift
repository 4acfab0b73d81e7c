/// The statements for the column with the places of an ordered relationship's destinations.
///
/// Made once per ordered relationship. `column` is `Z_FOK_…` in the pair table, or in the destinations' own table for a
/// one-to-many relationship. Places are integers with gaps (`OrderKeys`).
package struct OrderStatements: Sendable {
  /// Sets the place of a destination: parameters are place, owner and destination. An engine with arrays takes many
  /// places and destinations. Fails on a conflict, whatever the table declares.
  package let update: String
  /// Selects an owner's destinations and their places, in order. Destinations without a place come last. Two columns:
  /// key and place.
  package let listing: String
  /// Selects the last place of an owner's destinations, and the number of destinations without a place. Two columns, of
  /// one row.
  package let end: String
  /// Selects destinations and places of some of an owner's destinations, whose keys are one parameter. Destinations
  /// without a place are left out. Two columns: key and place.
  package let selectionOfSome: String
  /// Tests whether an owner has a destination. A row for yes.
  package let presence: String

  /// Makes the statements for a pair table. The members are the destinations of the pairs.
  package init(_ join: JoinLayout, column: String, dialect: Dialect) {
    let owner = identifier(join.ownerColumn)
    self.init(
      table: join.table, owner: owner, key: identifier(join.destinationColumn), column: column, ownerOfSome: owner,
      dialect: dialect)
  }

  /// Makes the statements for the destinations' own table. The members are rows of the destinations' table.
  package init(_ toOne: ToOneLayout, table: String, column: String, dialect: Dialect) {
    let owner = identifier(toOne.column)
    // The keys are looked up. The owner's index would visit all destinations.
    self.init(
      table: table, owner: owner, key: "Z_PK", column: column, ownerOfSome: dialect.withoutIndex + owner,
      dialect: dialect)
  }

  /// `ownerOfSome` is the owner's column in the selection of some members.
  private init(table: String, owner: String, key: String, column: String, ownerOfSome: String, dialect: Dialect) {
    let (table, column) = (identifier(table), identifier(column))
    let select = "SELECT \(key), \(column) FROM \(table) WHERE \(column) IS NOT NULL"
    let all = "FROM \(table) WHERE \(owner) = ?"
    listing = dialect.statement("SELECT \(key), \(column) \(all) ORDER BY \(column) IS NULL, \(column), \(key)")
    end = dialect.statement("SELECT MAX(\(column)), COUNT(*) - COUNT(\(column)) \(all)")
    selectionOfSome = dialect.statement("\(select) AND \(ownerOfSome) = ? AND \(dialect.isOneOfKeys(key))")
    presence = dialect.statement("SELECT 1 FROM \(table) WHERE \(owner) = ? AND \(key) = ?")
    update =
      switch dialect.keySets {
      case .json:
        dialect.statement("UPDATE\(dialect.failing) \(table) SET \(column) = ? WHERE \(owner) = ? AND \(key) = ?")
      case .arrays:
        "UPDATE \(table) SET \(column) = n.p FROM unnest($1, $3) AS n (p, k) WHERE \(owner) = $2 AND \(key) = n.k"
      }
  }
}
