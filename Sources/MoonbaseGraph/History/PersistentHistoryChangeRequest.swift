public import MoonbaseModel
public import MoonbasePlatform

/// Asks for the history of stores, or deletes a part of it.
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
  /// What is told.
  public enum ResultType: Sendable, Hashable {
    /// Only that it is done: of a deletion.
    case statusOnly
    /// How many transactions there are, or were deleted.
    case count
    /// The objects that were changed.
    case objectIDs
    /// Transactions without their changes.
    case transactionsOnly
    /// Changes without their transactions.
    case changesOnly
    /// Transactions with their changes.
    case transactionsAndChanges
  }

  enum Place: Hashable {
    case token(PersistentHistoryToken?)
    case date(Date)
    case transaction(PersistentHistoryTransaction)
    /// All but so many.
    case last(Int)
    /// All but what is no larger.
    case lastBytes(Int)
  }

  /// What is told.
  public var resultType: ResultType
  /// The greatest number of transactions of each store; 0 means no limit. The oldest ones come.
  public var fetchLimit = 0
  /// Narrows what is fetched to transactions, or to changes, that match a predicate (`PersistentHistoryTransaction.fetchRequest` and
  /// `PersistentHistoryChange.fetchRequest`); only the predicate of it counts.
  ///
  /// ```swift
  /// request.fetchRequest = PersistentHistoryTransaction.fetchRequest(where: try Predicate(format: "author != 'import'"))
  /// ```
  public var fetchRequest: FetchRequest?
  let place: Place
  let isDeletion: Bool

  private init(_ place: Place, isDeletion: Bool = false) {
    (self.place, self.isDeletion) = (place, isDeletion)
    resultType = isDeletion ? .statusOnly : .transactionsAndChanges
  }

  /// What was saved after a token was made; all there is for nil, and of stores that the token does not know.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> Self { Self(.token(token)) }
  /// What was saved after a date.
  public static func fetchHistory(after date: Date) -> Self { Self(.date(date)) }
  /// What was saved after a transaction, in its store.
  public static func fetchHistory(after transaction: PersistentHistoryTransaction) -> Self {
    Self(.transaction(transaction))
  }

  /// The transactions, or changes, of all that there is which match.
  public static func fetchHistory(withFetch fetchRequest: FetchRequest) -> Self {
    var request = Self(.token(nil))
    request.fetchRequest = fetchRequest
    return request
  }

  /// Deletes what came before the last transaction that a token has seen, which itself stays so that the token goes on to hold.
  public static func deleteHistory(before token: PersistentHistoryToken) -> Self {
    Self(.token(token), isDeletion: true)
  }
  /// Deletes what was saved before a date.
  public static func deleteHistory(before date: Date) -> Self { Self(.date(date), isDeletion: true) }
  /// Deletes what came before a transaction, in its store.
  public static func deleteHistory(before transaction: PersistentHistoryTransaction) -> Self {
    Self(.transaction(transaction), isDeletion: true)
  }
  /// Deletes all but the last transactions of each store, so many of them. Beside a date this bounds what a history may grow to.
  public static func deleteHistory(keepingLast count: Int) -> Self { Self(.last(count), isDeletion: true) }
  /// Deletes all but the last transactions of each store that are no larger together than so many bytes
  /// (`PersistentHistoryTransaction.size`). The last one stays, however large it is.
  public static func deleteHistory(keepingBytes count: Int) -> Self { Self(.lastBytes(count), isDeletion: true) }
}

extension PersistentHistoryChangeRequest {
  /// What is asked of a store; nil where it is not meant.
  func extent(of storeID: String, _ history: any StoreHistory) throws -> HistoryRange? {
    switch place {
    case .last(let count): return try history.number(ofLast: count).map(HistoryRange.before)
    case .lastBytes(let count): return try history.number(ofLastBytes: count).map(HistoryRange.before)
    case .date, .token, .transaction: return extent(of: storeID)
    }
  }

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
