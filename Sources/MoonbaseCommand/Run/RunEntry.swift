import ArgumentParser

/// The entry for `run` in the list of commands, with its options for completions and the manual. It is never parsed,
/// because `Main` runs scripts before it calls the parser.
struct RunEntry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs Lua scripts over a store.",
    usage: "moonbase run [options] [-e CODE]... [SCRIPT [ARG...]]",
    discussion: "Its options: moonbase run --help")

  @Argument(
    help: ArgumentHelp("The script, or '-' for standard input, and its arguments.", valueName: "script"),
    completion: .file())
  var script: [String] = []

  @Option(
    name: .customShort("e"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Run this piece of Lua; repeatable.", valueName: "code"))
  var code: [String] = []

  @Flag(help: "Reload extensions while the script runs, and run it again whenever a file changes.")
  var watch = false

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false
}
