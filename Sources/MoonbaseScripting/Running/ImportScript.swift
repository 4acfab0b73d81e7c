package import MoonbaseGraph
import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform

/// A script that transforms rows during an import.
///
/// ```lua
/// return {
///   columns = { Name = "name", Dept = "department.name" },
///   row = function(row)
///     if row.Name == "TOTAL" then return false end
///     row.active = row.Status ~= "left"
///     row.Status = nil
///     return row
///   end,
/// }
/// ```
///
/// `columns` maps names of columns to properties, or to false for a column that is ignored. `row` receives a table of
/// the columns with values, and returns a table whose names are columns or properties. Returning false skips the row,
/// nil with a reason rejects it, and returning nothing uses the received table as modified.
///
/// Confined to the thread of the import. The importer calls `row` for each record, looks up the cells' names as columns
/// or properties, and converts texts as it converts texts of the file.
package final class ImportScript {
  /// The Lua state of the script.
  package let domain: ScriptDomain
  /// Property names by column name.
  package let columns: [String: String]
  /// The names of the columns that the file maps to false.
  package let ignoredColumns: Set<String>
  /// Nil for a script that only maps columns.
  private let rowFunction: LuaFunction?

  /// A value of a row made by a script. The Lua value stays in the script's state until the row is converted.
  package struct Cell {
    /// The name of the column or property.
    package let name: String
    /// The text, converted like a file's text; nil for other values.
    package let text: String?
    /// The value in Lua, converted by `value(_:for:in:)`.
    fileprivate let value: LuaValue

    /// The bytes of the cell, without text in Lua, which is counted there.
    package var weight: Int { 96 + name.utf8.count + (text?.utf8.count ?? 0) }
  }

  /// The content of a column in the file. A field without a value does not appear in the table.
  package enum Field {
    case none
    case text(String)
    case value(Value)
  }

  /// Runs the file. Throws `ScriptError` for a wrong result, and errors that the file raises.
  package init(_ source: ScriptSource, in domain: ScriptDomain) throws {
    self.domain = domain
    let environment = try domain.state.environment([:])
    let results = try domain.state.load(source.text, name: source.name, in: environment).call([])
    let table = try ReturnedTable.table(in: results, of: "a map of columns") { message in
      ScriptError(.malformedFile, message: message, at: source.location(of: []))
    }
    let reader = ScriptTableReader(table: table, source: source, path: [])
    try reader.check(["columns", "row"])
    rowFunction = try reader.function("row")
    var columns: [String: String] = [:]
    var ignored: Set<String> = []
    if let found = try reader.table("columns") {
      for key in try found.keys() {
        if try found.table.get(key).booleanValue == false {
          ignored.insert(key)
        } else if let name = try found.string(key) {
          columns[key] = name
        }
      }
    }
    (self.columns, ignoredColumns) = (columns, ignored)
  }

  /// Whether a function transforms the rows.
  package var changesRows: Bool { rowFunction != nil }

  /// The result of the function for a row; nil if it skips the row. `names` and `fields` correspond by index.
  ///
  /// Throws `.invalidValue` with the reason if the function rejects the row, and `.invalidRequest` with the function's
  /// place for a wrong result. The table passed to the function is new for each row, so the function may change or keep
  /// it.
  package func row(_ names: [String], _ fields: [Field]) throws -> [Cell]? {
    guard let rowFunction else { return nil }
    let table = try domain.state.table()
    for (name, field) in zip(names, fields) {
      switch field {
      case .none: continue
      case .text(let text): try table.set(name, to: .text(text))
      case .value(let value): try table.set(name, to: domain.luaValue(from: value))
      }
    }
    let results = try rowFunction.call([.table(table)])
    switch results.first {
    case nil: return try cells(of: table, rowFunction)
    case .table(let made)?: return try cells(of: made, rowFunction)
    case .boolean(false)?: return nil
    case .nil? where results.count > 1:
      throw try ScriptError(.invalidValue, message: results[1].reason ?? "the row was refused")
    case .nil?: return try cells(of: table, rowFunction)
    case let other?:
      throw rowFunction.mistake(
        "the function 'row' returns a table, false to pass the row over, or nil and a reason to reject it, not "
          + other.typePhrase)
    }
  }

  /// The entries of a table. Keys have to be texts.
  private func cells(of table: LuaTable, _ function: LuaFunction) throws -> [Cell] {
    try table.pairs.map { pair in
      guard let name = pair.key.textValue else {
        throw function.mistake("the table of a row has names of columns or properties, not \(pair.key.typePhrase)")
      }
      return Cell(name: name, text: pair.value.textValue, value: pair.value)
    }
  }

  /// The value of a cell without text, converted for a property. Throws `.invalidValue` for a value that does not fit.
  package func value(_ cell: Cell, for property: ResolvedProperty, in context: ManagedObjectContext) throws -> Value {
    try domain.graphValue(from: cell.value, for: property, in: context)
  }
}

extension ScriptDomain {
  /// The value of a registered class parsed from a text by the class's function `parse`; nil if the class has none.
  /// Throws if the text is not valid. `Color.parse("#ff0000")`, for example; used by imports and by queries with texts.
  package func value(_ text: String, ofClass name: String) throws -> Value? {
    try value(.text(text), ofClass: name, by: "parse", subject: "the text")
  }

  /// The value of a registered class made from a list or a map by the class's function `from_tree`; nil if the class
  /// has none. Throws if the list or map is not valid.
  func value(_ tree: Value, ofClass name: String) throws -> Value? {
    try value(luaValue(from: tree), ofClass: name, by: "from_tree", subject: "the \(tree.typeDescription)")
  }

  /// Calls a function of a class. A nil result is an error with the function's reason.
  private func value(
    _ argument: LuaValue, ofClass name: String, by function: String, subject: String
  ) throws -> Value? {
    guard let found = currentClasses.first(where: { $0.name == name }),
      case .function(let make) = try found.value.behindProxy.get(function)
    else { return nil }
    let results = try make.call([argument])
    switch results.first ?? .nil {
    case .nil:
      let why = try results.dropFirst().first?.reason
      throw ScriptError(.invalidValue, message: "\(subject) is no \(name)\(why.map { ": \($0)" } ?? "")")
    case let value: return try graphValue(from: value)
    }
  }
}
