import MoonbasePlatform

/// A compiled regular expression that must match a whole string.
struct WholeMatch: Sendable {
  /// How often the engine may report that it is still at work on one text: each time after some ten thousand steps, so that this
  /// is a fraction of a second. Such a pattern as `(a+)+` would take longer with each character than all before.
  private static let greatestReportCount = 1000

  /// What the steps between two reports cost.
  private static let reportUnits = 2000

  private let expression: NSRegularExpression
  private let pattern: String

  init(_ pattern: String, isCaseInsensitive: Bool) throws(ModelError) {
    self.pattern = pattern
    let options: NSRegularExpression.Options = isCaseInsensitive ? .caseInsensitive : []
    do {
      // Compiled alone first: the parentheses around it must not complete a broken one.
      _ = try NSRegularExpression(pattern: pattern, options: options)
      expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
    } catch {
      throw ModelError(
        .evaluation, message: "“\(TextLimits.beginning(of: pattern))” is no regular expression that ICU understands")
    }
  }

  /// Throws `.evaluation` where the engine tries too many ways to match, or runs out of memory for them, and ends with the run
  /// of a script that it works for.
  func matches(_ text: String) throws -> Bool {
    try HostWork.charge()
    var isFound = false
    var hasFailed = false
    var reports = 0
    var isOver = false
    let range = NSRange(location: 0, length: text.utf16.count)
    let options: NSRegularExpression.MatchingOptions = [.reportProgress, .reportCompletion]
    expression.enumerateMatches(in: text, options: options, range: range) { match, flags, stop in
      if match != nil { isFound = true }
      if flags.contains(.progress) {
        reports += 1
        isOver = HostWork.mustEnd(after: Self.reportUnits)
      }
      if flags.contains(.internalError) { hasFailed = true }
      stop.pointee = ObjCBool(isFound || isOver || reports > Self.greatestReportCount)
    }
    if isFound { return true }
    if isOver { throw HostWork.ending() }
    if reports > Self.greatestReportCount {
      throw refusal(of: text, what: "many steps", cause: "repetitions in repetitions")
    }
    if hasFailed { throw refusal(of: text, what: "much memory", cause: "groups that repeat") }
    return false
  }

  private func refusal(of text: String, what: String, cause: String) -> ModelError {
    let shown = pattern.count > 80 ? "\(pattern.prefix(80))…" : pattern
    return ModelError(
      .evaluation,
      message: "“\(shown)” needs too \(what) for a text of \(text.count) characters: write it without \(cause)")
  }
}

/// Compiled patterns that are not known before a row is looked at. Emptied when it has grown large.
final class RegularExpressionCache: Sendable {
  static let shared = RegularExpressionCache()

  private struct Key: Hashable {
    var pattern: ExactText
    var isCaseInsensitive: Bool
  }

  private struct Table {
    var expressions: [Key: WholeMatch] = [:]
    /// The bytes of the patterns: what is compiled of them takes many times as many.
    var length = 0
  }

  private let compiled = Lock(Table())
  private static let capacity = 200
  private static let greatestLength = 1 << 18

  func expression(_ pattern: String, isCaseInsensitive: Bool) throws(ModelError) -> WholeMatch {
    let key = Key(pattern: ExactText(pattern), isCaseInsensitive: isCaseInsensitive)
    if let known = compiled.withLock({ $0.expressions[key] }) { return known }
    try TextLimits.check(pattern: pattern)
    let new = try WholeMatch(pattern, isCaseInsensitive: isCaseInsensitive)
    compiled.withLock { table in
      if table.expressions.count >= Self.capacity || table.length > Self.greatestLength { table = Table() }
      if table.expressions.updateValue(new, forKey: key) == nil { table.length += pattern.utf8.count }
    }
    return new
  }
}
