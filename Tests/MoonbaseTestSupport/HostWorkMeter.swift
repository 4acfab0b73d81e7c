@preconcurrency import MoonbaseMeter

/// Counts what the host would charge to a script.
public enum HostWorkMeter {
  /// The units of work that `body` does on this thread, which runs no script.
  public static func units(_ body: () throws -> Void) rethrows -> Int {
    let before = moonbase_meter_rest
    try body()
    return Int(before - moonbase_meter_rest)
  }
}
