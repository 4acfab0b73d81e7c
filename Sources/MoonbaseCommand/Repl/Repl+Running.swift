import MoonbaseGraph
import MoonbaseLua
import MoonbasePlatform
import MoonbaseScripting

extension Repl {
  /// Runs an input. Returns the exit status if the prompt ends.
  ///
  /// - Parameter input: A command, or Lua code.
  func process(_ input: Input) throws -> Int32? {
    StandardStream.waitAgain()
    lines.remember(input.bytes)
    defer { StandardStream.flush() }
    if let command = DotCommand(input.bytes) {
      commandLine = input.firstLine
      defer { commandLine = nil }
      return run(command)
    }
    if let hint = hint(for: input.bytes) {
      Terminal.print(hint)
      return nil
    }
    let status = evaluate(input)
    if status == nil, !lines.isInteractive, case .refused? = input.reading { try passRest(of: input) }
    return status
  }

  /// Advice for words that are commands in other prompts, unless they are variables here.
  ///
  /// For example, `exit` is not Lua, and the advice is to type `.quit`.
  private func hint(for bytes: [UInt8]) -> String? {
    let word = String(decoding: bytes.prefix(20), as: UTF8.self).filter { $0 != " " }
    guard !prompt.hasValue(word.filter(\.isLetter)) else { return nil }
    return switch word {
    case "exit", "quit", "exit()", "quit()": ".quit leaves, as Ctrl-D does"
    case "help", "help()", "?": ".help lists the commands"
    default: nil
    }
  }

  /// Runs Lua code, or prints the error of the parser.
  func evaluate(_ input: Input) -> Int32? {
    switch input.reading ?? prompt.read(input.bytes, firstLine: input.firstLine) {
    case .chunk(let chunk): return run(chunk, named: String(decoding: input.bytes.prefix(200), as: UTF8.self))
    case .refused(let message):
      fail(message)
      return nil
    case .incomplete:
      fail("\(lines.isInteractive ? "input" : "stdin"):\(input.firstLine): the input that begins here is not complete")
      return nil
    }
  }

  /// Runs a chunk, and shows its values or passes them to `take`.
  ///
  /// - Parameters:
  ///   - chunk: The compiled code.
  ///   - name: The name of the undo step.
  ///   - take: Receives the values, or nil to show them.
  func run(_ chunk: LuaFunction, named name: String, taking take: (([LuaValue]) throws -> Void)? = nil) -> Int32? {
    interruptibly(named: name) { prompt.run(chunk, taking: take ?? output.show) }
  }

  /// Performs a command in the host as a separate run.
  ///
  /// - Parameters:
  ///   - name: The name of the undo step.
  ///   - body: The work of the command. It can be interrupted.
  func perform(named name: String, _ body: () throws -> Void) -> Int32? {
    interruptibly(named: name) { prompt.ending(of: body) }
  }

  /// Runs a body so that SIGINT interrupts Lua and the host's work. Afterwards, the undo step ends.
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
      return leave(status: status, isGiven: true)
    case .failed(let status, let message):
      fail(message)
      if endUndoGroup(named: name) { complain("what the input changed before is kept: .undo takes it back") }
      guard status == ExitStatus.interrupted, !lines.isInteractive else { return nil }
      StandardStream.giveUpWaiting()
      return status
    }
  }

  /// Ends the undo step of an input. Returns whether the input made changes.
  ///
  /// - Parameter name: The name of the step, which `.undo` prints.
  @discardableResult
  private func endUndoGroup(named name: String) -> Bool {
    var hadChanges = false
    let ending = prompt.ending { hadChanges = try self.prompt.endUndoGroup(named: name) }
    if case .failed(_, let message) = ending { fail(message) }
    return hadChanges
  }

  /// Prints an error, and remembers it for the exit status. With input from a pipe, the line number
  /// is added.
  func fail(_ message: String) {
    hasFailed = true
    guard let commandLine, !lines.isInteractive, !message.hasPrefix("stdin:") else { return complain(message) }
    complain("stdin:\(commandLine): \(message)")
  }

  /// Prints a message after the output of scripts.
  func complain(_ message: String) {
    StandardStream.flush()
    Terminal.complain(lines.isInteractive ? message : "moonbase repl: \(message)")
  }
}
