import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseScripting

extension Repl {
  /// Runs a command of the prompt. Returns the exit status if the prompt ends.
  ///
  /// Errors are printed, and the prompt continues.
  ///
  /// - Parameter command: The parsed line.
  func run(_ command: DotCommand) -> Int32? {
    let argument = command.argument
    guard let name = command.name else {
      let names = DotCommand.Name.allCases.map(\.rawValue)
      fail("there is no command .\(command.word)\(suggestion(for: command.word, among: names)): .help lists them")
      return nil
    }
    guard argument.isEmpty || !name.argument.isEmpty else {
      fail(".\(name.rawValue) takes no argument, not '\(argument.prefix(60))'")
      return nil
    }
    switch name {
    case .help: help(argument)
    case .quit: return leave(status: ExitStatus.done)
    case .save: _ = save()
    case .rows: setRows(argument)
    case .model: return perform(named: ".model") { try ReplModel(try requiredContext().model).show(argument) }
    case .sql: return perform(named: ".sql") { try ask(argument) }
    case .undo: return perform(named: ".undo") { tell(try prompt.undo(), "undone", "undo") }
    case .redo: return perform(named: ".redo") { tell(try prompt.redo(), "done again", "redo") }
    case .explain: return explain(argument)
    case .run: return run(file: argument)
    }
    return nil
  }

  /// The context, which some commands need.
  ///
  /// - Throws: `.invalidRequest` if there is no store.
  private func requiredContext() throws -> ManagedObjectContext {
    if let context { return context }
    throw GraphError(
      .invalidRequest, message: "there is no store: name one on the command line, as in moonbase repl people.sqlite")
  }

  /// Prints the help for all commands, or for those whose names start with a word.
  private func help(_ word: String) {
    let names = DotCommand.Name.named(word.hasPrefix(".") ? String(word.dropFirst()) : word)
    guard !names.isEmpty else { return fail("there is no command \(word): .help lists them") }
    let heads = names.map { ".\($0.rawValue)" + ($0.argument.isEmpty ? "" : " \($0.argument)") }
    let width = TerminalWidth.columns
    let indent = (heads.map(\.count).max() ?? 0) + 2
    for (head, name) in zip(heads, names) {
      // In a narrow terminal, the description is below the command.
      let isBeside = indent + 30 <= width
      let words = WrappedText.lines(name.help, width: width, indent: isBeside ? indent : 4)
      Terminal.print(isBeside ? head + words.dropFirst(head.count) : "\(head)\n\(words)")
    }
    if word.isEmpty { Terminal.print("\n" + WrappedText.lines(Self.hint, width: width)) }
  }

  /// The text after the list of commands.
  private static let hint =
    "All else is Lua, as in context:fetch(\"Person\"):where(\"age > 30\"). An expression prints its value, and _ is the "
    + "last one. Variables stay, those with local too. Tab completes, Ctrl-C gives up a line or what runs."

  /// Sets or prints the number of rows that are shown.
  private func setRows(_ text: String) {
    if text.isEmpty { return Terminal.print("\(output.greatestCount)") }
    guard let count = Int(text), (1...100_000).contains(count) else {
      return fail(".rows takes a number from 1 to 100000, not '\(text)'")
    }
    output.greatestCount = count
  }

  /// Prints the name of the step that was undone or redone.
  ///
  /// - Parameters:
  ///   - name: The name of the step, or nil if there was none.
  ///   - done: The participle, such as `undone`.
  ///   - verb: The verb, such as `undo`.
  private func tell(_ name: String?, _ done: String, _ verb: String) {
    guard let name else {
      let rest =
        prompt.unsavedOfChildren > 0 ? " here: a child context has changes, and child:rollback() gives these up" : ""
      return Terminal.print("there is nothing to \(verb)\(rest)")
    }
    let first = name.split(separator: "\n").first.map(String.init) ?? ""
    Terminal.print("\(done): \(first.count > 60 ? "\(first.prefix(60))…" : first)")
  }

  // MARK: Requests and files

  /// Prints the query plan of a fetch request, which the code returns.
  private func explain(_ code: String) -> Int32? {
    guard !code.isEmpty else {
      fail(".explain takes a fetch request, as in .explain context:fetch(\"Person\")")
      return nil
    }
    switch prompt.read(Array(code.utf8), firstLine: commandLine ?? 1) {
    case .refused(let message): fail(message)
    case .incomplete: fail(".explain takes one line, and '\(code.prefix(60))' goes on: put the request into a variable")
    case .chunk(let chunk):
      return run(chunk, named: ".explain") { [self] values in
        guard let text = try values.first.flatMap(prompt.domain.explanation) else {
          let found = values.first?.typePhrase ?? "nothing"
          throw GraphError(
            .invalidRequest,
            message: ".explain takes a fetch request, and this is \(found): leave :all(), :first() and the like out")
        }
        Terminal.print(text)
      }
    }
    return nil
  }

  /// Runs a Lua file in the environment of the prompt.
  private func run(file: String) -> Int32? {
    guard !file.isEmpty else {
      fail(".run takes a file of Lua")
      return nil
    }
    do {
      let isProgram = settings.scripts.sandbox == .trusted
      let source = try ScriptSource(path: file, isProgram: isProgram, limit: settings.scripts.limits.sourceSize)
      return run(try prompt.load(source), named: ".run \(file)")
    } catch {
      fail("\(error)")
      return nil
    }
  }

  // MARK: SQL

  /// Prints the result of a SQL statement. The argument may start with the configuration of the store to query.
  ///
  /// - Parameter argument: The text after `.sql`.
  /// - Throws: The errors of the statement, and `.invalidRequest` for an empty one.
  private func ask(_ argument: String) throws {
    let model = try requiredContext().coordinator.model
    var (store, query) = try storeAndQuery(argument)
    store.busyTimeout = settings.stores.busyTimeout
    if prompt.hasUnsavedChanges { complain(".sql shows what is saved, and there are changes that are not") }
    let asked = try StoredRows(query, of: store, model: model)
    if let lack = asked.lackOfViews { complain(".sql has the names of the tables alone, without views: \(lack)") }
    var rows: [[Value]] = []
    var total = 0
    while let row = try asked.next() {
      if total < output.greatestCount { rows.append(row) }
      total += 1
    }
    try output.show(asked.columns, rows, total: total, of: "row")
  }

  /// The store and the statement. With several stores, the argument must start with
  /// a configuration.
  private func storeAndQuery(_ argument: String) throws -> (PersistentStoreDescription, String) {
    let stores = settings.stores.stores.filter { !$0.isInMemory }
    guard !argument.isEmpty else {
      throw GraphError(.invalidRequest, message: ".sql takes one SQL statement that reads")
    }
    for store in stores {
      guard let name = store.configuration, argument.hasPrefix("\(name):") else { continue }
      return (store, String(argument.dropFirst(name.count + 1)))
    }
    guard let store = stores.first else {
      throw GraphError(.invalidRequest, message: ".sql asks a file or a server, and the store is in memory")
    }
    guard stores.count == 1 else {
      let names = stores.compactMap(\.configuration).joined(separator: ", ")
      throw GraphError(
        .invalidRequest,
        message: "there are several stores: name one, as in .sql NAME: SELECT ...; the names are \(names)")
    }
    return (store, argument)
  }
}
