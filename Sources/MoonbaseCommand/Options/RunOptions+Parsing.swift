import MoonbasePlatform

extension RunOptions {
  /// Parses the arguments after `moonbase run`. The options end at the script. The arguments after it belong to the
  /// script.
  ///
  /// - Parameter words: The words after `run`.
  /// - Throws: A `UsageError` for an unknown option, a missing value, or an option that is given
  ///   twice.
  init(_ words: ArraySlice<String>) throws(UsageError) {
    var rest = words
    var given: Set<String> = []
    while let word = rest.first, word.hasPrefix("-"), word != "-" {
      rest.removeFirst()
      if word == "--" { break }
      try apply(word, from: &rest, given: &given)
    }
    if let script = rest.popFirst() {
      sources.append(script == "-" ? .standardInput : .file(script))
      arguments = Array(rest)
    }
    guard !watches || !sources.contains(.standardInput) else {
      throw UsageError("--watch runs a script again, and standard input is read once: name the script's file")
    }
    guard help || !sources.isEmpty else {
      throw UsageError("there is nothing to run: name a script, '-' for standard input, or -e CODE")
    }
  }

  /// The first of the script's arguments that looks like an option of this command, or nil after `--`. `--help` belongs
  /// to the script.
  ///
  /// The command prints a message about it, because the user probably meant the option for the
  /// command.
  var misplacedOption: String? {
    arguments.prefix { $0 != "--" }
      .first { word in CommandOption.all.contains { word == $0.name || word.hasPrefix("\($0.name)=") } }
  }

  /// Whether the arguments after `moonbase run` contain the option for ignoring the project. Errors are reported when
  /// the options are parsed.
  ///
  /// This is known before all other options are processed.
  static func leavesProjectOut(_ words: ArraySlice<String>) -> Bool {
    do { return try RunOptions(words).settings.leavesProjectOut } catch { return true }
  }

  /// Takes one option and its value.
  ///
  /// - Parameters:
  ///   - word: The option, which may contain its value after an equals sign.
  ///   - rest: The words after it, of which the value is removed.
  ///   - given: The names of the options so far.
  private mutating func apply(
    _ word: String, from rest: inout ArraySlice<String>, given: inout Set<String>
  ) throws(UsageError) {
    switch word {
    case "-e":
      guard let code = rest.popFirst() else { throw UsageError("-e needs code to run") }
      return sources.append(.code(code))
    case "--watch":
      watches = true
      return
    case "-h", "--help":
      help = true
      return
    default: break
    }
    if let flag = CommandOption.all.first(where: { $0.argument == nil && $0.name == word }) {
      return try flag.apply("", &settings)
    }
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = CommandOption.all.first(where: { $0.argument != nil && $0.name == parts[0] }) else {
      throw .unknownOption(parts[0], among: CommandOption.all.map(\.name) + ["--help", "--watch", "-e"])
    }
    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
      throw UsageError("\(option.name) needs a value")
    }
    guard option.isRepeatable || given.insert(option.name).inserted else {
      throw UsageError(RepeatedOptions.message(option.name))
    }
    try option.apply(value, &settings)
  }
}
