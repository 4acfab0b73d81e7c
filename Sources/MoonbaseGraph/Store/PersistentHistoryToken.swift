/// How far a program has read the history of stores: what was saved later comes after it.
///
/// A value that may be kept, as JSON for example, until the program runs again.
///
/// ```swift
/// let token = try coordinator.currentPersistentHistoryToken()
/// // later, or in another run
/// let news = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
/// ```
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
  /// The number of the last transaction, by the identifier of its store.
  public let transactionNumbers: [String: Int64]

  /// Makes a token that stands behind these transactions.
  public init(_ transactionNumbers: [String: Int64]) { self.transactionNumbers = transactionNumbers }
}
