import MoonbaseMeter

/// A function called during the work of a store, for example for each row of an `UPDATE`. While it runs, code on its
/// thread must not access a store, which may be waiting for it.
package enum HostFunction {
  /// Whether a function runs on this thread.
  package static var isRunning: Bool { moonbase_functions_running() > 0 }

  /// The number of store accesses refused to functions on this thread.
  package static var refusals: Int64 { moonbase_functions_refused() }

  /// Records that a store access of a function is refused.
  package static func refuse() { moonbase_function_refuse() }

  /// Runs a function.
  @inline(__always)
  package static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    moonbase_function_enter()
    defer { moonbase_function_leave() }
    return try body()
  }
}
