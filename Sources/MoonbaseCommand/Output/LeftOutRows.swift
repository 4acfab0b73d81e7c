import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// The rows of a store that a copy of all its objects leaves out, because their entity is not in the model.
///
/// `moonbase copy` and `moonbase export --all` report such rows, so that a user does not miss them
/// later.
struct LeftOutRows {
  /// The rows by table and entity number.
  private var rows: [StrayRows] = []

  /// Creates an empty list, for a copy of some objects.
  init() {}

  /// Finds the rows. A store in memory has none.
  init(of store: any PersistentStore) throws {
    #if PostgreSQL
      if let store = store as? PostgreSQLStore { rows = try store.strayRows() }
    #endif
    if let store = store as? SQLiteStore { rows = try store.strayRows() }
  }

  /// Whether nothing was left out.
  var isEmpty: Bool { rows.isEmpty }

  /// Reports on standard error which rows were left out. `done` is the verb, such as copied or written.
  func tell(_ done: String) {
    for part in rows {
      let (rows, have, they) = part.count == 1 ? ("row", "has", "it was") : ("rows", "have", "they were")
      Terminal.complain(
        "moonbase: \(part.count) \(rows) of \(part.table) \(have) Z_ENT \(part.number ?? "NULL"), which is no entity of "
          + "the model with objects there: \(they) not \(done); moonbase doctor lists such rows")
    }
  }

  /// The counts for reports in JSON.
  var report: Value {
    .list(
      rows.map {
        .map(["table": .string($0.table), "entity": .text($0.number), "rows": .count($0.count)])
      })
  }
}
