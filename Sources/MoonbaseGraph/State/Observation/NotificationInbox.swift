import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// A notification that concerns objects, by their IDs. Several notifications can be combined into one.
protocol ObjectIDNotification: Sendable {
  /// The number of IDs.
  var count: Int { get }
  /// Whether there were too many IDs to list, so that any object may have changed.
  var isUnspecified: Bool { get }
  /// The notification that any object may have changed.
  static var anything: Self { get }
  /// Combines notifications, in the order of their arrival.
  init(all: [Self])
}

extension SavedObjectIDs: ObjectIDNotification {}

/// Pending notifications. A few wait one by one; more are combined, with each ID listed once; very many IDs are
/// replaced by the notification that any object may have changed.
struct News<Element: ObjectIDNotification> {
  /// The greatest number of notifications that wait one by one.
  static var greatestCount: Int { 64 }
  /// The greatest number of IDs that are kept.
  static var greatestIDCount: Int { 1 << 16 }

  private(set) var elements: [Element] = []
  private var idCount = 0

  /// Adds a notification, combining pending ones if there are too many.
  mutating func add(_ new: Element) {
    if elements.last?.isUnspecified == true { return }
    elements.append(new)
    idCount += new.count
    if new.isUnspecified { return become(new) }
    guard elements.count > Self.greatestCount || idCount > Self.greatestIDCount else { return }
    let all = Element(all: elements)
    become(all.count > Self.greatestIDCount ? .anything : all)
  }

  /// Replaces all pending notifications by one.
  private mutating func become(_ one: Element) { (elements, idCount) = ([one], one.count) }

  mutating func popFirst() -> Element? {
    guard let first = elements.first else { return nil }
    elements.removeFirst()
    idCount -= first.count
    return first
  }

  mutating func drain() -> [Element] {
    defer { self = News() }
    return elements
  }
}

/// The pending notifications of one receiver, until a context merges them or a reader consumes them.
final class NotificationInbox<Element: ObjectIDNotification>: Sendable {
  private struct State {
    var news = News<Element>()
    /// The readers that wait for the next notification.
    var readers: [(number: Int, continuation: CheckedContinuation<Element?, Never>)] = []
    /// The readers whose task was cancelled before they waited.
    var cancelled: Set<Int> = []
    var lastReader = 0
    /// Whether no further notifications arrive.
    var isOver = false
    /// Whether `onNews` was called for notifications that are still pending.
    var isAnnounced = false
  }

  private let state = Lock(State())
  /// Called when a notification arrives in an empty inbox.
  private let onNews: (@Sendable () -> Void)?

  init(_ onNews: (@Sendable () -> Void)? = nil) { self.onNews = onNews }

  /// Adds a notification, or passes it directly to a waiting reader.
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

  /// Ends the inbox: readers consume the pending notifications, then receive nil.
  func finish() {
    let readers = state.withLock { state in
      state.isOver = true
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.continuation.resume(returning: nil) }
  }

  /// Whether notifications are pending.
  var isPending: Bool { state.withLock { !$0.news.elements.isEmpty } }

  /// Removes and returns the pending notifications.
  func drain() -> [Element] {
    state.withLock { state in
      state.isAnnounced = false
      return state.news.drain()
    }
  }

  /// The first pending or the next notification; nil after the task is cancelled or the inbox has ended.
  func next() async -> Element? {
    let number = state.withLock { state in
      state.lastReader += 1
      return state.lastReader
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Element?? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return .some(nil) }
          if let first = state.news.popFirst() { return first }
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

/// The inboxes that receive notifications, held weakly.
final class NotificationListeners<Element: ObjectIDNotification>: Sendable {
  private struct Place {
    weak var inbox: NotificationInbox<Element>?
  }

  private let places = Lock<[Place]>([])
  private let isFinished = Lock(false)

  deinit { finish() }

  /// Ends all sequences, including those requested later.
  func finish() {
    isFinished.withLock { $0 = true }
    for inbox in inboxes { inbox.finish() }
  }

  /// The inboxes that still exist.
  private var inboxes: [NotificationInbox<Element>] { places.withLock { $0.compactMap(\.inbox) } }

  /// Whether no inbox exists any more.
  var isEmpty: Bool {
    places.withLock { places in
      places.removeAll { $0.inbox == nil }
      return places.isEmpty
    }
  }

  /// Registers an inbox, which is held weakly.
  func add(_ inbox: NotificationInbox<Element>) {
    places.withLock { places in
      places.removeAll { $0.inbox == nil }
      places.append(Place(inbox: inbox))
    }
  }

  /// A sequence of the notifications. It ends when its consumer releases it or when `finish()` is called.
  func stream() -> AsyncStream<Element> {
    let inbox = NotificationInbox<Element>()
    add(inbox)
    if isFinished.withLock({ $0 }) { inbox.finish() }
    return AsyncStream { await inbox.next() }
  }

  /// Posts a notification to all inboxes except the sender's.
  func tell(_ news: @autoclosure () -> Element, from sender: NotificationInbox<Element>? = nil) {
    let others = inboxes.filter { $0 !== sender }
    guard !others.isEmpty else { return }
    let news = news()
    for inbox in others { inbox.post(news) }
  }
}
