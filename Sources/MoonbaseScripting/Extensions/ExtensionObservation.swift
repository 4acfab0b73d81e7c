import MoonbasePlatform

/// Calls a closure with the outcomes of reloads, until it is cancelled or given up.
public final class ExtensionObservation: Sendable {
  private let outcomes: ExtensionOutcomes
  private let number: Int

  init(_ outcomes: ExtensionOutcomes, _ number: Int) { (self.outcomes, self.number) = (outcomes, number) }

  deinit { cancel() }

  /// Ends the observation. A second time nothing happens.
  public func cancel() { outcomes.remove(number) }
}

/// The closures that receive outcomes.
final class ExtensionOutcomes: Sendable {
  private struct State {
    var handlers: [Int: @Sendable (ExtensionOutcome) -> Void] = [:]
    /// The closures to call at the end.
    var ends: [Int: @Sendable () -> Void] = [:]
    var last = 0
  }

  private let state = Lock(State())

  deinit { end() }

  func add(_ handler: @escaping @Sendable (ExtensionOutcome) -> Void, end: (@Sendable () -> Void)? = nil) -> Int {
    state.withLock { state in
      state.last += 1
      state.handlers[state.last] = handler
      state.ends[state.last] = end
      return state.last
    }
  }

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

  /// Calls all handlers; whether there was any.
  @discardableResult
  func tell(_ outcome: ExtensionOutcome) -> Bool {
    let handlers = state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
    for handler in handlers { handler(outcome) }
    return !handlers.isEmpty
  }
}

extension ScriptExtensions {
  /// Calls a closure with the outcome of each reload, and with each context that could not take over what was read.
  ///
  /// The closure is called on the thread on which that happened. Without any, what failed in a watch or in a context
  /// is logged.
  public func observeReloads(_ handler: @escaping @Sendable (ExtensionOutcome) -> Void) -> ExtensionObservation {
    ExtensionObservation(outcomes, outcomes.add(handler))
  }

  /// The outcomes of reloads from now on, the newest 64 of those that were not read yet.
  ///
  /// The sequence ends when the container is closed or released.
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

  /// Reports a failure that no caller gets as an error: to the observers, or without them to the log.
  func report(_ outcome: ExtensionOutcome) {
    guard !outcomes.tell(outcome) else { return }
    if case .reloaded = outcome { return }
    let entry = ScriptLogEntry(level: .error, message: "\(outcome)", metadata: [:])
    if let log { log(entry) } else { ScriptLogEntry.writeToStandardError(entry) }
  }
}
