import MoonbaseModel

/// An entity's place in the file.
struct EntityLayout: Sendable {
  let entity: ResolvedEntity
  /// `Z_ENT`.
  let number: Int64
  /// The table of the topmost ancestor.
  let table: String
  /// Where each property lies, by slot.
  var slots: [SlotLayout]
  /// Columns that the model wants and the file lacks: such rows can be read, not written.
  var missingColumns: [String] = []
}
