import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Derives attributes anew when all rows are there: new ones have no value yet, and others may count objects that are gone.
struct DerivedMigration {
  let layout: StoreLayout
  let connection: Connection

  func run() throws {
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

  /// When objects were written last is no matter of a migration.
  private func statements(of entity: EntityLayout) -> [String] {
    layout.model.storedDerivations(of: entity.entity).compactMap { derivation in
      if case .now = derivation.result { return nil }
      return derivation.update(
        of: entity, keys: "SELECT Z_PK FROM \(identifier(entity.table))", layout: layout, dialect: .sqlite)
    }
  }
}
