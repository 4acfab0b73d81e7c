import MoonbaseLuaShim

/// The resources that the functions of one owner may use within a run. The call that exceeds it ends with an error, and
/// the run goes on.
///
/// Calls within each other share the allowance of their owner. Calls into functions of another owner are charged to the
/// allowance of that owner, and to the run.
package struct LuaAllowance: Sendable, Hashable {
  /// The instructions, as `LuaLimits.instructions` counts them.
  package var instructions: Int64?
  /// The seconds.
  package var seconds: Double?
  /// The bytes of memory that come to what was used before.
  package var memory: UInt64?

  package init(instructions: Int64? = nil, seconds: Double? = nil, memory: UInt64? = nil) {
    (self.instructions, self.seconds, self.memory) = (instructions, seconds, memory)
  }

  fileprivate var plain: MBLAllowance {
    var plain = MBLAllowance()
    plain.instructions = instructions ?? .max
    plain.seconds = seconds ?? MBL_NO_SECONDS
    plain.memory = memory ?? 0
    return plain
  }
}

/// A call that exceeded its allowance. No script around it has to end.
package struct LuaAllowanceExceeded: Error {
  /// The limit that was exceeded.
  package var limit: LuaError.Limit
  /// The script and line where the call was, if it was in a script.
  package var frame: LuaError.Frame?
}

extension LuaState {
  /// Runs a body within an allowance of its owner, as a part of the run that is under way, or as a run of its own on
  /// behalf of the state that runs on this thread.
  ///
  /// Throws `LuaAllowanceExceeded` where the body exceeded it, whatever came of the body.
  package func run<Result>(
    within allowance: LuaAllowance, of owner: AnyObject, _ body: () throws -> Result
  ) throws -> Result {
    guard let caller = LuaState.current, caller !== self else { return try run { try limited(allowance, owner, body) } }
    let left = caller.limits.instructions == nil ? nil : mbl_budget(caller.raw)
    return try run(onBehalfOf: caller, left: left) { try limited(allowance, owner, body) }
  }

  /// The owner of the innermost allowance on this thread.
  package static var currentOwner: AnyObject? {
    mbl_allowance_owner().map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }

  private func limited<Result>(
    _ allowance: LuaAllowance, _ owner: AnyObject, _ body: () throws -> Result
  ) throws -> Result {
    try withUnsafeTemporaryAllocation(of: MBLAllowance.self, capacity: 1) { place in
      place.initializeElement(at: 0, to: allowance.plain)
      guard let plain = place.baseAddress else { return try body() }
      mbl_allowance_begin(raw, plain, Unmanaged.passUnretained(owner).toOpaque())
      let result = Swift.Result { try withExtendedLifetime(owner, body) }
      if let limit = Self.limit(mbl_allowance_end(plain)) {
        defer { endedFrames = [] }
        throw LuaAllowanceExceeded(limit: limit, frame: endedFrames.first { $0.line != nil })
      }
      return try result.get()
    }
  }

  private static func limit(_ abort: MBLAbort) -> LuaError.Limit? {
    switch abort {
    case .instructions: .instructions
    case .deadline: .deadline
    case .memory: .memory
    default: nil
    }
  }
}
