import MoonbaseGraph
import MoonbasePlatform
import MoonbaseScripting

extension Repl {
  /// An input with the number of its first line.
  struct Input {
    var bytes: [UInt8] = []
    var firstLine: Int
    /// The answer of the parser to all of it; nil for a command, and for an input that is not complete.
    var reading: ScriptPrompt.Reading?
  }

  /// Below this size an input goes to the parser with each line: it finds mistakes at once.
  private static let smallSize = 16 << 10

  /// Reads lines until they are an input; nil at the end.
  func nextInput() throws -> Input? {
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
        // An input that is not complete is a mistake.
        return isFirst ? nil : input
      case .line(let line):
        lineCount += 1
        if !isFirst { input.bytes.append(UInt8(ascii: "\n")) }
        input.bytes += line
        nesting.take(line)
        if isFirst, DotCommand.isCommand(line) { return input }
        if nesting.isOpen, input.bytes.count > Self.smallSize { continue }
        let reading = prompt.read(input.bytes, firstLine: input.firstLine)
        if case .incomplete = reading { continue }
        input.reading = reading
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

  private var promptText: String { name + (prompt.hasUnsavedChanges ? "*" : "") + "> " }

  private var continuationText: String {
    String(repeating: ".", count: DisplayWidth.of(promptText) - 2) + "> "
  }
}
