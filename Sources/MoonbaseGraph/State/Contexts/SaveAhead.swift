import MoonbaseModel
import MoonbasePlatform

/// A save that another thread writes while the context continues (`ManagedObjectContext.saveAhead`).
///
/// The other thread has the rows and the store, but no objects. The context keeps the objects' unsaved values, to
/// restore them if the save fails.
final class SaveAhead {
  /// An object with its unsaved values, and the ID under which it is saved.
  struct HandedOver {
    let object: ManagedObject
    /// Nil for a new object, which keeps its row.
    let reading: ManagedObject.Reading?
    let id: ManagedObjectID
  }

  /// The estimated bytes kept for each object, without its values.
  private static let readingWeight = 160

  private let errand = AwaitedErrand()
  private let outcome = Lock<(any Error)?>(nil)
  let objects: ContiguousArray<HandedOver>
  /// Saved objects whose lists got new objects of this save.
  let owners: ContiguousArray<ManagedObject>
  /// The pages of the objects' own rows.
  let ownRows: [RowPage]
  /// The permanent IDs of new objects.
  let permanent: PermanentIDs
  /// The estimated bytes that are kept in case the save fails.
  let weight: Int

  /// Begins the writing.
  init(
    _ changes: StoreChanges, of objects: ContiguousArray<HandedOver>, owners: ContiguousArray<ManagedObject>,
    ownRows: [RowPage], permanent: PermanentIDs, sender: NotificationInbox<SavedObjectIDs>?,
    to store: any PersistentStore, of coordinator: PersistentStoreCoordinator, author: String?,
    on writer: ThreadExecutor
  ) {
    (self.objects, self.owners, self.ownRows, self.permanent) = (objects, owners, ownRows, permanent)
    weight = objects.reduce(0) { weight, entry in
      weight &+ (entry.reading.map { $0.weight &+ Self.readingWeight } ?? MemoryLayout<HandedOver>.stride)
    }
    let (errand, outcome) = (errand, outcome)
    // The work releases the store before the save is awaited, so that releasing the store afterwards closes its file.
    let work = Lock<Work?>(
      Work(changes: changes, store: store, coordinator: coordinator, author: author, sender: sender))
    writer.run {
      errand.run {
        do {
          try work.withLock { $0.take() }?.run()
        } catch {
          outcome.withLock { $0 = error }
        }
      }
    }
  }

  /// The work of the other thread.
  private struct Work: Sendable {
    let changes: StoreChanges
    let store: any PersistentStore
    let coordinator: PersistentStoreCoordinator
    let author: String?
    let sender: NotificationInbox<SavedObjectIDs>?

    func run() throws { try SaveAhead.write(changes, to: store, of: coordinator, author: author, from: sender) }
  }

  /// Writes and commits changes, and notifies other contexts.
  private static func write(
    _ changes: StoreChanges, to store: any PersistentStore, of coordinator: PersistentStoreCoordinator, author: String?,
    from sender: NotificationInbox<SavedObjectIDs>?
  ) throws {
    var session: (any SaveSession)?
    do {
      let new = try store.beginSave(author: author)
      session = new
      try coordinator.write(changes, in: new)
      try new.prepare()
      try coordinator.committing {
        try new.commit()
        coordinator.didSave(changes, deriving: new.derivedObjectIDs, from: sender)
      }
    } catch {
      session?.abort()
      coordinator.didNotSave(changes)
      throw error
    }
  }

  /// Aborts the save, unless it is already committed.
  func breakOff() {
    errand.stop()
    _ = errand.wait()
  }

  /// Waits for the end of the save; returns the error of a failed save.
  func wait() -> (any Error)? {
    let ending = errand.wait()
    return outcome.withLock { $0 }.map { ending ?? $0 }
  }
}
