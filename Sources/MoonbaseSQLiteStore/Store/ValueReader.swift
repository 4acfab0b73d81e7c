import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Reads the columns that a query selects instead of rows.
///
/// Made for a prepared query and used for all its rows; immutable. Unlike `RowPlan` it throws at once for a damaged
/// value, since a dictionary has no values that throw later.
struct ValueReader: Sendable {
  /// The form of each column.
  private let forms: [ColumnSelect.Form]
  /// The query, for messages.
  private let query: StoreQuery
  /// Decodes large values.
  private let externalData: ExternalData
  /// The path of the store, for messages.
  private let path: String
  /// The table, for messages.
  private let table: String
  /// The store in object IDs.
  private let store: StoreNumber

  /// Copies the parts that decoding needs.
  init(_ select: PreparedSelect, query: StoreQuery, in store: SQLiteStore) {
    forms = select.forms
    self.query = query
    externalData = store.externalData
    path = store.file.path
    table = select.plan.select.table
    self.store = store.number
  }

  /// Up to a number of rows or bytes. Returns whether there may be more rows.
  func collect(
    _ statement: Statement, into rows: RowCollector, limit: Int = .max, weight: Int = .max
  ) throws -> Bool {
    try rows.collect(statement, limit: limit, weight: weight) {
      let page = rows.page(for: query.entity.symbol, slotCount: forms.count)
      page.beginRow(key: 0, version: 0)
      for (place, form) in forms.enumerated() { try read(form, of: statement, at: place, into: page) }
      page.endRow()
    }
  }

  /// A computed number may be an integer or a double in each row.
  @inline(__always)
  private func read(
    _ form: ColumnSelect.Form, of row: Statement, at place: Int, into page: RowPageBuilder
  ) throws {
    let column = Int32(place)
    switch form {
    case .stored(let kind):
      do {
        try ColumnDecoder.read(kind, of: row, column: column, external: externalData, into: page, slot: place)
      } catch {
        throw damage(place, of: row, error)
      }
    case .number:
      switch row.storage(column) {
      case .integer: page.set(integer: row.integer(column), slot: place)
      case .real: page.set(double: row.double(column), slot: place)
      case .null, .text, .blob: break
      }
    }
  }

  /// Names the row if the statement selects its key; a grouped row has none.
  private func damage(_ place: Int, of row: Statement, _ mismatch: ColumnMismatch) -> GraphError {
    let keys = query.columns?.columns[place].keyPath ?? []
    let name = keys.joined(separator: ".")
    // The key of the object follows the selected columns, unless there are several.
    let key = row.columnCount > forms.count ? row.integer(Int32(forms.count)) : nil
    let which = key.map { "row \($0)\(keys.count > 1 ? ", or what it leads to" : "")" } ?? "a row of a group"
    let isSure = keys.count == 1 && !query.entity.hasSubentities
    return GraphError(
      .invalidStore,
      message:
        "\(path) is damaged: table \(table), \(which): \(query.entity.name).\(name) \(mismatch.description); put it right, or set it to NULL",
      entity: query.entity.name, property: name,
      objectID: isSure ? key.map { ManagedObjectID(store: store, entity: query.entity.symbol, key: $0) } : nil)
  }
}
