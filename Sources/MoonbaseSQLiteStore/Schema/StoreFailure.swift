import MoonbaseModel
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// Translates SQLite's errors to errors of the graph.
///
/// Messages begin with the path and end with advice. The mapping of codes is in `explain`. Used wherever a connection's
/// error leaves the store.
package struct StoreFailure: Sendable {
  /// The path of the store, as the caller wrote it.
  let path: String

  /// Translates errors of the store at a path.
  package init(path: String) { self.path = path }

  /// Translates SQLite's errors, and returns other errors unchanged. Also translates `FileChanged`, and triggers
  /// without an end.
  package func translate(_ error: any Error) -> any Error {
    if error is FileChanged {
      return GraphError(.storeBusy, message: "\(path): another process is changing the store; try again")
    }
    if let overrun = error as? TriggerOverrun { return endless(overrun) }
    if let endless = error as? EndlessChange { return self.endless(endless.overrun, of: endless.id) }
    return (error as? SQLiteError).map(graphError) ?? error
  }

  /// The error for triggers that took too many steps; `id` is the changed object, if known.
  private func endless(_ overrun: TriggerOverrun, of id: ManagedObjectID? = nil) -> GraphError {
    let shown = overrun.triggers.prefix(5).joined(separator: ", ")
    let triggers =
      overrun.triggers.count == 1
      ? "the trigger \(shown) of the file does" : "triggers of the file\(shown.isEmpty ? "" : " (\(shown))") do"
    let change = id.map { " at the change of \($0)" } ?? ""
    return GraphError(
      .storeFailure,
      message:
        "\(path): \(triggers) not come to an end\(change), after \(overrun.limit) steps of SQLite; nothing was saved: mend or "
        + "drop what has no end, or open the store in Swift with a greater triggerStepLimit",
      entity: id?.entityName, objectID: id, underlying: overrun)
  }

  /// The original error is kept as `underlying`.
  func graphError(_ error: SQLiteError) -> GraphError {
    let (code, message) = explain(error)
    return GraphError(code, message: "\(path)\(message)", underlying: error)
  }

  /// The code, and the message without the path. The memory limit of a script gives `.limitExceeded` instead of
  /// `.invalidValue`.
  private func explain(_ error: SQLiteError) -> (GraphError.Code, String) {
    let reason = error.systemReason ?? error.message
    switch error.code.primary {
    case .busy, .locked: return (.storeBusy, ": another process is reading or writing the store; try again")
    case .lockingProtocol:
      return (
        .storeBusy,
        ": its locks are in use without end; try again, and if that does not help close all programs that have it open"
      )
    case .readOnly where error.code == .moved:
      return (.storeFailure, " was moved or deleted since it was opened: open it again where it is now")
    case .readOnly:
      return (
        .readOnlyStore, " cannot be written (\(error.message)): check the permissions of the file and its folder"
      )
    case .notADatabase:
      return (.invalidStore, " is not a SQLite database, or is encrypted: name a Core Data store, or a new file")
    case .error where error.message == "unsupported file format":
      return (
        .invalidStore,
        " has a header of no form that SQLite knows: it is damaged, or encrypted; restore it from a backup, or open it with what encrypted it"
      )
    case .corrupt:
      return (.invalidStore, " is damaged (\(error.message)): restore it from a backup, or try sqlite3's .recover")
    case .cannotOpen where error.systemReason == nil:
      return (.cannotOpenFile, " cannot be opened: check the permissions of the file and its folder")
    case .cannotOpen: return (.cannotOpenFile, " cannot be opened: \(reason)")
    case .full: return (.storeFailure, " cannot be written: there is no room (\(reason)); make room and try again")
    case .inputOutput: return (.storeFailure, ": reading or writing failed: \(reason)")
    case .tooBig where HostWork.greatestValue < LargeValue.greatest:
      return (.limitExceeded, ": a value is larger than the memory of the script allows")
    case .noMemory where HostWork.greatestValue < LargeValue.greatest:
      return (.limitExceeded, ": SQLite needs more memory for it than the script may use")
    case .tooBig:
      return (
        .invalidValue,
        ": a value is larger than SQLite takes (1,000,000,000 bytes for a row or a string): keep it in a file, "
          + "and its name in the store"
      )
    case .constraint where error.code == .primaryKeyConstraint:
      return (.mergeConflict, ": a primary key is taken: \(error.message)")
    case .constraint: return (.constraintConflict, ": \(error.message)")
    default: return (.storeFailure, ": \(error.message)")
    }
  }
}

/// A file was changed while it was read without locks.
struct FileChanged: Error {}

/// Thrown when the triggers of an object's change exceed the limit of steps.
struct EndlessChange: Error {
  let overrun: TriggerOverrun
  let id: ManagedObjectID

  init(_ overrun: TriggerOverrun, of id: ManagedObjectID) { (self.overrun, self.id) = (overrun, id) }
}
