import MoonbaseLuaShim

/// A coroutine.
public struct LuaThread {
  /// Where a coroutine stands.
  public enum Status: Int32, Sendable {
    /// Not begun, or waiting in a yield.
    case suspended
    /// Running, or waiting for one that it resumed.
    case running
    /// Done, failed or closed.
    case dead
  }

  let reference: LuaReference

  /// Runs until the next yield or the end; the values yielded or returned.
  @discardableResult
  public func resume(_ arguments: [LuaValue] = []) throws(LuaError) -> [LuaValue] {
    let state = try reference.state
    let index = reference.index
    return try state.invoke(arguments) { raw, values, count in
      var results: Int32 = 0
      return mbl_thread_resume(raw, index, values, count, &results)
    }
  }

  /// Where it stands.
  public var status: Status {
    get throws(LuaError) {
      Status(rawValue: mbl_thread_status(try reference.state.raw, reference.index)) ?? .dead
    }
  }

  /// Ends it: its to-be-closed variables are closed.
  public func close() throws(LuaError) {
    let state = try reference.state
    _ = try state.invoke([]) { raw, _, _ in mbl_thread_close(raw, self.reference.index) }
  }
}
