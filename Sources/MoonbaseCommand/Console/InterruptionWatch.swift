import MoonbaseLua
import MoonbasePlatform

/// Interrupts Lua code that does not end by itself after SIGINT.
///
/// A watch has a thread of its own, which polls for SIGINT until `end` is called. Well-behaved code
/// ends within the grace period and is not interrupted.
final class InterruptionWatch: Sendable {
  /// The state that the watching thread shares.
  private struct State {
    /// The Lua states to interrupt.
    var interrupters: [LuaInterrupter] = []
    /// Whether the watch has ended.
    var isOver = false
  }

  /// The interval between two checks, in microseconds.
  private static let pause: UInt32 = 20_000
  /// The time that Lua code has to end by itself, in microseconds.
  private static let grace: UInt32 = 400_000
  /// The state behind its lock.
  private let state = Lock(State())

  /// Begins the watch.
  init() {
    Thread.detachNewThread { [state] in
      var waited: UInt32 = 0
      while !state.withLock({ $0.isOver }) {
        if Interruption.hasCome { waited += Self.pause }
        if waited > Self.grace { state.withLock { for interrupter in $0.interrupters { interrupter.interrupt() } } }
        usleep(Self.pause)
      }
    }
  }

  /// Ends the watch, because the watched code has finished.
  func end() { state.withLock { $0.isOver = true } }

  /// Also watches the given state.
  ///
  /// May be called from any thread.
  func add(_ interrupter: LuaInterrupter) { state.withLock { $0.interrupters.append(interrupter) } }
}
