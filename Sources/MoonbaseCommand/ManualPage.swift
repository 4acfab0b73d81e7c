import ArgumentParser
import MoonbasePlatform

/// The page for `man` with its usual sections. It is created from the help of all commands.
///
/// The page is generated, so that it always agrees with the options. The format is roff with the
/// macros of `man`: `.SH` starts a section, and `.TP` starts an option with its description.
enum ManualPage {
  /// The whole page.
  ///
  /// - Throws: An error if the help of the argument parser cannot be decoded.
  static func text() throws -> String {
    let help = try CommandHelp.all()
    let commands = (help.subcommands ?? []).filter { $0.commandName != "help" }
    return """
      .TH MOONBASE 1 "" "moonbase \(MoonbaseVersion.text)" "User Commands"
      .SH NAME
      moonbase \\- \(escaped(name))
      .SH SYNOPSIS
      .B moonbase
      .I command
      .RI [ options ]
      .RI [ arguments ]
      .SH DESCRIPTION
      .B moonbase
      works on stores in Core Data's SQLite format. It runs Lua scripts over their objects, fetches, changes, checks, \
      imports and exports them, and converts models. Extensions in Lua add rules, derived attributes and classes of values.
      .PP
      A project file, moonbase.project.lua, in the current folder or above it names the store, the model and the extensions. \
      Options win over it.
      .PP
      The commands are:
      \(commands.map { ".TP\n.B \(escaped($0.commandName))\n\(sentence($0.abstract))\n" }.joined()).SH COMMANDS
      \(zip(commands, RootCommand.configuration.subcommands).map { section($0, of: $1, "moonbase") }.joined()).SH "EXIT STATUS"
      \(statuses.map { ".TP\n.B \($0)\n\($1)\n" }.joined()).SH ENVIRONMENT
      .TP
      .B MOONBASE_STORE
      The store of commands that are given none, before that of the project.
      .TP
      .B COLUMNS
      The width of tables where standard output is no terminal.
      .TP
      .B TMPDIR
      The folder for files of a while.
      .TP
      .B XDG_STATE_HOME
      The folder above moonbase/history, in which inputs of the prompt are kept (default: ~/.local/state).
      .SH FILES
      .TP
      .I moonbase.project.lua
      The project of a folder: store, model, extensions.
      .TP
      .I ~/.editrc
      Keys of the prompt.
      .SH "SEE ALSO"
      .BR sqlite3 (1),
      .BR lua (1)

      """
  }

  /// The name and the summary of the command, for an index of pages.
  ///
  /// The first letter is in lower case, and there is no full stop.
  private static var name: String {
    let text = RootCommand.configuration.abstract
    return (text.prefix(1).lowercased() + text.dropFirst()).trimmingCharacters(in: CharacterSet(charactersIn: "."))
  }

  /// The exit statuses with their meanings, in the order of the page.
  private static let statuses = [
    ("0", "Done."), ("1", "The script, the data or a check failed."), ("2", "Wrong usage."),
    ("3", "A limit was exceeded."), ("4", "Done but for rows, objects or chunks that failed and were told."),
    ("75", "The store is busy: try again."), ("130", "Interrupted."),
    ("other", "What os.exit of a script gives."),
  ]

  // MARK: Commands

  /// The section of a command, followed by those of its subcommands.
  ///
  /// - Parameters:
  ///   - help: The help of the command.
  ///   - command: The type of the command.
  ///   - path: The names of its parent commands.
  private static func section(_ help: CommandHelp, of command: any ParsableCommand.Type, _ path: String) -> String {
    let path = "\(path) \(help.commandName)"
    let options = (help.arguments ?? []).filter(\.shouldDisplay).filter { !isOfAllCommands($0) }
    let below = zip(help.subcommands ?? [], command.configuration.subcommands)
    return ".SS \(escaped(path))\n\(sentence(help.abstract))\n.PP\n"
      + ".B \(escaped(usage(of: command)))\n"
      + paragraphs(help.discussion) + options.map(option).joined() + below.map { section($0, of: $1, path) }.joined()
  }

  /// Whether an option is `--help` or `--version`, which are described once.
  private static func isOfAllCommands(_ argument: CommandHelp.Argument) -> Bool {
    (argument.names ?? []).contains { ["--help", "--version"].contains($0.option) }
  }

  /// The usage of a command on one line.
  private static func usage(of command: any ParsableCommand.Type) -> String {
    let usage = command.configuration.usage ?? RootCommand.usageString(for: command)
    return usage.replacing("Usage: ", with: "").split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
  }

  /// The paragraphs of a text. Lines with commands are unchanged.
  ///
  /// A paragraph that starts with a command is not filled, so that its lines can be copied.
  private static func paragraphs(_ text: String?) -> String {
    (text ?? "").components(separatedBy: "\n\n").filter { !$0.isEmpty }.map { paragraph in
      let lines = paragraph.components(separatedBy: "\n").map(escaped).joined(separator: "\n")
      return paragraph.hasPrefix("moonbase ") || paragraph.hasPrefix("source ")
        ? ".PP\n.RS 4\n.nf\n\(lines)\n.fi\n.RE\n" : ".PP\n\(lines)\n"
    }.joined()
  }

  /// An option with its names in bold, its value in italics, and its help.
  private static func option(_ argument: CommandHelp.Argument) -> String {
    let names = (argument.names ?? []).map { "\\fB\(escaped($0.option))\\fR" }.joined(separator: ", ")
    let value = argument.kind == "flag" ? nil : argument.valueName.map { "\\fI\(escaped($0))\\fR" }
    let head = [names, value ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    return ".TP\n\(head)\n\(sentence(argument.abstract))\n"
  }

  /// A text on one line, escaped so that it is not a request of roff.
  private static func sentence(_ text: String?) -> String {
    escaped((text ?? "").split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  /// Escapes a line that starts with a dot or an apostrophe, because it would be a request of roff.
  private static func escaped(_ line: String) -> String {
    let text = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
