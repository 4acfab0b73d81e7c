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
  /// Whether so much was saved that it is not listed: any object may be another one, or gone.
  public let mayBeAnything: Bool

  /// Makes a list of what was saved, for example of what another process tells.
  public init(
    inserted: [ManagedObjectID] = [], updated: [ManagedObjectID] = [], deleted: [ManagedObjectID] = []
  ) {
    (self.inserted, self.updated, self.deleted, mayBeAnything) = (inserted, updated, deleted, false)
  }

  private init(mayBeAnything: Bool) {
    (inserted, updated, deleted, self.mayBeAnything) = ([], [], [], mayBeAnything)
  }

  /// What says that any object may be another one: who merges it reads all objects anew that it has.
  public static let anything = SavedObjectIDs(mayBeAnything: true)

  /// What a store wrote. Pairs change the objects at both ends.
  init(_ changes: StoreChanges) {
    mayBeAnything = false
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

/// Who hears of saves.
final class SaveListeners: Sendable {
  private struct Inbox {
    weak var inbox: SaveInbox?
  }

  private let inboxes = Lock<[Inbox]>([])

  func add(_ inbox: SaveInbox) {
    inboxes.withLock { inboxes in
      inboxes.removeAll { $0.inbox == nil }
      inboxes.append(Inbox(inbox: inbox))
    }
  }

  /// A sequence goes on as long as somebody has it.
  func stream() -> AsyncStream<SavedObjectIDs> {
    let inbox = SaveInbox()
    add(inbox)
    return AsyncStream { await inbox.next() }
  }

  /// Tells everybody but who saved.
  func tell(_ changes: StoreChanges, from sender: SaveInbox?) {
    if !changes.isEmpty { tell(SavedObjectIDs(changes), from: sender) }
  }

  /// The same of what a store wrote by itself, or another context tells.
  func tell(_ changes: @autoclosure () -> SavedObjectIDs, from sender: SaveInbox? = nil) {
    let others = inboxes.withLock { $0.compactMap(\.inbox).filter { $0 !== sender } }
    guard !others.isEmpty else { return }
    let saved = changes()
    for inbox in others { inbox.post(saved) }
  }
}
