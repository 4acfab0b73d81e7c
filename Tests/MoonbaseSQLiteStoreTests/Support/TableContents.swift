import MoonbasePlatform
import MoonbaseSQLite

/// The contents of all tables of a file as SQL literals.
struct TableContents: Equatable {
  /// The columns of a table, and its rows by their number.
  struct Table: Equatable {
    var columns: [String]
    var rows: [Int64: [String]]
  }

  private(set) var tables: [String: Table] = [:]

  private static func names(_ raw: RawDatabase, without skipped: Set<String>) throws -> [String] {
    try raw.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name")
      .filter { !skipped.contains($0) }
  }

  /// The contents as a text per table, which is fast to make and compare.
  static func text(_ raw: RawDatabase, without skipped: Set<String> = []) throws -> [String] {
    try names(raw, without: skipped).map { name in
      let columns = try raw.rows("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('\(name)')")
      return try name + " "
        + (raw.value("SELECT group_concat(rowid || \(columns.joined(separator: " || "))) FROM \"\(name)\"") ?? "")
    }
  }

  init(_ raw: RawDatabase, without skipped: Set<String> = []) throws {
    for name in try Self.names(raw, without: skipped) {
      let columns = try raw.rows("SELECT name FROM pragma_table_info('\(name)')")
      let statement = try raw.connection.statement(
        "SELECT rowid, \(columns.map { "quote(\"\($0)\")" }.joined(separator: ", ")) FROM \"\(name)\"")
      defer { statement.reset() }
      var rows: [Int64: [String]] = [:]
      while try statement.step() {
        rows[statement.integer(0)] = columns.indices.map { statement.text(Int32($0 + 1)) }
      }
      tables[name] = Table(columns: columns, rows: rows)
    }
  }

  /// The differences: `TABLE NUMBER COLUMN: old -> new`, and inserted or deleted rows without their columns.
  func changes(since old: TableContents) -> [String] {
    Set(tables.keys).union(old.tables.keys).sorted().flatMap { name -> [String] in
      guard let now = tables[name], let before = old.tables[name] else { return ["\(name) came or went"] }
      guard now.columns == before.columns else { return ["\(name) has other columns"] }
      return Set(now.rows.keys).union(before.rows.keys).sorted().flatMap { number -> [String] in
        guard let row = now.rows[number] else { return ["\(name) \(number) went"] }
        guard let old = before.rows[number] else { return ["\(name) \(number) came"] }
        return zip(now.columns, zip(old, row)).filter { $1.0 != $1.1 }
          .map { "\(name) \(number) \($0): \($1.0) -> \($1.1)" }
      }
    }
  }
}
