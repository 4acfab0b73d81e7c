import ArgumentParser
import MoonbasePlatform

/// The page for `man`: the help of all commands, as it is printed.
enum ManualPage {
  private static let width = 72

  static var text: String {
    let head = """
      .TH MOONBASE 1 "" "moonbase \(MoonbaseVersion.text)" "User Commands"
      .SH NAME
      moonbase \\- \(escaped(RootCommand.configuration.abstract))
      .SH DESCRIPTION
      \(block(RootCommand.helpMessage(columns: width)))
      .SH COMMANDS

      """
    return head + sections(of: RootCommand.self, path: "moonbase")
  }

  private static func sections(of command: any ParsableCommand.Type, path: String) -> String {
    command.configuration.subcommands.map { subcommand in
      let path = "\(path) \(subcommand.configuration.commandName ?? "")"
      return ".SS \(escaped(path))\n\(block(help(of: subcommand)))\n" + sections(of: subcommand, path: path)
    }.joined()
  }

  /// The argument parser does not know the options of `run`.
  private static func help(of command: any ParsableCommand.Type) -> String {
    command is RunEntry.Type
      ? RunOptions.helpText : RootCommand.helpMessage(for: command, columns: width)
  }

  /// Text whose lines stay as they are.
  private static func block(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
    return ".nf\n" + lines.joined(separator: "\n") + "\n.fi"
  }

  /// A line that begins with a dot or an apostrophe would be a request.
  private static func escaped(_ line: String) -> String {
    let text = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
