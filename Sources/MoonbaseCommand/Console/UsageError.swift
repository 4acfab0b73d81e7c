import MoonbaseModel
import MoonbasePlatform

/// An error in the command line.
struct UsageError: LocalizedError, CustomStringConvertible {
  let description: String
  var errorDescription: String? { description }

  init(_ description: String) {
    self.description = description
  }

  static func unknownOption(_ option: String, among known: [String]) -> UsageError {
    UsageError("unknown option '\(option)'\(suggestion(for: option, among: known))")
  }
}
