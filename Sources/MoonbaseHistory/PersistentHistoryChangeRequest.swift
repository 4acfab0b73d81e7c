public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

/// A request that fetches the history of stores, or deletes a part of it.
///
/// ```swift
/// var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
/// request.fetchLimit = 100
/// for transaction in try context.execute(request).transactions ?? [] where transaction.author != "import" {
///   try viewContext.mergeChanges(from: transaction)
///   token.advance(past: transaction)
/// }
/// ```
public struct PersistentHistoryChangeRequest: Sendable, Hashable {
  /// The kind of result.
  public enum ResultType: Sendable, Hashable {
    /// No result, for a deletion.
    case statusOnly
    /// The number of transactions found or deleted.
    case count
    /// The IDs of the changed objects.
    case objectIDs
    /// Transactions without their changes.
    case transactionsOnly
    /// Changes without their transactions.
    case changesOnly
    /// Transactions with their changes.
    case transactionsAndChanges
  }

  /// The start or end of the requested range.
  enum Place: Hashable {
    case token(PersistentHistoryToken?)
    case date(Date)
    case transaction(PersistentHistoryTransaction)
    /// All but the last transactions, by number.
    case last(Int)
    /// All but the last transactions, by size in bytes.
    case lastBytes(Int)
  }

  /// The kind of result.
  public var resultType: ResultType
  /// The greatest number of transactions from each store, beginning with the oldest; 0 means no limit.
  public var fetchLimit = 0
  /// Restricts the result to transactions or changes that match a predicate
  /// (`PersistentHistoryTransaction.fetchRequest` and `PersistentHistoryChange.fetchRequest`). Only the predicate of
  /// the request counts.
  ///
  /// ```swift
  /// request.fetchRequest = PersistentHistoryTransaction.fetchRequest(
  ///   where: try Predicate(format: "author != 'import'"))
  /// ```
  public var fetchRequest: FetchRequest?
  let place: Place
  let isDeletion: Bool

  private init(_ place: Place, isDeletion: Bool = false) {
    (self.place, self.isDeletion) = (place, isDeletion)
    resultType = isDeletion ? .statusOnly : .transactionsAndChanges
  }

  /// A request for transactions after a token; for nil, and for stores that the token does not know, all transactions.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> Self { Self(.token(token)) }
  /// A request for transactions after a date.
  public static func fetchHistory(after date: Date) -> Self { Self(.date(date)) }
  /// A request for transactions after a transaction, in the same store.
  public static func fetchHistory(after transaction: PersistentHistoryTransaction) -> Self {
    Self(.transaction(transaction))
  }

  /// A request for all transactions or changes that match.
  public static func fetchHistory(withFetch fetchRequest: FetchRequest) -> Self {
    var request = Self(.token(nil))
    request.fetchRequest = fetchRequest
    return request
  }

  /// Deletes the transactions before the last one that a token covers. That transaction itself stays, so the token
  /// remains valid.
  public static func deleteHistory(before token: PersistentHistoryToken) -> Self {
    Self(.token(token), isDeletion: true)
  }
  /// Deletes the transactions before a date.
  public static func deleteHistory(before date: Date) -> Self { Self(.date(date), isDeletion: true) }
  /// Deletes the transactions before a transaction, in the same store.
  public static func deleteHistory(before transaction: PersistentHistoryTransaction) -> Self {
    Self(.transaction(transaction), isDeletion: true)
  }
  /// Deletes all but the last `count` transactions of each store, to bound the history by number in addition to date.
  public static func deleteHistory(keepingLast count: Int) -> Self { Self(.last(count), isDeletion: true) }
  /// Deletes all but the last transactions of each store that together have at most `count` bytes
  /// (`PersistentHistoryTransaction.size`). The last transaction always stays.
  public static func deleteHistory(keepingBytes count: Int) -> Self { Self(.lastBytes(count), isDeletion: true) }
}

extension PersistentHistoryChangeRequest {
  /// The range of a store's history that the request concerns; nil if none.
  func extent(of storeID: String, _ history: any StoreHistory) throws -> HistoryRange? {
    switch place {
    case .last(let count): return try history.number(ofLast: count).map(HistoryRange.before)
    case .lastBytes(let count): return try history.number(ofLastBytes: count).map(HistoryRange.before)
    case .date, .token, .transaction: return extent(of: storeID)
    }
  }

  /// The range for a store, as far as it does not depend on the history's contents.
  private func extent(of storeID: String) -> HistoryRange? {
    switch place {
    case .last, .lastBytes: nil
    case .date(let date): isDeletion ? .beforeDate(date) : .afterDate(date)
    case .token(let token):
      if let number = token?.transactionNumbers[storeID] {
        isDeletion ? .before(number) : .after(number)
      } else {
        isDeletion ? nil : .all
      }
    case .transaction(let transaction):
      transaction.storeID == storeID
        ? isDeletion ? .before(transaction.transactionNumber) : .after(transaction.transactionNumber) : nil
    }
  }
}
