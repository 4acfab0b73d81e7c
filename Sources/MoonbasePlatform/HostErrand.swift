import MoonbaseMeter

/// Work that another thread does on behalf of the run on this thread. The work that it charges is counted here, to be
/// charged to the run, and it can be told to stop.
///
/// ```swift
/// let errand = HostErrand()
/// DispatchQueue.global().async { page = Result { try errand.run { try cursor.next(upTo: 512) } } }
/// …
/// try HostWork.charge(errand.takeUnits())
/// ```
package final class HostErrand: @unchecked Sendable {  // its state is atomic, and lives as long as it does
  private let state: OpaquePointer

  /// An errand for the run on this thread, with the limit of values of that run.
  package init() { state = moonbase_errand_make() }

  deinit { moonbase_errand_free(state) }

  /// Does a part of the work on this thread, which must not have a run of its own.
  package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    moonbase_errand_enter(state)
    defer { moonbase_errand_leave() }
    return try body()
  }

  /// Whether another thread can work at the same time as this one.
  package static let hasSeveralCores = coreCount > 1

  /// The number of threads that can work at the same time.
  package static let coreCount = max(1, Int(moonbase_core_count()))

  /// The units of work since the last call.
  package func drainUnits() -> Int { Int(moonbase_errand_take(state)) }

  /// Makes the work in progress throw at its next charge.
  package func stop() { moonbase_errand_stop(state) }
}

/// An errand that is done once and waited for.
package final class AwaitedErrand: @unchecked Sendable {  // `isDone` is touched only under `condition`
  private let errand = HostErrand()
  // A pthread lock, which the thread sanitizer understands, unlike semaphores of Dispatch.
  private let condition = NSCondition()
  private var isDone = false

  /// An errand for the run on this thread.
  package init() {}

  /// Does the work on the other thread, once.
  package func run(_ body: () -> Void) {
    errand.run(body)
    condition.lock()
    isDone = true
    condition.signal()
    condition.unlock()
  }

  /// Makes the work in progress throw at its next charge; `wait` then waits for its end.
  package func stop() { errand.stop() }

  /// Waits for the end of the work, on the thread of the run, once. Returns the error of the run if it had to end
  /// meanwhile; the work may then be incomplete.
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
    HostWork.note(errand.drainUnits())
    return ending
  }
}
