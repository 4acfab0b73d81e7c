import MoonbasePlatform

/// Calls a closure with the outcomes of reloads, until it is cancelled or released.
///
/// Keep the object: releasing it ends the observation.
public final class ExtensionObservation: Sendable {
  /// The list of closures that this observation is part of.
  private let outcomes: ExtensionOutcomes
  /// The number under which the closure is registered.
  private let number: Int

  /// The observation of a registered closure.
  init(_ outcomes: ExtensionOutcomes, _ number: Int) { (self.outcomes, self.number) = (outcomes, number) }

  deinit { cancel() }

  /// Ends the observation. Further calls have no effect.
  public func cancel() { outcomes.remove(number) }
}

/// The closures that receive outcomes of reloads.
///
/// Owned by `ScriptExtensions`, in two instances: outcomes for the program, announcements for contexts. Closures are
/// called outside of the lock and may add or remove closures.
final class ExtensionOutcomes: Sendable {
  /// The state that the lock protects.
  private struct State {
    /// The closures by their numbers, which ascend with time.
    var handlers: [Int: @Sendable (ExtensionOutcome) -> Void] = [:]
    /// The closures to call at the end.
    var ends: [Int: @Sendable () -> Void] = [:]
    /// The number given last.
    var last = 0
  }

  private let state = Lock(State())

  deinit { end() }

  /// Adds a closure and returns its number. `end` is called once, when the extensions end.
  func add(_ handler: @escaping @Sendable (ExtensionOutcome) -> Void, end: (@Sendable () -> Void)? = nil) -> Int {
    state.withLock { state in
      state.last += 1
      state.handlers[state.last] = handler
      state.ends[state.last] = end
      return state.last
    }
  }

  /// Removes a closure without calling its `end`.
  func remove(_ number: Int) {
    state.withLock { state in
      state.handlers[number] = nil
      state.ends[number] = nil
    }
  }

  /// Ends the sequences of outcomes.
  func end() {
    let ends = state.withLock { state in
      defer { state.ends = [:] }
      return state.ends.values.map { $0 }
    }
    for end in ends { end() }
  }

  /// Calls all handlers. Returns whether there are any. In the order in which they were added.
  @discardableResult
  func tell(_ outcome: ExtensionOutcome) -> Bool {
    let handlers = state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
    for handler in handlers { handler(outcome) }
    return !handlers.isEmpty
  }
}

extension ScriptExtensions {
  /// Calls a closure with the outcome of each reload, and with each context that could not adopt a reload.
  ///
  /// The closure is called on the thread of the event. Without an observer, failures of a watch or a context are
  /// logged.
  public func observeReloads(_ handler: @escaping @Sendable (ExtensionOutcome) -> Void) -> ExtensionObservation {
    ExtensionObservation(outcomes, outcomes.add(handler))
  }

  /// The outcomes of reloads from now on. At most 64 unread outcomes are kept, the newest.
  ///
  /// ```swift
  /// for await outcome in container.extensions.reloads { print(outcome) }
  /// ```
  public var reloads: AsyncStream<ExtensionOutcome> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ExtensionOutcome.self, bufferingPolicy: .bufferingNewest(64))
    let number = outcomes.add({ continuation.yield($0) }, end: { continuation.finish() })
    continuation.onTermination = { [weak outcomes = self.outcomes] _ in outcomes?.remove(number) }
    return stream
  }

  /// Ends the sequences of outcomes, as the container is closed.
  package func endReloads() { outcomes.end() }

  /// Calls a closure when contexts are to run something else, whether anybody observes outcomes or not.
  package func observeAnnouncements(_ handler: @escaping @Sendable () -> Void) -> ExtensionObservation {
    ExtensionObservation(announcements, announcements.add { _ in handler() })
  }

  /// Reports a failure that no caller receives: to the observers, or to the log without observers.
  func report(_ outcome: ExtensionOutcome) {
    guard !outcomes.tell(outcome) else { return }
    if case .reloaded = outcome { return }
    let entry = ScriptLogEntry(level: .error, message: "\(outcome)", metadata: [:])
    if let log { log(entry) } else { ScriptLogEntry.writeToStandardError(entry) }
  }
}
