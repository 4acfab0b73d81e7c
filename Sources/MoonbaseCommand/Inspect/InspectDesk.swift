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
  /// Large values are sent one at a time.
  let largeValues = Lock<Void>(())

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
    var result: Swift.Result<Result, any Error> = .failure(InspectRefusal(503, "moonbase inspect has ended"))
    executor.runAndWait { if let session { result = .init { try body(session) } } }
    return try result.get()
  }

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
      return .failure(503, "moonbase inspect has ended")
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
