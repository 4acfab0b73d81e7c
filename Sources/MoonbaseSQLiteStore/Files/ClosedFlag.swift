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

extension SQLiteStore {
  /// Ends reads, waits for a running save, and closes the files. Later requests to the store throw `.invalidRequest`.
  /// Closing the store again does nothing.
  public func close() {
    closing.close()
    readers.close()
    // The lock is free after the running save; saves that wait for the lock then fail.
    writer?.withLock { $0 = nil }
  }

  var closedError: GraphError { closing.error(file) }
}
