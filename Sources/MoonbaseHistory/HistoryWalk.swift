package import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform

/// Reads the history of stores in batches of changes: memory use is bounded, however long the history and its
/// transactions are.
package struct HistoryWalk {
  /// The start of the walk.
  package enum Start: Sendable, Hashable {
    /// After the position of a token; nil begins with the oldest transaction.
    case token(PersistentHistoryToken?)
    /// With the first transaction after a date.
    case date(Date)
  }

  private static let transactionCount = 256
  private static let changeCount = 4096

  private let context: ManagedObjectContext
  private let filter: HistoryFilter?
  private let date: Date?
  private var token: PersistentHistoryToken
  private var isAtEnd = false
  /// Transactions whose changes have not been read yet.
  private var waiting: ArraySlice<PersistentHistoryTransaction> = []
  /// The number of the last change read of the first of these transactions.
  private var place: Int64?

  /// Throws as `execute` does for an invalid request.
  package init(_ context: ManagedObjectContext, from start: Start, matching fetchRequest: FetchRequest? = nil) throws {
    self.context = context
    filter = try HistoryFilter(fetchRequest, in: context.coordinator)
    switch start {
    case .token(let given): (token, date) = (given ?? PersistentHistoryToken(), nil)
    case .date(let given): (token, date) = (try Self.token(behind: given, in: context.coordinator), given)
    }
  }

  /// The position before the first transaction after a date. If the clock was set back, earlier dates may follow it.
  private static func token(
    behind date: Date, in coordinator: PersistentStoreCoordinator
  ) throws -> PersistentHistoryToken {
    var numbers: [String: Int64] = [:]
    for store in coordinator.persistentStores {
      guard let history = try store.history() else { continue }
      let first = try history.transactions(.afterDate(date), includingChanges: false, limit: 1).first
      numbers[store.identifier] = try first.map { $0.transactionNumber - 1 } ?? history.span().last
    }
    return PersistentHistoryToken(numbers)
  }

  /// The next matching transactions with their changes. The result may be empty if none of the transactions read match.
  /// Nil at the end.
  ///
  /// A transaction with very many changes is returned several times, each time with some of the changes.
  package mutating func next() throws -> [PersistentHistoryTransaction]? {
    while waiting.isEmpty {
      if isAtEnd { return nil }
      try readTransactions()
    }
    let found = try readChanges()
    return try filter?.apply(to: found) ?? found
  }

  /// Reads the next transactions without their changes.
  private mutating func readTransactions() throws {
    var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    request.resultType = .transactionsOnly
    request.fetchLimit = Self.transactionCount
    let found = try context.execute(request).transactions ?? []
    for transaction in found { token.advance(past: transaction) }
    isAtEnd = found.isEmpty
    waiting = found.filter { transaction in date.map { transaction.timestamp > $0 } ?? true }[...]
  }

  /// Reads changes of the first waiting transactions that are of one store.
  private mutating func readChanges() throws -> [PersistentHistoryTransaction] {
    guard let first = waiting.first else { return [] }
    let some = place == nil ? waiting.prefix { $0.storeID == first.storeID } : waiting.prefix(1)
    let numbers = first.transactionNumber...(some.last ?? first).transactionNumber
    let part = try context.historyChanges(
      of: numbers, in: first.storeID, after: place ?? .min, limit: Self.changeCount)
    var whole = some
    var rest: PersistentHistoryTransaction?
    if let end = part.end {
      whole = some.prefix { $0.transactionNumber < end.transaction }
      rest = some.dropFirst(whole.count).first { $0.transactionNumber == end.transaction }
    }
    waiting = waiting.dropFirst(whole.count)
    let isResumed = place != nil
    place = rest == nil ? nil : part.end?.change
    return (whole + (rest.map { [$0] } ?? [])).compactMap { transaction in
      let changes = part.changes[transaction.transactionNumber] ?? []
      return isResumed && changes.isEmpty ? nil : transaction.with(changes)
    }
  }
}
