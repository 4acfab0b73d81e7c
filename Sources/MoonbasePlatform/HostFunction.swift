import MoonbaseMeter

/// A function that is called in the midst of the work of a store, such as one that an `UPDATE` asks for each row's value: as long as it runs,
/// nothing on its thread may ask a store for anything, which may be the one that waits for it.
package enum HostFunction {
  /// Whether one runs on this thread.
  package static var isRunning: Bool { moonbase_functions_running() > 0 }

  /// How often one was refused on this thread what it asked a store for.
  package static var refusals: Int64 { moonbase_functions_refused() }

  /// Says that one is refused what it asks for.
  package static func refuse() { moonbase_function_refuse() }

  /// Runs one.
  @inline(__always)
  package static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    moonbase_function_enter()
    defer { moonbase_function_leave() }
    return try body()
  }
}
