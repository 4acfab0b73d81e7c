package import MoonbaseModel

/// An entity's place in the file.
package struct EntityLayout: Sendable {
  package let entity: ResolvedEntity
  /// `Z_ENT`.
  package let number: Int64
  /// The table of the topmost ancestor.
  package let table: String
  /// Where each property lies, by slot.
  package var slots: [SlotLayout]
  /// The to-one relationships beside which a column says of which entity the destination is, or should.
  package var polymorphicSlots: Set<Slot>
}
