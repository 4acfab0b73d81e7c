public import MoonbaseGraph
public import MoonbaseModel
import MoonbasePlatform

/// The result of a history request, according to its `resultType`.
public struct PersistentHistoryResult: Sendable {
  /// The number of transactions found or deleted (`.count`).
  public internal(set) var count: Int?
  /// The transactions by date, those of one store in their order (`.transactionsOnly`, `.transactionsAndChanges`).
  public internal(set) var transactions: [PersistentHistoryTransaction]?
  /// The changes, in the order of their transactions (`.changesOnly`).
  public internal(set) var changes: [PersistentHistoryChange]?
  /// The IDs of the changed objects, without repetition (`.objectIDs`).
  public internal(set) var objectIDs: [ManagedObjectID]?
}

extension ManagedObjectContext {
  /// Reads the history of the stores, or deletes a part of it.
  ///
  /// Throws `.historyTokenExpired` if a requested part was deleted, or if a token is ahead of the store (because an
  /// older copy replaced the file). Throws `.invalidRequest` if no store keeps a history, or the transaction or token
  /// is of stores that are not open here. Throws `.readOnlyStore` for a deletion if a store is read-only, the errors of
  /// fetches for a predicate, and the errors of stores.
  ///
  /// A failed deletion deletes nothing in any store. Only if a commit fails after the commit of another store is the
  /// other history shortened.
  @discardableResult
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    waitForPendingSave()
    let filter = try HistoryFilter(request.fetchRequest, in: coordinator)
    try request.check()
    let histories = try coordinator.histories(request)
    var result = PersistentHistoryResult()
    guard !request.isDeletion else {
      try refuseWithinHooks("history was deleted")
      let count = try Self.delete(histories.map { ($0.0, $0.2) })
      if request.resultType == .count { result.count = count }
      return result
    }
    let wantsChanges = ![.count, .transactionsOnly, .statusOnly].contains(request.resultType)
    let changes = wantsChanges || filter?.needsChanges == true
    // With a filter, only matching transactions count towards the limit.
    let limit = filter == nil ? request.fetchLimit : 0
    var found: [PersistentHistoryTransaction] = []
    func matching(_ transactions: [PersistentHistoryTransaction]) throws -> [PersistentHistoryTransaction] {
      guard let filter else { return transactions }
      let found = try filter.apply(to: transactions)
      let counted = request.fetchLimit > 0 ? Array(found.prefix(request.fetchLimit)) : found
      return wantsChanges ? counted : counted.map { $0.with(nil) }
    }
    for (store, history, extent) in histories {
      let transactions = try history.transactions(extent, includingChanges: changes, limit: limit)
      // Checked after reading, so that a deletion meanwhile is noticed.
      if case .after(let number) = extent {
        let span = try history.span()
        if span.lacksTransactions(after: number) { throw Self.expired(store) }
        if number > span.last { throw Self.unknown(number, store, span) }
      }
      found.append(contentsOf: try matching(transactions))
    }
    // Within a store the order of transactions counts, even if the clock was wrong.
    if histories.count > 1 { found = Self.mixed(found) }
    switch request.resultType {
    case .statusOnly: break
    case .count: result.count = found.count
    case .transactionsOnly, .transactionsAndChanges: result.transactions = found
    case .changesOnly: result.changes = found.flatMap { $0.changes ?? [] }
    case .objectIDs:
      var seen: Set<ManagedObjectID> = []
      result.objectIDs = found.flatMap { $0.changes ?? [] }.map(\.changedObjectID).filter { seen.insert($0).inserted }
    }
    return result
  }

  /// Changes of a store's transactions, as recorded in its history.
  ///
  /// Throws `.historyTokenExpired` if a transaction was deleted.
  package func historyChanges(
    of transactions: ClosedRange<Int64>, in storeID: String, after change: Int64, limit: Int
  ) throws -> HistoryPart {
    guard let store = coordinator.persistentStores.first(where: { $0.identifier == storeID }),
      let history = try store.history()
    else {
      throw GraphError(.invalidRequest, message: "the store \(storeID) is not open here, or keeps no history")
    }
    let part = try history.changes(of: transactions, after: change, limit: limit)
    if try history.span().lacksTransactions(after: transactions.lowerBound - 1) { throw Self.expired(store) }
    return part
  }

  /// Shortens the histories of all stores, after all of them are ready to be shortened.
  private static func delete(_ parts: [(store: any PersistentStore, extent: HistoryRange)]) throws -> Int {
    for (store, _) in parts where store.isReadOnly {
      throw GraphError(
        .readOnlyStore,
        message: "the history of \(store.name) cannot be deleted, for it is read-only: \(store.writingAdvice)")
    }
    var sessions: [any SaveSession] = []
    var count = 0
    do {
      // In the order in which saves use stores, to avoid a deadlock.
      for (store, extent) in parts.sorted(by: {
        StoreNumber($0.store.identifier).rawValue < StoreNumber($1.store.identifier).rawValue
      }) {
        sessions.append(try store.beginSave(author: nil))
        count += try sessions[sessions.count - 1].deleteHistory(extent)
        try sessions[sessions.count - 1].prepare()
      }
      while let session = sessions.last {
        try session.commit()
        sessions.removeLast()
      }
    } catch {
      for session in sessions.reversed() { session.abort() }
      throw error
    }
    return count
  }

  /// Merges the changes of a transaction, as `mergeChanges(from:)` does for other saves.
  ///
  /// Throws `.invalidRequest` for a transaction that was read without its changes.
  public func mergeChanges(from transaction: PersistentHistoryTransaction) throws {
    guard transaction.changes != nil else {
      throw GraphError(
        .invalidRequest,
        message:
          "transaction \(transaction.transactionNumber) was read without its changes: ask for transactionsAndChanges")
    }
    try mergeChanges(from: transaction.objectIDs)
  }

  /// The transactions of several stores by date.
  private static func mixed(_ found: [PersistentHistoryTransaction]) -> [PersistentHistoryTransaction] {
    var latest: [String: Date] = [:]
    let keyed = found.enumerated().map { index, transaction in
      let date = max(transaction.timestamp, latest[transaction.storeID] ?? transaction.timestamp)
      latest[transaction.storeID] = date
      return (date, index, transaction)
    }
    return keyed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
  }

  /// The error for requested transactions that were deleted.
  private static func expired(_ store: any PersistentStore) -> GraphError {
    GraphError(
      .historyTokenExpired,
      message:
        "the history of \(store.name) was deleted behind the token: read what is in the "
        + "store anew, and take a token of now")
  }

  /// The error for a token ahead of the history: new transactions would get numbers that the token already covers.
  private static func unknown(_ number: Int64, _ store: any PersistentStore, _ span: HistoryBounds) -> GraphError {
    GraphError(
      .historyTokenExpired,
      message:
        "the token stands behind transaction \(number) of \(store.name), whose history ends with \(span.last): an older copy took the place of "
        + "the store; read what is in it anew, and take a token of now")
  }
}

