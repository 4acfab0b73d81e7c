import MoonbaseLuaShim
import MoonbasePlatform

/// Runs and their resources.
extension LuaState {
  /// Treats all work of `body` in this state as a single run with common limits.
  ///
  /// After a limit was exceeded, every further call within `body` throws.
  ///
  /// ```swift
  /// try state.run {
  ///   for row in rows { total += try price.first(.integer(row)).integerValue ?? 0 }
  /// }
  /// ```
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    mbl_begin(raw)
    defer {
      mbl_end(raw)
      forgetEndedRun()
    }
    return try body()
  }

  /// Runs `body` on behalf of the state that runs on this thread, if any: `run(onBehalfOf:_:)`, else `run(_:)`. The
  /// usual way for functions of a state that another state's script triggers.
  public func runNested<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let caller = LuaState.current, caller !== self else { return try run(body) }
    return try run(onBehalfOf: caller, body)
  }

  /// Runs `body` on the remaining instructions of another state, which are charged to that state. The memory of this
  /// state also counts for the other state, until this state is released or works for another one.
  ///
  /// Use it for a state that works for another on the same thread: a script fetches, and SQLite calls a function of a
  /// second state.
  public func run<Result>(onBehalfOf other: LuaState, _ body: () throws -> Result) rethrows -> Result {
    try run(onBehalfOf: other, left: other.remainingInstructions, body)
  }

  /// With nil `left`, the other state has no limit of instructions.
  func run<Result>(onBehalfOf other: LuaState, left: Int64?, _ body: () throws -> Result) rethrows -> Result {
    guard other !== self else { return try run(body) }
    let run = begin(onBehalfOf: other, left: left)
    defer { end(run) }
    return try body()
  }

  /// A run in progress.
  ///
  /// Made by `beginShared` and handed to `end`.
  struct OpenRun {
    /// The state to charge; nil for a run of its own.
    fileprivate let caller: LuaState?
    /// The limits to restore, and the counters at the beginning.
    fileprivate var charge: (own: LuaLimits, budget: Int64, excluded: Int64)?
  }

  /// Begins a run on behalf of the state that runs on this thread, or the state's own run. Nested runs must end before
  /// it.
  ///
  /// Nil if the limits of this state must apply to each call separately.
  func beginShared() -> OpenRun? {
    guard let caller = LuaState.current, caller !== self else {
      guard limits.instructions == nil, limits.deadline == nil else { return nil }
      mbl_begin(raw)
      return OpenRun(caller: nil)
    }
    let left = caller.remainingInstructions
    guard limits.instructions.map({ $0 >= left ?? .max }) ?? true,
      limits.deadline.map({ own in caller.limits.deadline.map { own >= $0 } ?? false }) ?? true
    else { return nil }
    return begin(onBehalfOf: caller, left: left)
  }

  /// The limit of instructions is lowered for the time of the run.
  private func begin(onBehalfOf caller: LuaState, left: Int64?) -> OpenRun {
    guard let left else {
      mbl_begin(raw)
      return OpenRun(caller: caller)
    }
    let own = limits
    limits.instructions = min(own.instructions ?? Int64.max, max(left, 1))
    mbl_begin(raw)
    return OpenRun(caller: caller, charge: (own, mbl_budget(raw), mbl_excluded(raw)))
  }

  /// Charges the instructions and the memory to the other state.
  func end(_ run: OpenRun) {
    let used = run.charge.map { ($0.budget - mbl_budget(raw), mbl_excluded(raw) - $0.excluded) }
    mbl_end(raw)
    forgetEndedRun()
    if let charge = run.charge { limits = charge.own }
    guard let caller = run.caller else { return }
    if let used { mbl_charge_excluding(caller.raw, used.0, used.1) }
    balanceMemory(with: caller)
  }

  /// The memory growth below which the other state is not informed, because most calls leave some garbage. In bytes.
  private static let toldGrowth = 1 << 16

  /// Counts this state's memory in the state that pays for it now.
  private func balanceMemory(with other: LuaState) {
    if payer?.link !== other.link {
      leavePayer()
      payer = Payer(link: other.link)
    }
    let growth = memoryUsed - (payer?.bytes ?? 0)
    guard abs(growth) > Self.toldGrowth else { return }
    payer?.bytes += growth
    other.weigh(growth)
  }

  /// Subtracts the memory of this state from the state that it worked for, which may be in use on another thread or
  /// closed. By a queue, because the other state may be running.
  func leavePayer() {
    if let payer { mbl_queue_weigh(payer.link.queue, Int64(-payer.bytes)) }
    payer = nil
  }

  /// Whether a run is in progress.
  public var isRunning: Bool { mbl_is_running(raw) }

  /// Whether instructions are counted without a limit, for `countedInstructions`. Takes effect at the next run.
  package var countsInstructions: Bool {
    get { limits.instructions != nil }
    set { if newValue, limits.instructions == nil { limits.instructions = .max / 4 } }
  }

  /// A counter that decreases with the instructions of the current run, in thousands.
  package var countedInstructions: Int64 { mbl_is_running(raw) ? mbl_budget(raw) : 0 }

  /// The remaining instructions of the run; nil without the limit.
  public var remainingInstructions: Int64? {
    limits.instructions == nil ? nil : mbl_is_running(raw) ? mbl_remaining(raw) : limits.instructions
  }

  /// Ends the handles of objects passed to Lua as `scoped` within `body`. Later use raises "used outside of its
  /// callback".
  ///
  /// ```swift
  /// try state.withScope {
  ///   try visit.run { try $0.set(0, object: current, as: account, scoped: true) } reading: { _ in }
  /// }
  /// ```
  public func withScope<Result>(_ body: () throws -> Result) rethrows -> Result {
    let scope = mbl_scope_begin(raw)
    defer { mbl_scope_end(raw, scope) }
    return try body()
  }

  /// Ends the handle of an interned object. Returns false if Lua has none.
  @discardableResult
  public func invalidate(_ object: AnyObject) -> Bool {
    mbl_object_kill(raw, Unmanaged.passUnretained(object).toOpaque())
  }

  /// The bytes that remain until a garbage collection, and the end of the run if it does not help; nil without a limit.
  public var remainingMemory: Int? { limits.memory == nil ? nil : Int(mbl_memory_room(raw)) }

  /// The bytes of memory in use by Lua and by the host for it.
  public var memoryUsed: Int { Int(mbl_memory_used(raw)) }

  /// The peak of memory in use by Lua and by the host for it.
  public var memoryPeak: Int { Int(mbl_memory_peak(raw)) }

  /// Collects all garbage and releases its host objects. A run of its own without one.
  public func collectGarbage() {
    run { mbl_collect(raw) }
  }

  /// Makes allocations fail, for tests: `count` allocations succeed, then `times` attempts fail, of which Lua makes two
  /// per allocation.
  package func failAllocation(after count: Int?, times: Int = 2) {
    mbl_fail_allocation(raw, count.map(Int64.init) ?? -1, Int64(times))
  }

  /// The number of allocations so far.
  package var allocations: Int { Int(mbl_allocations(raw)) }

  /// Called when `limits` changes.
  func applyLimits() {
    let soft = limits.memory ?? 0
    var plain = MBLLimits()
    plain.instructions = limits.instructions ?? 0
    plain.deadline = limits.deadline?.seconds ?? 0
    plain.softMemory = soft
    plain.hardMemory = limits.hardMemory ?? soft.multipliedReportingOverflow(by: 4).partialValue
    plain.sourceSize = UInt64(limits.sourceSize ?? 0)
    plain.outputSize = UInt64(limits.outputSize ?? 0)
    plain.coroutines = Int64(limits.coroutines ?? 0)
    plain.callDepth = Int64(limits.callDepth ?? 0)
    mbl_set_limits(raw, &plain)
  }
}
