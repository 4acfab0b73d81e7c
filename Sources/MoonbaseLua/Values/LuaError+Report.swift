import MoonbasePlatform

extension LuaError: CustomStringConvertible {
  /// The message behind its place: `colors.lua:12: message`.
  public var description: String {
    guard let script else { return message }
    guard let line else { return "\(script): \(message)" }
    return "\(script):\(line): \(message)"
  }

  /// The description, which Foundation gives as `localizedDescription`.
  public var errorDescription: String? { description }

  /// The message as `lua5.4` prints it: the text that was raised, with a place only where the script gave it one.
  public var plainDescription: String { raisedText ?? description }

  /// Whether a script raised a table or a handle, and no text.
  package var hasOwnValue: Bool {
    switch raisedValue {
    case .table?, .object?, .userdata?: true
    default: false
    }
  }

  /// The error as `lua5.4` prints it: the message, and the traceback where `lua5.4` gives one.
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
