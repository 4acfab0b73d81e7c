import MoonbasePlatform

/// The width of standard output in columns.
///
/// Tables are fitted to it if they are shown to a person.
enum TerminalWidth {
  /// The width if nothing says another.
  private static let usual = 80
  /// The least width that is used.
  private static let least = 20

  /// The width of the terminal. Without a terminal, the value of `COLUMNS` in the environment.
  static var columns: Int {
    var size = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return max(least, Int(size.ws_col)) }
    let named = ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init)
    return named.map { min(max(least, $0), 10_000) } ?? usual
  }
}
