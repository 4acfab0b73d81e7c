import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLiteStore

/// The links of an old relationship, as a SELECT with the columns `owner`, `member`, `place` (of the member in the
/// owner's list) and `inverse` (of the owner in the member's list).
///
/// The form of storage does not matter to users of this type: a column of keys, a column in the destination's table,
/// and a pair table give the same four columns. Missing positions are `NULL`. A value is only text; nothing is read.
struct OldPairs: Hashable {
  /// The complete `SELECT` statement, for use as a subquery.
  let sql: String

  /// Returns nil for a relationship that is not stored in the file. `entity` is the owner's layout in the old file.
  init?(_ property: ResolvedProperty, of entity: EntityLayout, in map: MigrationMap) {
    let inverse = map.old.inverse(of: property)
    switch entity.slots[property.slot] {
    case .toOne(let toOne):
      sql = Self.select(
        owner: "Z_PK", member: identifier(toOne.column), place: nil, inverse: toOne.orderColumn,
        from: map.oldTable(entity.table))
    case .foreignKey(let toOne, let destination):
      guard let table = map.old.entities[destination]?.table else { return nil }
      sql = Self.select(
        owner: identifier(toOne.column), member: "Z_PK", place: toOne.orderColumn, inverse: nil,
        from: map.oldTable(table))
    case .join(let join):
      var other: String?
      if let inverse, case .join(let side) = inverse.entity.slots[inverse.property.slot] { other = side.orderColumn }
      sql = Self.select(
        owner: identifier(join.ownerColumn), member: identifier(join.destinationColumn), place: join.orderColumn,
        inverse: join.isReflexive ? nil : other, from: map.oldTable(join.table))
    case .none, .lost, .attribute, .composite: return nil
    }
  }

  /// For queries made of other queries.
  private init(sql: String) { self.sql = sql }

  /// All arguments except `table` are quoted expressions or names of columns.
  private static func select(
    owner: String, member: String, place: String?, inverse: String?, from table: String
  ) -> String {
    "SELECT \(owner) AS owner, \(member) AS member, \(place.map(identifier) ?? "NULL") AS place, "
      + "\(inverse.map(identifier) ?? "NULL") AS inverse FROM \(table) WHERE \(owner) IS NOT NULL AND \(member) IS NOT NULL"
  }

  /// The links as seen from the other side.
  var reversed: OldPairs {
    OldPairs(sql: "SELECT member AS owner, owner AS member, inverse AS place, place AS inverse FROM (\(sql))")
  }

  /// Links of several relationships, with `UNION ALL`; nil for none.
  static func union(_ all: [OldPairs]) -> OldPairs? {
    guard let first = all.first else { return nil }
    return all.count == 1
      ? first : OldPairs(sql: all.map { "SELECT * FROM (\($0.sql))" }.joined(separator: " UNION ALL "))
  }
}

/// The origins of relationships.
extension MigrationMap {
  /// The old links for a relationship of the new model. They come from its former relationship, or else from its
  /// inverse's former relationship. Objects of several entities may contribute links of several relationships.
  func pairs(of property: ResolvedProperty, in entity: EntityLayout) -> OldPairs? {
    if let own = OldPairs.union(origins(of: property, in: entity)) { return own }
    guard let inverse = new.inverse(of: property), inverse.property !== property else { return nil }
    return OldPairs.union(origins(of: inverse.property, in: inverse.entity))?.reversed
  }

  /// The old links of all entities that a relationship of the new model includes. A relationship that several entities
  /// inherit is counted once.
  private func origins(of property: ResolvedProperty, in entity: EntityLayout) -> [OldPairs] {
    var known: Set<PropertyID> = []
    return entities.filter { $0.new.entity.isKind(of: entity.entity) }.compactMap { migration in
      guard let origin = migration.origin(of: property), known.insert(origin.property.id).inserted else { return nil }
      return OldPairs(origin.property, of: migration.old, in: self)
    }
  }

  /// The old layout of a to-one relationship whose column is copied unchanged, because nothing else determines its
  /// contents; otherwise nil. For a one-to-many relationship, the column with the owner's key is the only place of the
  /// link, so that copying it is enough. For a one-to-one relationship, both columns contain the link, and both must be
  /// copies.
  func isCopied(_ property: ResolvedProperty, of migration: EntityMigration) -> ToOneLayout? {
    guard let origin = migration.origin(of: property), case .toOne(let before) = origin.slot else { return nil }
    guard let inverse = new.inverse(of: property), inverse.property.relationship?.isToMany == false else {
      return before
    }
    // For a one-to-one relationship, both sides must be unchanged.
    guard let formerInverse = old.inverse(of: origin.property),
      formerInverse.property.relationship?.isToMany == false
    else { return nil }
    let members = entities.filter { $0.new.entity.isKind(of: inverse.entity.entity) }
    return members.allSatisfy { $0.origin(of: inverse.property)?.property.id == formerInverse.property.id }
      ? before : nil
  }
}
