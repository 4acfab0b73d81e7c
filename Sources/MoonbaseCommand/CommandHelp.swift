import ArgumentParser
import MoonbasePlatform

/// The help of commands in the format of the argument parser.
struct CommandHelp: Decodable {
  let commandName: String
  let abstract: String?
  let discussion: String?
  let arguments: [Argument]?
  let subcommands: [CommandHelp]?

  struct Argument: Decodable {
    let kind: String
    let names: [Name]?
    let valueName: String?
    let abstract: String?
    let shouldDisplay: Bool
  }

  struct Name: Decodable {
    let kind: String
    let name: String

    /// The option with its dashes.
    var option: String { (kind == "long" ? "--" : "-") + name }
  }

  private struct Dump: Decodable {
    let command: CommandHelp
  }

  /// The help of the command and of all its subcommands.
  static func all() throws -> CommandHelp {
    try JSONDecoder().decode(Dump.self, from: Data(RootCommand._dumpHelp().utf8)).command
  }
}
