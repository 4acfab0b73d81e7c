import MoonbaseModel
import MoonbaseSQL

/// The triggers that keep derived attributes of the form `relationship.@count` current, with Core Data's own SQL.
///
/// Only this form is known from real stores. Derivations of other forms get no trigger.
struct DerivedTriggers {
  let layout: StoreLayout

  var statements: [String] {
    layout.entities.compactMap { $0 }.flatMap { entity in
      entity.entity.description.attributes.flatMap { statements(for: $0, of: entity) }
    }
  }

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

  private func slot(_ name: String, of entity: EntityLayout) -> SlotLayout? {
    entity.entity.slot(name).map { entity.slots[$0] }
  }
}

/// The triggers of one count. The counted rows refer to the counting row by a key column.
private struct Counter {
  var table: String
  var entity: String
  var attribute: String
  var column: String
  var source: String
  var key: String

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

  private func trigger(_ name: String, on event: String, row: String, value: String) -> String {
    "CREATE TRIGGER \(name) AFTER \(event) ON \(source) FOR EACH ROW WHEN (\(row).\(key) NOT NULL) BEGIN "
      + "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(key); \(note("Updated", key: "\(row).\(key)")) END"
  }

  private func note(_ kind: String, key: String) -> String {
    "SELECT NSCoreDataDATrigger\(kind)AffectedObjectValue('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) "
      + "FROM \(table) WHERE Z_PK = \(key);"
  }
}
