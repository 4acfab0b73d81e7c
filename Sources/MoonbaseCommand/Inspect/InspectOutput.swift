import MoonbaseLua
import MoonbasePlatform

/// Receives the output of scripts up to a limit, and can interrupt the running script.
final class InspectOutput: Sendable {
  private static let greatestSize = 256 << 10

  private struct Printed {
    var bytes: [UInt8] = []
    var dropped = 0
  }

  private let printed = Lock(Printed())
  private let interrupters = Lock<[LuaInterrupter]>([])

  /// The output for a Lua state.
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
  func take() -> String {
    let taken = printed.withLock { printed in
      defer { printed = Printed() }
      return printed
    }
    let text = String(decoding: taken.bytes, as: UTF8.self)
    return taken.dropped == 0 ? text : text + "\n… and \(taken.dropped) bytes more, which are not shown"
  }

  /// Lets `interrupt` end the code that runs in a Lua state.
  func add(_ interrupter: LuaInterrupter) { interrupters.withLock { $0.append(interrupter) } }

  /// Removes a state that runs no more code.
  func remove(_ interrupter: LuaInterrupter) { interrupters.withLock { $0.removeAll { $0 === interrupter } } }

  /// Interrupts the running scripts.
  func interrupt() { for interrupter in interrupters.withLock({ $0 }) { interrupter.interrupt() } }
}
