import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// What others saved, until somebody takes it: in elements as they came, as long as these are few; then together, each ID once; and of
/// very many IDs only that there were.
struct SavedNews {
  /// So many elements wait one by one.
  static let greatestCount = 64
  /// So many IDs are kept.
  static let greatestIDCount = 1 << 16

  private(set) var elements: [SavedObjectIDs] = []
  private var idCount = 0

  mutating func add(_ saved: SavedObjectIDs) {
    if elements.last?.mayBeAnything == true { return }
    elements.append(saved)
    idCount += saved.count
    if saved.mayBeAnything { return become(saved) }
    guard elements.count > Self.greatestCount || idCount > Self.greatestIDCount else { return }
    let all = SavedObjectIDs(all: elements)
    become(all.count > Self.greatestIDCount ? .anything : all)
  }

  private mutating func become(_ one: SavedObjectIDs) { (elements, idCount) = ([one], one.count) }

  mutating func takeFirst() -> SavedObjectIDs? {
    guard let first = elements.first else { return nil }
    elements.removeFirst()
    idCount -= first.count
    return first
  }

  mutating func takeAll() -> [SavedObjectIDs] {
    defer { self = SavedNews() }
    return elements
  }
}

extension SavedObjectIDs {
  /// How many IDs it lists.
  fileprivate var count: Int { inserted.count + updated.count + deleted.count }

  /// What several saves came to, one after the other. An object that was new and then changed is both, for it may have been read
  /// between; one that is gone is nothing else.
  fileprivate init(all: [SavedObjectIDs]) {
    var inserted: OrderedSet<ManagedObjectID> = []
    var updated = inserted
    var deleted = inserted
    for saved in all {
      inserted.append(contentsOf: saved.inserted)
      updated.append(contentsOf: saved.updated)
      deleted.append(contentsOf: saved.deleted)
    }
    self.init(
      inserted: inserted.filter { !deleted.contains($0) }, updated: updated.filter { !deleted.contains($0) },
      deleted: Array(deleted))
  }
}

/// What others saved, until a context merges it or a reader takes it.
final class SaveInbox: Sendable {
  private struct State {
    var news = SavedNews()
    /// Who waits for the next element.
    var readers: [(number: Int, continuation: CheckedContinuation<SavedObjectIDs?, Never>)] = []
    /// Readers that gave up before they waited.
    var cancelled: Set<Int> = []
    var lastReader = 0
  }

  private let state = Lock(State())

  func post(_ saved: SavedObjectIDs) {
    let reader = state.withLock { state in
      if !state.readers.isEmpty { return Optional(state.readers.removeFirst().continuation) }
      state.news.add(saved)
      return nil
    }
    reader?.resume(returning: saved)
  }

  /// Takes out what came.
  func take() -> [SavedObjectIDs] { state.withLock { $0.news.takeAll() } }

  /// What came first, or comes next; nil once the task is cancelled.
  func next() async -> SavedObjectIDs? {
    let number = state.withLock { state in
      state.lastReader += 1
      return state.lastReader
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: SavedObjectIDs?? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return .some(nil) }
          if let first = state.news.takeFirst() { return first }
          state.readers.append((number, continuation))
          return .none
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        if let place = state.readers.firstIndex(where: { $0.number == number }) {
          return Optional(state.readers.remove(at: place).continuation)
        }
        state.cancelled.insert(number)
        return nil
      }
      reader?.resume(returning: nil)
    }
  }
}
