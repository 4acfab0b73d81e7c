public import MoonbasePlatform

/// The history of a store: its saves in order, until a program deletes them.
///
/// Transaction numbers grow with each save and are never reused. A session deletes a part of the history
/// (`SaveSession.deleteHistory`).
public protocol StoreHistory: Sendable {
  /// The numbers of the oldest and newest transactions.
  func span() throws -> HistoryBounds
  /// The first `limit` transactions of a range in order; 0 means all.
  func transactions(
    _ extent: HistoryRange, includingChanges: Bool, limit: Int
  ) throws -> [PersistentHistoryTransaction]
  /// At most `limit` changes of some transactions with numbers greater than `change`, ordered by transaction and
  /// number.
  func changes(of transactions: ClosedRange<Int64>, after change: Int64, limit: Int) throws -> HistoryPart
  /// The number of the first of the last `count` transactions; nil if there are no more than `count`.
  func number(ofLast count: Int) throws -> Int64?
  /// The number of the first of the last transactions that together have at most `count` bytes
  /// (`PersistentHistoryTransaction.size`), or of the last transaction alone if it is larger; nil if all transactions
  /// fit.
  func number(ofLastBytes count: Int) throws -> Int64?
}

extension StoreHistory {
  /// Searches the transactions; a store with a faster way should implement this.
  public func changes(of transactions: ClosedRange<Int64>, after change: Int64, limit: Int) throws -> HistoryPart {
    var part = HistoryPart()
    var count = 0
    let found = try self.transactions(.after(transactions.lowerBound - 1), includingChanges: true, limit: 0)
    for transaction in found.prefix(while: { $0.transactionNumber <= transactions.upperBound }) {
      for next in transaction.changes ?? [] where next.changeID > change {
        guard count < limit else { return part }
        count += 1
        part.append(next, of: transaction.transactionNumber)
        part.end = count == limit ? (transaction.transactionNumber, next.changeID) : nil
      }
    }
    return part
  }

  /// Searches the transactions; a store with a faster way should implement this.
  public func number(ofLast count: Int) throws -> Int64? {
    let all = try transactions(.all, includingChanges: false, limit: 0)
    return count > 0 && count < all.count ? all[all.count - count].transactionNumber : nil
  }

  /// Searches the transactions; a store with a faster way should implement this.
  public func number(ofLastBytes count: Int) throws -> Int64? {
    let all = try transactions(.all, includingChanges: true, limit: 0)
    var left = count
    for (place, transaction) in zip(all.indices, all).reversed() {
      left -= transaction.size
      if left < 0 { return all[min(place + 1, all.count - 1)].transactionNumber }
    }
    return nil
  }
}

/// A part of the changes of a history.
public struct HistoryPart: Sendable {
  /// The changes, by transaction number.
  public private(set) var changes: [Int64: [PersistentHistoryChange]] = [:]
  /// The last change if the limit was reached, so that more may follow; otherwise nil.
  public var end: (transaction: Int64, change: Int64)?

  /// No changes.
  public init() {}

  /// Adds a change.
  public mutating func append(_ change: PersistentHistoryChange, of transaction: Int64) {
    changes[transaction, default: []].append(change)
  }
}

/// The numbers of a history's transactions.
public struct HistoryBounds: Sendable, Hashable {
  /// The number of the oldest transaction; nil if there is none.
  public var first: Int64?
  /// The greatest number ever assigned; 0 before the first transaction.
  public var last: Int64

  /// Makes bounds.
  public init(first: Int64?, last: Int64) {
    self.first = first
    self.last = last
  }

  /// Whether transactions after a number were deleted.
  package func lacksTransactions(after number: Int64) -> Bool { number < last && number + 1 < (first ?? last + 1) }
}

/// A range of a history.
public enum HistoryRange: Sendable, Hashable {
  /// All transactions.
  case all
  /// The transactions after the one with a number.
  case after(Int64)
  /// The transactions later than a date.
  case afterDate(Date)
  /// The transactions before the one with a number.
  case before(Int64)
  /// The transactions earlier than a date.
  case beforeDate(Date)

  /// Whether a transaction is in the range.
  public func contains(_ transaction: PersistentHistoryTransaction) -> Bool {
    switch self {
    case .all: true
    case .after(let number): transaction.transactionNumber > number
    case .afterDate(let date): transaction.timestamp > date
    case .before(let number): transaction.transactionNumber < number
    case .beforeDate(let date): transaction.timestamp < date
    }
  }
}

extension PersistentStore {
  /// Nil: the store keeps no history.
  public func history() throws -> (any StoreHistory)? { nil }
}
