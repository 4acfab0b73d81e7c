package import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Requests to files that other processes may change.
extension StoreFile {
  /// Runs `body`, which reads a file that other processes may write. Repeats it where it failed and the file changed
  /// meanwhile: without locks, `body` may see a write in part.
  package func settled<Result>(_ body: () throws -> Result) throws -> Result {
    for _ in 0..<20 {
      let before = footprint
      do {
        return try FileOpeningLock.withLock(truePath, body)
      } catch is FileChanged {
        try HostWork.pause(milliseconds: 20)
      } catch {
        let error = StoreFailure(path: path).translate(error)
        guard (error as? GraphError)?.code != .storeBusy, footprint != before else { throw error }
        try HostWork.pause(milliseconds: 20)
      }
    }
    do {
      return try FileOpeningLock.withLock(truePath, body)
    } catch {
      throw StoreFailure(path: path).translate(error)
    }
  }

  /// Throws if a store of this process has the file open. `participle` names the refused operation in the message.
  package func requireClosed(participle: String) throws {
    guard OpenStores.hold(path: truePath, writing: true) else { return }
    throw GraphError(
      .invalidRequest,
      message: "\(path) is open in this process and cannot be \(participle): remove it from its coordinator before"
    )
  }

  /// The error for a file that is absent.
  var missingError: GraphError {
    GraphError(
      .cannotOpenFile, message: "\(path): there is no such store: name one, or open it for writing to make it")
  }

  /// The error for a database without a store.
  package var bareError: GraphError {
    GraphError(
      .invalidStore,
      message:
        "\(path) is empty: there is no store in it; to make one, name a model (--model) and open it for writing")
  }

  /// The error for a file that is no longer in its place.
  package var movedError: GraphError {
    GraphError(
      .storeFailure,
      message: "\(path) was moved, replaced or deleted since it was opened: open it again where it is now")
  }

  /// The error message for a store without a stored model, where a call needs the model.
  package static func withoutModel(_ path: String) -> String {
    "\(path) carries no model (an old framework wrote it): name the one that it was made with (--model FILE, of moonbase "
      + "migrate --from FILE), or look at its tables with moonbase info and moonbase sql"
  }
}
