import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// Says in the graph's terms what SQLite refused.
struct StoreFailure: Sendable {
  let url: URL

  private var path: String { url.path }

  /// SQLite's errors become the graph's; all others pass as they are.
  func translate(_ error: any Error) -> any Error {
    (error as? SQLiteError).map(graphError) ?? error
  }

  func graphError(_ error: SQLiteError) -> GraphError {
    switch error.code.primary {
    case .busy, .locked:
      GraphError(.storeBusy, "\(path): another process is writing to the store; try again", underlying: error)
    case .readOnly:
      GraphError(
        .readOnlyStore, "\(path) cannot be written: check the permissions of the file and its folder", underlying: error
      )
    case .notADatabase:
      GraphError(.invalidStore, "\(path) is not a SQLite database, or it is damaged", underlying: error)
    case .cannotOpen:
      GraphError(
        .cannotOpenFile, "\(path) cannot be opened: check the permissions of the file and its folder", underlying: error
      )
    case .constraint where error.code == .primaryKeyConstraint:
      GraphError(.mergeConflict, "\(path): a primary key is taken: \(error.message)", underlying: error)
    case .constraint:
      GraphError(.constraintConflict, "\(path): \(error.message)", underlying: error)
    default: GraphError(.storeFailure, "\(path): \(error.message)", underlying: error)
    }
  }
}
