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
  public private(set) var transactionNumbers: [String: Int64]

  /// Makes a token that stands behind these transactions; without any it stands before all that stores have.
  public init(_ transactionNumbers: [String: Int64] = [:]) { self.transactionNumbers = transactionNumbers }

  /// Stands behind a transaction of one store from now on, and in the histories of others where it stood: who goes through the history of
  /// several stores one transaction after the other keeps his place in each.
  public mutating func advance(past transaction: PersistentHistoryTransaction) {
    let number = max(transaction.transactionNumber, transactionNumbers[transaction.storeID] ?? .min)
    transactionNumbers[transaction.storeID] = number
  }
}

/// The same as text, for scripts and command lines: `UUID:17`, of several stores with commas between them.
extension PersistentHistoryToken: LosslessStringConvertible {
  public var description: String {
    transactionNumbers.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
  }

  /// Reads what `description` wrote; nil for any other text.
  public init?(_ description: String) {
    var numbers: [String: Int64] = [:]
    for part in description.split(separator: ",", omittingEmptySubsequences: false) {
      guard let colon = part.lastIndex(of: ":"), let number = Int64(part[part.index(after: colon)...]),
        colon > part.startIndex,
        numbers.updateValue(number, forKey: String(part[..<colon])) == nil
      else { return nil }
    }
    self.init(numbers)
  }
}
