import MoonbaseGraph
package import MoonbaseModel

/// Selects the destinations of a to-many relationship for several owners: key, entity number, owner. For a one-to-one
/// relationship, selects the rows that hold the owner's key.
///
/// The query serves faults of an owner and batches of owners (`select(keyCount:)`). It joins the pair table where the
/// relationship has one.
package struct DestinationQuery {
  /// The destination entity.
  package let entity: ResolvedEntity
  /// The table of the destinations, with alias `t0`, and the pair table.
  private let from: String
  /// The column with the owner's key.
  private let owner: String
  /// The terms after ORDER BY: places first, then keys.
  private let order: String
  /// The dialect of the store.
  private let dialect: Dialect

  /// Returns nil for a property that the file does not store as a relationship. `own` is the entity of the owners.
  /// Throws the error of a missing column or table, and for a destination without a table.
  package init?(_ slot: Slot, of own: EntityLayout, layout: StoreLayout, dialect: Dialect) throws {
    self.dialect = dialect
    switch own.slots[slot] {
    case .foreignKey(let toOne, let destination):
      entity = layout.model.entities[destination]
      from = "\(identifier(try layout.layout(entity).table)) t0"
      owner = "t0.\(identifier(toOne.column))"
      order = Self.order(toOne.orderColumn.map { "t0.\(identifier($0))" })
    case .join(let join):
      entity = layout.model.entities[join.destination]
      let table = identifier(try layout.layout(entity).table)
      from = "\(Self.pairs(join)) j JOIN \(table) t0 ON t0.Z_PK = j.d"
      owner = "j.o"
      order = Self.order(join.orderColumn == nil ? nil : "j.f")
    case .toOne(let toOne):
      entity = layout.model.entities[toOne.destination]
      let other = try layout.layout(entity)
      guard let inverse = own.entity.oneToOneInverse(of: slot), case .toOne(let back) = other.slots[inverse] else {
        return nil
      }
      from = "\(identifier(other.table)) t0"
      owner = "t0.\(identifier(back.column))"
      order = Self.order(nil)
    case .lost(let error): throw error
    case .none, .attribute, .composite: return nil
    }
  }

  /// The pairs as owner, destination and place. A reflexive relationship counts in both directions. Each pair of a
  /// reflexive relationship is returned once for each direction.
  private static func pairs(_ join: JoinLayout) -> String {
    let (table, mine, theirs) = (
      join.source, identifier(join.ownerColumn), identifier(join.destinationColumn)
    )
    let place = join.orderColumn.map(identifier) ?? "NULL"
    let forward = "SELECT \(mine) o, \(theirs) d, \(place) f FROM \(table)"
    guard join.isReflexive else { return "(\(forward))" }
    return "(\(forward) UNION ALL SELECT \(theirs), \(mine), NULL FROM \(table) r WHERE NOT EXISTS "
      + "(SELECT 1 FROM \(table) s WHERE s.\(mine) = r.\(theirs) AND s.\(theirs) = r.\(mine)))"
  }

  /// Rows without a place, which an old framework may have left, come last.
  private static func order(_ place: String?) -> String {
    place.map { "\($0) IS NULL, \($0), t0.Z_PK" } ?? "t0.Z_PK"
  }

  /// The statement for `keyCount` owners. The parameters are the owners' keys. The owner's key is the third column of
  /// the result.
  package func select(keyCount: Int) -> String {
    dialect.statement(
      "SELECT t0.Z_PK, t0.Z_ENT, \(owner) FROM \(from) WHERE \(dialect.isOneOf(keyCount, owner)) ORDER BY \(order)")
  }

  /// The position of the owner's column among columns of the rows. The owner's column is appended if it is missing. For
  /// `select(_:keyCount:)`.
  package func ownerColumn(among columns: [String]) -> Int { columns.firstIndex(of: owner) ?? columns.count }

  /// The statement for columns of the rows with the owner's column, sorted by owner. Rows with the same owner follow
  /// each other, so that a reader can group them on the way.
  package func select(_ columns: [String], keyCount: Int) -> String {
    let all = columns.contains(owner) ? columns : columns + [owner]
    return dialect.statement(
      "SELECT \(all.joined(separator: ", ")) FROM \(from) WHERE \(dialect.isOneOf(keyCount, owner)) "
        + "ORDER BY \(owner), \(order)")
  }
}
