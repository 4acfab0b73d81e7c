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
  package static let hasSeveralCores = moonbase_core_count() > 1

  /// The work that was done since it was asked for last.
  package func takeUnits() -> Int { Int(moonbase_errand_take(state)) }

  /// What is still being done ends with an error as soon as it charges.
  package func stop() { moonbase_errand_stop(state) }
}
