import ArgumentParser
import MoonbaseBatch
import MoonbasePlatform

/// Handles SIGINT for a command that runs no script. SIGINT ends the process with the status of an interruption. If
/// work must be undone first, the process waits for this.
///
/// The state is global, because a signal handler can access nothing else. Commands call
/// `endsProcess` at the start, and `isWaitedFor` before work that must not be cut off.
enum Interruption {
  nonisolated(unsafe) private static var count: sig_atomic_t = 0  // written by handlers, and by `reset`
  nonisolated(unsafe) private static var isAwaited = false  // set before the start of the work that checks `hasCome`

  /// Lets SIGINT end the process, unless the signal is ignored.
  ///
  /// The handler calls `_exit`, which is safe within a signal handler.
  static func endsProcess() {
    let former = signal(SIGINT) { _ in
      if Interruption.isAwaited, Interruption.count == 0 {
        Interruption.count = 1
      } else {
        _exit(ExitStatus.interrupted)
      }
    }
    if ignores(former) { signal(SIGINT, SIG_IGN) }
    unblock([SIGINT])
  }

  /// Lets signals through that the process which started this one has blocked, as threads of Dispatch do.
  private static func unblock(_ numbers: [Int32]) {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Whether a signal handler is `SIG_IGN`.
  static func ignores(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    let ignoring = unsafeBitCast(SIG_IGN, to: Int.self)  // handlers are compared, never called
    return unsafeBitCast(handler, to: Int.self) == ignoring  // handlers are compared, never called
  }

  /// After this call, the first SIGINT is only recorded, and the running work stops by itself. The next SIGINT ends the
  /// process.
  static func isWaitedFor() { isAwaited = true }

  /// Calls `body`, which may run scripts that no `InterruptionWatch` watches, for example while stores with extensions
  /// are opened. SIGINT ends the process during the call.
  static func endingProcess<Result>(_ body: () throws -> Result) throws -> Result {
    let before = isAwaited
    isAwaited = false
    defer { isAwaited = before }
    if hasCome { throw ExitCode(ExitStatus.interrupted) }
    return try body()
  }

  /// Whether SIGINT arrived, so that the work must stop.
  static var hasCome: Bool { count != 0 }

  nonisolated(unsafe) private static var wasFinal: sig_atomic_t = 0  // written by the handler of the signals alone

  /// After this call, SIGTERM and SIGHUP are recorded too, for a command that has to print a report before it ends.
  ///
  /// The first signal is recorded; a second one ends the process.
  static func isWaitedForAtTheEnd() {
    isWaitedFor()
    for number in [SIGTERM, SIGHUP] {
      let former = signal(number) { _ in
        Interruption.wasFinal = 1
        Interruption.count = 1
      }
      if ignores(former) { signal(number, SIG_IGN) }
    }
    unblock([SIGINT, SIGTERM, SIGHUP])
  }

  /// Whether the process has to end without asking the user, because SIGTERM arrived or the terminal was closed.
  static var isFinal: Bool { wasFinal != 0 }

  /// The command continues. The next SIGINT counts as the first one again.
  static func reset() { count = 0 }

  /// Waits for input until SIGINT arrives. After the first wait, SIGINT is only recorded, so that the command can
  /// report the work that is done.
  static let whileWaiting = InputWait {
    isWaitedFor()
    return hasCome
  }
}
