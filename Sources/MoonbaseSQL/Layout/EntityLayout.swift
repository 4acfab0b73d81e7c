package import MoonbaseGraph
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
  /// Where the file lacks a column that the model wants: what says so when such a row is written. It can be read.
  package var lack: GraphError?
}
