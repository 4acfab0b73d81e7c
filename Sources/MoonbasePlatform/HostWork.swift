import MoonbaseMeter

/// Work of the host for a script, counted against the script's limits.
///
/// Code that loops charges a unit per step: an object visited, a row read, an element compared. Without a script on
/// this thread this costs a subtraction. With a script, every thousand units are subtracted from its instructions, and
/// its deadline, interruptions and memory are checked; once the run must end, every charge throws. So use `charge`
/// where throwing leaves a consistent state, and `note` elsewhere.
package enum HostWork {
  // Inlinable, because every row is charged: docs/development.md, "What the compiler is told".

  /// Charges units of work. Throws the error of a run that must end.
  @inlinable @inline(__always)
  package static func charge(_ units: Int = 1) throws {
    if moonbase_meter_charge(Int64(units)) { throw ending() }
  }

  /// Charges units of work where it is not possible to stop. The next `charge` throws.
  @inlinable @inline(__always)
  package static func note(_ units: Int = 1) { _ = moonbase_meter_charge(Int64(units)) }

  /// Charges units of work and returns whether the run must end. For work that stops in its own way and then throws
  /// `ending()`.
  @inlinable @inline(__always)
  package static func mustEnd(after units: Int = 1) -> Bool { moonbase_meter_charge(Int64(units)) }

  /// Whether the run on this thread must end, checked now.
  package static var isOver: Bool { moonbase_meter_look() }

  /// The most bytes of a value read for the run on this thread, because a larger value would end the run. `Int.max`
  /// without a limit.
  package static var greatestValue: Int { Int(moonbase_meter_value_bound()) }

  /// Sleeps. Throws if the run must end.
  package static func pause(milliseconds: UInt32) throws {
    usleep(milliseconds * 1000)
    if isOver { throw ending() }
  }

  // MARK: The layer that runs scripts

  /// The end of a run that must end.
  package struct Ending {
    /// The error.
    package let error: any Error
    /// Whether the run was interrupted instead of exceeding a limit, for conversions of the error.
    package let isInterruption: Bool

    /// An end with this error.
    package init(_ error: any Error, isInterruption: Bool) {
      self.error = error
      self.isInterruption = isInterruption
    }
  }

  private static let source = HostHook<@Sendable () -> Ending>()

  /// Sets the function that makes the end of a run.
  package static func setEnding(_ make: @escaping @Sendable () -> Ending) { source.set(make) }

  /// The end of the run on this thread.
  package static var end: Ending { source.function?() ?? Ending(CancellationError(), isInterruption: false) }

  /// The error of the run on this thread.
  package static func ending() -> any Error { end.error }
}
