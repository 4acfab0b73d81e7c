import MoonbasePlatform

/// How far something is, on standard error, where that is a terminal.
final class ProgressBar {
  private static let width = 40
  /// Whether there is anybody to see it.
  let isShown: Bool
  private var shown = -1

  init(quiet: Bool) { isShown = !quiet && isatty(STDERR_FILENO) == 1 }

  func show(_ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let percent = done * 100 / total
    guard percent != shown else { return }
    shown = percent
    let filled = Self.width * percent / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
    StandardStream.error.write("\r[\(bar)] \(percent) %")
  }

  /// Takes the bar away.
  func end() {
    guard isShown, shown >= 0 else { return }
    StandardStream.error.write("\r\u{1B}[K")
    shown = -1
  }
}
