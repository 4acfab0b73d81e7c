import MoonbaseModel

/// A command line that cannot be understood.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  static func unknownOption(_ option: String, among known: [String]) -> UsageError {
    UsageError("unknown option '\(option)'\(suggestion(for: option, among: known))")
  }
}
