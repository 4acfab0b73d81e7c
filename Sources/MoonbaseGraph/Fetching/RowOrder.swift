import MoonbaseModel
import MoonbasePlatform

import struct MoonbaseModel.SortDescriptor

/// The order of the rows of a dictionary result, if they are sorted by aggregates or computed columns.
///
/// The rows are sorted in memory after all have been read. Columns that are only sorted by are appended to the rows,
/// and removed before the result is returned.
struct RowOrder {
  /// The request's sort descriptors.
  private let sort: [SortDescriptor]
  /// For each sort descriptor, the name of its column.
  private let names: [String]
  /// The hidden columns by which the rows are sorted.
  let hiddenColumns: [FetchColumn]

  /// Returns nil if the objects are sorted, or if there is no order. `shown` are the visible columns.
  init?(_ request: FetchRequest, shown: [FetchColumn]) {
    guard request.sortsRows else { return nil }
    var hidden: [FetchColumn] = []
    names = request.sortDescriptors.map { key in
      let column = request.column(of: key, shown: shown)
      if shown.contains(column) { return column.name }
      // Names of ordinary columns never begin with a null character.
      hidden.append(FetchColumn("\u{0}sort \(hidden.count)", expression: column.expression))
      return hidden[hidden.count - 1].name
    }
    sort = request.sortDescriptors
    hiddenColumns = hidden
  }

  /// The rows in order; the sort is stable. `columns` has the names of the values in each row. Sort keys are prepared
  /// once for each row.
  func sorted(_ rows: [[Value]], columns: [String]) throws -> [[Value]] {
    let keys = Array(zip(sort, names.map { name in columns.lastIndex(of: name) ?? 0 }))
    let ranks = try rows.map { row in try keys.map { key, place in try key.prepared(row[place]) } }
    return try rows.indices.sorted { left, right in
      try HostWork.charge()
      for (position, key) in sort.enumerated() {
        let order = key.order(ranks[left][position], ranks[right][position])
        if order != .same { return order == .ascending }
      }
      return left < right
    }.map { rows[$0] }
  }
}
