import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL
import MoonbaseSQLiteStore

/// Decides which tables are created again, and which stay because nothing in them changes.
///
/// A table stays if its entities, their numbers, its columns and the meaning of all values stay. Adding an optional
/// attribute already changes the columns, so the whole table is made again. Pair tables are decided on their own.
package struct TableChanges {
  /// The tables of both files that stay.
  private(set) var kept: Set<String> = []
  /// The tables of the old file whose rows are moved to new tables or removed.
  private(set) var oldTables: Set<String> = []

  /// With `keepsTables` set to false, no table stays.
  init(_ map: MigrationMap, keepsTables: Bool = true) {
    let old = Set(map.old.entities.compactMap { $0?.table }), new = map.new.tables.map(\.name)
    guard keepsTables else {
      oldTables = old.union(map.old.joins.map(\.table))
      return
    }
    for table in new where old.contains(table) && Self.isSame(table, map) { kept.insert(table) }
    for join in map.new.joins where Self.isSame(join, map) { kept.insert(join.table) }
    oldTables = old.union(map.old.joins.map(\.table)).subtracting(kept)
  }

  /// Whether a table of objects stays as it is. Compares numbers, columns and the origins of all properties.
  private static func isSame(_ table: String, _ map: MigrationMap) -> Bool {
    let (old, new) = (
      map.old.entities.compactMap { $0 }.filter { $0.table == table }, map.entities.filter { $0.new.table == table }
    )
    let entities = map.new.entities.compactMap { $0 }.filter { $0.table == table }
    guard map.old.entities.compactMap({ $0 }).filter({ $0.table == table && !$0.entity.isAbstract }).count == new.count,
      entities.map(\.number) == old.map(\.number), Set(columns(old)) == Set(columns(entities))
    else { return false }
    return new.allSatisfy { migration in
      migration.old.table == table && migration.old.number == migration.new.number
        && migration.new.entity.properties.allSatisfy { $0.isTransient || isSame($0, migration, map) }
    }
  }

  /// The columns of entities, with the kinds of their values. As text, because only equality matters.
  private static func columns(_ entities: [EntityLayout]) -> [String] {
    entities.flatMap { entity in
      entity.slots.flatMap { slot -> [String] in
        switch slot {
        case .attribute(let column, let kind): ["\(column) \(kind)"]
        case .composite(let composite): composite.leaves.map { "\($0.column) \($0.kind)" }
        case .toOne(let toOne): [toOne.column, toOne.entityColumn, toOne.orderColumn].compactMap(\.self)
        case .none, .foreignKey, .join, .lost: []
        }
      }
    }
  }

  /// Whether the column of a property stays as it is. Relationships without a column here do not count.
  private static func isSame(_ property: ResolvedProperty, _ migration: EntityMigration, _ map: MigrationMap) -> Bool {
    let now = migration.new.slots[property.slot]
    switch now {
    case .none, .foreignKey, .join, .lost: return true
    case .composite:
      guard let kept = CompositeMigration(property, of: migration), kept.isSame else { return false }
      return property.isOptional || !kept.property.isOptional || property.attribute?.defaultValue.isNull ?? true
    case .attribute(let column, let kind):
      guard case .attribute(column, let before)? = migration.origin(of: property)?.slot, kind == before,
        let old = migration.origin(of: property)?.property.attribute, let new = property.attribute
      else { return false }
      // A newly required attribute may get its default value.
      return old.type == new.type && (new.isOptional || !old.isOptional || new.defaultValue.isNull)
    case .toOne(let toOne):
      guard let before = map.isCopied(property, of: migration), before.column == toOne.column,
        before.entityColumn == toOne.entityColumn, before.orderColumn == toOne.orderColumn
      else { return false }
      return map.destinationNumbers(from: before.destination, to: toOne.destination).allSatisfy { $0.old == $0.new }
    }
  }

  /// Whether a link table stays as it is. Links must have the same columns and ends, and neither end may be a removed
  /// entity.
  private static func isSame(_ join: JoinLayout, _ map: MigrationMap) -> Bool {
    for (entity, property) in map.new.keptProperties {
      guard case .join(let found) = entity.slots[property.slot], found.table == join.table,
        found.ownerColumn == join.ownerColumn
      else { continue }
      let movers = map.entities.filter { $0.new.entity.isKind(of: entity.entity) }
      return !movers.isEmpty && movers.allSatisfy { isSame(join, as: $0.origin(of: property), of: entity, map) }
    }
    return false
  }

  /// Compares the table with its origin for one entity.
  private static func isSame(
    _ join: JoinLayout, as origin: (property: ResolvedProperty, slot: SlotLayout)?, of entity: EntityLayout,
    _ map: MigrationMap
  ) -> Bool {
    guard let origin, case .join(let before) = origin.slot, before.table == join.table, !before.mayRepeat else {
      return false
    }
    // Links of removed objects must be removed too.
    let ends = [(before.destination, join.destination), (origin.property.declaringEntity, entity.entity.index)]
    guard ends.allSatisfy({ map.destinationNumbers(from: $0.0, to: $0.1).allSatisfy { $0.new != nil } }) else {
      return false
    }
    return before.ownerColumn == join.ownerColumn && before.destinationColumn == join.destinationColumn
      && before.orderColumn == join.orderColumn && before.isReflexive == join.isReflexive
      && other(origin.property, map.old) == other(join, map.new)
  }

  /// The column with the positions in the inverse's lists. Nil for an inverse without positions.
  private static func other(_ property: ResolvedProperty, _ layout: StoreLayout) -> String? {
    guard let inverse = layout.inverse(of: property), case .join(let side) = inverse.entity.slots[inverse.property.slot]
    else { return nil }
    return side.orderColumn
  }

  /// Like the function above, but for a table of the new layout.
  private static func other(_ join: JoinLayout, _ layout: StoreLayout) -> String? {
    for (entity, property) in layout.keptProperties {
      if case .join(let side) = entity.slots[property.slot], side.table == join.table,
        side.ownerColumn == join.ownerColumn
      {
        return other(property, layout)
      }
    }
    return nil
  }
}
