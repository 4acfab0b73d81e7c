import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Finds the tables and columns of an open store that another program removed. SQLite's own errors name only parts of
/// SQL.
///
/// Made only after a statement failed, because reading the schema takes time. The message says which table or column is
/// missing, and which property it contained.
struct ChangedTables {
  /// The tables and columns that the store had when it was opened.
  private let layout: StoreLayout
  /// The tables and columns of the file now.
  private let file: FileSchema
  /// The path of the store, for messages.
  private let path: String

  /// Reads the schema of the file anew.
  init(_ connection: Connection, layout: StoreLayout, path: String) throws {
    self.layout = layout
    self.path = path
    file = try FileSchema(connection, path: path)
  }

  /// Whether missing tables or columns may be the cause of SQLite's error. Judged by the text of SQLite's message,
  /// since it has no code for a missing column.
  static func mayExplain(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError, error.code.primary == .error else { return false }
    return ["no such table", "no such column", "has no column named"].contains { error.message.contains($0) }
  }

  /// The error that names the missing table or column. Nil where none is missing. The code is `.storeFailure`.
  func error(causedBy cause: (any Error)? = nil) -> GraphError? {
    for case let entity? in layout.entities {
      guard let (loss, property) = loss(of: entity) else { continue }
      return GraphError(
        .storeFailure,
        message:
          "\(path): another program changed the tables of the store while it was open: \(loss); undo that, or close the "
          + "store and open it with a model that fits",
        entity: entity.entity.name, property: property, underlying: cause)
    }
    return nil
  }

  /// The description of the first missing part, with the property it belongs to.
  private func loss(of entity: EntityLayout) -> (String, String?)? {
    let name = entity.entity.name
    guard file.has(entity.table) else { return ("table \(entity.table), which holds \(name), is gone", nil) }
    for property in entity.entity.properties where property.slot < entity.slots.count {
      for (table, column) in places(of: entity.slots[property.slot], table: entity.table)
      where !file.has(column, in: table) {
        return ("table \(table) has no column \(column) any more, which holds \(name).\(property.name)", property.name)
      }
    }
    for column in ["Z_PK", "Z_ENT", "Z_OPT"] where !file.has(column, in: entity.table) {
      return ("table \(entity.table) of \(name) has no column \(column) any more", nil)
    }
    return nil
  }

  /// The tables and columns of a property's values.
  private func places(of slot: SlotLayout, table: String) -> [(table: String, column: String)] {
    switch slot {
    case .none, .foreignKey, .lost: []
    case .attribute(let column, _): [(table, column)]
    case .composite(let composite): composite.leaves.map { (table, $0.column) }
    case .toOne(let toOne):
      [toOne.column, toOne.entityColumn, toOne.orderColumn].compactMap { $0.map { (table, $0) } }
    case .join(let join):
      [join.ownerColumn, join.destinationColumn, join.orderColumn].compactMap { $0.map { (join.table, $0) } }
    }
  }
}
