import MoonbasePlatform

/// Ends a fetch when its progress is cancelled, as long as this object exists.
///
/// Several fetches may share a progress, which has only one cancellation handler. While any of these fetches exists,
/// the handler ends all of them and also calls the handler that was set before.
///
/// Owned by the running fetch. The former handler is set again when the last fetch of the progress ends.
final class ProgressCancellation: Sendable {
  /// The progress of the request.
  private let progress: Progress
  /// The closures of all fetches with this progress.
  private let ends: Ends
  /// The number of this fetch in `ends`.
  private let number: Int

  /// Adds the fetch to the progress. The first fetch replaces the progress's handler.
  init(_ progress: Progress) {
    self.progress = progress
    (ends, number) = Self.handlers.withLock { handlers in
      let key = ObjectIdentifier(progress)
      let handler = handlers[key] ?? Self.installHandler(of: progress)
      handlers[key] = handler
      return (handler.ends, handler.ends.add())
    }
  }

  deinit {
    Self.handlers.withLock { handlers in
      guard ends.remove(number), let handler = handlers.removeValue(forKey: ObjectIdentifier(progress)) else { return }
      // Setting a handler of a cancelled progress would call the handler.
      if !progress.isCancelled { progress.cancellationHandler = handler.former }
    }
  }

  /// Sets the closure that ends the fetch. It is called immediately if the progress is already cancelled.
  func ends(_ body: @escaping @Sendable () -> Void) {
    ends.set(body, of: number)
    if progress.isCancelled { body() }
  }

  /// Throws `CancellationError` if the progress was cancelled.
  func checkCancellation() throws {
    if progress.isCancelled { throw CancellationError() }
  }

  // MARK: The shared handler

  /// The handler of a progress, shared by its fetches.
  private struct Handler {
    /// The closures that end the fetches.
    let ends = Ends()
    /// The handler that was set before.
    let former: (@Sendable () -> Void)?
  }

  /// The handlers by progress. The lock is held while a handler is set, which takes another lock.
  private static let handlers = Lock<[ObjectIdentifier: Handler]>([:])

  /// Sets a cancellation handler that calls the former handler and ends all fetches of the progress.
  private static func installHandler(of progress: Progress) -> Handler {
    let handler = Handler(former: progress.cancellationHandler)
    // Setting a handler of a cancelled progress would call the handler; the new fetch checks the progress itself.
    if progress.isCancelled { return handler }
    progress.cancellationHandler = { [ends = handler.ends, former = handler.former] in
      former?()
      ends.all()
    }
    return handler
  }

  /// The closures that end the fetches of one progress.
  private final class Ends: Sendable {
    /// The closures, and the number of fetches.
    private struct State {
      /// The closures by the number of their fetch.
      var bodies: [Int: @Sendable () -> Void] = [:]
      /// The number of fetches that still exist.
      var count = 0
      /// The last number given to a fetch.
      var last = 0
    }

    /// Accessed from the threads of fetches and of the cancellation.
    private let state = Lock(State())

    /// Adds a fetch, and returns its number.
    func add() -> Int {
      state.withLock { state in
        state.count += 1
        state.last += 1
        return state.last
      }
    }

    /// Sets the closure of a fetch.
    func set(_ body: @escaping @Sendable () -> Void, of number: Int) { state.withLock { $0.bodies[number] = body } }

    /// Removes a closure; returns whether none is left. The closure is not called.
    func remove(_ number: Int) -> Bool {
      state.withLock { state in
        state.bodies[number] = nil
        state.count -= 1
        return state.count == 0
      }
    }

    /// Calls all closures outside the lock, because they may end a fetch that removes itself.
    func all() { for body in state.withLock({ Array($0.bodies.values) }) { body() } }
  }
}
