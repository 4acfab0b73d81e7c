/// Conversions of durations to numbers, for SQLite, Lua and output.
extension Duration {
  /// A duration of this many seconds, limited to some billions of years.
  package init(seconds: Double) {
    let greatest = 1e17
    self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -greatest), greatest))
  }

  /// The duration in seconds.
  package var seconds: Double { self / .seconds(1) }

  /// The duration in whole milliseconds, limited to the range of `Int`.
  package var milliseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    return isTooLong ? (seconds < 0 ? .min : .max) : Int(whole + attoseconds / 1_000_000_000_000_000)
  }
}
