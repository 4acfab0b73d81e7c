public import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Threads that run scripts, each with its own Lua state and the stack that scripts need. The first error ends all of
/// them.
///
/// ```swift
/// let crew = ScriptCrew()
/// for _ in 0..<2 {
///   crew.start { crew in
///     let domain = try maker.make()
///     defer { domain.close() }
///     crew.add(domain.state.interrupter)
///     while !crew.isStopping, let part = parts.next() { try work(part, in: domain) }
///   }
/// }
/// try crew.wait()
/// ```
///
/// Used by jobs, by batch jobs and by the parallel commands. A crew may be shared: its state lies behind a lock, and
/// every method may be called on any thread.
public final class ScriptCrew: Sendable {
  /// The state that the lock protects.
  private struct State {
    /// The number of bodies that have not ended.
    var running = 0
    /// The first error of a body; later errors are dropped.
    var failure: (any Error)?
    var isInterrupted = false
    /// The interrupters of all states of the crew.
    var interrupters: [LuaInterrupter] = []
  }

  /// In bytes: 16 MiB, because nested calls between Lua and Swift need more than a thread's default.
  private static let stackSize = 16 << 20
  private let state = Lock(State())
  private let name: String

  /// A crew without threads. `name` becomes the name of its threads.
  public init(name: String = "Moonbase scripts") { self.name = name }

  /// Runs a body on its own thread. The first error of a body ends the others.
  ///
  /// The body has to watch `isStopping`; only Lua code of states passed to `add(_:)` is interrupted.
  public func start(_ body: @escaping @Sendable (ScriptCrew) throws -> Void) {
    state.withLock { $0.running += 1 }
    let thread = Thread { [self] in
      do {
        try body(self)
      } catch {
        state.withLock { $0.failure = $0.failure ?? error }
      }
      state.withLock { $0.running -= 1 }
    }
    thread.name = name
    thread.stackSize = Self.stackSize
    thread.start()
  }

  /// Lets `interrupt` end the runs of a state. If the crew was interrupted already, the state's next run ends at once.
  ///
  /// Call this on the thread that made the state, before its first run.
  public func add(_ interrupter: LuaInterrupter) {
    let isInterrupted = state.withLock { state in
      state.interrupters.append(interrupter)
      return state.isInterrupted
    }
    if isInterrupted { interrupter.interrupt() }
  }

  /// Whether a body failed or the crew was interrupted. Bodies must not begin new work then.
  public var isStopping: Bool { state.withLock { $0.failure != nil || $0.isInterrupted } }

  private var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// The number of bodies that have not ended.
  public var runningCount: Int { state.withLock { $0.running } }

  /// The first error of a body.
  public var failure: (any Error)? { state.withLock { $0.failure } }

  /// Interrupts the running scripts.
  ///
  /// May be called repeatedly and on any thread. Swift code of a body is not interrupted.
  public func interrupt() {
    let interrupters = state.withLock { state in
      state.isInterrupted = true
      return state.interrupters
    }
    for interrupter in interrupters { interrupter.interrupt() }
  }

  /// Waits until all bodies have ended, and throws the first error.
  ///
  /// `watch` is called periodically. If it throws, or if the run of a script on this thread must end, the crew's
  /// scripts are interrupted, and the error is thrown after they ended.
  ///
  /// The pause between two looks doubles from 0.2 to 20 milliseconds, so that short work ends without delay.
  public func wait(watch: () throws -> Void = {}) throws {
    var ending: (any Error)?
    var pause: UInt32 = 200
    while runningCount > 0 {
      if ending == nil {
        do {
          if HostWork.isOver { throw HostWork.ending() }
          try watch()
        } catch {
          ending = error
        }
      }
      // A state ignores an interruption between two runs, so it is repeated.
      if ending != nil || isInterrupted { interrupt() }
      usleep(pause)
      pause = min(20_000, 2 * pause)
    }
    if let error = ending ?? failure { throw error }
  }

  /// Processes parts of work on up to `count` threads. Returns the results in order, with errors of failed parts.
  ///
  /// Each thread makes a member, which processes one part after another. Errors outside of a part, such as a failure to
  /// make a member, are thrown.
  ///
  /// For example, 10 parts on 4 threads: each thread takes the next index until none is left. An error of `work`
  /// becomes the failure of its part and does not end the other parts.
  func results<Part: Sendable, Member, Output: Sendable>(
    of parts: [Part], on count: Int, as makeMember: @escaping @Sendable (ScriptCrew) throws -> Member,
    watch: () throws -> Void = {},
    work: @escaping @Sendable (Member, Part) throws -> Output
  ) throws -> [Result<Output, any Error>] {
    let next = Lock(0)
    let done = Lock([Result<Output, any Error>?](repeating: nil, count: parts.count))
    for _ in 0..<max(1, min(count, parts.count)) where !parts.isEmpty {
      start { crew in
        let member = try makeMember(crew)
        while !crew.isStopping {
          let index = next.withLock { index in
            defer { index += 1 }
            return index
          }
          guard index < parts.count else { break }
          let result = Result { try work(member, parts[index]) }
          done.withLock { $0[index] = result }
        }
      }
    }
    try wait(watch: watch)
    return done.withLock { $0.compactMap(\.self) }
  }
}
