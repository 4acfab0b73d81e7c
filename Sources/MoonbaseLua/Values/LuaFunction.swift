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

  /// Where it is defined, as `colors.lua:12`; nil for a function of the host.
  public var place: String? {
    guard let state = reference.link.state else { return nil }
    let place = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_function_place(state.raw, reference.index, base, 128)
      return String(cString: base)
    }
    return place.isEmpty ? nil : place
  }

  /// Whether both are the same function.
  public func isSame(as other: LuaFunction) -> Bool { LuaState.isSame(reference, other.reference) }
}
