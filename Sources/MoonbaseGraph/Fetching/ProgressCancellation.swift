import MoonbasePlatform

/// What ends a fetch with its progress, as long as this is kept.
///
/// Several fetches may have one progress, which has one handler: as long as there is any of them, that ends all of them, and does what it
/// did before.
final class ProgressCancellation: Sendable {
  private let progress: Progress
  private let ends: Ends
  private let number: Int

  init(_ progress: Progress) {
    self.progress = progress
    (ends, number) = Self.handlers.withLock { handlers in
      let key = ObjectIdentifier(progress)
      let handler = handlers[key] ?? Self.takeHandler(of: progress)
      handlers[key] = handler
      return (handler.ends, handler.ends.add())
    }
  }

  deinit {
    Self.handlers.withLock { handlers in
      guard ends.remove(number), let handler = handlers.removeValue(forKey: ObjectIdentifier(progress)) else { return }
      // To set one of a progress that is cancelled would call it.
      if !progress.isCancelled { progress.cancellationHandler = handler.former }
    }
  }

  /// What ends the fetch from now on. It is done at once where the progress is cancelled already.
  func ends(_ body: @escaping @Sendable () -> Void) {
    ends.set(body, of: number)
    if progress.isCancelled { body() }
  }

  func checkCancellation() throws {
    if progress.isCancelled { throw CancellationError() }
  }

  // MARK: One handler for all

  private struct Handler {
    let ends = Ends()
    /// What the handler was before.
    let former: (@Sendable () -> Void)?
  }

  /// By progress. Held while a handler is set, which takes another lock.
  private static let handlers = Lock<[ObjectIdentifier: Handler]>([:])

  private static func takeHandler(of progress: Progress) -> Handler {
    let handler = Handler(former: progress.cancellationHandler)
    // To set one of a progress that is cancelled would call it; who begins then looks at the progress.
    if progress.isCancelled { return handler }
    progress.cancellationHandler = { [ends = handler.ends, former = handler.former] in
      former?()
      ends.all()
    }
    return handler
  }

  /// What ends the fetches of one progress.
  private final class Ends: Sendable {
    private struct State {
      var bodies: [Int: @Sendable () -> Void] = [:]
      var count = 0
      var last = 0
    }

    private let state = Lock(State())

    func add() -> Int {
      state.withLock { state in
        state.count += 1
        state.last += 1
        return state.last
      }
    }

    func set(_ body: @escaping @Sendable () -> Void, of number: Int) { state.withLock { $0.bodies[number] = body } }

    /// Whether none is left.
    func remove(_ number: Int) -> Bool {
      state.withLock { state in
        state.bodies[number] = nil
        state.count -= 1
        return state.count == 0
      }
    }

    func all() { for body in state.withLock({ Array($0.bodies.values) }) { body() } }
  }
}
