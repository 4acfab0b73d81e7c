import MoonbaseLuaShim
import MoonbasePlatform

extension LuaState {
  /// Stops the host's work for a run that must end, with that run's error. Evaluated once.
  static let answersForHostWork: Void = HostWork.setEnding {
    if let error = LuaState.current?.ending {
      return HostWork.Ending(error, isInterruption: error.kind == .interrupted)
    }
    return HostWork.Ending(CancellationError(), isInterruption: false)
  }

  /// Counts what the host's work holds on its way for the run on this thread. Evaluated once.
  static let answersForHostMemory: Void = HostMemory.setWeigher(
    { bytes in
      mbl_weigh_running(Int64(bytes))
      return mbl_run_is_ending() ? HostWork.ending() : nil
    },
    keeper: { bytes in
      LuaState.current?.weighForRun(bytes)
      return mbl_run_is_ending() ? HostWork.ending() : nil
    })

  /// The error with which this run ends, once it must; nil before.
  package var ending: LuaError? { endedError([]) }

  /// Runs what waits for the user, whose time does not count for the deadline.
  package static func waitingForUser<Result>(_ body: () throws -> Result) rethrows -> Result {
    mbl_pause_deadlines(true)
    defer { mbl_pause_deadlines(false) }
    return try body()
  }

  // MARK: What the host does for a script

  /// Takes instructions off this run, for work that the host does on the script's behalf.
  ///
  /// ```swift
  /// let sum = try state.function { call in
  ///   call.state.charge(Int64(numbers.count))
  ///   call.return(numbers.reduce(0, +))
  /// }
  /// ```
  public func charge(_ instructions: Int64) { mbl_charge_budget(raw, instructions) }

  /// Counts bytes that the host keeps on behalf of scripts as memory of the scripts; a negative number takes them off again.
  ///
  /// For what has no handle of its own, and for what grows after its handle was weighed. The host takes off as much as it added.
  public func weigh(_ bytes: Int) { mbl_weigh(raw, Int64(bytes)) }

  /// Counts bytes as `weigh` does until the run that is under way ends; without a run they do not count.
  package func weighForRun(_ bytes: Int) { mbl_weigh_for_run(raw, Int64(bytes)) }

  // These keep no weak reference to the state, which would make each counting of references to it slower.

  /// Calls `weigh`, for objects that may outlive the state: then it does nothing.
  package var weigher: (Int) -> Void { { [link] in link.state?.weigh($0) } }

  /// Calls `weighForRun`, for objects that may outlive the state: then it does nothing.
  package var weigherForRuns: (Int) -> Void { { [link] in link.state?.weighForRun($0) } }
}
