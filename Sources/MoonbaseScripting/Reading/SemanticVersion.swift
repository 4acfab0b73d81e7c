/// A semantic version: `1`, `1.2`, `1.2.3`, `1.2.3-beta.1`. Build metadata after `+` is ignored.
///
/// Compared as semver.org defines: by numbers, then by prerelease parts, in which numbers precede texts. Missing
/// numbers count as 0, so `1` equals `1.0.0`.
struct SemanticVersion: Comparable, CustomStringConvertible {
  /// Three numbers.
  let numbers: [Int]
  /// The prerelease parts after the hyphen. A version with a prerelease precedes the same version without.
  let prerelease: [String]
  /// The text as written.
  let description: String

  /// The number of numbers written. From 1 to 3. `1` as a range allows any version 1.x.
  let precision: Int

  /// Nil for a text that is not a version.
  init?(_ text: String) {
    let core = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)[0]
    let parts = core.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false).map(Self.number)
    guard (1...3).contains(numbers.count), !numbers.contains(nil) else { return nil }
    let prerelease = parts.count > 1 ? parts[1].split(separator: ".", omittingEmptySubsequences: false) : []
    guard prerelease.allSatisfy(Self.isIdentifier) else { return nil }
    self.numbers = (numbers.compactMap(\.self) + [0, 0]).prefix(3).map(\.self)
    self.prerelease = prerelease.map(String.init)
    precision = numbers.count
    description = text
  }

  /// A version of three numbers without a prerelease.
  private init(numbers: [Int]) {
    (self.numbers, prerelease, precision) = (numbers, [], 3)
    description = numbers.map(String.init).joined(separator: ".")
  }

  /// A number of at most nine digits.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.count < 10, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(text)
  }

  /// Whether a text consists of ASCII letters, digits and hyphens.
  private static func isIdentifier(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0 & ~32) || $0 == 45 }
  }

  /// The first version that may be incompatible: the next major version, or the next minor version before 1.
  var nextIncompatible: SemanticVersion {
    numbers[0] > 0 || precision == 1
      ? SemanticVersion(numbers: [numbers[0] + 1, 0, 0]) : SemanticVersion(numbers: [0, numbers[1] + 1, 0])
  }

  /// The precision is not compared.
  static func == (left: Self, right: Self) -> Bool {
    left.numbers == right.numbers && left.prerelease == right.prerelease
  }

  static func < (left: Self, right: Self) -> Bool {
    for (one, other) in zip(left.numbers, right.numbers) where one != other { return one < other }
    if left.prerelease.isEmpty || right.prerelease.isEmpty {
      return !left.prerelease.isEmpty && right.prerelease.isEmpty
    }
    for (one, other) in zip(left.prerelease, right.prerelease) where one != other {
      switch (Int(one), Int(other)) {
      case (let one?, let other?): return one < other
      case (.some, nil): return true
      case (nil, .some): return false
      case (nil, nil): return one < other
      }
    }
    return left.prerelease.count < right.prerelease.count
  }
}

/// A range of versions: `1.2` (at least 1.2 and below 2), or comparisons that must all hold, as `>=1.2 <2`.
///
/// Used by `requires` of extensions: the version of the API and of other extensions.
struct VersionRange: CustomStringConvertible {
  private enum Comparison: String {
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"
    case exactly = "="
    case compatible = ""
  }

  /// All must hold.
  private let conditions: [(comparison: Comparison, version: SemanticVersion)]
  /// The text as written.
  let description: String

  /// Nil for a text that is not a range.
  init?(_ text: String) {
    var conditions: [(Comparison, SemanticVersion)] = []
    for word in Self.words(of: text) {
      let sign = word.prefix { "<>=".contains($0) }
      guard let comparison = Comparison(rawValue: String(sign)),
        let version = SemanticVersion(String(word.dropFirst(sign.count)))
      else { return nil }
      conditions.append((comparison, version))
    }
    guard !conditions.isEmpty else { return nil }
    self.conditions = conditions
    description = text
  }

  /// The conditions. Spaces after an operator are allowed. Words are separated by spaces or commas.
  private static func words(of text: String) -> [String] {
    text.split(whereSeparator: { $0 == " " || $0 == "," }).reduce(into: []) { words, word in
      if let last = words.last, last.allSatisfy({ "<>=".contains($0) }) {
        words[words.count - 1] += word
      } else {
        words.append(String(word))
      }
    }
  }

  /// Whether a version is in the range. A prerelease counts like any version: `2.0.0-beta` is below 2.
  func contains(_ version: SemanticVersion) -> Bool {
    conditions.allSatisfy { comparison, limit in
      switch comparison {
      case .atLeast: version >= limit
      case .atMost: version <= limit
      case .above: version > limit
      case .below: version < limit
      case .exactly: version == limit
      case .compatible: version >= limit && version < limit.nextIncompatible
      }
    }
  }
}
