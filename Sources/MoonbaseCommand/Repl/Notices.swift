import MoonbasePlatform

/// Messages from another thread that are shown between two inputs.
///
/// The thread that reloads extensions adds messages. The prompt takes all messages before it reads
/// the next line, so that none appears in a line that is being edited.
final class Notices: Sendable {
  /// The messages that have not been shown.
  private let messages = Lock<[String]>([])

  /// Adds a message. It may be called on any thread.
  func add(_ message: String) { messages.withLock { $0.append(message) } }

  /// Returns and removes all messages.
  func drain() -> [String] {
    messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}
