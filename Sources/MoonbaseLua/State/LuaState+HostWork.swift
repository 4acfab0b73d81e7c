import MoonbaseLuaShim
import MoonbasePlatform

/// The account of the host's work: instructions, memory and waiting.
extension LuaState {
  /// Makes the host's work throw the error of a run that must end. Evaluated once.
  static let answersForHostWork: Void = HostWork.setEnding {
    if let error = LuaState.current?.ending {
      return HostWork.Ending(error, isInterruption: error.kind == .interrupted)
    }
    return HostWork.Ending(CancellationError(), isInterruption: false)
  }

  /// Charges temporary memory of the host's work to the run on this thread. Evaluated once.
  static let answersForHostMemory: Void = HostMemory.setWeigher(
    { bytes in
      mbl_weigh_running(Int64(bytes))
      return mbl_run_is_ending() ? HostWork.ending() : nil
    },
    keeper: { bytes in
      LuaState.current?.weighForRun(bytes)
      return mbl_run_is_ending() ? HostWork.ending() : nil
    })

  /// The error of a run that must end; nil for other runs. Cheap without an end.
  package var ending: LuaError? { endedError([]) }

  /// Runs code that waits for the user, without counting its time towards the deadline. Calls may nest.
  package static func waitingForUser<Result>(_ body: () throws -> Result) rethrows -> Result {
    mbl_pause_deadlines(true)
    defer { mbl_pause_deadlines(false) }
    return try body()
  }

  // MARK: Work of the host

  /// Charges instructions to the run, for work that the host does for the script.
  ///
  /// ```swift
  /// let sum = try state.function { call in
  ///   call.state.charge(Int64(numbers.count))
  ///   call.return(numbers.reduce(0, +))
  /// }
  /// ```
  /// A run whose instructions are used up ends at the next check.
  public func charge(_ instructions: Int64) { mbl_charge_budget(raw, instructions) }

  /// Counts bytes that the host keeps for scripts as memory of the scripts. A negative number subtracts them.
  ///
  /// Use it for memory without a handle, and for growth after a handle was weighed. The host must subtract as much as
  /// it added.
  public func weigh(_ bytes: Int) { mbl_weigh(raw, Int64(bytes)) }

  /// Counts bytes until the current run ends; without a run they are not counted.
  package func weighForRun(_ bytes: Int) { mbl_weigh_for_run(raw, Int64(bytes)) }

  // These closures hold no weak reference to the state, which would slow down its reference counting.

  /// Calls `weigh`, for objects that may outlive the state. Has no effect then.
  package var weigher: (Int) -> Void { { [link] in link.state?.weigh($0) } }

  /// Calls `weighForRun`, for objects that may outlive the state. Has no effect then.
  package var weigherForRuns: (Int) -> Void { { [link] in link.state?.weighForRun($0) } }
}
