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

  /// The error with which this run ends, once it must; nil before.
  package var ending: LuaError? { endedError([]) }

  /// Runs what waits for the user: that time is not the script's.
  package static func waitingForUser<Result>(_ body: () throws -> Result) rethrows -> Result {
    mbl_pause_deadlines(true)
    defer { mbl_pause_deadlines(false) }
    return try body()
  }
}
