import MoonbaseLua

/// The executed lines of files, as a table for display.
///
/// `moonbase test --coverage` prints it. `LuaCoverage` counts the lines while the tests run.
struct CoverageReport {
  /// The files in alphabetical order.
  private let files: [(name: String, lines: LuaCoverage.Lines)]
  /// Whether lines are missing because memory was short.
  private let isIncomplete: Bool

  /// Reads the counted lines, which must be complete.
  ///
  /// - Parameters:
  ///   - coverage: The counted lines.
  ///   - names: The names of the extension files.
  init(_ coverage: LuaCoverage, of names: [String]) {
    files = Set(names).sorted().map { ($0, coverage.lines(of: $0)) }
    isIncomplete = coverage.isIncomplete
  }

  /// Prints the table: the file, the number of lines, the executed lines, the percentage, and the
  /// lines that did not run.
  func print() {
    if isIncomplete { Terminal.complain("moonbase: memory was short, so lines that did not run are missing below") }
    guard !files.isEmpty else {
      return Terminal.complain("moonbase: --coverage: there is no extension whose lines could run")
    }
    var table = TableLines(columns: ["file", "lines", "ran", "percent", "not run"])
    var bytes: [UInt8] = []
    for (name, lines) in files {
      table.add(
        [name, "\(lines.able.count)", "\(lines.ran.count)", Self.percent(lines), Self.ranges(lines)],
        isNumber: [false, true, true, true, false], isID: [false, false, false, false, true], to: &bytes)
    }
    table.finish(&bytes)
    Terminal.write(String(decoding: bytes, as: UTF8.self))
  }

  /// The percentage, rounded down, so that 100 means all lines.
  private static func percent(_ lines: LuaCoverage.Lines) -> String {
    lines.able.isEmpty ? "" : "\(lines.ran.count * 100 / lines.able.count)"
  }

  /// The lines that did not run, such as `3, 7-9`.
  private static func ranges(_ lines: LuaCoverage.Lines) -> String {
    lines.missed.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(
      separator: ", ")
  }
}
