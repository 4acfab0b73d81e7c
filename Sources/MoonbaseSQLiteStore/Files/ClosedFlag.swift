import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Whether a store was closed, shared by its users on other threads.
///
/// Closing is final: a closed store is opened again as a new object. Cursors and sessions hold the flag and check it
/// before they use the file.
final class ClosedFlag: Sendable {
  /// False until `close`.
  private let closed = Lock(false)

  /// Whether `close` was called.
  var isClosed: Bool { closed.withLock { $0 } }

  /// Sets the flag. May be called repeatedly and on any thread.
  func close() { closed.withLock { $0 = true } }

  /// The error of a request to a closed store.
  func error(_ file: StoreFile) -> GraphError {
    GraphError(.invalidRequest, message: "\(file.path) was closed: open the store again, or make a new container")
  }
}
