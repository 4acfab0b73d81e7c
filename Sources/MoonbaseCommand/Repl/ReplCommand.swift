import ArgumentParser
import Moonbase
import MoonbasePlatform
import MoonbaseScripting

/// The command `moonbase repl`. It collects the settings, and `Repl` does the work.
struct ReplCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repl", abstract: "A prompt for Lua over a store.",
    discussion: """
      moonbase repl people.sqlite

      An expression prints its value: an object with its properties, a list of objects or a fetch request as a table. An input that is not \
      complete goes on in the next line. Tab completes names, Ctrl-C gives up a line or what runs, Ctrl-D leaves, and .help lists more.

      Without a terminal the lines of standard input are taken one after the other, without a prompt. Exit status then: 1 if an input failed, or \
      if changes were not saved.
      """)

  @Argument(
    help: "The store (default: that of the project); --store names it too. Without one the store is in memory.",
    completion: .file())
  var store: String?

  @Option(
    name: .customShort("e"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Run this piece of Lua before the first prompt; repeatable.", valueName: "code"))
  var code: [String] = []

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Flag(help: "Reload extensions when their files change.")
  var watch = false

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  /// Runs the prompt until it ends.
  ///
  /// - Throws: An exit code if the status is not 0.
  func run() throws {
    var settings = CommandSettings(scripts: try scripts.settings(), isQuiet: quiet)
    settings.stores = try stores.settings(store, mayNameNone: true)
    try settings.stores.complete(with: Project.current())
    let status = try Repl(settings, watches: watch).run(code)
    if status != ExitStatus.done { throw ExitCode(status) }
  }
}
