import MoonbaseLuaShim
import MoonbasePlatform

extension LuaState {
  /// Has the host's work for a run that must end stop with that run's error.
  static let answersForHostWork: Void = HostWork.setEnding {
    if let error = LuaState.current?.ending {
      return HostWork.Ending(error, isInterruption: error.kind == .interrupted)
    }
    return HostWork.Ending(CancellationError(), isInterruption: false)
  }

  /// Has what the host's work holds on its way count for the run on this thread.
  static let answersForHostMemory: Void = HostMemory.setWeigher { bytes in
    mbl_weigh_running(Int64(bytes))
    return mbl_run_is_ending() ? HostWork.ending() : nil
  }

  /// The error with which this run ends, once it must; nil before.
  package var ending: LuaError? { endedError([]) }

  /// Runs what waits for the user: that time is not the script's.
  package static func waitingForUser<Result>(_ body: () throws -> Result) rethrows -> Result {
    mbl_pause_deadlines(true)
    defer { mbl_pause_deadlines(false) }
    return try body()
  }

  // MARK: What the host does for a script

  /// Takes instructions off this run, for work that the host did on the script's behalf.
  public func charge(_ instructions: Int64) { mbl_charge_budget(raw, instructions) }

  /// Counts bytes that the host keeps on behalf of scripts as their memory, or fewer again where they are let go.
  ///
  /// For what has no handle of its own, and for what grows after its handle was weighed. Whoever adds takes off as much.
  public func weigh(_ bytes: Int) { mbl_weigh(raw, Int64(bytes)) }

  /// Counts bytes as `weigh` does until the run that is under way ends; without a run they do not count.
  package func weighForRun(_ bytes: Int) { mbl_weigh_for_run(raw, Int64(bytes)) }

  // A weak reference to the state would make each counting of references to it slower.

  /// `weigh` for somebody who may outlive the state: nothing comes of it then.
  package var weigher: (Int) -> Void { { [link] in link.state?.weigh($0) } }

  /// `weighForRun` for somebody who may outlive the state.
  package var weigherForRuns: (Int) -> Void { { [link] in link.state?.weighForRun($0) } }
}
