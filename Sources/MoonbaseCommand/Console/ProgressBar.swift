import MoonbasePlatform

/// Shows progress on standard error if that is a terminal.
///
/// The bar is redrawn in place, and only if it changes. An object belongs to one thread, or is used
/// behind a lock.
final class ProgressBar {
  /// The number of characters in the bar.
  private static let width = 40
  /// Whether standard error is a terminal that shows the bar.
  let isShown: Bool
  /// The percentage on the screen; -1 for none.
  private var shown = -1
  /// The time of the last update, in seconds since the start.
  private var drawn = -1.0

  /// A bar, which is not shown if `quiet` is true or standard error is no terminal.
  init(quiet: Bool) { isShown = !quiet && isatty(STDERR_FILENO) == 1 }

  /// Shows `done` of `total` units as a percentage.
  func show(_ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let percent = done * 100 / total
    guard percent != shown else { return }
    shown = percent
    StandardStream.error.write("\r\(Self.bar(done, of: total))")
  }

  /// Shows the progress with a rate and an estimate of the remaining time. The estimate is computed from the elapsed
  /// time. Without a total, only the rate is shown.
  func show(_ done: Int, of total: Int, rate: Double, unit: String, seconds: Double) {
    guard isShown, seconds - drawn > 0.1 else { return }
    drawn = seconds
    var line = "\(Int(rate)) \(TerminalText.escaped(unit))/s"
    if total > 0, done > 0 {
      let left = Int(seconds / Double(done) * Double(max(0, total - done)))
      let clock = String(repeating: "0", count: left % 60 < 10 ? 1 : 0) + "\(left % 60)"
      line = "\(Self.bar(done, of: total))  \(line)  \(left / 60):\(clock) left"
    }
    StandardStream.error.write("\r\u{1B}[K\(line)")
    shown = 0
  }

  /// The bar as text: `[####....] 50 %`.
  private static func bar(_ done: Int, of total: Int) -> String {
    let done = min(done, total)
    let filled = width * done / total
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "[\(bar)] \(done * 100 / total) %"
  }

  /// Removes the progress bar.
  ///
  /// Messages may be printed afterwards.
  func end() {
    guard isShown, shown >= 0 else { return }
    StandardStream.error.write("\r\u{1B}[K")
    shown = -1
  }
}
