import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Reads the columns that a query selects instead of rows.
struct ValueReader: Sendable {
  private let forms: [ColumnSelect.Form]
  private let query: StoreQuery
  private let externalData: ExternalData
  private let path: String
  private let table: String
  private let store: StoreNumber

  init(_ select: PreparedSelect, query: StoreQuery, in store: SQLiteStore) {
    forms = select.forms
    self.query = query
    externalData = store.externalData
    path = store.file.path
    table = select.plan.select.table
    self.store = store.number
  }

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
