import MoonbaseLuaShim

/// Handle to a Lua function.
///
/// ```swift
/// let chunk = try state.load("return function(a, b) return a * b end", name: "product.lua")
/// let product = try chunk.first().functionValue
/// try product?.first(6, 7).integerValue       // 42
/// ```
///
/// `LuaFastCall` is faster for a function called for every row.
public struct LuaFunction {
  /// Keeps the function alive.
  let reference: LuaReference

  /// Calls the function and returns all its results. Throws the function's error, `.closed` after the end of the state,
  /// and `.foreign` for arguments of another state.
  @discardableResult
  public func call(_ arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
    let state = try reference.state
    let index = reference.index
    return try state.invoke(arguments) { raw, values, count in mbl_call(raw, index, values, count, -1) }
  }

  /// Calls the function and returns all its results.
  @discardableResult
  public func callAsFunction(_ arguments: LuaValue...) throws(LuaError) -> [LuaValue] { try call(arguments) }

  /// Calls the function and returns its first result; `.nil` without results.
  public func first(_ arguments: LuaValue...) throws(LuaError) -> LuaValue { try call(arguments).first ?? .nil }

  /// Creates a coroutine that will run the function. The coroutine starts suspended.
  public func makeThread() throws(LuaError) -> LuaThread {
    let state = try reference.state
    mbl_begin(state.raw)
    defer { mbl_end(state.raw) }
    return LuaThread(reference: try state.keep(mbl_thread_new(state.raw, reference.index)))
  }

  /// The place of the function's definition, such as `colors.lua:12`; nil for a host function. For messages.
  public var place: String? {
    guard let state = reference.link.state else { return nil }
    let place = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      mbl_function_place(state.raw, reference.index, base, 128)
      return String(cString: base)
    }
    return place.isEmpty ? nil : place
  }

  /// The number of declared parameters; `Int.max` for a variadic function and for a host function.
  public var parameterCount: Int {
    guard let state = reference.link.state else { return .max }
    let count = mbl_function_parameters(state.raw, reference.index)
    return count == .max ? .max : Int(count)
  }

  /// Whether both handles refer to the same function.
  public func isSame(as other: LuaFunction) -> Bool { LuaState.isSame(reference, other.reference) }
}
