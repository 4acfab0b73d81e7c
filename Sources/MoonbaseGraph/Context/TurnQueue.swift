import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// Turns that tasks and threads take in the order in which they asked, a bounded number at the same time.
///
/// A background context gives one turn at a time, and so a suspended closure has the context to itself. A pool gives as
/// many turns as it has contexts.
package final class TurnQueue: Sendable {
  fileprivate struct Waiter {
    var number: Int
    /// Called once, outside of the lock: with the turn, or with the reason why there is none.
    var resume: @Sendable (Result<Void, any Error>) -> Void
  }

  fileprivate struct State {
    var free: Int
    var waiting: Deque<Waiter> = []
    /// Tasks that are about to wait, and whether they were cancelled meanwhile.
    var arriving: [Int: Bool] = [:]
    var lastNumber = 0
    /// The reason why no more turns are given.
    var closingError: GraphError?
  }

  private let state: Lock<State>
  /// The subject of errors.
  private let name: String
  private let isExclusive: Bool

  package init(limit: Int, name: String) {
    let limit = max(1, limit)
    (self.name, isExclusive) = (name, limit == 1)
    state = Lock(State(free: limit))
  }

  /// Waits for a turn, which lasts until `end` is called.
  ///
  /// Throws `CancellationError` where the task is cancelled while it waits, `.contextBusy` where the task would wait
  /// for itself, and the error of `close`.
  package nonisolated(nonsending) func take() async throws -> HeldTurn {
    try refuseWaitingForItself()
    let number: Int? = try state.withLock { state in
      if try state.takesFree() { return nil }
      state.lastNumber += 1
      state.arriving[state.lastNumber] = false
      return state.lastNumber
    }
    if let number { try await wait(number) }
    return HeldTurn(self)
  }

  private nonisolated(nonsending) func wait(_ number: Int) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let answer: Result<Void, any Error>? = state.withLock { state in
          if state.arriving.removeValue(forKey: number) == true { return .failure(CancellationError()) }
          do { if try state.takesFree() { return .success(()) } } catch { return .failure(error) }
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

  /// Does the same on a thread, which is blocked meanwhile.
  package func takeAndWait() throws -> HeldTurn {
    try refuseWaitingForItself()
    let done = DispatchSemaphore(value: 0)
    let answer = Lock<Result<Void, any Error>>(.success(()))
    let waits = try state.withLock { state in
      if try state.takesFree() { return false }
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

  /// Gives no more turns: all that wait get the error, and so do later calls.
  package func close(_ error: GraphError) {
    let waiting = state.withLock { state in
      state.closingError = error
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume(.failure(error)) }
  }

  package var isClosed: Bool { state.withLock { $0.closingError != nil } }

  /// How many wait.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  fileprivate func giveBack() {
    let next = state.withLock { state in
      if let next = state.waiting.popFirst() { return Optional(next) }
      state.free += 1
      return nil
    }
    next?.resume(.success(()))
  }

  /// A task that has the turn would wait without end. Of an exclusive turn this holds for its child tasks too. Several
  /// turns may be free soon, and a child task waits for them.
  private func refuseWaitingForItself() throws {
    var held = HeldTurn.current
    while let turn = held {
      if turn.queue === self, turn.lasts, isExclusive || turn.isOfCurrentTask {
        throw GraphError(
          .contextBusy,
          message: "\(name) was asked for by a task that has it already, and would wait for itself: "
            + "use the context that the closure has, or ask when the closure has ended")
      }
      held = turn.outer
    }
  }
}

extension TurnQueue.State {
  fileprivate mutating func takesFree() throws(GraphError) -> Bool {
    if let closingError { throw closingError }
    guard free > 0 else { return false }
    free -= 1
    return true
  }
}

/// A turn that a task has, or a thread.
package final class HeldTurn: Sendable {
  /// The turn that the task, or a parent task, took last. The value is set while the closure of the turn runs, and the
  /// queue refuses requests of that closure.
  @TaskLocal package static var current: HeldTurn?

  fileprivate let queue: TurnQueue
  fileprivate let outer: HeldTurn?
  private let task = HeldTurn.currentTask
  private let isOver = Lock(false)

  fileprivate init(_ queue: TurnQueue) { (self.queue, outer) = (queue, Self.current) }

  deinit { end() }

  fileprivate var lasts: Bool { isOver.withLock { !$0 } }
  fileprivate var isOfCurrentTask: Bool { task != nil && task == Self.currentTask }

  /// A number of the task that runs; nil on a thread without one.
  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// The next one has its turn. Ending it again does nothing.
  package func end() {
    let ends = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    if ends { queue.giveBack() }
  }
}
