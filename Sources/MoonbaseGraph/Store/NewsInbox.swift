import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// What is told of objects by their IDs, and can be told of several times together.
protocol ObjectIDNews: Sendable {
  /// How many IDs it lists.
  var count: Int { get }
  /// Whether it lists nothing, for it is too much.
  var mayBeAnything: Bool { get }
  /// What says that any object may be another one.
  static var anything: Self { get }
  /// What several came to, one after the other.
  init(all: [Self])
}

/// News that somebody is to take: in elements as they came, as long as these are few; then together, each ID once; and of very many IDs
/// only that there were.
struct News<Element: ObjectIDNews> {
  /// So many elements wait one by one.
  static var greatestCount: Int { 64 }
  /// So many IDs are kept.
  static var greatestIDCount: Int { 1 << 16 }

  private(set) var elements: [Element] = []
  private var idCount = 0

  mutating func add(_ new: Element) {
    if elements.last?.mayBeAnything == true { return }
    elements.append(new)
    idCount += new.count
    if new.mayBeAnything { return become(new) }
    guard elements.count > Self.greatestCount || idCount > Self.greatestIDCount else { return }
    let all = Element(all: elements)
    become(all.count > Self.greatestIDCount ? .anything : all)
  }

  private mutating func become(_ one: Element) { (elements, idCount) = ([one], one.count) }

  mutating func takeFirst() -> Element? {
    guard let first = elements.first else { return nil }
    elements.removeFirst()
    idCount -= first.count
    return first
  }

  mutating func takeAll() -> [Element] {
    defer { self = News() }
    return elements
  }
}

/// What is told, until a context merges it or a reader takes it.
final class NewsInbox<Element: ObjectIDNews>: Sendable {
  private struct State {
    var news = News<Element>()
    /// Who waits for the next element.
    var readers: [(number: Int, continuation: CheckedContinuation<Element?, Never>)] = []
    /// Readers that gave up before they waited.
    var cancelled: Set<Int> = []
    var lastReader = 0
    /// Whether nothing more comes.
    var isOver = false
    /// Whether the owner was told that something came, and did not take it yet.
    var isAnnounced = false
  }

  private let state = Lock(State())
  /// Called when something comes that the owner is to take.
  private let onNews: (@Sendable () -> Void)?

  init(_ onNews: (@Sendable () -> Void)? = nil) { self.onNews = onNews }

  func post(_ saved: Element) {
    let (reader, isFirst) = state.withLock { state in
      if !state.readers.isEmpty { return (Optional(state.readers.removeFirst().continuation), false) }
      state.news.add(saved)
      defer { state.isAnnounced = true }
      return (nil, !state.isAnnounced)
    }
    reader?.resume(returning: saved)
    if isFirst { onNews?() }
  }

  /// Nothing more comes: readers take what is there, and end.
  func finish() {
    let readers = state.withLock { state in
      state.isOver = true
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.continuation.resume(returning: nil) }
  }

  /// Takes out what came.
  func take() -> [Element] {
    state.withLock { state in
      state.isAnnounced = false
      return state.news.takeAll()
    }
  }

  /// What came first, or comes next; nil once the task is cancelled, or nothing more comes.
  func next() async -> Element? {
    let number = state.withLock { state in
      state.lastReader += 1
      return state.lastReader
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Element?? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return .some(nil) }
          if let first = state.news.takeFirst() { return first }
          if state.isOver { return .some(nil) }
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

/// Who hears of news: none is kept.
final class NewsListeners<Element: ObjectIDNews>: Sendable {
  private struct Place {
    weak var inbox: NewsInbox<Element>?
  }

  private let places = Lock<[Place]>([])
  private let isFinished = Lock(false)

  deinit { finish() }

  /// Ends all sequences, also those that are asked for later.
  func finish() {
    isFinished.withLock { $0 = true }
    for inbox in inboxes { inbox.finish() }
  }

  /// Those that are still there.
  private var inboxes: [NewsInbox<Element>] { places.withLock { $0.compactMap(\.inbox) } }

  /// Whether nobody listens any more.
  var isEmpty: Bool {
    places.withLock { places in
      places.removeAll { $0.inbox == nil }
      return places.isEmpty
    }
  }

  func add(_ inbox: NewsInbox<Element>) {
    places.withLock { places in
      places.removeAll { $0.inbox == nil }
      places.append(Place(inbox: inbox))
    }
  }

  /// A sequence goes on as long as somebody has it and there is somebody to tell.
  func stream() -> AsyncStream<Element> {
    let inbox = NewsInbox<Element>()
    add(inbox)
    if isFinished.withLock({ $0 }) { inbox.finish() }
    return AsyncStream { await inbox.next() }
  }

  /// Tells everybody but who sent it.
  func tell(_ news: @autoclosure () -> Element, from sender: NewsInbox<Element>? = nil) {
    let others = inboxes.filter { $0 !== sender }
    guard !others.isEmpty else { return }
    let news = news()
    for inbox in others { inbox.post(news) }
  }
}
