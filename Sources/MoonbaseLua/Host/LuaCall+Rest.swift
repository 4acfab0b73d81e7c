extension LuaCall {
  /// Calls `body` with the arguments after the first: for a function that does what a method does.
  public func withoutFirst(_ body: (inout LuaCall) throws -> Void) rethrows {
    var rest = LuaCall(frame, offset: offset + 1)
    try body(&rest)
  }
}
