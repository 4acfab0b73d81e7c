import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Whether a store was closed, shared by its users on other threads.
final class ClosedFlag: Sendable {
  private let closed = Lock(false)

  var isClosed: Bool { closed.withLock { $0 } }

  func close() { closed.withLock { $0 = true } }

  func error(_ file: StoreFile) -> GraphError {
    GraphError(.invalidRequest, message: "\(file.path) was closed: open the store again, or make a new container")
  }
}
