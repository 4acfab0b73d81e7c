package import MoonbaseGraph
import MoonbaseLua
package import MoonbaseModel
import MoonbasePlatform

/// A script that says what becomes of rows when they are imported.
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
/// `columns` names properties by names of columns. `row` gets a table of the columns that have values, and returns one whose names are columns or
/// properties; false passes the row over, nil with a reason rejects it, and nothing takes the table as the function left it.
package final class ImportScript {
  /// The Lua state that it runs in.
  package let domain: ScriptDomain
  /// Names of properties by names of columns.
  package let columns: [String: String]
  private let rowFunction: LuaFunction?

  /// One value of a row that a script made.
  package struct Cell {
    /// The column, or the property.
    package let name: String
    /// The text, where it is one: it is converted as that of a file.
    package let text: String?
    fileprivate let value: LuaValue

    /// The memory that the cell takes in bytes, without the text in Lua, which counts by itself.
    package var weight: Int { 96 + name.utf8.count + (text?.utf8.count ?? 0) }
  }

  /// What a column of the file says.
  package enum Field {
    case none
    case text(String)
    case value(Value)
  }

  /// Runs the file. Throws `ScriptError` for what it should not return, and what it raises.
  package init(_ source: ScriptSource, in domain: ScriptDomain) throws {
    self.domain = domain
    let environment = try domain.state.environment([:])
    let results = try domain.state.load(source.text, name: source.name, in: environment).call([])
    let table = try ReturnedTable.table(in: results, of: "a map of columns") { message in
      ScriptError(.malformedFile, message: message, at: source.location(of: []))
    }
    let reader = TableReader(table: table, source: source, path: [])
    try reader.check(["columns", "row"])
    rowFunction = try reader.function("row")
    var columns: [String: String] = [:]
    if let found = try reader.table("columns") {
      for key in try found.keys() {
        guard let name = try found.string(key) else { continue }
        columns[key] = name
      }
    }
    self.columns = columns
  }

  /// Whether rows are what a function makes of them.
  package var changesRows: Bool { rowFunction != nil }

  /// What the function makes of a row; nil where it passes the row over. `names` and `fields` go together.
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

  private func cells(of table: LuaTable, _ function: LuaFunction) throws -> [Cell] {
    try table.pairs.map { pair in
      guard let name = pair.key.textValue else {
        throw function.mistake("the table of a row has names of columns or properties, not \(pair.key.typePhrase)")
      }
      return Cell(name: name, text: pair.value.textValue, value: pair.value)
    }
  }

  /// The value of a cell that is no text, for a property.
  package func value(_ cell: Cell, for property: ResolvedProperty, in context: ManagedObjectContext) throws -> Value {
    try domain.graphValue(from: cell.value, for: property, in: context)
  }
}

extension ScriptDomain {
  /// The value of a registered class that a text stands for, by the class's function `parse`; nil where it has none. Throws where the text is none.
  package func value(_ text: String, ofClass name: String) throws -> Value? {
    try value(.text(text), ofClass: name, by: "parse", subject: "the text")
  }

  /// The value of a registered class that a list or a map stands for, by the class's function `from_tree`; nil where it
  /// has none. Throws where it stands for none.
  func value(_ tree: Value, ofClass name: String) throws -> Value? {
    try value(luaValue(from: tree), ofClass: name, by: "from_tree", subject: "the \(tree.typeDescription)")
  }

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
