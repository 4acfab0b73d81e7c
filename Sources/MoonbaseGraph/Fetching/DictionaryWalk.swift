import MoonbaseModel
import MoonbasePlatform

/// Iterates over the rows of a dictionary result, without the rows that `havingPredicate`, the window and removal of
/// duplicates leave out.
///
/// Owns the view of the fetch, which ends with the walk. Used by iterators and cursors over dictionaries.
final class DictionaryWalk {
  /// The rows without selection.
  private let rows: DictionaryRows
  /// The names of all columns.
  private let names: [String]
  /// Computes the next rows.
  private let steps: DictionaryRows.Steps
  /// Applies limit, offset and distinct results.
  private var window: RowWindow
  /// Whether no further row follows.
  private var isOver: Bool

  /// The view ends at once if preparing fails.
  init(_ rows: DictionaryRows) throws {
    self.rows = rows
    names = rows.columns.map(\.name)
    window = RowWindow(rows.request, isDistinct: rows.leavesOutEqualRows)
    isOver = window.isClosed
    do { steps = isOver ? { _ in false } : try rows.steps() } catch {
      rows.plan.view.end()
      throw error
    }
  }

  deinit { rows.plan.view.end() }

  /// Passes further rows to `body` as they are computed. Returns whether more rows may follow. At most a batch of rows.
  /// An error of `body` ends the walk.
  func step(_ body: ([Value]) throws -> Void) throws -> Bool {
    guard !isOver else { return false }
    // An error ends the walk.
    isOver = true
    isOver = try !steps { row in
      try HostWork.charge(row.count)
      if rows.judgesRows, let condition = rows.condition, try !condition.holds(names, values: row) { return true }
      let shown = row.count == rows.names.count ? row : Array(row.prefix(rows.names.count))
      if try window.admits(shown) { try body(shown) }
      return !window.isClosed
    }
    if isOver { rows.plan.view.end() }
    return !isOver
  }

  /// The next rows; nil at the end. Nulls are left out of the dictionaries.
  func next() throws -> [[String: Value]]? {
    var found: [[String: Value]] = []
    while found.isEmpty {
      let goesOn = try step { found.append(rows.dictionary($0)) }
      if !goesOn { break }
    }
    return found.isEmpty ? nil : found
  }
}

/// Selects the rows of a result: without duplicates, from an offset up to a limit.
///
/// Rows are counted in the order in which they come.
private struct RowWindow: ~Copyable {
  /// Whether duplicates are left out.
  private let isDistinct: Bool
  /// The rows that are still to be skipped.
  private var skipped: Int
  /// The rows that are still wanted.
  private var left: Int
  /// The rows so far, if duplicates are left out.
  private var seen: Set<[Value]> = []
  /// Charges the kept rows.
  private var memory = HostMemory()

  /// A limit of 0 means no limit.
  init(_ request: FetchRequest, isDistinct: Bool) {
    self.isDistinct = isDistinct
    skipped = request.fetchOffset
    left = request.fetchLimit > 0 ? request.fetchLimit : .max
  }

  /// Whether no further row is in the window.
  var isClosed: Bool { left == 0 }

  /// Whether a row belongs to the result; advances the window. Throws for values that cannot be compared.
  mutating func admits(_ row: [Value]) throws -> Bool {
    if isDistinct {
      for value in row { try value.checkComparable() }
      guard seen.insert(row).inserted else { return false }
      try memory.hold(row.reduce(48) { $0 + 24 + $1.weight })
    }
    if skipped > 0 {
      skipped -= 1
      return false
    }
    guard left > 0 else { return false }
    left -= 1
    return true
  }
}
