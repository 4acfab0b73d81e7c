/// A position in the history of stores: later saves come after it.
///
/// A token can be kept between runs of the program, for example as JSON.
///
/// ```swift
/// let token = try coordinator.currentPersistentHistoryToken()
/// // later, or in another run
/// let news = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
/// ```
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
  /// The number of the last transaction, by the identifier of its store.
  public private(set) var transactionNumbers: [String: Int64]

  /// Makes a token that stands after these transactions; an empty token stands before all transactions.
  public init(_ transactionNumbers: [String: Int64] = [:]) { self.transactionNumbers = transactionNumbers }

  /// Moves the token behind a transaction of one store; its positions in other stores stay. Call it for each
  /// transaction while reading the history of several stores.
  public mutating func advance(past transaction: PersistentHistoryTransaction) {
    let number = max(transaction.transactionNumber, transactionNumbers[transaction.storeID] ?? .min)
    transactionNumbers[transaction.storeID] = number
  }
}

/// The token as text, for scripts and command lines: `UUID:17`, with commas between several stores.
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
