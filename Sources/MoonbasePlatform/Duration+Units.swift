/// Spans of time as numbers: for SQLite, Lua and what is printed.
extension Duration {
  /// The span of a number of seconds, or the longest that is of use where that is too many: some billions of years.
  package init(seconds: Double) {
    let greatest = 1e17
    self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -greatest), greatest))
  }

  package var seconds: Double { self / .seconds(1) }

  /// Whole milliseconds; the greatest number for a span that is too long.
  package var milliseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    return isTooLong ? (seconds < 0 ? .min : .max) : Int(whole + attoseconds / 1_000_000_000_000_000)
  }
}
