/// The limits of a run. Exceeding a limit ends the run, which no script can catch.
///
/// ```swift
/// let limits = LuaLimits(instructions: 10_000_000, deadline: .seconds(2), memory: 32 << 20)
/// let state = try LuaState(preset: .standard, limits: limits)
/// do {
///   try state.load("while true do end", name: "endless.lua")()
/// } catch where error.kind == .limit(.instructions) {
///   print(error)   // endless.lua:1: the script used up its instructions
/// }
/// ```
///
/// Set at `LuaState.limits`. A run begins with the first call into Lua and ends when that call returns; nested calls
/// belong to it. The ending error names the place of the script.
public struct LuaLimits: Sendable, Equatable {
  /// The Lua instructions, counted in thousands, plus ten for each object, row or element that the host processes for
  /// the script; nil for no limit.
  public var instructions: Int64?

  /// The time of a run, in Lua and in the host, without waiting for standard input. Sampled, so that a run ends about a
  /// tenth of a second late.
  public var deadline: Duration?

  /// The bytes of live memory, in Lua and in the host on its behalf, at which a run ends if garbage collection does not
  /// help. A single request for twice as many ends the run at once.
  public var memory: UInt64?

  /// The most bytes that Lua ever allocates; nil for four times `memory`. With less, an allocation may fail during a
  /// garbage collection, which Lua 5.4.4 does not always survive.
  public var hardMemory: UInt64?

  /// The bytes of a source. The parser has no other limit; it takes about a tenth of a second per megabyte.
  public var sourceSize: Int?

  /// The bytes that a run writes to the output and error streams.
  public var outputSize: Int?

  /// The number of live coroutines.
  public var coroutines: Int?

  /// The call depth of a coroutine, checked every thousand instructions. nil for Lua's own limits, at which a call
  /// fails with `LuaError.Kind.stack`: some 200,000 calls of Lua functions, 200 of C functions.
  public var callDepth: Int?

  /// The given limits; a source is limited to a megabyte and coroutines to 10,000 by default.
  public init(
    instructions: Int64? = nil, deadline: Duration? = nil, memory: UInt64? = nil, hardMemory: UInt64? = nil,
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

  /// Limits for untrusted scripts: 100 million instructions, 10 seconds, 64 MiB of memory, 16 MiB of output, call depth
  /// 10,000.
  public static let untrusted = LuaLimits(
    instructions: 100_000_000, deadline: .seconds(10), memory: 64 << 20, outputSize: 16 << 20, callDepth: 10_000)

  /// No limits, for the user's own programs.
  public static let none = LuaLimits(sourceSize: nil, coroutines: nil)
}
