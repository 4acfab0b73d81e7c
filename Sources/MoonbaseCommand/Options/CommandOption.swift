import ArgumentParser

/// An option that several commands share, with its name, its help and its meaning. It is used by the argument parser
/// and by `moonbase run`, which parses its own command line. There is one table of options, with the options for
/// stores, the options for scripts, and `--quiet`.
struct CommandOption: Sendable {
  /// The name with its dashes.
  let name: String
  /// The name of its argument, or nil for a flag.
  let argument: String?
  var isRepeatable = false
  /// The values that shells offer as completions.
  var completion = Completion.none
  let help: String
  let apply: @Sendable (String, inout CommandSettings) throws(UsageError) -> Void

  /// The whole table, in the order of the help.
  static let all = stores + scripts + [noProject, quiet]

  static let quiet = CommandOption(name: "--quiet", argument: nil, help: "no word but errors on standard error") {
    _, settings in settings.isQuiet = true
  }
}

extension CommandOption {
  enum Completion: Sendable {
    case none, files
    case values([String])
  }

  var parserCompletion: CompletionKind? {
    switch completion {
    case .none: nil
    case .files: .file()
    case .values(let values): .list(values)
    }
  }
}

/// The settings that the options of the table give.
struct CommandSettings: Equatable {
  var stores = StoreSettings()
  var scripts = ScriptSettings()
  var isQuiet = false
  var leavesProjectOut = false
}

// MARK: - For the argument parser

extension CommandOption {
  var parserName: NameSpecification { .customLong(String(name.dropFirst(2))) }

  var parserHelp: ArgumentHelp {
    ArgumentHelp("\(beginsWithValue ? help : help.prefix(1).uppercased() + help.dropFirst()).", valueName: argument)
  }

  /// Whether the help starts with a value for the user to type, such as `pure, standard (default)`. The case of its
  /// first letter must then be kept.
  private var beginsWithValue: Bool {
    let words = help.split(separator: " ", maxSplits: 2)
    let first = words.first ?? ""
    return first.hasSuffix(",") || first.hasSuffix(":") || first.contains("=")
      || words.dropFirst().first == "(default):"
  }

  func take(_ value: String, _ stores: inout StoreSettings) throws(UsageError) {
    var settings = CommandSettings(stores: stores)
    try apply(value, &settings)
    stores = settings.stores
  }

  func take(_ value: String, _ scripts: inout ScriptSettings) throws(UsageError) {
    var settings = CommandSettings(scripts: scripts)
    try apply(value, &settings)
    scripts = settings.scripts
  }
}

// MARK: - For a help text that is written by hand

extension CommandOption {
  /// The lines of help. The texts are indented, with space for the longest option.
  func helpLines(indent: Int = 28, width: Int = 118) -> String {
    let head = "  \(name)\(argument.map { " \($0)" } ?? "")"
    var lines = [head + String(repeating: " ", count: max(1, indent - head.count))]
    for word in help.split(separator: " ") {
      let isFirst = lines[lines.count - 1].hasSuffix(" ")
      if lines[lines.count - 1].count + word.count + 1 > width {
        lines.append(String(repeating: " ", count: indent) + word)
      } else {
        lines[lines.count - 1] += (isFirst ? "" : " ") + word
      }
    }
    return lines.joined(separator: "\n")
  }
}
