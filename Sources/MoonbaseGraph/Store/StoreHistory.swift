public import MoonbasePlatform

/// The history that a store keeps: its saves, one after the other, until somebody deletes them.
///
/// Numbers of transactions grow with each save and are never given twice. A part of it is deleted by a session
/// (`SaveSession.deleteHistory`).
public protocol StoreHistory: Sendable {
  /// What there is of it.
  func span() throws -> HistoryBounds
  /// Transactions in their order, the first `limit` of them; 0 means all.
  func transactions(
    _ extent: HistoryRange, includingChanges: Bool, limit: Int
  ) throws -> [PersistentHistoryTransaction]
  /// At most `limit` changes of transactions, in the order of the transactions and of the changes' numbers, which are
  /// greater than `change`.
  func changes(of transactions: ClosedRange<Int64>, after change: Int64, limit: Int) throws -> HistoryPart
  /// The number of the transaction with which the last ones begin, so many of them; nil where there are no more than these.
  func number(ofLast count: Int) throws -> Int64?
  /// The number of the transaction with which the last ones begin that are no larger together than so many bytes
  /// (`PersistentHistoryTransaction.size`), or the last one alone; nil where all are no larger.
  func number(ofLastBytes count: Int) throws -> Int64?
}

extension StoreHistory {
  /// Goes over the transactions. A store that can find it more quickly should.
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

  /// Goes over all of them. A store that can find it more quickly should.
  public func number(ofLast count: Int) throws -> Int64? {
    let all = try transactions(.all, includingChanges: false, limit: 0)
    return count > 0 && count < all.count ? all[all.count - count].transactionNumber : nil
  }

  /// Goes over all of them. A store that can find it more quickly should.
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

/// Some changes of a history.
public struct HistoryPart: Sendable {
  /// By the number of their transaction.
  public private(set) var changes: [Int64: [PersistentHistoryChange]] = [:]
  /// The last change, where as many were read as were asked for: there may be more behind it.
  public var end: (transaction: Int64, change: Int64)?

  /// No changes.
  public init() {}

  /// Adds a change.
  public mutating func append(_ change: PersistentHistoryChange, of transaction: Int64) {
    changes[transaction, default: []].append(change)
  }
}

/// Which transactions of a history there are.
public struct HistoryBounds: Sendable, Hashable {
  /// The number of the oldest one that is there; nil where none is.
  public var first: Int64?
  /// The greatest number that was given; 0 where there never was a transaction.
  public var last: Int64

  /// Makes a span.
  public init(first: Int64?, last: Int64) {
    self.first = first
    self.last = last
  }

  /// Whether transactions behind a number were deleted.
  func lacksTransactions(after number: Int64) -> Bool { number < last && number + 1 < (first ?? last + 1) }
}

/// A part of a history.
public enum HistoryRange: Sendable, Hashable {
  /// All of it.
  case all
  /// What came after the transaction of a number.
  case after(Int64)
  /// What was saved later than a date.
  case afterDate(Date)
  /// What came before the transaction of a number.
  case before(Int64)
  /// What was saved earlier than a date.
  case beforeDate(Date)

  /// Whether a transaction is in it.
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
  /// None: a store keeps a history only where it says so.
  public func history() throws -> (any StoreHistory)? { nil }
}
