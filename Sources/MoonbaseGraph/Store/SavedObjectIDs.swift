public import MoonbaseModel
import MoonbasePlatform

/// The objects that a save wrote, by their IDs: what may leave the context that saved them.
public struct SavedObjectIDs: Sendable, Hashable {
  /// Objects that are new in their store.
  public let inserted: [ManagedObjectID]
  /// Objects with other values or other destinations than before.
  public let updated: [ManagedObjectID]
  /// Objects that are gone.
  public let deleted: [ManagedObjectID]

  /// Makes a list of what was saved, for example of what another process tells.
  public init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = []
  ) {
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
  }

  /// What a store wrote. Pairs change the objects at both ends.
  init(_ changes: StoreChanges) {
    inserted = changes.inserted.map(\.id)
    deleted = changes.deleted.map(\.id)
    var seen = Set(inserted).union(deleted)
    var updated: [ManagedObjectID] = []
    func note(_ id: ManagedObjectID) { if seen.insert(id).inserted { updated.append(id) } }
    for update in changes.updated { note(update.snapshot.id) }
    for links in changes.links {
      note(links.owner)
      for id in links.added { note(id) }
      for id in links.removed { note(id) }
    }
    self.updated = updated
  }
}

/// What others saved, until its context merges it.
final class SaveInbox: Sendable {
  private let waiting = Lock<[SavedObjectIDs]>([])

  func post(_ saved: SavedObjectIDs) { waiting.withLock { $0.append(saved) } }

  /// Takes out what came.
  func take() -> [SavedObjectIDs] {
    waiting.withLock { list in
      defer { list = [] }
      return list
    }
  }
}

/// Who hears of saves.
final class SaveListeners: Sendable {
  private struct Inbox {
    weak var inbox: SaveInbox?
  }

  private struct State {
    var inboxes: [Inbox] = []
    var streams: [Int: AsyncStream<SavedObjectIDs>.Continuation] = [:]
    var lastStream = 0
  }

  private let state = Lock(State())

  func add(_ inbox: SaveInbox) {
    state.withLock { state in
      state.inboxes.removeAll { $0.inbox == nil }
      state.inboxes.append(Inbox(inbox: inbox))
    }
  }

  func stream() -> AsyncStream<SavedObjectIDs> {
    AsyncStream { continuation in
      let number = state.withLock { state in
        state.lastStream += 1
        state.streams[state.lastStream] = continuation
        return state.lastStream
      }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
      }
    }
  }

  /// Tells everybody but who saved.
  func tell(_ changes: StoreChanges, from sender: SaveInbox?) {
    if !changes.isEmpty { tell(SavedObjectIDs(changes), from: sender) }
  }

  /// The same of what a store wrote by itself.
  func tell(_ changes: @autoclosure () -> SavedObjectIDs, from sender: SaveInbox?) {
    let (inboxes, streams) = state.withLock { state in
      (state.inboxes.compactMap(\.inbox).filter { $0 !== sender }, Array(state.streams.values))
    }
    guard !inboxes.isEmpty || !streams.isEmpty else { return }
    let saved = changes()
    for inbox in inboxes { inbox.post(saved) }
    for stream in streams { stream.yield(saved) }
  }
}
