import MoonbasePlatform

/// Messages from another thread that are shown between two inputs.
final class Notices: Sendable {
  private let messages = Lock<[String]>([])

  func add(_ message: String) { messages.withLock { $0.append(message) } }

  func take() -> [String] {
    messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}
