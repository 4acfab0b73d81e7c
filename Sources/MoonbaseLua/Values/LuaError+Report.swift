import MoonbasePlatform

/// Texts of errors, from one line to a full report.
extension LuaError: CustomStringConvertible {
  /// The message with its place: `colors.lua:12: message`.
  public var description: String {
    guard let script else { return message }
    guard let line else { return "\(script): \(message)" }
    return "\(script):\(line): \(message)"
  }

  /// The description, as Foundation's `localizedDescription`.
  public var errorDescription: String? { description }

  /// The message as `lua5.4` prints it: the raised text, with a place only if the script gave one.
  public var plainDescription: String { raisedText ?? description }

  /// Whether a script raised a table or a handle instead of a text.
  package var hasOwnValue: Bool {
    switch raisedValue {
    case .table?, .object?, .userdata?: true
    default: false
    }
  }

  /// The error as `lua5.4` prints it, with the traceback if `lua5.4` prints one.
  public var plainReport: String {
    let hasOwnText = hasOwnValue && !plainDescription.hasPrefix("(error object is a ")
    guard !traceback.isEmpty, !hasOwnText else { return plainDescription }
    let frames = traceback.map { "\t\($0)".replacing("[host]", with: "[C]") } + ["\t[C]: in ?"]
    return ([plainDescription, "stack traceback:"] + frames).joined(separator: "\n")
  }

  /// The description with the traceback below it.
  public var report: String {
    guard !traceback.isEmpty else { return description }
    return ([description, "stack traceback:"] + traceback.map { "\t\($0)" }).joined(separator: "\n")
  }
}
