import MoonbasePlatform

/// Removes unfinished work after SIGINT, SIGTERM or SIGHUP, and ends the process.
///
/// A thread of its own looks for a signal until `end` is called. For work that cannot look for signals itself, such as
/// the copy of a store on a server.
final class EndingWatch: Sendable {
  private let isOver = Lock(false)

  /// Begins the watch.
  ///
  /// - Parameters:
  ///   - message: The end of the message after "interrupted", such as `s.sqlite was not made`.
  ///   - discard: Removes the unfinished work. Called on another thread than the work, which may still run.
  init(_ message: String, _ discard: @escaping @Sendable () -> Void) {
    Interruption.isWaitedForAtTheEnd()
    Thread.detachNewThread { [isOver] in
      while !isOver.withLock({ $0 }) {
        if Interruption.hasCome {
          discard()
          Terminal.complain("moonbase: interrupted: \(message)")
          _exit(ExitStatus.interrupted)
        }
        usleep(20_000)
      }
    }
  }

  /// Ends the watch, because the work is done or has failed.
  func end() { isOver.withLock { $0 = true } }

  /// Waits for the end of the process if a signal has come. Called after an error, which may be an effect of `discard`.
  func waitForEnd() { while Interruption.hasCome { pause() } }
}
