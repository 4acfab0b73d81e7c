import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Answers requests with a session that lives on a thread of its own, one request after the other.
final class InspectDesk: Sendable {
  private let executor = ThreadExecutor(name: "moonbase inspect")
  nonisolated(unsafe) private var session: InspectSession?  // touched on the executor's thread alone
  let output = InspectOutput()
  let settings: CommandSettings
  let valuesOnTheirWay = ValuesOnTheirWay()
  /// Whether the page is about to end: requests that wait for the session are refused.
  private let isEnding = Lock(false)

  /// Opens the store. Throws what opening throws.
  init(_ settings: CommandSettings) throws {
    self.settings = settings
    var failure: (any Error)?
    executor.runAndWait {
      do { session = try InspectSession(settings, output) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Runs `body` with the session on its thread, and waits.
  func perform<Result>(_ body: (InspectSession) throws -> Result) throws -> Result {
    try run { session in
      guard !isEnding.withLock({ $0 }) else { throw InspectRefusal(503, "moonbase inspect is about to end") }
      return try body(session)
    }
  }

  private func run<Result>(_ body: (InspectSession) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error> = .failure(InspectRefusal(503, "moonbase inspect has ended"))
    executor.runAndWait { if let session { result = .init { try body(session) } } }
    return try result.get()
  }

  /// Interrupts the scripts that run and that wait, and returns the number of unsaved objects. All requests are refused
  /// until `goOn`.
  func halt() -> Int {
    isEnding.withLock { $0 = true }
    let isHalted = Lock(false)
    // A script that begins at this moment is ended by the next try.
    Thread.detachNewThread { [output] in
      while !isHalted.withLock({ $0 }) {
        output.interrupt()
        usleep(20_000)
      }
    }
    defer { isHalted.withLock { $0 = true } }
    return (try? run { $0.prompt.unsavedCount }) ?? 0
  }

  /// Answers requests again.
  func goOn() { isEnding.withLock { $0 = false } }

  /// Saves all changes of a page that was halted; returns how many objects were saved.
  func save() throws -> Int { try run { session in try session.perform { try session.prompt.save().count } } }

  /// Answers with what `body` gives, or with the reason why it cannot. The state stands beside it.
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

  func close() {
    output.interrupt()
    executor.runAndWait {
      session?.close()
      session = nil
    }
  }
}
