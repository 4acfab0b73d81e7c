import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform

/// A message that a script logs: `moonbase.log.info("imported", { count = 3 })`.
///
/// The domain's `log` receives it on the thread of the script.
public struct ScriptLogEntry: Sendable {
  /// The importance of a message, in ascending order. The raw values are the names of the functions of `moonbase.log`.
  public enum Level: String, Sendable, CaseIterable {
    case debug, info, notice, warning, error
  }

  /// The importance.
  public var level: Level
  /// The message.
  public var message: String
  /// Further values, by name.
  public var metadata: [String: Value]

  /// The entry as a single line: `warning: skipped a row (reason: no date, row: 3)`. Control characters are escaped, so
  /// that a message cannot move a terminal's cursor or forge a second line.
  public var line: String {
    let fields = metadata.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.text(of: $0.value))" }
    let text = "\(level.rawValue): \(message)" + (fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))")
    return text.unicodeScalars.map { $0.isOfTerminals ? $0.escaped(asASCII: true) : String($0) }
      .joined()
  }

  /// A string without quotes, else the value's description.
  private static func text(of value: Value) -> String {
    if case .string(let text) = value { text } else { "\(value)" }
  }

  /// Writes the line to standard error, with terminal control characters escaped.
  public static func writeToStandardError(_ entry: ScriptLogEntry) { StandardStream.error.write(entry.line + "\n") }
}

extension ScriptDomain {
  /// Makes `moonbase.log`, whose functions call the domain's `log`. The five functions are named after the levels. The
  /// second argument is optional: a table of values by name.
  func installLog() throws {
    let table = try state.table()
    let types = types
    for level in ScriptLogEntry.Level.allCases {
      let function = try state.function(named: level.rawValue) { [unowned types] call in
        try call.refuse(from: 2)
        let domain = try types.openDomain()
        let metadata = call.isNil(1) ? .map([:]) : try domain.graphValue(from: call.value(1))
        guard case .map(let fields) = metadata.asMap else {
          throw call.argumentError(
            1, problem: "a table of values by name is expected, as in { count = 3 }, got \(call.typeName(1))")
        }
        domain.log(ScriptLogEntry(level: level, message: try call.text(0), metadata: fields))
      }
      try table.set(level.rawValue, to: function)
    }
    try state.describe(table, as: "moonbase.log", call: "write moonbase.log.info(\"...\", { key = value })")
    try moonbase.set("log", to: .table(try table.frozen()))
  }
}

extension Unicode.Scalar {
  /// Whether the character controls a terminal, the writing direction or line breaks.
  fileprivate var isOfTerminals: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}

extension Value {
  /// The value, with an empty list as an empty map.
  fileprivate var asMap: Value { if case .list(let list) = self, list.isEmpty { .map([:]) } else { self } }
}
