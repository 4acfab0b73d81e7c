import ArgumentParser
import MoonbasePlatform

/// The help of commands in the format of the argument parser.
///
/// The manual page and the documentation are generated from it. The keys are those of the parser's
/// JSON dump.
struct CommandHelp: Decodable {
  /// The name of the command without that of its parent.
  let commandName: String
  /// The one-line description.
  let abstract: String?
  /// The text below the usage.
  let discussion: String?
  /// The arguments and options.
  let arguments: [Argument]?
  /// The subcommands.
  let subcommands: [CommandHelp]?

  /// An argument, an option or a flag.
  struct Argument: Decodable {
    /// The kind: `positional`, `option` or `flag`.
    let kind: String
    /// The spellings of an option.
    let names: [Name]?
    /// The placeholder of the value.
    let valueName: String?
    /// The description.
    let abstract: String?
    /// Whether the help shows it.
    let shouldDisplay: Bool
  }

  /// A spelling of an option.
  struct Name: Decodable {
    /// The kind: `long` or `short`.
    let kind: String
    /// The word or the letter, without dashes.
    let name: String

    /// The option with its dashes.
    var option: String { (kind == "long" ? "--" : "-") + name }
  }

  /// The outermost object of the dump.
  private struct Dump: Decodable {
    /// The root command.
    let command: CommandHelp
  }

  /// The help of the command and of all its subcommands.
  ///
  /// Throws `DecodingError` if the parser's format changes.
  static func all() throws -> CommandHelp {
    try JSONDecoder().decode(Dump.self, from: Data(RootCommand._dumpHelp().utf8)).command
  }
}
