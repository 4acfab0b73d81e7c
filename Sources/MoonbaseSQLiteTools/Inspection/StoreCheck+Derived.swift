import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The check of derived attributes.
extension StoreCheck {
  /// The attributes of an entity whose values `checkDerivations` compares, by slot. `checkRows` leaves mismatches of
  /// these attributes to that check, which can repair them.
  func derivedSlots(of entity: EntityLayout) -> Set<Slot> {
    Set(
      layout.model.storedDerivations(of: entity.entity).compactMap { derivation in
        if case .now = derivation.result { return nil }
        guard let declaring = layout.entities[entity.entity.properties[derivation.slot].declaringEntity],
          derivation.differences(of: declaring, layout: layout, dialect: .sqlite) != nil
        else { return nil }
        return derivation.slot
      })
  }

  /// Finds stored derived values that differ from the result of their derivation. Attributes with the time of the last
  /// save cannot be compared.
  func checkDerivations(of entity: EntityLayout) throws {
    for derivation in layout.model.storedDerivations(of: entity.entity) {
      if case .now = derivation.result { continue }
      guard let differences = derivation.differences(of: entity, layout: layout, dialect: .sqlite) else { continue }
      let attribute = entity.entity.properties[derivation.slot]
      let statement = try connection.statement(differences)
      defer { statement.reset() }
      while try statement.step() {
        try HostWork.charge(2)
        func shown(_ column: Int32) -> String { statement.isNull(column) ? "nothing" : statement.text(column) }
        try tellDerived(
          attribute, holds: shown(1), gives: shown(2), fits: statement.integer(3) != 0,
          of: id(StatementRow(statement), entity), entity)
      }
    }
  }
}
