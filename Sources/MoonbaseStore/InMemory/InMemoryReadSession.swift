package import MoonbaseModel
import MoonbasePlatform

/// A read session of an in-memory store: over a copy of its contents, or for a single call over the contents
/// themselves.
final class InMemoryReadSession: ReadSession {
  private let contents: Lock<InMemoryContents>
  /// The store's contents, which build and keep indexes; a copy of the same state uses these indexes.
  private let source: Lock<InMemoryContents>?

  init(current: Lock<InMemoryContents>) { (contents, source) = (current, nil) }

  init(copyOf current: Lock<InMemoryContents>) {
    contents = Lock(current.withLock { $0 })
    source = current
  }

  var canBeHeldOpen: Bool { source != nil }

  func rows(matching query: StoreQuery) throws -> any RowCursor {
    if query.narrowingCondition != nil { return RowList(try snapshots(matching: query)) }
    return InMemoryCursor(walk(query), limit: query.limit, offset: query.offset)
  }

  func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    guard let narrowingCondition = query.narrowingCondition else {
      return try InMemoryCursor(walk(query), limit: query.limit, offset: query.offset).all()
    }
    let found = self.narrowingCondition(narrowingCondition)
    try HostWork.charge(found.count)
    let rows = found.sorted { $0.id.key < $1.id.key }.dropFirst(query.offset)
    return Array(query.limit > 0 ? rows.prefix(query.limit) : rows)
  }

  /// The rows of the requested entities.
  private func walk(_ query: StoreQuery) -> InMemoryWalk { contents.withLock { $0.walk(query.entities) } }

  /// The candidates for a condition, found in the store's own index: an index built in this copy would be lost with it.
  private func narrowingCondition(_ condition: IndexedCondition) -> [Snapshot] {
    if let source {
      let state = contents.withLock { $0.state }
      let rows = source.withLock { $0.state == state ? $0.rows(condition) : nil }
      if let rows { return rows }
    }
    return contents.withLock { $0.rows(condition) }
  }

  func count(matching query: StoreQuery) -> Int {
    let rest = max(0, contents.withLock { $0.rowCount(of: query.entities) } - query.offset)
    return query.limit > 0 ? min(rest, query.limit) : rest
  }

  func snapshot(of id: ManagedObjectID) -> Snapshot? { contents.withLock { $0.row(of: id) } }

  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    try HostWork.charge(ids.count)
    return contents.withLock { contents in ids.compactMap { contents.row(of: $0) } }
  }

  func destinations(of id: ManagedObjectID, relationship slot: Slot) -> [ManagedObjectID] {
    contents.withLock { $0.destinations(of: id, slot: slot) }
  }

  /// Does nothing: the copied contents are released with the session.
  func end() {}
}

/// The rows of a walk within a window.
private final class InMemoryCursor: RowCursor {
  private struct State {
    var walk: InMemoryWalk
    /// The number of rows still to skip.
    var offset: Int
    /// The number of rows still to return.
    var rest: Int
  }

  private let state: Lock<State>

  init(_ walk: InMemoryWalk, limit: Int, offset: Int) {
    state = Lock(State(walk: walk, offset: offset, rest: limit > 0 ? limit : .max))
  }

  func next(upTo count: Int) throws -> RowBatch {
    try state.withLock { state in
      var rows = RowBatch()
      while rows.count < count, state.rest > 0, let row = state.walk.next() {
        try HostWork.charge()
        if state.offset > 0 {
          state.offset -= 1
        } else {
          state.rest -= 1
          rows.append(row)
        }
      }
      return rows
    }
  }

  /// All remaining rows.
  func all() throws -> [Snapshot] { Array(try next(upTo: .max)) }
}

extension StoreQuery {
  /// The indexes of the requested entities.
  package var entities: Range<EntityIndex> { entity.indexes(includingSubentities: includesSubentities) }
}
