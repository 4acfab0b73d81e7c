import MoonbaseModel
import MoonbasePlatform

/// The current rows of known IDs, read in batches: for a walk that continues after its view has ended. Deleted rows are
/// left out.
final class KeyedRows: RowCursor {
  private struct State {
    let ids: IDList
    var position: Int
  }

  private let coordinator: PersistentStoreCoordinator
  private let state: Lock<State>

  /// The rows from a position on.
  init(_ ids: IDList, from position: Int, in coordinator: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    state = Lock(State(ids: ids, position: position))
  }

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
