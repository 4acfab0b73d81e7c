import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting

extension Repl {
  /// The candidates for the end of the text before the cursor.
  ///
  /// Lua names are completed by `ScriptPrompt`, commands and their arguments here.
  ///
  /// - Parameter line: The text before the cursor.
  func completion(of line: [UInt8]) -> PromptCompletion {
    guard DotCommand.isCommand(line) || line == [UInt8(ascii: ".")] else { return prompt.completion(of: line) }
    guard let place = line.firstIndex(of: UInt8(ascii: " ")), let command = DotCommand(line) else {
      let names = DotCommand.Name.allCases.map { ".\($0.rawValue)" + ($0.argument.isEmpty ? "" : " ") }
      return PromptCompletion.of(String(decoding: line, as: UTF8.self), among: names)
    }
    let rest = Array(line[(place + 1)...])
    let text = String(decoding: rest, as: UTF8.self)
    switch command.name {
    case .model: return PromptCompletion.of(text, among: entities)
    case .help: return PromptCompletion.of(text, among: DotCommand.Name.allCases.map(\.rawValue))
    case .run: return PromptCompletion(length: rest.count, wantsFile: true)
    case .explain: return prompt.completion(of: rest)
    case .sql:
      let word = String(text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
      return PromptCompletion.of(word, among: entities + properties)
    default: return .none
    }
  }

  /// The names of the entities.
  private var entities: [String] { context?.model.entities.map(\.name).sorted() ?? [] }
  /// The names of all properties.
  private var properties: [String] {
    Set(context?.model.entities.flatMap { $0.properties.map(\.name) } ?? []).sorted()
  }
}
