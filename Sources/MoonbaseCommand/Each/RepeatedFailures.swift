/// Failures, grouped by kind. The first ten of each kind are printed, and the others are counted.
///
/// A run over millions of objects may fail for each of them in the same way; the output then has
/// ten lines and a number.
struct RepeatedFailures {
  /// The number of failures of a kind that are printed.
  private static let greatestTold = 10
  /// The number of kinds that are counted separately.
  private static let greatestKinds = 100

  /// The kinds, in order of appearance.
  private var kinds: [String] = []
  /// The number of failures of each kind, and the text of the first.
  private var counts: [String: (count: Int, text: String)] = [:]

  /// Adds a failure, and returns whether it must be printed because it is one of the first of its kind.
  mutating func isToBeTold(_ text: String) -> Bool {
    let line = text.prefix { $0 != "\n" }
    let kind = counts.count < Self.greatestKinds || counts[Self.kind(line)] != nil ? Self.kind(line) : ""
    if counts[kind] == nil { kinds.append(kind) }
    let count = (counts[kind]?.count ?? 0) + 1
    counts[kind] = (count, kind.isEmpty ? "failures of other kinds" : String(line))
    return count <= Self.greatestTold
  }

  /// The failures that were not printed, one line for each kind.
  var rest: [String] {
    kinds.compactMap { kind in
      guard let (count, text) = counts[kind], count > Self.greatestTold else { return nil }
      return "and \(count - Self.greatestTold) more like this: \(text)"
    }
  }

  /// The text without the parts that differ between objects, such as numbers and text in quotes and brackets.
  private static func kind(_ line: Substring) -> String {
    var result = ""
    var end: Character?
    for letter in line {
      if let closing = end {
        if letter == closing { end = nil }
        continue
      }
      switch letter {
      case "'", "\"": end = letter
      case "(": end = ")"
      case _ where letter.isNumber: break
      default: result.append(letter)
      }
    }
    return result
  }
}
