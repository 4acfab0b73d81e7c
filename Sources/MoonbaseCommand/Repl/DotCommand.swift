import MoonbasePlatform

/// A command of the prompt, such as `.model Person`. Lua input never starts with a dot and a letter.
///
/// It is parsed from one line. Names may be shortened as long as they are unambiguous, such as
/// `.mod` for `.model`.
struct DotCommand {
  /// The commands by name.
  enum Name: String, CaseIterable {
    case help, model, sql, explain, run, rows, undo, redo, save, quit

    /// The form of the command's argument.
    var argument: String {
      switch self {
      case .help: "[COMMAND]"
      case .model: "[ENTITY]"
      case .sql: "[CONFIGURATION:] QUERY"
      case .explain: "REQUEST"
      case .run: "FILE"
      case .rows: "[N]"
      case .undo, .redo, .save, .quit: ""
      }
    }

    /// The commands whose names start with the given text. If a command has exactly this name, only that command.
    ///
    /// - Parameter beginning: The first letters of a name, without the dot.
    static func named(_ beginning: String) -> [Name] {
      Name(rawValue: beginning).map { [$0] } ?? allCases.filter { $0.rawValue.hasPrefix(beginning) }
    }

    /// The description for `.help`.
    var help: String {
      switch self {
      case .help: "lists the commands"
      case .model: "lists the entities, or the properties of one"
      case .sql: "asks the store by SQL, with the model's names; it shows what is saved"
      case .explain: "how a fetch request is answered: SQL, and the plan of the store"
      case .run: "runs a file of Lua, which sees the variables of the prompt"
      case .rows: "shows at most so many objects or rows of a list"
      case .undo: "takes back what the last input changed"
      case .redo: "does again what was taken back last"
      case .save: "saves all changes"
      case .quit: "leaves; Ctrl-D does too"
      }
    }
  }

  /// The word after the dot.
  let word: String
  /// The rest of the line.
  let argument: String

  /// Returns nil if the line is not a command.
  ///
  /// - Parameter line: The bytes of the input.
  init?(_ line: [UInt8]) {
    guard Self.isCommand(line) else { return nil }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).dropFirst()
    let end = text.firstIndex(where: \.isWhitespace) ?? text.endIndex
    word = String(text[..<end])
    argument = text[end...].trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Whether a line starts with a dot and a letter, after optional spaces.
  static func isCommand(_ line: [UInt8]) -> Bool {
    let text = line.drop { $0 == UInt8(ascii: " ") }
    guard text.first == UInt8(ascii: "."), let letter = text.dropFirst().first else { return false }
    return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter | 32)
  }

  /// The command for a name, or for the beginning of a single name.
  ///
  /// The command `.exit` is accepted for `.quit`. The result is nil for an unknown or ambiguous
  /// word.
  var name: Name? {
    let found = Name.named(word)
    return found.count == 1 ? found[0] : word == "exit" ? .quit : nil
  }
}
