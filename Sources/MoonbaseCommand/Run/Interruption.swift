import MoonbaseLua
import MoonbasePlatform

/// The first SIGINT ends the script, the second one the process.
enum Interruption {
  /// Waits for the signal on a thread of its own: nothing happens in a signal handler.
  static func install(_ interrupter: LuaInterrupter) {
    var known = sigaction()
    sigaction(SIGINT, nil, &known)
    // Whoever started this in the background had it ignored.
    guard !isIgnored(known) else { return }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    // Threads that are made from here on inherit the mask, so that the signal comes to the waiting one.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waiting = signals
    Thread.detachNewThread {
      var signals = waiting
      var signal: Int32 = 0
      guard sigwait(&signals, &signal) == 0 else { return }
      // Without a run an interruption does nothing, and the run may be about to begin: a store is being opened, say.
      Thread.detachNewThread {
        while true {
          interrupter.interrupt()
          usleep(100_000)
        }
      }
      guard sigwait(&signals, &signal) == 0 else { return }
      _exit(ExitStatus.interrupted)
    }
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Glibc)
      let handler = action.__sigaction_handler.sa_handler
    #else
      let handler = action.__sigaction_u.__sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == 1  // SIG_IGN is the number 1 in the shape of a function
  }
}
