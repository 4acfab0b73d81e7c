import MoonbasePlatform

/// Cases written as lines `input => outcome`; empty lines and lines that begin with `--` are comments.
struct CaseTable {
  struct Line: CustomStringConvertible {
    var input: String
    var outcome: String
    var description: String { input }
  }

  let lines: [Line]

  init(_ text: String) {
    lines = text.split(separator: "\n").compactMap { line in
      guard !line.hasPrefix("--"), let arrow = line.range(of: " => ", options: .backwards) else { return nil }
      return Line(
        input: line[..<arrow.lowerBound].trimmingCharacters(in: .whitespaces),
        outcome: line[arrow.upperBound...].trimmingCharacters(in: .whitespaces))
    }
  }
}
