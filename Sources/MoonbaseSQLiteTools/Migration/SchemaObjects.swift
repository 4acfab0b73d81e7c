import MoonbaseSQL
package import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// The indexes and triggers of a migrated file. Indexes and triggers of the format follow the models. Further ones,
/// which another program added, stay if their table does.
///
/// Two models may require the same index with the same SQL; it is then dropped only together with its table. Names are
/// compared without letter case, as SQLite does.
package struct SchemaObjects {
  /// An index or a trigger.
  package struct Item: Hashable {
    /// The name, unquoted and in the case of the statement.
    var name: String
    /// The whole `CREATE` statement.
    var sql: String
  }

  /// The indexes and triggers of the old model.
  private let old: [Item]
  /// The indexes and triggers of the new model.
  private let new: [Item]

  /// Reads only the layouts, not the file.
  package init(old: SchemaWriter, new: SchemaWriter) {
    self.old = Self.items(of: old)
    self.new = Self.items(of: new)
  }

  /// The indexes of the writer, followed by the triggers of counts.
  private static func items(of writer: SchemaWriter) -> [Item] {
    (writer.indexStatements + DerivedTriggers(layout: writer.layout).statements).map {
      Item(name: name(in: $0), sql: $0)
    }
  }

  /// The name after INDEX or TRIGGER. The name may be quoted: `CREATE UNIQUE INDEX "a b" ON …` gives `a b`.
  private static func name(in sql: String) -> String {
    var rest = sql[...]
    for word in ["CREATE ", "UNIQUE ", "INDEX ", "TRIGGER "] where rest.hasPrefix(word) {
      rest = rest.dropFirst(word.count)
    }
    guard rest.first == "\"" else { return String(rest.prefix { $0 != " " }) }
    return String(rest.dropFirst().prefix { $0 != "\"" })
  }

  /// The indexes and triggers that others added to tables that are created again. SQLite drops them together with the
  /// old table, so their SQL must be read before.
  package func foreign(_ connection: Connection, on tables: Set<String>) throws -> [Item] {
    let own = Set((old + new).map { $0.name.lowercased() })
    let names = Set(tables.map { $0.lowercased() })
    let statement = try connection.statement(
      "SELECT name, tbl_name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL")
    defer { statement.reset() }
    var result: [Item] = []
    while try statement.step() {
      guard names.contains(statement.text(1).lowercased()), !own.contains(statement.text(0).lowercased()) else {
        continue
      }
      result.append(Item(name: statement.text(0), sql: statement.text(2)))
    }
    return result
  }

  /// Creates missing items and removes items that only the old model requires. Runs after all rows are moved, because
  /// filling an index once is faster, and because unique indexes check the rows then. Throws a `SQLiteError` for rows
  /// that violate one.
  package func write(_ connection: Connection, foreign: [Item]) throws {
    var there = try self.there(connection)
    let wanted = Set(new)
    for item in old where !wanted.contains(item) {
      guard let kind = there.removeValue(forKey: item.name.lowercased()) else { continue }
      try connection.execute("DROP \(kind.uppercased()) \(identifier(item.name))")
    }
    for item in new where there[item.name.lowercased()] == nil { try connection.execute(item.sql) }
    for item in foreign {
      // An index of a removed column, or a trigger of a removed table, is dropped.
      do { try connection.execute(item.sql) } catch let error as SQLiteError where error.code.primary == .error {}
    }
  }

  /// The kinds (`index` or `trigger`) of the existing items by lowercase names.
  private func there(_ connection: Connection) throws -> [String: String] {
    let statement = try connection.statement("SELECT name, type FROM sqlite_master WHERE type IN ('index', 'trigger')")
    defer { statement.reset() }
    var result: [String: String] = [:]
    while try statement.step() { result[statement.text(0).lowercased()] = statement.text(1) }
    return result
  }
}
