import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Answers requests, one after the other, with a session that has its own thread.
///
/// Connections have threads of their own, but a context and its Lua state belong to one thread. The
/// desk is the place where all connections wait for that thread. It lives as long as the command.
final class InspectDesk: Sendable {
  /// The thread of the session.
  private let executor = ThreadExecutor(name: "moonbase inspect")
  nonisolated(unsafe) private var session: InspectSession?  // only used on the executor's thread
  /// Collects the output of scripts, and interrupts scripts. It may be used on any thread.
  let output = InspectOutput()
  /// The options of the command.
  let settings: CommandSettings
  /// Limits the memory of values that are being sent.
  let valuesOnTheirWay = ValuesOnTheirWay()
  /// Whether the page is about to end. If it is, requests that wait for the session are refused.
  private let isEnding = Lock(false)

  /// Opens the store. Throws the errors of opening.
  ///
  /// - Parameter settings: The options of the command.
  init(_ settings: CommandSettings) throws {
    self.settings = settings
    var failure: (any Error)?
    executor.runAndWait {
      do { session = try InspectSession(settings, output) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Runs `body` with the session on its thread, and waits for the result.
  ///
  /// - Throws: The errors of `body`, and an `InspectRefusal` with status 503 if the page is about
  ///   to end.
  func perform<Result>(_ body: (InspectSession) throws -> Result) throws -> Result {
    try run { session in
      guard !isEnding.withLock({ $0 }) else { throw InspectRefusal(503, "moonbase inspect is about to end") }
      return try body(session)
    }
  }

  /// Like `perform`, but also for a page that is about to end.
  private func run<Result>(_ body: (InspectSession) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error> = .failure(InspectRefusal(503, "moonbase inspect has ended"))
    executor.runAndWait { if let session { result = .init { try body(session) } } }
    return try result.get()
  }

  /// Interrupts running and waiting scripts, and returns the number of unsaved objects. All requests are refused until
  /// `resume` is called.
  ///
  /// - Returns: The number of objects with unsaved changes.
  func halt() -> Int {
    isEnding.withLock { $0 = true }
    let isHalted = Lock(false)
    // Repeat the interruption, because a script may start at this moment.
    Thread.detachNewThread { [output] in
      while !isHalted.withLock({ $0 }) {
        output.interrupt()
        usleep(20_000)
      }
    }
    defer { isHalted.withLock { $0 = true } }
    return (try? run { $0.prompt.unsavedCount }) ?? 0
  }

  /// Allows requests again.
  ///
  /// The user has decided not to end the page.
  func resume() { isEnding.withLock { $0 = false } }

  /// Saves all changes of a halted page. Returns the number of saved objects.
  ///
  /// - Throws: The errors of the save. The page can continue then.
  func save() throws -> Int { try run { session in try session.perform { try session.prompt.save().count } } }

  /// A response with the result of `body`, or with the reason of its failure, and with the state of the session.
  ///
  /// The JSON object gets the member `page` with the number of unsaved changes. Errors become
  /// responses, so that a route need not catch them.
  func answer(_ body: (InspectSession) throws -> InspectJSON) -> HTTPResponse {
    do {
      return try perform { session in
        do {
          let json = try body(session)
          return .json(json.adding([("page", session.state)]))
        } catch {
          return InspectFailure(error, in: session).response
        }
      }
    } catch {
      return .failure(503, InspectFailure.message(of: error))
    }
  }

  /// Interrupts scripts and closes the store. Later requests are refused.
  func close() {
    output.interrupt()
    executor.runAndWait {
      session?.close()
      session = nil
    }
  }
}
