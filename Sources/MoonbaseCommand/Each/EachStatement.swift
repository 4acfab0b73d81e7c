import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Runs a function for all objects in one statement of the store and in one transaction, if the result is the same as
/// with separate visits.
///
/// This is much faster than visiting objects. `ObjectFunction` decides whether the function can be
/// translated.
struct EachStatement {
  /// The settings of the run.
  private let setting: EachWorker.Setting

  /// A statement with the settings of a run.
  init(_ setting: EachWorker.Setting) { self.setting = setting }

  /// Returns false, and changes nothing, if the objects must be visited. This is also the case if an object fails,
  /// because a visit is needed to report which object it was.
  func run(
    _ condition: ConditionOptionGroup, of entity: String, quiet: Bool, _ summary: SummaryOptionGroup
  ) throws -> Bool {
    let domain = try setting.scripts.openDomain(forScriptsIn: setting.function.folder, setting.stores)
    defer { domain.close() }
    let context = try domain.context(of: setting.container.opened)
    try domain.setContext(context)
    let request = try condition.request(entity, in: context)
    let start = ContinuousClock.now
    let done: HookFreeUpdate.Outcome?
    do {
      done = try interrupting(domain.state.interrupter) {
        try domain.state.run {
          try setting.container.noteExtensions(of: context)
          return try setting.function.load(in: domain).runInStore(request, in: context)
        }
      }
    } catch  where Interruption.hasCome {
      throw GraphError(.interrupted, message: "interrupted: nothing was saved")
    }
    guard let done else { return false }
    let report = EachReport(visited: done.matched, changed: done.changed)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    try summary.tell(
      report.values(of: done.matched, isDry: false, seconds: seconds), quiet: quiet,
      lines: [report.summary(of: done.matched, isDry: false, seconds: seconds)])
    return true
  }

  /// The interval between two checks for SIGINT, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Ends a call of Lua when SIGINT arrives, even if the call takes long. Its changes are discarded.
  private func interrupting<Result>(_ interrupter: LuaInterrupter, _ body: () throws -> Result) rethrows -> Result {
    let isOver = Lock(false)
    Thread {
      while !isOver.withLock({ $0 }) {
        if Interruption.hasCome { return interrupter.interrupt() }
        usleep(Self.pause)
      }
    }.start()
    defer { isOver.withLock { $0 = true } }
    return try body()
  }
}
