import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// A connection with what is registered on it. The pool or the writer's lock gives it to one thread at a time.
final class Session: @unchecked Sendable {  // the pool or the writer's lock confines it
  let connection: Connection
  /// The functions of scripts, by generation; those of the past stay until the connection closes.
  private var functions: [UInt64: RegisteredFunctions] = [:]

  init(_ connection: Connection, busyTimeout: Int) throws {
    self.connection = connection
    connection.setBusyTimeout(milliseconds: busyTimeout)
    try PredicateFunctions.register(on: connection)
    try TriggerFunctions.register(on: connection)
  }

  /// Makes the functions of a provider known to SQL, once for each generation.
  func register(_ provider: any PureFunctionProvider) throws {
    if functions[provider.generation] != nil { return }
    functions[provider.generation] = try RegisteredFunctions(provider, on: connection)
  }

  /// Tells an observer of each statement, for tests that count them.
  func observe(with observer: StatementObserver) {
    connection.onStatement = { observer.note($0) }
  }
}
