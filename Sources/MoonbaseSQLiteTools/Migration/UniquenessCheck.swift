package import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Finds values of old rows that violate a uniqueness constraint of the newer model.
///
/// Runs on the old file before anything is copied, so that a migration fails early and with an example. The unique
/// indexes of the new file remain the final check. Each constraint takes a query.
package struct UniquenessCheck {
  /// The old and new entities.
  let map: MigrationMap
  /// Converts values whose type changes.
  let conversions: ColumnConversions
  /// The connection that reads the old file.
  let connection: Connection
  /// Whether the old rows of a mapping determine the new value of a property.
  var tells: (EntityMigration, ResolvedProperty) -> Bool = { _, _ in true }

  /// Checks by the rows of the old file.
  package init(
    map: MigrationMap, conversions: ColumnConversions, connection: Connection,
    tells: @escaping (EntityMigration, ResolvedProperty) -> Bool = { _, _ in true }
  ) {
    (self.map, self.conversions, self.connection, self.tells) = (map, conversions, connection, tells)
  }

  /// The violations of all uniqueness constraints. In the order of entities and constraints.
  package func conflicts() throws -> [MigrationPlan.Conflict] {
    try map.new.entities.compactMap { $0 }.flatMap { entity in
      try entity.entity.description.uniquenessConstraints.compactMap { names in
        let properties = names.compactMap { name in entity.entity.slot(name).map { entity.entity.properties[$0] } }
        return properties.count == names.count ? try conflict(over: properties, of: entity) : nil
      }
    }
  }

  /// The violations of one constraint; nil if there are none, or if they cannot be counted in advance. Values must be
  /// equal and not null in all properties of the constraint. The result has the number of rows, the key of the first
  /// row and an example.
  private func conflict(
    over properties: [ResolvedProperty], of entity: EntityLayout
  ) throws -> MigrationPlan.Conflict? {
    let movers = map.entities.filter { $0.new.entity.isKind(of: entity.entity) }
    guard !movers.isEmpty, !properties.isEmpty, !wereUnique(properties, in: movers) else { return nil }
    var columns = RowMigration.Columns()
    var rows: [String] = []
    for mover in movers {
      let migration = RowMigration(migration: mover, map: map, conversions: conversions, connection: connection)
      var terms: [String] = []
      for property in properties {
        // Values that are known only after all rows are migrated are not checked in advance.
        guard tells(mover, property), let term = try migration.expression(for: property, in: &columns) else {
          return nil
        }
        terms.append("\(term) AS v\(terms.count)")
      }
      rows.append(
        "SELECT Z_PK AS owner, \(terms.joined(separator: ", ")) FROM \(map.oldTable(mover.old.table)) "
          + "WHERE \(map.condition(mover.old))")
    }
    let names = properties.indices.map { "v\($0)" }, list = names.joined(separator: ", ")
    let present = names.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let statement = try connection.statement(
      """
      SELECT SUM(size), MIN(first), \(list) FROM (
        SELECT COUNT(*) AS size, MIN(owner) AS first, \(list) FROM (\(rows.joined(separator: " UNION ALL ")))
        WHERE \(present) GROUP BY \(list) HAVING COUNT(*) > 1)
      """)
    defer { statement.reset() }
    columns.bind(to: statement)
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return MigrationPlan.Conflict(
      entity: entity.entity.name, properties: properties.map(\.name), rowCount: Int(statement.integer(0)),
      firstKey: statement.integer(1),
      example: properties.enumerated().map { Self.text(of: $1, statement, Int32($0) + 2) }.joined(separator: ", "))
  }

  /// Whether a unique index of the old file already guarantees uniqueness. The types must be unchanged too, because a
  /// conversion can make different values equal.
  private func wereUnique(_ properties: [ResolvedProperty], in movers: [EntityMigration]) -> Bool {
    var common: Set<PropertyID>?
    for mover in movers {
      let origins = properties.compactMap { mover.origin(of: $0)?.property }
      guard origins.count == properties.count,
        zip(properties, origins).allSatisfy({ $0.attributeType == $1.attributeType }),
        mover.old.entity.uniquenessConstraints.contains(where: { Set($0) == Set(origins.map(\.slot)) }),
        common == nil || common == Set(origins.map(\.id))
      else { return false }
      common = Set(origins.map(\.id))
    }
    return true
  }

  /// For messages. Long strings are cut at 40 characters.
  private static func text(of property: ResolvedProperty, _ row: Statement, _ column: Int32) -> String {
    switch property.attributeType {
    case nil: return "row \(row.integer(column))"
    case .string, .uri:
      let text = row.text(column)
      return (text.count > 40 ? "\(text.prefix(40))…" : text).luaText
    case .boolean: return row.integer(column) != 0 ? "true" : "false"
    case .date: return ISODate.text(Date(timeIntervalSinceReferenceDate: row.double(column)))
    case .uuid, .binaryData, .transformable: return "the same bytes"
    default: return row.text(column)
    }
  }
}
