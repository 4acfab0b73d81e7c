public import MoonbasePlatform

/// An error of PostgreSQL or libpq.
public struct PostgreSQLError: LocalizedError, Sendable, CustomStringConvertible {
  /// The five characters of the error code (SQLSTATE). Empty where no server answered.
  public var state: String
  /// The message of PostgreSQL or libpq.
  public var message: String
  /// The server's detail, for example the key that exists already.
  public var detail: String?
  /// The violated constraint.
  public var constraint: String?
  /// Whether the connection is lost.
  public var isConnectionLost = false
  /// Whether a connection was refused because of a parameter of its address.
  package var isOfParameter = false

  /// Makes an error.
  public init(state: String = "", message: String, isConnectionLost: Bool = false) {
    (self.state, self.message, self.isConnectionLost) = (state, message, isConnectionLost)
  }

  /// Whether the transaction may succeed when it is run again.
  public var isRetryable: Bool { state == "40001" || state == "40P01" }

  /// The message, with the server's detail.
  public var description: String { detail.map { "\(message) (\($0))" } ?? message }

  /// The description, for Foundation.
  public var errorDescription: String? { description }
}
