/// What one run of a state may use. Exceeding a limit ends the run, and no script can catch that.
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
public struct LuaLimits: Sendable, Equatable {
  /// The instructions of Lua, counted by the thousand, and ten for each object, row or element that the host looks at on the
  /// script's behalf; nil for any number.
  public var instructions: Int64?

  /// The time of a run, in Lua and in the host, but for that in which the host waits for standard input. It is sampled,
  /// so that a run ends about a tenth late.
  public var deadline: Duration?

  /// The bytes of live memory, Lua's and what the host keeps for it, at which a run ends if a collection does not help. At twice
  /// as many a run ends that has the host take them at once.
  public var memory: UInt64?

  /// The bytes that Lua never gets past; nil for four times `memory`. With less, an allocation may fail within a collection, which
  /// Lua 5.4.4 does not always survive.
  public var hardMemory: UInt64?

  /// The bytes of one source. The parser looks at no other limit; it takes about a tenth of a second for a megabyte.
  public var sourceSize: Int?

  /// The bytes that one run writes to the output and error streams.
  public var outputSize: Int?

  /// The coroutines that are alive at one time.
  public var coroutines: Int?

  /// The calls within calls of one coroutine, looked at every thousand instructions. nil for Lua's own bounds, at which a call
  /// fails with `LuaError.Kind.stack`: some 200,000 calls of Lua functions, 200 of C functions.
  public var callDepth: Int?

  /// Limits a run by what is given, a source to a megabyte and coroutines to 10,000.
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

  /// For scripts of strangers: 100 million instructions, 10 seconds, 64 MiB of memory, 16 MiB of output, calls 10,000 deep.
  public static let untrusted = LuaLimits(
    instructions: 100_000_000, deadline: .seconds(10), memory: 64 << 20, outputSize: 16 << 20, callDepth: 10_000)

  /// Limits nothing: for programs of the user's own.
  public static let none = LuaLimits(sourceSize: nil, coroutines: nil)
}
