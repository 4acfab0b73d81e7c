import MoonbaseModel
import MoonbasePlatform

/// An error in the command line.
///
/// The exit status is `ExitStatus.usage`. Errors of the argument parser have the same status.
struct UsageError: LocalizedError, CustomStringConvertible {
  /// The message.
  let description: String
  /// The message, for Foundation.
  var errorDescription: String? { description }

  /// An error with a message.
  init(_ description: String) {
    self.description = description
  }

  /// The error about an option, with the nearest known one.
  static func unknownOption(_ option: String, among known: [String]) -> UsageError {
    UsageError("unknown option '\(option)'\(suggestion(for: option, among: known))")
  }
}
