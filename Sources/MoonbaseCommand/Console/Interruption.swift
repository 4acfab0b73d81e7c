import ArgumentParser
import MoonbaseBatch
import MoonbasePlatform

/// SIGINT of a command that runs no script: it ends the process with the status of an interruption. What has to be undone first is waited for.
enum Interruption {
  nonisolated(unsafe) private static var count: sig_atomic_t = 0  // written by handlers, and by `takeBack`
  nonisolated(unsafe) private static var isAwaited = false  // set before the work begins that looks at `hasCome`

  /// Lets SIGINT end the process, unless it is ignored.
  static func endsProcess() {
    let former = signal(SIGINT) { _ in
      if Interruption.isAwaited, Interruption.count == 0 {
        Interruption.count = 1
      } else {
        _exit(ExitStatus.interrupted)
      }
    }
    if ignores(former) { signal(SIGINT, SIG_IGN) }
  }

  /// Whether a handler of a signal is the one that ignores it.
  static func ignores(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    let ignoring = unsafeBitCast(SIG_IGN, to: Int.self)  // handlers are compared, never called
    return unsafeBitCast(handler, to: Int.self) == ignoring  // handlers are compared, never called
  }

  /// From now on the first SIGINT is noted, for work that ends by itself then; the next one ends the process.
  static func isWaitedFor() { isAwaited = true }

  /// Does what may run scripts without being watched, such as opening stores with extensions: SIGINT ends the process meanwhile.
  static func endingProcess<Result>(_ body: () throws -> Result) throws -> Result {
    let before = isAwaited
    isAwaited = false
    defer { isAwaited = before }
    if hasCome { throw ExitCode(ExitStatus.interrupted) }
    return try body()
  }

  static var hasCome: Bool { count != 0 }

  nonisolated(unsafe) private static var wasFinal: sig_atomic_t = 0  // written by the handler of the signals alone

  /// From now on SIGTERM and SIGHUP are noted too, for a command that has something to tell before it ends.
  static func isWaitedForAtTheEnd() {
    isWaitedFor()
    for number in [SIGTERM, SIGHUP] {
      let former = signal(number) { _ in
        Interruption.wasFinal = 1
        Interruption.count = 1
      }
      if ignores(former) { signal(number, SIG_IGN) }
    }
  }

  /// Whether the process has to end, without a question: SIGTERM came, or the terminal was closed.
  static var isFinal: Bool { wasFinal != 0 }

  /// The command goes on after all: the next SIGINT is the first one again.
  static func takeBack() { count = 0 }

  /// Waits for input until SIGINT comes. From the first wait on it is noted: what was done by then is told.
  static let whileWaiting = InputWait {
    isWaitedFor()
    return hasCome
  }
}
