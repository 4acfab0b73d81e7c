/// Checks for options that are given twice before the argument parser runs, because the parser would silently use the
/// last value.
enum RepeatedOptions {
  /// The options that may be repeated.
  static let repeatable = Set(CommandOption.all.filter(\.isRepeatable).map(\.name)).union([
    "--forget-extension", "--from", "--param",
  ])
  /// Further options that may be repeated, by command.
  private static let repeatableOfCommand: [String: Set<String>] = ["import": ["--null"]]
  /// The argument after one of these options is its value, even if it looks like an option.
  static let takingAnything: Set = [
    "--author", "--columns", "--do", "--having", "--null", "--param", "--sort", "--where",
  ]

  /// The advice for an option that must not be repeated.
  private static let advice = [
    "--where": "join the conditions by AND", "--sort": "name all keys in one, as in lastName,-age",
    "--columns": "name all columns in one, as in _id,name",
  ]

  /// A message about an option that is given twice, or nil if there is none.
  ///
  /// - Parameter arguments: The words of the command line.
  static func problem(with arguments: [String]) -> String? {
    let ownRepeatable = arguments.first.flatMap { repeatableOfCommand[$0] } ?? []
    var seen: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst(), argument != "--" {
      guard argument.hasPrefix("--") else { continue }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if parts.count == 1, takingAnything.contains(name) { rest = rest.dropFirst() }
      if repeatable.contains(name) || ownRepeatable.contains(name) || seen.insert(name).inserted { continue }
      return message(name)
    }
    return nil
  }

  /// Whether an option is given, and is not the value of another option.
  ///
  /// - Parameters:
  ///   - name: The name of the option with its dashes.
  ///   - arguments: The words of the command line.
  static func isGiven(_ name: String, in arguments: [String]) -> Bool {
    var rest = arguments[...]
    while let argument = rest.popFirst(), argument != "--" {
      if argument == name { return true }
      if takingAnything.contains(argument) { rest = rest.dropFirst() }
    }
    return false
  }

  /// The message about an option that is given twice.
  static func message(_ name: String) -> String {
    "\(name) is given twice, and one is used: \(advice[name] ?? "leave the other out")"
  }
}