extension PersistentHistoryChangeRequest {
  /// Throws `.invalidRequest` for a deletion with a predicate or an invalid extent.
  fileprivate func check() throws {
    if isDeletion, fetchRequest != nil {
      throw GraphError(
        .invalidRequest, message: "history is deleted up to a place, not by a predicate: leave fetchRequest out")
    }
    if case .lastBytes(let count) = place, count < 1 {
      throw GraphError(.invalidRequest, message: "a history is cut to a number of bytes above 0, not \(count)")
    }
    if case .last(let count) = place, count < 1 {
      throw GraphError(
        .invalidRequest,
        message: "at least one transaction of a history is kept, so that tokens go on to hold, not \(count)")
    }
  }
}

extension PersistentStoreCoordinator {
  /// A token that stands after the newest transactions of the stores; nil if no store keeps a history.
  public func currentPersistentHistoryToken(
    fromStores stores: [any PersistentStore]? = nil
  ) throws -> PersistentHistoryToken? {
    var numbers: [String: Int64] = [:]
    for store in stores ?? persistentStores {
      if let history = try store.history() { numbers[store.identifier] = try history.span().last }
    }
    return numbers.isEmpty ? nil : PersistentHistoryToken(numbers)
  }

  /// The histories that a request concerns, with the range of each.
  func histories(_ request: PersistentHistoryChangeRequest) throws -> [(
    any PersistentStore, any StoreHistory, HistoryRange
  )] {
    var result: [(any PersistentStore, any StoreHistory, HistoryRange)] = []
    var tracksHistory = false
    for store in persistentStores {
      guard let history = try store.history() else { continue }
      tracksHistory = true
      if let extent = try request.extent(of: store.identifier, history) { result.append((store, history, extent)) }
    }
    guard tracksHistory else {
      throw GraphError(
        .invalidRequest,
        message:
          "no open store keeps a history: open a SQLite store or one in memory with tracksHistory (--keep-history of a command)"
      )
    }
    if case .token(let token?) = request.place { try check(token) }
    if result.isEmpty, case .transaction(let transaction) = request.place {
      throw GraphError(
        .invalidRequest,
        message:
          "transaction \(transaction.transactionNumber) is of the store \(transaction.storeID), which is not open here or keeps "
          + "no history")
    }
    return result
  }

  /// Throws for a token whose stores are all unknown here: returning the whole history would be misleading.
  private func check(_ token: PersistentHistoryToken) throws {
    let numbers = token.transactionNumbers
    let stores = persistentStores
    guard !numbers.isEmpty, !stores.contains(where: { numbers[$0.identifier] != nil }) else { return }
    throw GraphError(
      .invalidRequest,
      message: "the token is of the store \(numbers.keys.sorted().listed()), which is not open here: open is "
        + "\(stores.map { "\($0.identifier) (\($0.name))" }.listed()); take a token of that")
  }
}
