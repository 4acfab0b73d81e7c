import MoonbaseLuaShim
import MoonbasePlatform

extension LuaState {
  /// Counts everything that `body` does in this state as one run: the limits hold over all of it.
  ///
  /// Once a limit is passed, every further call within `body` is refused.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    mbl_begin(raw)
    defer { mbl_end(raw) }
    return try body()
  }

  /// Runs `body`, on behalf of the state that runs on this thread if there is one: its limits hold, whatever this state's own.
  public func runNested<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let caller = LuaState.current, caller !== self else { return try run(body) }
    return try run(onBehalfOf: caller, body)
  }

  /// Runs `body` on what is left of another state's instructions and charges them to it.
  ///
  /// For a state that works on behalf of another on the same thread: script, fetch, SQLite, pure function.
  public func run<Result>(onBehalfOf other: LuaState, _ body: () throws -> Result) rethrows -> Result {
    guard let left = other.remainingInstructions, other !== self else { return try run(body) }
    let own = limits
    limits.instructions = min(own.instructions ?? Int64.max, max(left, 1))
    defer { limits = own }
    mbl_begin(raw)
    let before = mbl_remaining(raw)
    defer {
      let used = before - mbl_remaining(raw)
      mbl_end(raw)
      mbl_charge_budget(other.raw, used)
    }
    return try body()
  }

  /// Whether a run is under way.
  public var isRunning: Bool { mbl_is_running(raw) }

  /// What is left of the instructions of this run; nil without that limit.
  public var remainingInstructions: Int64? {
    limits.instructions == nil ? nil : mbl_is_running(raw) ? mbl_remaining(raw) : limits.instructions
  }

  /// Objects handed to Lua as `scoped` within `body` are dead after it: "used outside of its callback".
  public func withScope<Result>(_ body: () throws -> Result) rethrows -> Result {
    let scope = mbl_scope_begin(raw)
    defer { mbl_scope_end(raw, scope) }
    return try body()
  }

  /// Makes the handle of an interned object dead; false if Lua holds none.
  @discardableResult
  public func invalidate(_ object: AnyObject) -> Bool {
    mbl_object_kill(raw, Unmanaged.passUnretained(object).toOpaque())
  }

  /// Bytes that may come before a collection is due, and the end of the run if that does not help; nil without a limit.
  public var remainingMemory: Int? { limits.memory == nil ? nil : Int(mbl_memory_room(raw)) }

  /// Bytes of memory in use: Lua's, and what the host keeps for it.
  public var memoryUsed: Int { Int(mbl_memory_used(raw)) }

  /// The most bytes of Lua's memory ever in use, with what the host kept for it.
  public var memoryPeak: Int { Int(mbl_memory_peak(raw)) }

  /// Collects all garbage now, and releases the host objects it held.
  public func collectGarbage() {
    run { mbl_collect(raw) }
  }

  /// Makes allocations fail after so many, for a number of times; for tests of what happens then. Lua tries each twice.
  package func failAllocation(after count: Int?, times: Int = 2) {
    mbl_fail_allocation(raw, count.map(Int64.init) ?? -1, Int64(times))
  }

  /// The number of allocations so far.
  package var allocations: Int { Int(mbl_allocations(raw)) }

  func applyLimits() {
    let soft = limits.memory ?? 0
    var plain = MBLLimits()
    plain.instructions = limits.instructions ?? 0
    plain.deadline = limits.deadline ?? 0
    plain.softMemory = soft
    plain.hardMemory = limits.hardMemory ?? soft.multipliedReportingOverflow(by: 4).partialValue
    plain.sourceSize = UInt64(limits.sourceSize ?? 0)
    plain.outputSize = UInt64(limits.outputSize ?? 0)
    plain.coroutines = Int64(limits.coroutines ?? 0)
    plain.callDepth = Int64(limits.callDepth ?? 0)
    mbl_set_limits(raw, &plain)
  }
}
