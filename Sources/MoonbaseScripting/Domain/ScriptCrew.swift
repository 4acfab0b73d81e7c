public import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Threads that run scripts, each in a state of its own and with the stack that scripts need. The first error ends
/// all.
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
public final class ScriptCrew: Sendable {
  private struct State {
    var running = 0
    var failure: (any Error)?
    var isInterrupted = false
    var interrupters: [LuaInterrupter] = []
  }

  private static let stackSize = 16 << 20
  private let state = Lock(State())
  private let name: String

  /// Makes a crew without threads; the name is that of its threads.
  public init(name: String = "Moonbase scripts") { self.name = name }

  /// Runs a body on a thread of its own. The first error of a body ends the others.
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

  /// Lets `interrupt` end the runs of a state. Where that was called already, the next run ends at once.
  public func add(_ interrupter: LuaInterrupter) {
    let isInterrupted = state.withLock { state in
      state.interrupters.append(interrupter)
      return state.isInterrupted
    }
    if isInterrupted { interrupter.interrupt() }
  }

  /// Whether a body failed or the crew was interrupted: bodies begin nothing more.
  public var isStopping: Bool { state.withLock { $0.failure != nil || $0.isInterrupted } }

  private var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// How many bodies have not ended.
  public var runningCount: Int { state.withLock { $0.running } }

  /// The first error of a body.
  public var failure: (any Error)? { state.withLock { $0.failure } }

  /// Ends the scripts that run.
  public func interrupt() {
    let interrupters = state.withLock { state in
      state.isInterrupted = true
      return state.interrupters
    }
    for interrupter in interrupters { interrupter.interrupt() }
  }

  /// Waits until all bodies have ended, and throws the first error.
  ///
  /// `watch` is called from time to time. Where it throws, or the run must end that a script of this thread is in,
  /// the scripts of the crew are ended, and its error is thrown when they have.
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
      // Between two runs a state takes no notice of an interruption, so it comes again.
      if ending != nil || isInterrupted { interrupt() }
      usleep(pause)
      pause = min(20_000, 2 * pause)
    }
    if let error = ending ?? failure { throw error }
  }

  /// Does parts of some work on up to `count` threads, and gives their results in order; a part that fails gives its
  /// error.
  ///
  /// Each thread makes a member of the crew, which does one part after the other. An error that is not a part's, as
  /// where a member cannot be made, is thrown.
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
