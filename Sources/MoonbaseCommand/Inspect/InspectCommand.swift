import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseScripting

/// The command `moonbase inspect`. It opens the store, starts a server on 127.0.0.1, prints the
/// address of the page, and waits for Ctrl-C. The parts are `InspectDesk` with the session,
/// `HTTPServer` with the connections, `InspectGate` with the token, and `InspectRoutes` between
/// them.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "A page in the browser to look into a store.",
    discussion: """
      moonbase inspect people.sqlite

      Prints the address of the page, which has a token in it and is good on this machine only. The page has entities with their rows, \
      objects with their relationships, the model's diagram, SQL and plans, the history, what doctor finds, and a prompt for \
      Lua. The store is only read.

      With --write objects can be changed, with undo and redo. Changes stay in memory until they are saved. Browsers that have the page open \
      share them. Ctrl-C ends the command; on a terminal it asks before unsaved changes are lost.

      Exit status: 0 when it is ended; 1 if changes were lost then without a question.
      """)

  @Argument(help: "The store (default: that of the project); --store names it too.", completion: .file())
  var store: String?

  @Option(help: "The port of 127.0.0.1; 0 (default) takes a free one.")
  var port: UInt16 = 0

  @Flag(help: "Let the page change the store.")
  var write = false

  @OptionGroup var stores: WritingOptionGroup
  @OptionGroup var scripts: ScriptOptionGroup

  @Flag(name: CommandOption.quiet.parserName, help: CommandOption.quiet.parserHelp)
  var quiet = false

  /// Rejects options for writing without `--write`.
  func validate() throws {
    if write, stores.stores.readOnly { throw ValidationError("--write changes the store: leave --read-only out") }
    let isForWriting = stores.allowsCloudKit || stores.keepHistory || stores.synchronous != nil || stores.author != nil
    guard write || !isForWriting else {
      throw ValidationError(
        "--allow-cloudkit, --keep-history, --synchronous and --author are for what writes: give --write too")
    }
  }

  /// Opens the store, starts the server, and waits until the page ends.
  ///
  /// - Throws: The errors of opening the store, and `.cannotOpenFile` if the port is in use.
  func run() throws {
    var settings = CommandSettings(scripts: try scripts.settings(), isQuiet: quiet)
    settings.stores = try stores.settings(store)
    settings.stores.readOnly = !write
    if write { try settings.scripts.requireWriting("inspect --write") }
    try settings.stores.requireStores()
    let server = try HTTPServer(port: port)
    let desk = try InspectDesk(settings)
    let routes = InspectRoutes(gate: InspectGate(port: server.port), desk: desk)
    Interruption.isWaitedForAtTheEnd()
    let ending = InspectEnding(desk)
    server.start(refusing: routes.refusal, routes.answer)
    Terminal.print(routes.gate.address)
    StandardStream.flush()
    if !quiet { Terminal.complain("moonbase: open this address in a browser of this machine; Ctrl-C ends it") }
    let status = ending.wait()
    server.stop()
    desk.close()
    if status != ExitStatus.done { throw ExitCode(status) }
  }
}
