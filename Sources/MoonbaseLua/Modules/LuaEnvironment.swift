import MoonbaseLuaShim

/// The globals of one script.
public struct LuaEnvironment {
  /// The table that the script sees as `_G`.
  public let table: LuaTable
}

extension LuaEnvironment: CustomStringConvertible {
  /// `environment (40 keys)`.
  public var description: String { table.description.replacing("table", with: "environment", maxReplacements: 1) }
}

extension LuaState {
  /// Globals of their own for one script: a copy of the base and these.
  public func environment(_ globals: [String: LuaValue] = [:]) throws(LuaError) -> LuaEnvironment {
    let table = LuaTable(reference: try keep(mbl_environment_new(raw)))
    for (name, value) in globals { try table.set(name, value) }
    return LuaEnvironment(table: table)
  }

  /// A global that every environment made from now on has. Freeze a table that scripts must not change.
  public func setGlobal(_ name: String, _ value: LuaValue) throws(LuaError) {
    try globals.set(name, value)
  }

  /// The value of a global of the base, from which environments are copied.
  public func global(_ name: String) throws(LuaError) -> LuaValue { try globals.get(name) }

  /// The base; in preset `trusted` the one and only globals.
  var globals: LuaTable {
    get throws(LuaError) { LuaTable(reference: try keep(mbl_globals(raw))) }
  }
}
