import MoonbaseGraph
public import MoonbaseModel

extension ScriptError {
  /// What to show a person who uses the program (`UserMessage.messages`), without files and lines.
  public var userMessages: [UserMessage] { UserMessage.messages(for: self) }

  /// The same as one text.
  public var userMessage: String { userMessages.map(\.text).joined(separator: "\n") }
}
