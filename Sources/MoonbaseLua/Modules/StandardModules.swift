import MoonbaseLuaFiles

/// The compiled-in Lua files: the shipped modules, and the type definitions for editors.
///
/// ```swift
/// for name in LuaFiles.names where name.hasPrefix("types/") { print(name, LuaFiles.bytes(name)?.count ?? 0) }
/// ```
public enum LuaFiles {
  /// The names of all files, such as "moonbase/json.lua" and "types/model.lua".
  public static var names: [String] {
    (0..<mbl_file_count()).map { String(cString: mbl_file_at($0).pointee.name) }
  }

  /// The bytes of a file; nil if there is none with this name. A copy of the compiled-in bytes.
  public static func bytes(_ name: String) -> [UInt8]? {
    mbl_file_named(name).map { Array(UnsafeBufferPointer(start: $0.pointee.bytes, count: $0.pointee.length)) }
  }

  /// The names of all modules, such as "moonbase.json".
  package static var modules: [String] {
    let files = names.filter { $0.hasPrefix("moonbase/") && $0.hasSuffix(".lua") }
    return files.map { String($0.dropLast(4)).replacing("/", with: ".") }
  }

  /// The source of a module `moonbase.NAME`. Nil for other names, and for names with further dots.
  static func module(_ name: String) -> LuaSource? {
    guard name.hasPrefix("moonbase."), !name.dropFirst(9).contains(".") else { return nil }
    return bytes("moonbase/\(name.dropFirst(9)).lua").map { LuaSource(bytes: $0, name: "\(name).lua") }
  }
}

/// Modules that are written in Lua and compiled into the program.
extension LuaState {
  /// The value of a shipped module; nil if there is none with this name.
  ///
  /// The module receives its name and a table of host functions that Lua lacks: Unicode, the null value, frozen tables.
  func standardModule(_ name: String, in environment: LuaEnvironment? = nil) throws -> LuaValue? {
    if let need = Self.hostNeeds[name], moduleHost[need] == nil { return nil }
    guard let source = LuaFiles.module(name) else { return nil }
    let host = try loaded.host ?? makeStandardHost()
    loaded.host = host
    let value = try load(source, in: environment).first(.text(name), .table(host))
    guard case .table(let table) = value else { return value }
    return .table(try table.frozen())
  }

  /// Whether a shipped module with this name exists that opens no files. Each extension has its own version of a module
  /// that opens files.
  func isOnBoardWithoutFiles(_ name: String) -> Bool { LuaFiles.module(name) != nil && name != "moonbase.import" }

  /// The host values that modules need: the calendar needs the type of dates, imports need the classification of store
  /// errors. Without its host value a module is not found.
  private static var hostNeeds: [String: String] { ["moonbase.date": "date", "moonbase.import": "is_of_store"] }

  /// Made when the first shipped module is loaded.
  private func makeStandardHost() throws -> LuaTable {
    let host = try table(moduleHost)
    try host.set("null", to: .null)
    for (name, body) in Self.tableFunctions + Self.textFunctions { try host.set(name, to: function(body)) }
    return host
  }

  /// The functions by their names in the table. `place` gives the line to blame for an error.
  private static var tableFunctions: [(String, (inout LuaCall) throws -> Void)] {
    [
      ("place", { call in call.return(call.state.blamedPlace) }),
      ("freeze", { call in try call.return(.table(call.table(0).frozen())) }),
      (
        "list",
        { call in
          let table = try call.table(0)
          try table.markAsList()
          try call.return(.table(table))
        }
      ),
      ("is_list", { call in call.return(try call.value(0).tableValue?.isMarkedList ?? false) }),
      ("type", { call in call.return(try call.value(0).typeName) }),
      (
        "is_text",
        { call in
          guard case .object(let object) = try call.value(0) else { return call.return(false) }
          call.return(object.type.isText)
        }
      ),
    ]
  }
}
