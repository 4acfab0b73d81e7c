@preconcurrency import MoonbaseMeter

/// Counts the host work that a script would be charged for.
public enum HostWorkMeter {
  /// The units of work of `body` on this thread, outside of a script.
  public static func units(_ body: () throws -> Void) rethrows -> Int {
    let before = moonbase_meter_rest
    try body()
    return Int(before - moonbase_meter_rest)
  }
}
