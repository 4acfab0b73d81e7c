import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// A prompt for Lua over a store.
final class Repl {
  let settings: CommandSettings
  let prompt: ScriptPrompt
  let output: ReplOutput
  /// The context of the store; nil where there is none.
  let context: ManagedObjectContext?
  private let watch: ExtensionWatch?
  /// The outcomes of reloads, until the next prompt.
  private let notices = Notices()
  private(set) var lines: any PromptLines
  /// How many lines were read.
  private var lineCount = 0
  private var hasFailed = false

  /// Opens what the command line names.
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
    lines = PlainLines(isInteractive: isTerminal, domain.state.takeLineAhead)
    guard !stores.stores.isEmpty || stores.model != nil || !stores.extensions.isEmpty else {
      (context, watch) = (nil, nil)
      return
    }
    let container = try PersistentContainer(scripts.limiting(stores.container, stores))
    let context = try domain.context(of: container.opened)
    try domain.setContext(context)
    prompt.notesUndo(levels: Self.levelsOfUndo)
    self.context = context
    watch = watches ? container.watchExtensions { [notices] in notices.add("\($0)") } : nil
  }

  private static let levelsOfUndo = 100

  /// Takes inputs until the end; returns the exit status.
  func run(_ code: [String]) throws -> Int32 {
    defer {
      prompt.finish()
      prompt.domain.close()
    }
    if lines.isInteractive { begin() }
    for piece in code {
      if let status = evaluate(Array(piece.utf8), firstLine: 1) { return status }
    }
    while true {
      let input = try nextInput()
      if let status = input.map(take) ?? leave(status: ExitStatus.done) { return status }
    }
  }

  private func begin() {
    PromptSignals.begin()
    let edited = EditedLines.open { [unowned self] in completion(of: $0) }
    if let edited { lines = edited }
    guard !settings.isQuiet else { return }
    Terminal.print("Moonbase \(MoonbaseVersion.text), \(LuaState.version): \(place)")
    Terminal.print(".help lists commands, .quit leaves")
    if edited == nil, EditedLines.terminalCanEdit {
      Terminal.complain("moonbase: lines cannot be edited: the system has no libedit (Debian's libedit2)")
    }
  }

  /// The store, for the first line.
  private var place: String {
    guard let context else { return "no store" }
    let paths = settings.stores.stores.compactMap(\.path)
    return (paths.isEmpty ? "a store in memory" : paths.joined(separator: ", "))
      + " (\(context.model.entities.count == 1 ? "1 entity" : "\(context.model.entities.count) entities"))"
  }

  // MARK: Reading

  /// An input with the number of its first line.
  struct Input {
    var bytes: [UInt8] = []
    var firstLine: Int
    /// The end of standard input came before that of the input.
    var isCutOff = false
  }

  /// Below this size an input goes to the parser with each line: it finds mistakes at once.
  private static let smallSize = 16 << 10

  /// Reads lines until they are an input; nil at the end.
  private func nextInput() throws -> Input? {
    var input = Input(firstLine: lineCount + 1)
    var nesting = InputNesting()
    while true {
      for notice in notices.take() { complain(notice) }
      let isFirst = lineCount < input.firstLine
      switch try lines.next(isFirst ? promptText : continuationText) {
      case .interrupted:
        input = Input(firstLine: lineCount + 1)
        nesting = InputNesting()
      case .end:
        guard !isFirst else { return nil }
        input.isCutOff = true
        return input
      case .line(let line):
        lineCount += 1
        if !isFirst { input.bytes.append(UInt8(ascii: "\n")) }
        input.bytes += line
        nesting.take(line)
        if isFirst, DotCommand.isCommand(line) { return input }
        if nesting.isOpen, input.bytes.count > Self.smallSize { continue }
        if case .incomplete = prompt.read(input.bytes, firstLine: input.firstLine) { continue }
        return input
      }
    }
  }

  private static let greatestName = 20

  /// The name of the store, with a sign where changes are not saved.
  private var name: String {
    let file = settings.stores.stores.first?.path.map { URL(literalPath: $0).deletingPathExtension().lastPathComponent }
    return TerminalText.escaped(String((file ?? "moonbase").prefix(Self.greatestName)))
  }

  private var promptText: String { name + (prompt.unsavedCount > 0 ? "*" : "") + "> " }

  private var continuationText: String {
    String(repeating: ".", count: DisplayWidth.of(promptText) - 2) + "> "
  }

  // MARK: Running

  /// The exit status where the prompt is over.
  private func take(_ input: Input) -> Int32? {
    StandardStream.waitAgain()
    lines.remember(input.bytes)
    defer { StandardStream.flush() }
    if let command = DotCommand(input.bytes) { return run(command) }
    if let hint = hint(for: input.bytes) {
      Terminal.print(hint)
      return nil
    }
    return evaluate(input.bytes, firstLine: input.firstLine)
  }

  /// The advice for words that are commands of other prompts, unless they are variables here.
  private func hint(for bytes: [UInt8]) -> String? {
    let word = String(decoding: bytes.prefix(20), as: UTF8.self).filter { $0 != " " }
    guard !prompt.hasValue(word.filter(\.isLetter)) else { return nil }
    return switch word {
    case "exit", "quit", "exit()", "quit()": ".quit leaves, as Ctrl-D does"
    case "help", "help()", "?": ".help lists the commands"
    default: nil
    }
  }

  private func evaluate(_ bytes: [UInt8], firstLine: Int) -> Int32? {
    switch prompt.read(bytes, firstLine: firstLine) {
    case .chunk(let chunk): return run(chunk, named: String(decoding: bytes.prefix(200), as: UTF8.self))
    case .refused(let message):
      fail(message)
      return nil
    case .incomplete:
      fail("\(lines.isInteractive ? "input" : "stdin"):\(firstLine): the input that begins here is not complete")
      return nil
    }
  }

  /// Runs a chunk, and shows its values, or has `take` do something else with them.
  func run(_ chunk: LuaFunction, named name: String, taking take: (([LuaValue]) throws -> Void)? = nil) -> Int32? {
    interruptibly(named: name) { prompt.run(chunk, taking: take ?? output.show) }
  }

  /// Does what a command asks the host for, as a run of its own.
  func perform(named name: String, _ body: () throws -> Void) -> Int32? {
    interruptibly(named: name) { prompt.ending(of: body) }
  }

  private func interruptibly(named name: String, _ body: () -> ScriptPrompt.Ending) -> Int32? {
    let interrupter = prompt.domain.state.interrupter
    if lines.isInteractive { LuaInterrupter.onEachSIGINT(interrupter) } else { LuaInterrupter.onSIGINT(interrupter) }
    let ending = body()
    LuaInterrupter.onSIGINT(nil)
    switch ending {
    case .done(let notice):
      if let notice { complain(notice) }
      endUndoGroup(named: name)
      return nil
    case .exit(let status):
      endUndoGroup(named: name)
      return leave(status: status)
    case .failed(let status, let message):
      fail(message)
      if endUndoGroup(named: name) { complain("what the input changed before is kept: .undo takes it back") }
      return status == ExitStatus.interrupted && !lines.isInteractive ? status : nil
    }
  }

  /// Ends the undo step of an input. Returns whether the input changed anything.
  @discardableResult
  private func endUndoGroup(named name: String) -> Bool {
    var hadChanges = false
    let ending = prompt.ending { hadChanges = try self.prompt.endUndoGroup(named: name) }
    if case .failed(_, let message) = ending { fail(message) }
    return hadChanges
  }

  func fail(_ message: String) {
    hasFailed = true
    complain(message)
  }

  func complain(_ message: String) {
    StandardStream.flush()
    Terminal.complain(lines.isInteractive ? message : "moonbase repl: \(message)")
  }

  // MARK: Leaving

  /// Ends the prompt, unless the person wants to stay: then nil.
  func leave(status: Int32) -> Int32? {
    let count = prompt.unsavedCount
    guard count > 0 else { return ending(status) }
    let objects = count == 1 ? "1 changed object is" : "\(count) changed objects are"
    guard lines.isInteractive else {
      complain("\(objects) not saved: call context:save() or .save to keep changes")
      return status == ExitStatus.done ? ExitStatus.failed : status
    }
    return ask("\(objects) not saved. Save? [y]es, [n]o, [c]ancel: ", status)
  }

  private static let greatestTries = 5

  private func ask(_ question: String, _ status: Int32) -> Int32? {
    for _ in 0..<Self.greatestTries {
      guard let answer = try? lines.next(question) else { break }
      switch answer {
      case .interrupted: return nil
      case .end:
        complain("nothing was saved")
        return ExitStatus.failed
      case .line(let line):
        switch String(decoding: line, as: UTF8.self).lowercased().filter({ $0 != " " }) {
        case "y", "yes":
          guard save() else { return nil }
          if prompt.unsavedCount == 0 { return ending(status) }
          complain("changes of child contexts are left: save them into their parents, as in child:save()")
          return nil
        case "n", "no": return ending(status)
        case "c", "cancel": return nil
        default: continue
        }
      }
    }
    return nil
  }

  private func ending(_ status: Int32) -> Int32 {
    status == ExitStatus.done && hasFailed && !lines.isInteractive ? ExitStatus.failed : status
  }

  /// Saves all that has changes; false where that failed.
  func save() -> Bool {
    var isSaved = false
    _ = perform(named: "save") {
      let (count, warnings) = try prompt.save()
      isSaved = true
      for warning in warnings { complain("warning: \(warning)") }
      Terminal.print(count == 0 ? "there is nothing to save" : "saved \(ReplOutput.counted(count, "object"))")
    }
    return isSaved
  }
}

/// Messages of another thread that are shown between two inputs.
private final class Notices: Sendable {
  private let messages = Lock<[String]>([])

  func add(_ message: String) { messages.withLock { $0.append(message) } }

  func take() -> [String] {
    messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}
