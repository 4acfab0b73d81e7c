import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform

/// The history as a timeline with the latest transactions first.
///
/// Each transaction has its changes with old and new values, as far as `HistoryValues` knows them.
struct InspectHistory {
  /// The number of transactions in a page, for each store.
  private static let page: Int64 = 50
  /// The number of changes of a transaction that are shown. The others are counted.
  private static let greatestChanges = 100
  /// The session whose stores are read.
  let session: InspectSession

  /// A page of transactions before a token. Without a token, the page contains the latest transactions.
  ///
  /// The answer has a token for the next page. If the stores keep no history, `kept` is false.
  ///
  /// - Parameter query: The parameter `before` with the token of the last answer.
  func json(_ query: [String: String]) throws -> InspectJSON {
    let context = session.context
    guard let last = try context.coordinator.currentPersistentHistoryToken() else {
      return ["kept": false, "transactions": []]
    }
    let end =
      try query["before"].map { text in
        guard let token = PersistentHistoryToken(text) else {
          throw InspectRefusal(400, "before is a token of the history")
        }
        return token
      } ?? last
    let start = PersistentHistoryToken(end.transactionNumbers.mapValues { $0 > Self.page ? $0 - Self.page : 0 })
    let transactions = try self.transactions(after: start, upTo: end)
    let isFirst = start.transactionNumbers.values.allSatisfy { $0 == 0 }
    return [
      "kept": true, "transactions": .array(transactions.reversed()),
      "before": isFirst ? .null : .string(start.description),
    ]
  }

  /// Reads a range of transactions in the order of the store.
  private func transactions(
    after start: PersistentHistoryToken, upTo end: PersistentHistoryToken
  ) throws -> [InspectJSON] {
    // Use a separate context, so that the timeline shows saved values.
    let reader = ManagedObjectContext(session.context.coordinator, extensionRegistry: session.context.extensionRegistry)
    var walk = try HistoryWalk(reader, from: .token(start))
    var values = try HistoryValues(reader, from: .token(start))
    var entries: [Entry] = []
    while let found = try walk.next() {
      for transaction in found {
        guard transaction.transactionNumber <= end.transactionNumbers[transaction.storeID] ?? 0 else {
          return entries.map(json)
        }
        // A transaction with many changes is returned in several parts.
        if entries.last?.transaction.token != transaction.token {
          entries.append(Entry(transaction: transaction.with(nil)))
        }
        let changes = transaction.changes ?? []
        let place = entries.count - 1
        entries[place].total += changes.count
        let some = changes.prefix(Self.greatestChanges - entries[place].rows.count)
        try values.each(of: some) { entries[place].rows.append(try json($0)) }
      }
    }
    return entries.map(json)
  }

  /// A transaction during the walk.
  private struct Entry {
    /// The transaction without its changes.
    let transaction: PersistentHistoryTransaction
    /// The shown changes as JSON.
    var rows: [InspectJSON] = []
    /// The number of all changes.
    var total = 0
  }

  /// The transaction with its number, its date, its author and its changes.
  private func json(_ entry: Entry) -> InspectJSON {
    let transaction = entry.transaction
    return [
      "number": .int(Int(transaction.transactionNumber)),
      "date": .string(Value.date(transaction.timestamp).description),
      "author": .text(transaction.author), "context": .text(transaction.contextName),
      "process": .text(transaction.processID), "changes": .array(entry.rows), "total": .int(entry.total),
    ]
  }

  /// A change with the object, the kind, the names of the properties and the values.
  private func json(_ row: HistoryValues.Row) throws -> InspectJSON {
    let change = row.change
    return [
      "id": .string(session.name(of: change.changedObjectID)), "kind": .string(change.changeType.name),
      "properties": .strings(change.updatedProperties), "old": try json(row.old), "new": try json(row.new),
    ]
  }

  /// The values by property, or null if none are known.
  private func json(_ value: Value) throws -> InspectJSON {
    guard case .map(let map) = value else { return .null }
    let cell = InspectCell(session: session)
    return .object(try map.sorted { $0.key < $1.key }.map { ($0.key, try cell.json($0.value)) })
  }
}
