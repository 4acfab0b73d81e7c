import MoonbaseLuaShim

/// Handle to a coroutine.
///
/// ```swift
/// let code = "return function(a) local b = coroutine.yield(a + 1) return b * 2 end"
/// let thread = try state.load(code, name: "co.lua").first().functionValue!.makeThread()
/// try thread.resume([1])        // [.integer(2)], what was yielded
/// try thread.resume([21])       // [.integer(42)], what was returned
/// ```
public struct LuaThread {
  /// The state of a coroutine.
  public enum Status: Int32, Sendable {
    /// Not started, or waiting in a yield.
    case suspended
    /// Running, or waiting for a coroutine that it resumed.
    case running
    /// Completed, failed or closed.
    case dead
  }

  /// Keeps the coroutine alive.
  let reference: LuaReference

  /// Runs the coroutine until its next yield or its end, and returns the yielded or returned values. Errors within the
  /// coroutine are thrown, and the coroutine is dead then. Throws `.runtime` for a coroutine that is not suspended.
  @discardableResult
  public func resume(_ arguments: [LuaValue] = []) throws(LuaError) -> [LuaValue] {
    let state = try reference.state
    let index = reference.index
    return try state.invoke(arguments) { raw, values, count in
      var results: Int32 = 0
      return mbl_thread_resume(raw, index, values, count, &results)
    }
  }

  /// The state of the coroutine.
  public var status: Status {
    get throws(LuaError) {
      Status(rawValue: mbl_thread_status(try reference.state.raw, reference.index)) ?? .dead
    }
  }

  /// Ends the coroutine and closes its to-be-closed variables.
  public func close() throws(LuaError) {
    let state = try reference.state
    _ = try state.invoke([]) { raw, _, _ in mbl_thread_close(raw, self.reference.index) }
  }
}
