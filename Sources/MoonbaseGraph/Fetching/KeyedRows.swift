import MoonbaseModel
import MoonbasePlatform

/// The rows of IDs that are known, some at a time, as the store has them when they are asked for: for a walk that goes on after its view
/// ended. Rows that are gone are left out.
final class KeyedRows: RowCursor {
  private struct State {
    let ids: IDList
    var position: Int
  }

  private let coordinator: PersistentStoreCoordinator
  private let state: Lock<State>

  /// Those from a place on.
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
