import MoonbaseSQL
import MoonbaseSQLite

/// The indexes and triggers of a migrated file. Indexes and triggers of the format follow the models. Further ones,
/// which another program added, stay if their table does.
struct SchemaObjects {
  /// An index or a trigger.
  struct Item: Hashable {
    var name: String
    var sql: String
  }

  private let old: [Item]
  private let new: [Item]

  init(old: SchemaWriter, new: SchemaWriter) {
    self.old = Self.items(of: old)
    self.new = Self.items(of: new)
  }

  private static func items(of writer: SchemaWriter) -> [Item] {
    (writer.indexStatements + DerivedTriggers(layout: writer.layout).statements).map {
      Item(name: name(in: $0), sql: $0)
    }
  }

  /// The name after INDEX or TRIGGER.
  private static func name(in sql: String) -> String {
    var rest = sql[...]
    for word in ["CREATE ", "UNIQUE ", "INDEX ", "TRIGGER "] where rest.hasPrefix(word) {
      rest = rest.dropFirst(word.count)
    }
    guard rest.first == "\"" else { return String(rest.prefix { $0 != " " }) }
    return String(rest.dropFirst().prefix { $0 != "\"" })
  }

  /// The indexes and triggers that others added to tables that are created again.
  func foreign(_ connection: Connection, on tables: Set<String>) throws -> [Item] {
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

  /// Creates missing items and removes items that only the old model requires.
  func write(_ connection: Connection, foreign: [Item]) throws {
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

  private func there(_ connection: Connection) throws -> [String: String] {
    let statement = try connection.statement("SELECT name, type FROM sqlite_master WHERE type IN ('index', 'trigger')")
    defer { statement.reset() }
    var result: [String: String] = [:]
    while try statement.step() { result[statement.text(0).lowercased()] = statement.text(1) }
    return result
  }
}
