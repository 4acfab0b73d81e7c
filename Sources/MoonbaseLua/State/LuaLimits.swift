/// What one run of a state may use. Exceeding one ends the run, and no script can swallow that.
public struct LuaLimits: Sendable, Equatable {
  /// Lua instructions, counted in steps of a thousand, and ten for each object, row or element that the host looks at on the
  /// script's behalf; nil: any number.
  public var instructions: Int64?

  /// Seconds of a run, in Lua and in the host; time in which the host waits for standard input is not counted. Sampled, so exact
  /// to about a tenth.
  public var deadline: Double?

  /// Bytes of live memory at which a run ends, after a collection has not helped: Lua's, and what the host keeps for it. What
  /// the host takes at once ends the run at twice as many.
  public var memory: UInt64?

  /// Bytes that Lua never gets past; below four times `memory` a crowded collection could harm (nil: that).
  public var hardMemory: UInt64?

  /// Bytes of one source text: the parser looks at no limit, and takes about a tenth of a second for a megabyte.
  public var sourceSize: Int?

  /// Bytes written to the output and error streams in one run.
  public var outputSize: Int?

  /// Coroutines alive at one time.
  public var coroutines: Int?

  /// Calls within calls, in one coroutine; looked at every thousand instructions, which costs as much as counting them. nil:
  /// Lua's own bounds, at which a call fails with `LuaError.Kind.stack`: some 200,000 calls of Lua functions, 200 of C.
  public var callDepth: Int?

  /// No limits but those given, a megabyte for a source and 10,000 coroutines.
  public init(
    instructions: Int64? = nil, deadline: Double? = nil, memory: UInt64? = nil, hardMemory: UInt64? = nil,
    sourceSize: Int? = 1 << 20, outputSize: Int? = nil, coroutines: Int? = 10_000,
    callDepth: Int? = nil
  ) {
    self.instructions = instructions
    self.deadline = deadline
    self.memory = memory
    self.hardMemory = hardMemory
    self.sourceSize = sourceSize
    self.outputSize = outputSize
    self.coroutines = coroutines
    self.callDepth = callDepth
  }

  /// What an extension gets that nobody trusts: 100 million instructions, 10 seconds, 64 MiB, calls 10,000 deep.
  public static let untrusted = LuaLimits(
    instructions: 100_000_000, deadline: 10, memory: 64 << 20, outputSize: 16 << 20, callDepth: 10_000)

  /// No limits at all; for the user's own programs.
  public static let none = LuaLimits(sourceSize: nil, coroutines: nil)
}
