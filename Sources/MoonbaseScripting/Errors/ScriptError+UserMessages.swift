import MoonbaseGraph
public import MoonbaseModel

extension ScriptError {
  /// The messages for the program's users (`UserMessage.messages`), without files and lines.
  public var userMessages: [UserMessage] { UserMessage.messages(for: self) }

  /// The sentences of `userMessages` as a single text.
  public var userMessage: String { userMessages.map(\.text).joined(separator: "\n") }
}
