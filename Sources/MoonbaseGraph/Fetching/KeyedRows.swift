import MoonbaseModel
import MoonbasePlatform

/// The current rows of known IDs, read in batches: for a walk that continues after its view has ended. Deleted rows are
/// left out.
///
/// May be read ahead on another thread, so a lock protects the position.
final class KeyedRows: RowCursor {
  /// Changed under the lock.
  private struct State {
    /// All IDs of the walk.
    let ids: IDList
    /// The index of the next ID.
    var position: Int
  }

  /// Finds the stores of the IDs.
  private let coordinator: PersistentStoreCoordinator
  /// The IDs and the position.
  private let state: Lock<State>

  /// The rows from a position on. Nothing is read yet.
  init(_ ids: IDList, from position: Int, in coordinator: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    state = Lock(State(ids: ids, position: position))
  }

  /// The rows of the next IDs, without deleted ones. Each store is asked once. Empty also for IDs that are all gone.
  func next(upTo count: Int) throws -> RowBatch {
    let ids = state.withLock { state in
      let end = min(state.ids.count, state.position + count)
      defer { state.position = end }
      return Array(state.ids[state.position..<end])
    }
    var rows = RowBatch()
    for (store, group) in try coordinator.byStore(ids) { rows.append(RowBatch(try store.snapshots(of: group))) }
    return rows
  }
}
