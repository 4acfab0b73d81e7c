import MoonbaseLuaShim

/// The resources that the functions of an owner may use within a run. A call that exceeds them ends with an error, and
/// the run continues.
///
/// Nested calls share the allowance of their owner. Calls of another owner's functions are charged to that owner's
/// allowance, and to the run.
///
/// Used for extensions: a slow rule of an extension must not use up the limits of the script that saves. Begins with
/// `run(within:of:_:)` and ends with it.
package struct LuaAllowance: Sendable, Hashable {
  /// The instructions, counted as in `LuaLimits.instructions`.
  package var instructions: Int64?
  /// The time in seconds.
  package var seconds: Double?
  /// The bytes of additional memory.
  package var memory: UInt64?

  /// An allowance; nil means no limit.
  package init(instructions: Int64? = nil, seconds: Double? = nil, memory: UInt64? = nil) {
    (self.instructions, self.seconds, self.memory) = (instructions, seconds, memory)
  }

  /// The form in C; a missing limit is the greatest value.
  fileprivate var plain: MBLAllowance {
    var plain = MBLAllowance()
    plain.instructions = instructions ?? .max
    plain.seconds = seconds ?? MBL_NO_SECONDS
    plain.memory = memory ?? 0
    return plain
  }
}

/// A call exceeded its allowance. The surrounding script continues.
///
/// Caught by the owner, which reports it as an error of the extension.
package struct LuaAllowanceExceeded: Error {
  /// The exceeded limit.
  package var limit: LuaError.Limit
  /// The script and line of the call; nil outside of scripts.
  package var frame: LuaError.Frame?
}

/// Runs within an allowance.
extension LuaState {
  /// Runs a body within an allowance of its owner, as a part of the current run, or as its own run on behalf of the
  /// state that runs on this thread.
  ///
  /// Throws `LuaAllowanceExceeded` if the body exceeded the allowance, whatever its outcome. Errors of `body` are
  /// thrown unchanged otherwise. Allowances may nest.
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

  /// Must be called within a run.
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

  /// Nil if nothing was exceeded.
  private static func limit(_ abort: MBLAbort) -> LuaError.Limit? {
    switch abort {
    case .instructions: .instructions
    case .deadline: .deadline
    case .memory: .memory
    default: nil
    }
  }
}
