import MoonbasePlatform

/// A compiled regular expression that must match a whole string.
///
/// The expression is immutable and may be used from any thread. `RegularExpressionCache` keeps
/// expressions for patterns that are not constant.
struct WholeMatch: Sendable {
  /// The most progress reports of the regular expression engine for a text. Each report follows some ten thousand
  /// steps, so the limit is a fraction of a second. A pattern such as `(a+)+` takes exponential time.
  private static let greatestReportCount = 1000

  /// The cost charged for the steps between two reports.
  private static let reportUnits = 2000

  /// The expression, anchored at both ends.
  private let expression: NSRegularExpression
  /// The pattern as written, for messages.
  private let pattern: String

  /// Throws `.invalidPredicate` for an invalid pattern.
  init(_ pattern: String, isCaseInsensitive: Bool) throws(ModelError) {
    self.pattern = pattern
    let options: NSRegularExpression.Options = isCaseInsensitive ? .caseInsensitive : []
    do {
      // The pattern is compiled alone first, because the added parentheses could complete an invalid pattern.
      _ = try NSRegularExpression(pattern: pattern, options: options)
      expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
    } catch {
      throw ModelError(
        .evaluation, message: "“\(TextLimits.beginning(of: pattern))” is no regular expression that ICU understands")
    }
  }

  /// Throws `.evaluation` if the engine takes too many steps or runs out of memory, and throws when the run of its
  /// script must end.
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

  /// The error that the engine was stopped, with advice.
  private func refusal(of text: String, what: String, cause: String) -> ModelError {
    let shown = pattern.count > 80 ? "\(pattern.prefix(80))…" : pattern
    return ModelError(
      .evaluation,
      message: "“\(shown)” needs too \(what) for a text of \(text.count) characters: write it without \(cause)")
  }
}

/// Compiled patterns that are known only at evaluation. Emptied when large.
///
/// The cache is shared by all threads behind a lock; compilation happens outside of the lock.
final class RegularExpressionCache: Sendable {
  /// The cache of the process.
  static let shared = RegularExpressionCache()

  /// The key of an expression.
  private struct Key: Hashable {
    /// The pattern, compared by code points.
    var pattern: ExactText
    /// Whether case is ignored.
    var isCaseInsensitive: Bool
  }

  /// The cached expressions.
  private struct Table {
    /// The expressions by key.
    var expressions: [Key: WholeMatch] = [:]
    /// The bytes of all patterns. A compiled pattern takes many times its text.
    var length = 0
  }

  /// The table behind its lock.
  private let compiled = Lock(Table())
  /// The most expressions kept.
  private static let capacity = 200
  /// The most bytes of patterns kept.
  private static let greatestLength = 1 << 18

  /// The expression of a pattern, from the cache or compiled. Throws for an invalid or too long
  /// pattern.
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
