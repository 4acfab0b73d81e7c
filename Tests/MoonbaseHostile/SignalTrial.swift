import MoonbaseHostileFork
import MoonbaseLua
import MoonbasePlatform

/// Processes whose host has its own signal handlers, or that are interrupted twice.
enum SignalTrial: String, CaseIterable {
  case handlerBefore, handlerAfter, handlerThatChains, ignoredAfter, interruptedOnce, interruptedTwice

  static func runAll() {
    for trial in allCases {
      print(trial.rawValue, terminator: "\t")
      let box = Box(trial)
      let status = hostile_fork(
        { context in
          guard let context else { return }
          Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().trial.run()
        }, Unmanaged.passUnretained(box).toOpaque(), 30)
      print(status)
    }
  }

  private final class Box {
    let trial: SignalTrial
    init(_ trial: SignalTrial) { self.trial = trial }
  }

  private func run() {
    do {
      print(try outcome(), terminator: "\t")
    } catch {
      print("\(error)", terminator: "\t")
    }
  }

  private func outcome() throws -> String {
    let state = try LuaState(limits: LuaLimits(deadline: .seconds(0.02)))
    switch self {
    case .handlerBefore:
      signal(SIGURG, count)
      let kind = try end(state)
      return "\(kind) \(calls(of: SIGURG))"
    case .handlerAfter:
      _ = try end(state)
      signal(SIGURG, count)
      let kind = try end(state)
      return "\(kind) \(calls(of: SIGURG))"
    case .handlerThatChains:
      _ = try end(state)
      earlierHandler = signal(SIGURG, countAndChain)
      let kind = try end(state)
      return "\(kind) \(calls(of: SIGURG))"
    case .ignoredAfter:
      _ = try end(state)
      signal(SIGURG, SIG_IGN)
      return "\(try end(state)) \(calls(of: SIGURG))"
    case .interruptedOnce, .interruptedTwice:
      state.limits = .none
      LuaInterrupter.onSIGINT(state.interrupter)
      let times = self == .interruptedOnce ? 1 : 2
      try state.setGlobal(
        "raise", to: state.function { _ in for _ in 0..<times { kill(getpid(), SIGINT) } })
      return try end(state, "raise() while true do end")
    }
  }

  /// The code of the error with which a script ends.
  private func end(_ state: LuaState, _ code: String = "while true do end") throws -> String {
    do {
      _ = try state.load(code, name: "t")()
      return "lua.ok"
    } catch {
      return error.code
    }
  }

  /// The number of calls of the host's handler for two signals of the host.
  private func calls(of number: CInt) -> String {
    let before = counted
    raise(number)
    raise(number)
    return before > 0 ? "\(counted - before)" : "none before, \(counted - before)"
  }
}

nonisolated(unsafe) private var counted = 0  // one thread runs here, and the handlers on it
nonisolated(unsafe) private var earlierHandler: (@convention(c) (CInt) -> Void)?  // one thread only

private func count(_ number: CInt) { counted += 1 }

private func countAndChain(_ number: CInt) {
  counted += 1
  earlierHandler?(number)
}
