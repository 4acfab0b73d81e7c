import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Shows a list of plain tables with text keys, such as the result of `dictionaries`, as rows of a table.
///
/// The columns are the keys of all rows. The prompt and the page of `moonbase inspect` use it.
struct LuaRowTable {
  /// The maximum number of columns.
  private static let greatestColumns = 50

  /// The names of the columns in alphabetical order.
  let names: [String]
  /// The values of the shown rows.
  let rows: [[Value]]
  /// The number of all rows.
  let total: Int

  /// Reads the first rows. Returns nil for other lists, and for a list of a single table.
  ///
  /// - Parameters:
  ///   - table: The list.
  ///   - most: The maximum number of rows to read.
  ///   - domain: The Lua state of the list.
  ///   - width: The number of columns for nested values.
  init?(_ table: LuaTable, most: Int, in domain: ScriptDomain, width: Int) throws {
    total = try table.count
    guard total > 1, try table.size == total else { return nil }
    var fields: [[String: Value]] = []
    for index in 1...min(total, most) {
      try HostWork.charge()
      guard case .table(let row) = try table.get(index), let row = try Self.fields(of: row, in: domain, width) else {
        return nil
      }
      fields.append(row)
    }
    let names = Set(fields.flatMap(\.keys)).sorted()
    guard names.count <= Self.greatestColumns else { return nil }
    self.names = names
    rows = fields.map { row in names.map { row[$0] ?? .null } }
  }

  /// Returns nil if the table is not a row.
  ///
  /// The fields of one row. Nested tables are texts.
  private static func fields(of table: LuaTable, in domain: ScriptDomain, _ width: Int) throws -> [String: Value]? {
    guard case let size = try table.size, (1...greatestColumns).contains(size), try table.metatable == nil else {
      return nil
    }
    var fields: [String: Value] = [:]
    for (key, value) in try table.pairs {
      guard let name = key.textValue else { return nil }
      switch value {
      case .integer(let number): fields[name] = .int(number)
      case .number(let number): fields[name] = .double(number)
      case .boolean(let flag): fields[name] = .bool(flag)
      case .string(let text): fields[name] = .string(text.description)
      case .null: fields[name] = .null
      case .object: fields[name] = .string(try LuaValueText.text(of: value, in: domain, width: width))
      case .nil, .table, .function, .userdata, .thread: return nil
      }
    }
    return fields
  }
}
