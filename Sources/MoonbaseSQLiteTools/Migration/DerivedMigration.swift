import MoonbaseGraph
import MoonbaseModel
package import MoonbaseSQL
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Computes derived attributes after all rows are migrated: new ones have no value yet, and others may depend on
/// removed objects.
///
/// Values that do not fit their type are not written.
///
/// Several rounds run until nothing changes, since derived attributes may depend on each other; a cycle ends after
/// `StoredDerivation.greatestRounds`.
package struct DerivedMigration {
  /// The new layout.
  let layout: StoreLayout
  /// The connection of the migration's transaction.
  let connection: Connection

  /// Computes the values of a layout's derived attributes in a file.
  package init(layout: StoreLayout, connection: Connection) { (self.layout, self.connection) = (layout, connection) }

  /// Computes the attributes. Throws `.invalidStore` for the first row whose derived value does not fit its type. The
  /// attributes were computed before, so a misfit is a value that could not be written.
  func run(onStoreAt path: String) throws {
    try run()
    for entity in layout.entities.compactMap(\.self) {
      for derivation in layout.model.storedDerivations(of: entity.entity) {
        if case .now = derivation.result { continue }
        guard let misfits = derivation.misfits(of: entity, layout: layout, dialect: .sqlite) else { continue }
        let statement = try connection.statement(misfits)
        defer { statement.reset() }
        guard try statement.step() else { continue }
        let attribute = entity.entity.properties[derivation.slot]
        let expression = attribute.attribute?.derivationExpression ?? ""
        throw GraphError(
          .invalidStore,
          message:
            "\(path) was not migrated: table \(entity.table), row \(statement.text(0)): \(entity.entity.name).\(attribute.name) "
            + "would be derived (\(expression)) to \(statement.text(1)), which is \(attribute.derivedMisfitAdvice ?? "no value of it")",
          entity: entity.entity.name, property: attribute.name)
      }
    }
  }

  /// Computes the attributes of all rows. Values that do not fit are left as they are.
  package func run() throws {
    let updates = layout.entities.compactMap { $0 }.flatMap(statements)
    guard !updates.isEmpty else { return }
    try PredicateFunctions.register(on: connection)
    for _ in 0..<StoredDerivation.greatestRounds {
      var changes = 0
      for update in updates {
        try connection.execute(update)
        changes += connection.changes
      }
      if changes == 0 { return }
    }
  }

  /// The update statements of an entity. Attributes with the time of the last save are left unchanged. Nil entries are
  /// attributes that tables of the file cannot compute.
  private func statements(of entity: EntityLayout) -> [String] {
    layout.model.storedDerivations(of: entity.entity).compactMap { derivation in
      if case .now = derivation.result { return nil }
      return derivation.update(
        of: entity, keys: "SELECT Z_PK FROM \(identifier(entity.table))", fitting: true, layout: layout,
        dialect: .sqlite)
    }
  }
}
