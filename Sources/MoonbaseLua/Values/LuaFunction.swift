import MoonbaseLuaShim

/// A Lua function.
public struct LuaFunction {
  let reference: LuaReference

  /// Calls it; all its results.
  @discardableResult
  public func call(_ arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
    let state = try reference.state
    let index = reference.index
    return try state.invoke(arguments) { raw, values, count in mbl_call(raw, index, values, count, -1) }
  }

  /// Calls it; all its results.
  @discardableResult
  public func callAsFunction(_ arguments: LuaValue...) throws(LuaError) -> [LuaValue] { try call(arguments) }

  /// Calls it for one result.
  public func first(_ arguments: LuaValue...) throws(LuaError) -> LuaValue { try call(arguments).first ?? .nil }

  /// A coroutine that will run it.
  public func makeThread() throws(LuaError) -> LuaThread {
    let state = try reference.state
    mbl_begin(state.raw)
    defer { mbl_end(state.raw) }
    return LuaThread(reference: try state.keep(mbl_thread_new(state.raw, reference.index)))
  }

  /// Whether both are the same function.
  public func isSame(as other: LuaFunction) -> Bool { LuaState.isSame(reference, other.reference) }
}
