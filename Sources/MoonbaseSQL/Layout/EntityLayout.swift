package import MoonbaseModel

/// The place of an entity in the file.
package struct EntityLayout: Sendable {
  package let entity: ResolvedEntity
  /// `Z_ENT`.
  package let number: Int64
  /// The table of the topmost ancestor.
  package let table: String
  /// The place of each property, by slot.
  package var slots: [SlotLayout]
  /// The to-one relationships whose destination's entity number has a column, or should have one.
  package var polymorphicSlots: Set<Slot>
}
