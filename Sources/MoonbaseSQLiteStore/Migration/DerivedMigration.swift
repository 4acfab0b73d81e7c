import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Derives attributes anew when all rows are there: new ones have no value yet, and others may count objects that are gone.
struct DerivedMigration {
  let layout: StoreLayout
  let connection: Connection

  /// What is derived from derived values needs another round; in a circle it stays as the last one left it.
  private static let greatestRounds = 20

  func run() throws {
    let updates = try layout.entities.compactMap { $0 }.flatMap(statements)
    guard !updates.isEmpty else { return }
    try PredicateFunctions.register(on: connection)
    for _ in 0..<Self.greatestRounds {
      var changes = 0
      for update in updates {
        try connection.execute(update)
        changes += connection.changes
      }
      if changes == 0 { return }
    }
  }

  /// The time of a save is no matter of a migration.
  private func statements(of entity: EntityLayout) throws -> [String] {
    let table = identifier(entity.table)
    return layout.model.storedDerivations(of: entity.entity).compactMap { derivation in
      let property = entity.entity.properties[derivation.slot]
      guard property.declaringEntity == entity.entity.index,
        case .attribute(let column, _) = entity.slots[derivation.slot]
      else { return nil }
      if case .now = derivation.result { return nil }
      // What a store cannot derive the model's checks warn of.
      guard
        let select = try? derivation.select(
          of: entity, keys: "SELECT Z_PK FROM \(table)", layout: layout, dialect: .sqlite)
      else { return nil }
      let name = identifier(column)
      return
        "UPDATE \(table) SET \(name) = d.v FROM (\(select.text)) d WHERE \(table).Z_PK = d.pk AND \(table).\(name) IS NOT d.v"
    }
  }
}
