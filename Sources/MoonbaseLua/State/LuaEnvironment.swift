import MoonbaseLuaShim

/// The globals of a script, or of several scripts that share them.
///
/// ```swift
/// let environment = try state.environment(["name": "Scarlet"])
/// try state.load("greeting = 'Hello ' .. name", name: "a.lua", in: environment)()
/// try environment.table.get("greeting").textValue      // "Hello Scarlet"
/// ```
///
/// Scripts of one environment see each other's globals; scripts of different environments do not. Shared tables, such
/// as libraries, are read-only.
public struct LuaEnvironment {
  /// The table that the script sees as `_G`.
  public let table: LuaTable
}

extension LuaEnvironment: CustomStringConvertible {
  /// `environment (40 keys)`.
  public var description: String { table.description.replacing("table", with: "environment", maxReplacements: 1) }
}

/// Making environments.
extension LuaState {
  /// Creates globals for a script: a copy of the base with additional globals. Throws `.memory`.
  public func environment(_ globals: [String: LuaValue] = [:]) throws(LuaError) -> LuaEnvironment {
    let table = LuaTable(reference: try keep(mbl_environment_new(raw)))
    for (name, value) in globals { try table.set(name, to: value) }
    return LuaEnvironment(table: table)
  }

  /// Sets a global for all environments created from now on. Freeze a table that scripts must not change. Existing
  /// environments are unchanged.
  public func setGlobal(_ name: String, to value: LuaValue) throws(LuaError) {
    try globals.set(name, to: value)
  }

  /// Reads a global of the base, from which environments are copied.
  public func global(_ name: String) throws(LuaError) -> LuaValue { try globals.get(name) }

  /// The base; in preset `trusted` the globals shared by all scripts.
  var globals: LuaTable {
    get throws(LuaError) { LuaTable(reference: try keep(mbl_globals(raw))) }
  }
}
