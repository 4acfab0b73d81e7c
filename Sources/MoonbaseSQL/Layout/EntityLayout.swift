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
  /// Columns that the model wants and the file lacks: such rows can be read, not written.
  package var missingColumns: [String] = []
}
