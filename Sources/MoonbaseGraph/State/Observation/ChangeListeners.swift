package import MoonbaseModel
package import OrderedCollections

/// The changes of a context's objects since its listeners were last notified.
package struct ObjectChanges {
  /// Objects that were inserted, deleted or may have changed.
  package var touched: OrderedSet<ManagedObjectID> = []
  /// IDs that were replaced, in order.
  package var renamed: [(old: ManagedObjectID, new: ManagedObjectID)] = []
  /// Whether all objects are affected, by a reset of the context or a reload of extensions.
  package var isEverything = false

  /// Whether the context saved, so that the stores now have the earlier changes.
  package var isSaved = false

  var isEmpty: Bool { touched.isEmpty && !isEverything && !isSaved }

  /// Records that an object got another ID.
  mutating func rename(_ old: ManagedObjectID, to new: ManagedObjectID) {
    touched.remove(old)
    touched.append(new)
    renamed.append((old, new))
  }
}

/// A listener that follows all objects of a context.
package protocol ChangeListener: AnyObject {
  /// Called at the end of a call that changed objects.
  func receive(_ news: ObjectChanges)
}

/// The listeners that follow all objects of a context. They are notified at the same times as the observers of single
/// objects (`Observers`).
final class ChangeListeners {
  private struct Entry {
    weak var listener: (any ChangeListener)?
    let pointer: ObjectIdentifier
  }

  /// The greatest number of rounds in which listeners are notified of changes that listeners made.
  private static let greatestRounds = 100

  private var entries: ContiguousArray<Entry> = []
  private(set) var isTelling = false
  var news = ObjectChanges()

  var isEmpty: Bool { entries.isEmpty }

  func add(_ listener: any ChangeListener) {
    entries.append(Entry(listener: listener, pointer: ObjectIdentifier(listener)))
  }

  /// Removes a listener, which may already be in deinitialization.
  func remove(_ pointer: ObjectIdentifier) {
    entries.removeAll { $0.pointer == pointer }
    if entries.isEmpty { news = ObjectChanges() }
  }

  /// Notifies all listeners, repeatedly if they make further changes.
  func tell(in context: ManagedObjectContext) {
    guard !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    var rounds = 0
    while !news.isEmpty {
      let told = news
      news = ObjectChanges()
      rounds += 1
      guard rounds <= Self.greatestRounds else {
        return context.keep(
          GraphError(.invalidRequest, message: "those who follow the context's objects change them again and again"))
      }
      for entry in entries { entry.listener?.receive(told) }
    }
  }
}
