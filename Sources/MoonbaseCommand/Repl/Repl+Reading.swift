import MoonbaseGraph
import MoonbasePlatform
import MoonbaseScripting

extension Repl {
  /// An input with the number of its first line.
  struct Input {
    /// The bytes of all lines.
    var bytes: [UInt8] = []
    /// The number of the first line, starting at 1.
    var firstLine: Int
    /// The result of parsing the whole input. Nil for a command, and for an incomplete input.
    var reading: ScriptPrompt.Reading?
  }

  /// Up to this size, an input is parsed after each line, so that errors are found immediately.
  private static let smallSize = 16 << 10

  /// Reads lines until they form an input. Returns nil at the end.
  ///
  /// Lines are added until the Lua parser accepts the input, or until it finds an error that no
  /// further line can repair.
  ///
  /// - Throws: `InterruptedInput`, and the errors of the stream.
  func nextInput() throws -> Input? {
    var input = Input(firstLine: lineCount + 1)
    var nesting = InputNesting()
    while true {
      for notice in notices.drain() { complain(notice) }
      let isFirst = lineCount < input.firstLine
      switch try nextLine(isFirst ? promptText : continuationText) {
      case .interrupted:
        guard lines.isInteractive else { throw InterruptedInput() }
        input = Input(firstLine: lineCount + 1)
        nesting = InputNesting()
      case .end:
        // At the end of the stream, an incomplete input is an error.
        return isFirst ? nil : input
      case .line(let line):
        lineCount += 1
        if !isFirst { input.bytes.append(UInt8(ascii: "\n")) }
        input.bytes += line
        nesting.process(line)
        if isFirst, DotCommand.isCommand(line) { return input }
        if nesting.isOpen, input.bytes.count > Self.smallSize { continue }
        let reading = prompt.read(input.bytes, firstLine: input.firstLine)
        if case .incomplete = reading { continue }
        input.reading = reading
        return input
      }
    }
  }

  /// The next line. A byte order mark before the first line is removed.
  ///
  /// - Parameter prompt: The text before the line.
  private func nextLine(_ prompt: String) throws -> PromptLine {
    if let line = lineAhead {
      lineAhead = nil
      return .line(line)
    }
    let next = try lines.next(prompt)
    guard lineCount == 0, case .line(let line) = next, line.starts(with: [0xEF, 0xBB, 0xBF]) else { return next }
    return .line(Array(line.dropFirst(3)))
  }

  /// Skips the lines of a pipe that belong to an invalid input, because they are not separate inputs.
  ///
  /// - Parameter input: The invalid input.
  func passRest(of input: Input) throws {
    var blocks = OpenBlocks(of: input.bytes)
    let first = lineCount + 1
    while case .line(let line) = try nextLine("") {
      guard blocks.accepts(line) else {
        lineAhead = line
        break
      }
      lineCount += 1
    }
    guard lineCount >= first else { return }
    let lines = lineCount == first ? "line \(first) belongs" : "lines \(first) to \(lineCount) belong"
    complain("\(lines) to the input that failed, and did not run")
  }

  /// The maximum number of characters of the store's name.
  private static let greatestName = 20

  /// The name of the store, with a sign if there are unsaved changes.
  private var name: String {
    let file = settings.stores.stores.first?.path.map { URL(literalPath: $0).deletingPathExtension().lastPathComponent }
    return TerminalText.escaped(String((file ?? "moonbase").prefix(Self.greatestName)))
  }

  /// The prompt of the first line, such as `people> `.
  private var promptText: String { name + (prompt.hasUnsavedChanges ? "*" : "") + "> " }

  /// The prompt of further lines, which is as wide as the first.
  private var continuationText: String {
    String(repeating: ".", count: DisplayWidth.of(promptText) - 2) + "> "
  }
}

/// SIGINT arrived during the wait for a line of a pipe, or of a terminal without prompts.
struct InterruptedInput: Error {}
