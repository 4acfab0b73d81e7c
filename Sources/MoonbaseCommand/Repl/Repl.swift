import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// A prompt for Lua over a store.
///
/// The object lives as long as the command, and all its work is on the main thread. The parts are
/// in extensions: reading inputs, running them, commands with a dot, completion, and leaving.
final class Repl {
  /// The options of the command.
  let settings: CommandSettings
  /// Compiles and runs inputs, with undo and save.
  let prompt: ScriptPrompt
  /// Prints values.
  let output: ReplOutput
  /// The context of the store, or nil if there is no store.
  let context: ManagedObjectContext?
  /// The observation of extension files with `--watch`.
  private let watch: ExtensionWatch?
  /// The results of reloads that will be shown at the next prompt.
  let notices = Notices()
  /// The source of the lines: a terminal or a stream.
  private(set) var lines: any PromptLines
  /// The number of lines that were read.
  var lineCount = 0
  /// A line that was read but not used yet.
  var lineAhead: [UInt8]?
  /// Whether an input has failed.
  var hasFailed = false
  /// The line number of the running command.
  var commandLine: Int?

  /// Opens the stores and the extensions that the command line names.
  ///
  /// - Parameters:
  ///   - settings: The options of the command.
  ///   - watches: Whether extensions are reloaded when their files change.
  /// - Throws: The errors of opening the stores and of loading the extensions.
  init(_ settings: CommandSettings, watches: Bool) throws {
    self.settings = settings
    let (stores, scripts) = (settings.stores, settings.scripts)
    scripts.boundSQLite()
    let maker = scripts.maker(
      scriptFolders: [], moduleFolders: (scripts.noFiles ? [] : ["."]) + scripts.readableFolders, stores)
    let domain = try scripts.domain(of: maker)
    let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    prompt = try ScriptPrompt(
      domain, name: isTerminal ? "input" : "stdin", program: CommandLine.arguments.first ?? "moonbase")
    output = ReplOutput(domain)
    lines = PlainLines(isInteractive: isTerminal, domain.state.consumeLineAhead)
    guard !stores.stores.isEmpty || stores.model != nil || !stores.extensions.isEmpty else {
      (context, watch) = (nil, nil)
      return
    }
    let new = try NewStores(stores)
    let container = try PersistentContainer(scripts.limiting(stores.container, stores))
    new.tell(quiet: settings.isQuiet)
    let context = try domain.context(of: container.opened)
    try domain.setContext(context)
    try prompt.nameContext()
    prompt.notesUndo(levels: Self.levelsOfUndo)
    self.context = context
    watch = watches ? container.watchExtensions { [notices] in notices.add("\($0)") } : nil
  }

  /// The number of steps that can be undone.
  private static let levelsOfUndo = 100

  /// Processes inputs until the end. Returns the exit status.
  ///
  /// - Parameter code: Pieces of Lua code that run before the first prompt.
  /// - Throws: The errors of reading the input.
  func run(_ code: [String]) throws -> Int32 {
    defer {
      prompt.finish()
      prompt.domain.close()
    }
    // Unsaved changes must not be lost without a question.
    PromptSignals.begin()
    if lines.isInteractive { begin() }
    for piece in code {
      if let status = evaluate(Input(bytes: Array(piece.utf8), firstLine: 1)) { return status }
    }
    while true {
      do {
        let input = try nextInput()
        if let status = try input.map(process) ?? leave(status: ExitStatus.done) { return status }
      } catch let error as UnreadableInput {
        fail("\(error)")
        return leave(status: ExitStatus.failed) ?? ExitStatus.failed
      } catch is InterruptedInput {
        return leave(status: ExitStatus.interrupted) ?? ExitStatus.interrupted
      }
    }
  }

  /// Starts the editing of lines, and prints the greeting.
  private func begin() {
    let edited = EditedLines.open { [unowned self] in completion(of: $0) }
    if let edited { lines = edited }
    guard !settings.isQuiet else { return }
    Terminal.print("Moonbase \(MoonbaseVersion.text), \(LuaState.version): \(place)")
    Terminal.print(".help lists commands, .quit leaves")
    if edited == nil, EditedLines.terminalCanEdit {
      Terminal.complain("moonbase: lines cannot be edited: the system has no libedit (Debian's libedit2)")
    }
  }

  /// A description of the store for the first line.
  private var place: String {
    guard let context else { return "no store" }
    let paths = settings.stores.stores.compactMap(\.path)
    return (paths.isEmpty ? "a store in memory" : paths.joined(separator: ", "))
      + " (\(context.model.entities.count == 1 ? "1 entity" : "\(context.model.entities.count) entities"))"
  }
}
