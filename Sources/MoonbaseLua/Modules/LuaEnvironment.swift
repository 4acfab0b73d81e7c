import MoonbaseLuaShim

/// The globals of one script.
public struct LuaEnvironment {
  /// The table that the script sees as `_G`.
  public let table: LuaTable
}

extension LuaState {
  /// Globals of their own for one script: a copy of the base and these.
  public func environment(_ globals: [String: LuaValue] = [:]) throws(LuaError) -> LuaEnvironment {
    let table = LuaTable(reference: try keep(mbl_environment_new(raw)))
    for (name, value) in globals { try table.set(name, value) }
    return LuaEnvironment(table: table)
  }
}
