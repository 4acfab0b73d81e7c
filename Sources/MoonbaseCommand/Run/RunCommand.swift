import Moonbase
import MoonbaseLua
import MoonbasePlatform
import MoonbaseScripting

/// `moonbase run`, which runs scripts with a store.
///
/// It does not use the argument parser, so that short scripts start quickly. A run creates a Lua
/// state, opens the stores, and executes the sources in their order. With `--watch`, `WatchedRun`
/// repeats this.
struct RunCommand {
  /// The parsed command line.
  let options: RunOptions

  /// Runs the command with the arguments after `run`. Returns the exit status.
  ///
  /// - Parameter words: The arguments after `run`.
  static func main(_ words: ArraySlice<String>) -> Int32 {
    do {
      var options = try RunOptions(words)
      if !options.help {
        try options.settings.stores.applyStoreOfEnvironment()
        try options.settings.complete(with: Project.current())
      }
      return try RunCommand(options: options).run()
    } catch let error as UsageError {
      Terminal.complain("moonbase run: \(error)\nSee 'moonbase run --help'.")
      return ExitStatus.usage
    } catch {
      Terminal.complain("moonbase run: \(error)")
      ErrorPage.point(to: error)
      return ExitStatus.status(for: error)
    }
  }

  /// Prints the help, or runs the sources once or repeatedly.
  private func run() throws -> Int32 {
    if options.help {
      Terminal.print(RunOptions.helpText)
      return ExitStatus.done
    }
    if let option = options.misplacedOption, !options.settings.isQuiet {
      Terminal.complain(
        "moonbase run: \(option) stands behind the script and goes to it: options of moonbase run stand before the script"
      )
    }
    guard options.watches else { return try runOnce() }
    return try WatchedRun(isQuiet: options.settings.isQuiet).repeating { try runOnce(for: $0) }
  }

  /// Runs all sources in a new Lua state, and returns the exit status.
  ///
  /// - Parameter watch: The repeated run, or nil.
  private func runOnce(for watch: WatchedRun? = nil) throws -> Int32 {
    // Files that are read after this point are watched, even if the run ends before the script starts.
    watch?.begin(files, extensions: options.settings.stores.extensions)
    let sources = try options.sources.map(read)
    options.settings.scripts.boundSQLite()
    let maker = options.settings.scripts.maker(
      scriptFolders: options.scriptFolders, moduleFolders: options.moduleFolders, options.settings.stores)
    let domain = try options.settings.scripts.domain(of: maker)
    defer { domain.close() }
    defer { watch?.end(domain.state.requiredFiles + domain.state.missingFiles) }
    LuaInterrupter.onSIGINT(domain.state.interrupter)
    // If a script has a syntax error, no store is changed or created.
    let program = CommandLine.arguments.first ?? "moonbase"
    let outcome = ScriptRunner(domain).run(sources, arguments: options.arguments, program: program) {
      try openStores(of: domain, for: watch)
    }
    // After this point, the interrupter is not checked. SIGINT ends the command, which may be waiting for the reader of
    // its output.
    LuaInterrupter.onSIGINT(nil)
    if [ExitStatus.limit, ExitStatus.interrupted].contains(outcome.status) { StandardStream.giveUpWaiting() }
    if let message = outcome.message, outcome.status != ExitStatus.done || !options.settings.isQuiet {
      Terminal.complain("moonbase run: \(message)")
      ErrorPage.point(to: outcome.code)
    }
    return outcome.status
  }

  /// Opens the stores that the command line names, for `moonbase.context`.
  ///
  /// - Parameters:
  ///   - domain: The Lua state that gets the context.
  ///   - watch: The repeated run, or nil.
  private func openStores(of domain: ScriptDomain, for watch: WatchedRun?) throws {
    let stores = options.settings.stores
    guard !stores.stores.isEmpty || stores.model != nil || !stores.extensions.isEmpty else { return }
    let new = try NewStores(stores)
    let container = try PersistentContainer(options.container)
    new.tell(quiet: options.settings.isQuiet)
    watch?.watch(container)
    try domain.setContext(try domain.context(of: container.opened))
  }

  /// The files on the command line that influence a run.
  private var files: [String] {
    let scripts = options.sources.compactMap { if case .file(let path) = $0 { path } else { nil } }
    return scripts + [options.settings.stores.model].compactMap(\.self)
  }

  /// Reads the code of a source.
  ///
  /// - Throws: `.cannotOpenFile`, and the error for a source that is larger than its limit.
  private func read(_ source: RunOptions.Source) throws -> ScriptSource {
    let isProgram = options.settings.scripts.sandbox == .trusted
    let limit = options.settings.scripts.limits.sourceSize
    switch source {
    case .code(let code): return ScriptSource(name: "-e", text: code)
    case .file(let path): return try ScriptSource(path: path, isProgram: isProgram, limit: limit)
    case .standardInput:
      return try ScriptSource(standardInputAs: "stdin", isProgram: isProgram, limit: limit)
    }
  }
}
