public import MoonbasePlatform

/// What PostgreSQL refused, or why it cannot be reached.
public struct PostgreSQLError: LocalizedError, Sendable, CustomStringConvertible {
  /// The five characters by which PostgreSQL tells kinds of errors apart (SQLSTATE); empty where no server spoke.
  public var state: String
  /// PostgreSQL's own words, or libpq's.
  public var message: String
  /// What the server adds: which key is taken, for instance.
  public var detail: String?
  /// The constraint that is violated.
  public var constraint: String?
  /// Whether the connection is gone.
  public var isConnectionLost = false

  /// Makes an error.
  public init(state: String = "", message: String, isConnectionLost: Bool = false) {
    (self.state, self.message, self.isConnectionLost) = (state, message, isConnectionLost)
  }

  /// Whether the same transaction may succeed when it is run again.
  public var isRetryable: Bool { state == "40001" || state == "40P01" }

  /// The message, with what the server adds.
  public var description: String { detail.map { "\(message) (\($0))" } ?? message }

  /// The same, for Foundation.
  public var errorDescription: String? { description }
}
