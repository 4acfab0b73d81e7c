import MoonbaseMeter

/// What the host does on behalf of a script, counted so that the script's limits hold for it.
///
/// Code that goes over many things charges a unit for each: an object visited, a row read, an element compared. Without
/// a script on this thread that costs a subtraction. With one, every thousand units are taken off its instructions, and
/// its deadline, an interruption and its memory are looked at; once the run must end every charge throws. So charge
/// where an error leaves all as it should be, and `note` where it would not.
package enum HostWork {
  // Inlinable, since every row is charged: docs/development.md, "What the compiler is told".

  /// Counts units of work. Throws the error with which the run ends, once it must.
  @inlinable @inline(__always)
  package static func charge(_ units: Int = 1) throws {
    if moonbase_meter_charge(Int64(units)) { throw ending() }
  }

  /// Counts units of work where it cannot stop; the next charge throws.
  @inlinable @inline(__always)
  package static func note(_ units: Int = 1) { _ = moonbase_meter_charge(Int64(units)) }

  /// Counts units of work; whether the run must end. For work that stops in a way of its own, and then throws `ending()`.
  @inlinable @inline(__always)
  package static func mustEnd(after units: Int = 1) -> Bool { moonbase_meter_charge(Int64(units)) }

  /// Whether the run on this thread must end, looked at now.
  package static var isOver: Bool { moonbase_meter_look() }

  /// How many bytes a value may have that is read for the run on this thread: a larger one would end it. `Int.max` without a limit.
  package static var greatestValue: Int { Int(moonbase_meter_value_bound()) }

  /// Sleeps. Throws if the run must end.
  package static func pause(milliseconds: UInt32) throws {
    usleep(milliseconds * 1000)
    if isOver { throw ending() }
  }

  // MARK: The layer that runs scripts

  /// How a run ends that must end.
  package struct Ending {
    package let error: any Error
    /// Whether the run was interrupted, and no limit was passed: for errors that another error becomes on its way.
    package let isInterruption: Bool

    package init(_ error: any Error, isInterruption: Bool) {
      self.error = error
      self.isInterruption = isInterruption
    }
  }

  private static let source = HostHook<@Sendable () -> Ending>()

  /// Says how the ending of a run that must end is made.
  package static func setEnding(_ make: @escaping @Sendable () -> Ending) { source.set(make) }

  /// How the run on this thread ends.
  package static var end: Ending { source.function?() ?? Ending(CancellationError(), isInterruption: false) }

  /// The error with which the run on this thread ends.
  package static func ending() -> any Error { end.error }
}
