import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Reads an entry of the ledger, which any program may have written. Numbers out of range make the entry damaged.
///
/// Errors are `.invalidStore`, and name the job, the key and a remedy.
struct LedgerReader {
  /// More than the rows, objects and bytes of any store; the sum of two such numbers fits in an integer.
  static let greatestCount: Int64 = 1 << 53

  /// The entry.
  let entry: Ledger.Entry
  /// The name of the job, for errors.
  private let job: String
  /// The remedy, for errors.
  private let advice: String

  /// `advice` is the remedy for a damaged entry.
  init(_ entry: Ledger.Entry, of job: String, advice: String) {
    (self.entry, self.job, self.advice) = (entry, job, advice)
  }

  /// The number of a key, or `standard` if it is missing.
  func number(
    _ key: String, in range: ClosedRange<Int64> = 0...greatestCount, otherwise standard: Int64 = 0
  ) throws -> Int64 {
    switch entry[key] {
    case nil: return standard
    case .int(let number)? where range.contains(number): return number
    case .int(let number)?: throw damage("\(key) is \(number)")
    default: throw damage("\(key) is no whole number")
    }
  }

  /// The number of a required key.
  func requiredNumber(_ key: String, in range: ClosedRange<Int64> = 0...greatestCount) throws -> Int64 {
    guard entry[key] != nil else { throw damage("\(key) is missing") }
    return try number(key, in: range)
  }

  /// The text of a key; nil if it is missing or no text.
  func text(_ key: String) -> String? {
    if case .string(let text)? = entry[key] { text } else { nil }
  }

  /// The text of a required key.
  func requiredText(_ key: String) throws -> String {
    guard let text = text(key) else { throw damage("\(key) is no text") }
    return text
  }

  /// The finite date of a required key.
  func requiredDate(_ key: String) throws -> Date {
    guard case .date(let date)? = entry[key], date.timeIntervalSince1970.isFinite else {
      throw damage("\(key) is no date")
    }
    return date
  }

  /// The error about a damaged entry.
  func damage(_ what: String) -> GraphError {
    GraphError(.invalidStore, message: "what the store has noted of the job \(job) is damaged (\(what)): \(advice)")
  }
}
