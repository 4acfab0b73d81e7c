import MoonbaseModel
import OrderedCollections

/// What became of the objects of a context since those who follow all of them were told.
struct ObjectNews {
  /// Objects that came or went, or of which a value may be another one.
  var touched: OrderedSet<ManagedObjectID> = []
  /// IDs that became others, in the order in which they did.
  var renamed: [(old: ManagedObjectID, new: ManagedObjectID)] = []
  /// Whether it is all of them: the context was reset, or its extensions were reloaded.
  var isEverything = false

  /// Whether the context saved, so that what was changed before is what stores have.
  var isSaved = false

  var isEmpty: Bool { touched.isEmpty && !isEverything && !isSaved }

  mutating func rename(_ old: ManagedObjectID, to new: ManagedObjectID) {
    touched.remove(old)
    touched.append(new)
    renamed.append((old, new))
  }
}

/// Who follows all objects of a context.
protocol ChangeListener: AnyObject {
  /// A call that changed something is done.
  func take(_ news: ObjectNews)
}

/// Those who follow all objects of a context, as `Observers` are those who follow one: they hear of the same, at the same time.
final class ChangeListeners {
  private struct Entry {
    weak var listener: (any ChangeListener)?
    let pointer: ObjectIdentifier
  }

  /// Listeners are told no more often while others answer to what they are told.
  private static let greatestRounds = 100

  private var entries: ContiguousArray<Entry> = []
  private(set) var isTelling = false
  var news = ObjectNews()

  var isEmpty: Bool { entries.isEmpty }

  func add(_ listener: any ChangeListener) {
    entries.append(Entry(listener: listener, pointer: ObjectIdentifier(listener)))
  }

  /// The listener may be on its way out.
  func remove(_ pointer: ObjectIdentifier) {
    entries.removeAll { $0.pointer == pointer }
    if entries.isEmpty { news = ObjectNews() }
  }

  /// Tells all of them, and again what that changed.
  func tell(in context: ManagedObjectContext) {
    guard !isTelling else { return }
    isTelling = true
    defer { isTelling = false }
    var rounds = 0
    while !news.isEmpty {
      let told = news
      news = ObjectNews()
      rounds += 1
      guard rounds <= Self.greatestRounds else {
        return context.keep(
          GraphError(.invalidRequest, message: "those who follow the context's objects change them again and again"))
      }
      for entry in entries { entry.listener?.take(told) }
    }
  }
}

extension ManagedObjectContext {
  /// From now on every change is noted.
  func add(_ listener: any ChangeListener) {
    listeners.add(listener)
    derivations.hasListeners = true
  }

  func removeListener(_ pointer: ObjectIdentifier) {
    listeners.remove(pointer)
    derivations.hasListeners = !listeners.isEmpty
  }

  /// Objects came, went, or have other values.
  func tellListeners(of ids: some Sequence<ManagedObjectID>) {
    guard derivations.hasListeners else { return }
    listeners.news.touched.append(contentsOf: ids)
    hasNewsForObservers = true
  }

  func tellListeners(of old: ManagedObjectID, renamedTo new: ManagedObjectID) {
    guard derivations.hasListeners else { return }
    listeners.news.rename(old, to: new)
    hasNewsForObservers = true
  }

  func tellListenersOfSave() {
    guard derivations.hasListeners else { return }
    listeners.news.isSaved = true
    hasNewsForObservers = true
  }

  func tellListenersOfEverything() {
    guard derivations.hasListeners else { return }
    listeners.news.isEverything = true
    hasNewsForObservers = true
  }
}
