import MoonbaseMeter

/// Work that another thread does on behalf of the run on this one: what it charges is counted here, for the run to be charged with, and it
/// ends when it is told to.
///
/// ```swift
/// let errand = HostErrand()
/// DispatchQueue.global().async { page = Result { try errand.run { try cursor.next(upTo: 512) } } }
/// …
/// try HostWork.charge(errand.takeUnits())
/// ```
package final class HostErrand: @unchecked Sendable {  // its state is atomic, and lives as long as it does
  private let state: OpaquePointer

  /// For the run on this thread: no greater value is read for it than it may have.
  package init() { state = moonbase_errand_make() }

  deinit { moonbase_errand_free(state) }

  /// Does some of the work on this thread, which must not run anything of its own.
  package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    moonbase_errand_enter(state)
    defer { moonbase_errand_leave() }
    return try body()
  }

  /// Whether another thread can work beside this one, and does not take turns with it.
  package static let hasSeveralCores = coreCount > 1

  /// How many threads can work at the same time.
  package static let coreCount = max(1, Int(moonbase_core_count()))

  /// The work that was done since it was asked for last.
  package func takeUnits() -> Int { Int(moonbase_errand_take(state)) }

  /// What is still being done ends with an error as soon as it charges.
  package func stop() { moonbase_errand_stop(state) }
}

/// An errand that is done once and waited for.
package final class AwaitedErrand: @unchecked Sendable {  // `isDone` is touched only under `condition`
  private let errand = HostErrand()
  // The thread sanitizer understands its lock, which is pthread's, and no semaphore of Dispatch.
  private let condition = NSCondition()
  private var isDone = false

  /// An errand of the run on this thread.
  package init() {}

  /// Does the work, on the other thread, once.
  package func run(_ body: () -> Void) {
    errand.run(body)
    condition.lock()
    isDone = true
    condition.signal()
    condition.unlock()
  }

  /// What is still being done ends with an error as soon as it charges; `wait` then waits for that.
  package func stop() { errand.stop() }

  /// Waits until it is done, once, on the thread of the run. The error with which the run ends, if it had to end meanwhile: then the
  /// work may have been broken off.
  package func wait() -> (any Error)? {
    var ending: (any Error)?
    condition.lock()
    while !isDone {
      _ = condition.wait(until: Date(timeIntervalSinceNow: 0.02))
      let isOver = HostWork.isOver
      guard ending == nil, !isDone, isOver || Task.isCancelled else { continue }
      ending = isOver ? HostWork.ending() : CancellationError()
      errand.stop()
    }
    condition.unlock()
    HostWork.note(errand.takeUnits())
    return ending
  }
}
