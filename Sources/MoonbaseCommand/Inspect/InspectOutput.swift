import MoonbaseLua
import MoonbasePlatform

/// Receives the output of scripts up to a limit, and can interrupt the running script.
///
/// Scripts print on the thread of the session, while connections on other threads interrupt them.
/// Both are protected by locks.
final class InspectOutput: Sendable {
  /// The maximum number of bytes that are kept between two calls of `drain`.
  private static let greatestSize = 256 << 10

  /// The output since the last call of `drain`.
  private struct Printed {
    /// The kept bytes.
    var bytes: [UInt8] = []
    /// The number of bytes that were dropped after the limit.
    var dropped = 0
  }

  /// The output, shared by all Lua states.
  private let printed = Lock(Printed())
  /// The running Lua states.
  private let interrupters = Lock<[LuaInterrupter]>([])

  /// The output for a Lua state.
  ///
  /// Bytes after the limit are counted and dropped.
  var taking: LuaOutput {
    LuaOutput { [printed] bytes, _ in
      let taken = Array(bytes)
      printed.withLock { printed in
        let room = max(0, Self.greatestSize - printed.bytes.count)
        printed.bytes += taken.prefix(room)
        printed.dropped += max(0, taken.count - room)
      }
    }
  }

  /// Returns the text that was printed since the last call.
  ///
  /// A last line says how many bytes were dropped.
  func drain() -> String {
    let taken = printed.withLock { printed in
      defer { printed = Printed() }
      return printed
    }
    let text = String(decoding: taken.bytes, as: UTF8.self)
    return taken.dropped == 0 ? text : text + "\n… and \(taken.dropped) bytes more, which are not shown"
  }

  /// Lets `interrupt` end the code that runs in a Lua state.
  ///
  /// - Parameter interrupter: The handle of the state, which `remove` takes again.
  func add(_ interrupter: LuaInterrupter) { interrupters.withLock { $0.append(interrupter) } }

  /// Removes a state that runs no more code.
  func remove(_ interrupter: LuaInterrupter) { interrupters.withLock { $0.removeAll { $0 === interrupter } } }

  /// Interrupts the running scripts.
  func interrupt() { for interrupter in interrupters.withLock({ $0 }) { interrupter.interrupt() } }
}
