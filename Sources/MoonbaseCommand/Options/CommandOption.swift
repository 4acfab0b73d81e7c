import ArgumentParser

/// An option that several commands share, with its name, its help and its meaning. It is used by the argument parser
/// and by `moonbase run`, which parses its own command line. There is one table of options, with the options for
/// stores, the options for scripts, and `--quiet`.
struct CommandOption: Sendable {
  /// The name with its dashes.
  let name: String
  /// The name of its argument, or nil for a flag.
  let argument: String?
  /// Whether the option may be given several times.
  var isRepeatable = false
  /// The values that shells offer as completions.
  var completion = Completion.none
  /// The help on one line, without a capital letter and without a full stop.
  let help: String
  /// Applies the value of the option to settings. The value of a flag is an empty text.
  let apply: @Sendable (String, inout CommandSettings) throws(UsageError) -> Void

  /// The whole table, in the order of the help.
  static let all = stores + scripts + [noProject, quiet]

  /// The option that suppresses messages.
  static let quiet = CommandOption(name: "--quiet", argument: nil, help: "no word but errors on standard error") {
    _, settings in settings.isQuiet = true
  }
}

extension CommandOption {
  /// The completions that a shell offers after the option.
  enum Completion: Sendable {
    /// No completion, or the names of files.
    case none, files
    /// A list of values.
    case values([String])
  }

  /// The completion in the form of the argument parser.
  var parserCompletion: CompletionKind? {
    switch completion {
    case .none: nil
    case .files: .file()
    case .values(let values): .list(values)
    }
  }
}

/// The settings that the options of the table give.
///
/// Commands with the argument parser use the two parts separately. `moonbase run` fills the whole
/// value from its own parser.
struct CommandSettings: Equatable {
  /// The stores and the settings for opening them.
  var stores = StoreSettings()
  /// The permissions and limits of scripts.
  var scripts = ScriptSettings()
  /// Whether messages are suppressed.
  var isQuiet = false
  /// Whether the project is ignored.
  var leavesProjectOut = false
}

// MARK: - For the argument parser

extension CommandOption {
  /// The name in the form of the argument parser.
  var parserName: NameSpecification { .customLong(String(name.dropFirst(2))) }

  /// The help in the form of the argument parser, as a sentence.
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

  /// Applies the option to settings for stores.
  ///
  /// - Parameters:
  ///   - value: The value from the command line, or an empty text for a flag.
  ///   - stores: The settings that change.
  /// - Throws: A `UsageError` for a value that is not valid.
  func apply(_ value: String, _ stores: inout StoreSettings) throws(UsageError) {
    var settings = CommandSettings(stores: stores)
    try apply(value, &settings)
    stores = settings.stores
  }

  /// Applies the option to settings for scripts.
  ///
  /// - Parameters:
  ///   - value: The value from the command line, or an empty text for a flag.
  ///   - scripts: The settings that change.
  /// - Throws: A `UsageError` for a value that is not valid.
  func apply(_ value: String, _ scripts: inout ScriptSettings) throws(UsageError) {
    var settings = CommandSettings(scripts: scripts)
    try apply(value, &settings)
    scripts = settings.scripts
  }
}

// MARK: - For a help text that is written by hand

extension CommandOption {
  /// The lines of help. The texts are indented, with space for the longest option.
  ///
  /// - Parameters:
  ///   - indent: The column at which the texts start.
  ///   - width: The maximum number of characters in a line.
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
