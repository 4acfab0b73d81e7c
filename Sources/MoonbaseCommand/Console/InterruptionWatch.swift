import MoonbaseLua
import MoonbasePlatform

/// Interrupts Lua code that does not end by itself after SIGINT.
final class InterruptionWatch: Sendable {
  private struct State {
    var interrupters: [LuaInterrupter] = []
    var isOver = false
  }

  private static let pause: UInt32 = 20_000
  /// The time that Lua code has to end by itself, in microseconds.
  private static let grace: UInt32 = 400_000
  private let state = Lock(State())

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
  func add(_ interrupter: LuaInterrupter) { state.withLock { $0.interrupters.append(interrupter) } }
}
