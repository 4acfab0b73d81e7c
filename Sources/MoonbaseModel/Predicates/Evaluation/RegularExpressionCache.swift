import MoonbasePlatform

/// A compiled regular expression that must match a whole string.
struct WholeMatch: Sendable {
  private let expression: NSRegularExpression

  init(_ pattern: String, isCaseInsensitive: Bool) throws(ModelError) {
    let options: NSRegularExpression.Options = isCaseInsensitive ? .caseInsensitive : []
    do {
      // Compiled alone first: the parentheses around it must not complete a broken one.
      _ = try NSRegularExpression(pattern: pattern, options: options)
      expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
    } catch {
      throw ModelError(.evaluation, "“\(pattern)” is no regular expression that ICU understands")
    }
  }

  func matches(_ text: String) -> Bool {
    expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
  }
}

/// Compiled patterns that are not known before a row is looked at. Emptied when it has grown large.
final class RegularExpressionCache: Sendable {
  static let shared = RegularExpressionCache()

  private struct Key: Hashable {
    var pattern: String
    var isCaseInsensitive: Bool
  }

  private let compiled = Lock([Key: WholeMatch]())
  private static let capacity = 200

  func expression(_ pattern: String, isCaseInsensitive: Bool) throws(ModelError) -> WholeMatch {
    let key = Key(pattern: pattern, isCaseInsensitive: isCaseInsensitive)
    if let known = compiled.withLock({ $0[key] }) { return known }
    let new = try WholeMatch(pattern, isCaseInsensitive: isCaseInsensitive)
    compiled.withLock { table in
      if table.count >= Self.capacity { table.removeAll() }
      table[key] = new
    }
    return new
  }
}
