package import MoonbaseModel

/// The place of an entity in the file.
///
/// Rows of an entity and of its subentities share the table of the root entity; `Z_ENT` tells them apart.
package struct EntityLayout: Sendable {
  /// The entity in the store's model.
  package let entity: ResolvedEntity
  /// `Z_ENT`. The number of the entity in the file, from 1, in the order of names (`Z_PRIMARYKEY`). Numbers may change
  /// in a migration.
  package let number: Int64
  /// The table of the topmost ancestor.
  package let table: String
  /// The place of each property, by slot. Slots of inherited properties come first.
  package var slots: [SlotLayout]
  /// The to-one relationships whose destination's entity number has a column, or should have one.
  package var polymorphicSlots: Set<Slot>
}
