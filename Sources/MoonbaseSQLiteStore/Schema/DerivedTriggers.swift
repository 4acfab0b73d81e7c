import MoonbaseModel
import MoonbaseSQL

/// The triggers that keep derived attributes of the form `relationship.@count` current, with Core Data's own SQL.
///
/// Only this form is known from real stores. Derivations of other forms get no trigger.
///
/// The triggers call a function (`TriggerFunctions`) that reports the changed rows, so that the store can refresh them
/// in memory. Created together with a new file, and again by a migration.
package struct DerivedTriggers {
  /// The layout of the file.
  let layout: StoreLayout

  /// Describes the triggers of a layout.
  package init(layout: StoreLayout) {
    self.layout = layout
  }

  /// The `CREATE TRIGGER` statements, in the order of entities and attributes.
  package var statements: [String] {
    layout.entities.compactMap { $0 }.flatMap { entity in
      entity.entity.description.attributes.flatMap { statements(for: $0, of: entity) }
    }
  }

  /// Empty for an attribute of another form, and for a many-to-many relationship.
  private func statements(for attribute: AttributeDescription, of entity: EntityLayout) -> [String] {
    let keys = attribute.derivationExpression?.split(separator: ".").map(String.init) ?? []
    guard keys.count == 2, keys[1] == "@count", let place = slot(attribute.name, of: entity),
      case .attribute(let column, _) = place, case .foreignKey(let toOne, let destination)? = slot(keys[0], of: entity),
      let source = layout.entities[destination]
    else { return [] }
    return Counter(
      table: entity.table, entity: entity.entity.name, attribute: attribute.name, column: column, source: source.table,
      key: toOne.column
    ).statements
  }

  /// The storage of a property by name.
  private func slot(_ name: String, of entity: EntityLayout) -> SlotLayout? {
    entity.entity.slot(name).map { entity.slots[$0] }
  }
}

/// The triggers of one count. The counted rows refer to the counting row by a key column.
///
/// For example, `tasks.@count` of a project: inserting, deleting or moving a task changes the count of its project.
private struct Counter {
  /// The table with the count.
  var table: String
  /// The entity with the count.
  var entity: String
  /// The attribute with the count.
  var attribute: String
  /// The column with the count.
  var column: String
  /// The table of the counted rows.
  var source: String
  /// The key column of the counted rows.
  var key: String

  /// Five triggers: four on the counted rows, and one that computes the count of a new row.
  var statements: [String] {
    let name = "Z_DA_\(source)_\(entity)_\(attribute)_PARAMETER"
    return [
      trigger("\(name)_INSERT", on: "INSERT", row: "NEW", value: "IFNULL(\(column), 0) + 1"),
      trigger("\(name)_UPDATE_INCREMENT", on: "UPDATE OF \(key)", row: "NEW", value: "\(column) + 1"),
      trigger("\(name)_UPDATE_DECREMENT", on: "UPDATE OF \(key)", row: "OLD", value: "\(column) - 1"),
      trigger("\(name)_DELETE", on: "DELETE", row: "OLD", value: "\(column) - 1"),
      "CREATE TRIGGER Z_DA_\(table)_\(entity)_\(attribute)_SOURCE_INSERT AFTER INSERT ON \(table) FOR EACH ROW BEGIN "
        + "UPDATE \(table) SET \(column) = (SELECT IFNULL(COUNT(\(key)), 0) FROM \(source) WHERE \(key) = NEW.Z_PK) "
        + "WHERE Z_PK = NEW.Z_PK; \(note("InsertUpdated", key: "NEW.Z_PK")) END",
    ]
  }

  /// `row` is `NEW` or `OLD`, `value` the new count.
  private func trigger(_ name: String, on event: String, row: String, value: String) -> String {
    "CREATE TRIGGER \(name) AFTER \(event) ON \(source) FOR EACH ROW WHEN (\(row).\(key) NOT NULL) BEGIN "
      + "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(key); \(note("Updated", key: "\(row).\(key)")) END"
  }

  /// The call that reports the changed row. `kind` is `Updated` or `InsertUpdated`.
  private func note(_ kind: String, key: String) -> String {
    "SELECT NSCoreDataDATrigger\(kind)AffectedObjectValue('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) "
      + "FROM \(table) WHERE Z_PK = \(key);"
  }
}
