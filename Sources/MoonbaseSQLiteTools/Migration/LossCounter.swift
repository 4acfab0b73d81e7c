package import MoonbaseModel
package import MoonbaseSQL
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Counts the rows of an old file that have values in properties without a counterpart in the newer model.
///
/// Only counts: the plan contains the number of rows and the key of the first one, so that a user can look at an
/// example.
package struct LossCounter {
  /// The number of rows and the least key.
  package typealias Found = (count: Int, first: Int64)

  /// The old and new entities.
  package let map: MigrationMap
  /// Reads the old file.
  let connection: Connection

  /// Counts in the old file.
  package init(map: MigrationMap, connection: Connection) { (self.map, self.connection) = (map, connection) }

  /// The beginning of a statement that counts rows of an entity. A condition follows the last word.
  package func rows(of entity: EntityLayout) -> String {
    "SELECT COUNT(*), MIN(Z_PK) FROM \(map.oldTable(entity.table)) WHERE (\(map.condition(entity))) AND"
  }

  /// The number of rows that a statement counts, and the key of the first row; nil for no rows. The statement returns a
  /// count and a key.
  package func count(_ sql: String) throws -> Found? {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    guard try statement.step(), statement.integer(0) > 0 else { return nil }
    return (Int(statement.integer(0)), statement.integer(1))
  }

  /// The loss of a removed property's values; nil if no row has any. `loses` returns whether an entity loses a
  /// property.
  ///
  /// The destinations of a relationship are kept if its inverse stays and `leads` returns true. If both sides go, only
  /// one of them is reported. Destinations that are removed themselves are reported as objects.
  ///
  /// The reason ends the phrase: `3 rows hold a value, and the newer model has no such attribute`.
  package func loss(
    of property: ResolvedProperty, in entity: EntityLayout, because reason: String,
    staying: [EntityLayout], loses: (EntityLayout, ResolvedProperty) -> Bool,
    leads: (EntityLayout, ResolvedProperty) -> Bool = { _, _ in true }
  ) throws -> MigrationPlan.Loss? {
    let found: Found?, what: String
    if let relationship = property.relationship {
      let inverse = map.old.inverse(of: property)?.property
      let destination = map.old.model.entities[relationship.destination]
      let isTold = inverse.map { $0.id < property.id } ?? false
      let losers = staying.filter { other in
        guard other.entity.isKind(of: destination) else { return false }
        guard let inverse else { return true }
        return loses(other, inverse) ? !isTold : !leads(other, inverse)
      }
      found = try destinations(of: property, in: entity, among: losers)
      what = "ha\(found?.count == 1 ? "s" : "ve") destinations"
    } else {
      found = try values(of: property, in: entity)
      what = "hold\(found?.count == 1 ? "s" : "") a value"
    }
    guard let found else { return nil }
    return MigrationPlan.Loss(
      entity: entity.entity.name, property: property.name, reason: "\(what), and \(reason)", rowCount: found.count,
      firstKey: found.first)
  }

  /// The rows with a value in an attribute. Nil for attributes whose values can be derived again.
  private func values(of property: ResolvedProperty, in entity: EntityLayout) throws -> Found? {
    if case .composite(let composite) = entity.slots[property.slot] {
      return try count("\(rows(of: entity)) \(composite.presence)")
    }
    guard case .attribute(let column, _) = entity.slots[property.slot], !isDerivedFromOthers(property, in: entity)
    else { return nil }
    return try count("\(rows(of: entity)) \(identifier(column)) IS NOT NULL")
  }

  /// Whether the property's values can be derived again, so that nothing is lost. An attribute with the time of the
  /// last save cannot.
  private func isDerivedFromOthers(_ property: ResolvedProperty, in entity: EntityLayout) -> Bool {
    let derivations = map.old.model.storedDerivations(of: entity.entity)
    switch derivations.first(where: { $0.slot == property.slot })?.result {
    case nil, .now: return false
    case .value, .collection: return true
    }
  }

  /// The rows with a destination among some entities. Counts owners, not pairs.
  private func destinations(
    of property: ResolvedProperty, in entity: EntityLayout, among members: [EntityLayout]
  ) throws -> Found? {
    guard let table = members.first?.table, let pairs = OldPairs(property, of: entity, in: map) else { return nil }
    let condition = members.map { "(\(map.condition($0)))" }.joined(separator: " OR ")
    let owners = "SELECT Z_PK FROM \(map.oldTable(entity.table)) WHERE \(map.condition(entity))"
    return try count(
      "SELECT COUNT(DISTINCT owner), MIN(owner) FROM (\(pairs.sql)) WHERE owner IN (\(owners)) "
        + "AND member IN (SELECT Z_PK FROM \(map.oldTable(table)) WHERE \(condition))")
  }
}
