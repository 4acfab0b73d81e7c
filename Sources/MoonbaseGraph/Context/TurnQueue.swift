import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// A queue that gives a bounded number of turns to tasks and threads, in the order of their requests.
///
/// A background context has one turn, so that a suspended closure keeps the context to itself. A pool has as many turns
/// as contexts.
///
/// Thread-safe; a lock protects the state. Waiting calls are served in order. The queue recognizes a task that would
/// wait for its own turn by `HeldTurn.current`.
package final class TurnQueue: Sendable {
  /// A call that waits for a turn.
  fileprivate struct Waiter {
    /// Identifies the call when it is cancelled.
    var number: Int
    /// Called once, outside of the lock, with the turn or with the reason of a refusal.
    var resume: @Sendable (Result<Void, any Error>) -> Void
  }

  /// Changed under the lock.
  fileprivate struct State {
    /// The number of free turns.
    var free: Int
    /// The waiting calls in order.
    var waiting: Deque<Waiter> = []
    /// Tasks that are about to wait, with whether they were cancelled meanwhile.
    var arriving: [Int: Bool] = [:]
    /// The number of the last call that had to wait.
    var lastNumber = 0
    /// The error that closed the queue.
    var closingError: GraphError?
  }

  /// The free turns and the waiting calls.
  private let state: Lock<State>
  /// The queue's name in errors.
  private let name: String
  /// Whether there is only one turn.
  private let isExclusive: Bool

  /// Makes a queue that gives at most `limit` turns at the same time. `name` is the subject of error messages.
  package init(limit: Int, name: String) {
    let limit = max(1, limit)
    (self.name, isExclusive) = (name, limit == 1)
    state = Lock(State(free: limit))
  }

  /// Waits for a turn, which lasts until `end` is called.
  ///
  /// Throws `CancellationError` if the task is cancelled while it waits, `.contextBusy` if the task would wait for
  /// itself, and the error of `close`.
  package nonisolated(nonsending) func acquire() async throws -> HeldTurn {
    try refuseWaitingForItself()
    let number: Int? = try state.withLock { state in
      if try state.acquireIfFree() { return nil }
      state.lastNumber += 1
      state.arriving[state.lastNumber] = false
      return state.lastNumber
    }
    if let number { try await wait(number) }
    return HeldTurn(self)
  }

  /// The cancellation may come before the call waits; `arriving` remembers it.
  private nonisolated(nonsending) func wait(_ number: Int) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let answer: Result<Void, any Error>? = state.withLock { state in
          if state.arriving.removeValue(forKey: number) == true { return .failure(CancellationError()) }
          do { if try state.acquireIfFree() { return .success(()) } } catch { return .failure(error) }
          state.waiting.append(Waiter(number: number) { continuation.resume(with: $0) })
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        if state.arriving[number] != nil { state.arriving[number] = true }
        guard let place = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
        return state.waiting.remove(at: place)
      }
      waiter?.resume(.failure(CancellationError()))
    }
  }

  /// Waits for a turn on a thread, which is blocked meanwhile. Throws `.contextBusy` and the error of `close`.
  package func acquireAndWait() throws -> HeldTurn {
    try refuseWaitingForItself()
    let done = DispatchSemaphore(value: 0)
    let answer = Lock<Result<Void, any Error>>(.success(()))
    let waits = try state.withLock { state in
      if try state.acquireIfFree() { return false }
      state.lastNumber += 1
      state.waiting.append(
        Waiter(number: state.lastNumber) { result in
          answer.withLock { $0 = result }
          done.signal()
        })
      return true
    }
    if waits { done.wait() }
    try answer.withLock { $0 }.get()
    return HeldTurn(self)
  }

  /// Takes a free turn without waiting; nil if the running code has a turn already. Throws `.contextBusy` if other code
  /// has it. For code on the context's own thread.
  package func acquireUnlessHeld() throws -> HeldTurn? {
    if hasTurn(where: { _ in true }) { return nil }
    guard try state.withLock({ state in try state.acquireIfFree() }) else {
      throw GraphError(
        .contextBusy,
        message: "\(name) was asked for on its own thread while a suspended closure has it: use perform, which waits")
    }
    return HeldTurn(self)
  }

  /// Closes the queue: all waiting and later calls throw the error. Turns that are held stay valid.
  package func close(_ error: GraphError) {
    let waiting = state.withLock { state in
      state.closingError = error
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume(.failure(error)) }
  }

  /// Whether the queue is closed.
  package var isClosed: Bool { state.withLock { $0.closingError != nil } }

  /// The number of waiting calls. For tests.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Gives a turn back, to the next waiting call if there is one. Called by `HeldTurn.end`.
  fileprivate func giveBack() {
    let next = state.withLock { state in
      if let next = state.waiting.popFirst() { return Optional(next) }
      state.free += 1
      return nil
    }
    next?.resume(.success(()))
  }

  /// Throws if the task, or an ancestor of it, has the turn and would wait without end.
  ///
  /// This applies to child tasks of an exclusive turn. If there are several turns, a child task waits for another turn.
  private func refuseWaitingForItself() throws {
    guard hasTurn(where: { isExclusive || $0.isOfCurrentTask }) else { return }
    throw GraphError(
      .contextBusy,
      message: "\(name) was asked for by a task that has it already, and would wait for itself: "
        + "use the context that the closure has, or ask when the closure has ended")
  }

  /// Whether the running code has a turn of this queue that satisfies a condition. Follows the chain of turns from the
  /// innermost to the outermost.
  private func hasTurn(where condition: (HeldTurn) -> Bool) -> Bool {
    var held = HeldTurn.current
    while let turn = held {
      if turn.queue === self, turn.lasts, condition(turn) { return true }
      held = turn.outer
    }
    return false
  }
}

/// The free turns.
extension TurnQueue.State {
  /// Takes a free turn; false if there is none. Throws if the queue is closed.
  fileprivate mutating func acquireIfFree() throws(GraphError) -> Bool {
    if let closingError { throw closingError }
    guard free > 0 else { return false }
    free -= 1
    return true
  }
}

/// A turn that a task or a thread has.
///
/// Ends with its last reference, if `end` was not called. Thread-safe.
package final class HeldTurn: Sendable {
  /// The innermost turn of the task or of an ancestor. Set while the closure of the turn runs, whose further requests
  /// the queue refuses.
  @TaskLocal package static var current: HeldTurn?

  /// The queue to which the turn returns.
  fileprivate let queue: TurnQueue
  /// The turn that surrounds this one.
  fileprivate let outer: HeldTurn?
  /// The task that took the turn.
  private let task = HeldTurn.currentTask
  /// Whether the turn has ended.
  private let isOver = Lock(false)

  /// Made by the queue only.
  fileprivate init(_ queue: TurnQueue) { (self.queue, outer) = (queue, Self.current) }

  deinit { end() }

  /// Whether the turn has not ended.
  fileprivate var lasts: Bool { isOver.withLock { !$0 } }
  /// Whether the running task took the turn, and not an ancestor of it.
  fileprivate var isOfCurrentTask: Bool { task != nil && task == Self.currentTask }

  /// An identifier of the running task; nil outside of a task.
  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Ends the turn and gives it to the next waiting call. Ending it again does nothing.
  package func end() {
    let ends = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    if ends { queue.giveBack() }
  }
}
