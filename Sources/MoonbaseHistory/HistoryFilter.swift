public import MoonbaseGraph
public import MoonbaseModel
import MoonbasePlatform

/// The compiled predicate of a history request, over transactions or changes.
///
/// Nulls compare as in fetches: if an author is compared with a text, a transaction without an author does not match.
struct HistoryFilter {
  private let predicate: CompiledPredicate
  private let isOfChanges: Bool

  /// Returns nil for a request without a predicate.
  ///
  /// Throws `.invalidRequest` for another entity, and for an order, limit, offset or groups, which a history does not
  /// support; `.unknownName` for an unknown key; and the errors of fetches for values that cannot be compared.
  init?(_ request: FetchRequest?, in coordinator: PersistentStoreCoordinator) throws {
    guard let request else { return nil }
    switch request.entityName {
    case PersistentHistoryTransaction.entityName: isOfChanges = false
    case PersistentHistoryChange.entityName: isOfChanges = true
    default:
      throw GraphError(
        .invalidRequest,
        message: "a history has no \(request.entityName.asName): make the request with "
          + "PersistentHistoryTransaction.fetchRequest or PersistentHistoryChange.fetchRequest")
    }
    var plain = FetchRequest(request.entityName, where: request.predicate)
    plain.resultType = request.resultType
    guard plain == request else {
      throw GraphError(
        .invalidRequest,
        message: "of a fetch request for history only the predicate counts: leave order, limit and groups out")
    }
    guard let predicate = request.predicate else { return nil }
    let checked = try HistoryModel(preservedBy: coordinator.model).checked(
      predicate, of: request.entityName, id: coordinator.managedObjectID(named:))
    self.predicate = try CompiledPredicate(checked, nulls: .fetch)
  }

  /// The matching transactions; or for a predicate over changes, the transactions with matching changes, and only these
  /// changes.
  func apply(to transactions: [PersistentHistoryTransaction]) throws -> [PersistentHistoryTransaction] {
    try transactions.compactMap { transaction in
      try HostWork.charge(10)
      let values = transaction.values
      guard isOfChanges else { return try predicate.evaluate(with: values) ? transaction : nil }
      let changes = try (transaction.changes ?? []).filter { change in
        try HostWork.charge(10)
        return try predicate.evaluate(with: change.values(in: values))
      }
      return changes.isEmpty ? nil : transaction.with(changes)
    }
  }

  /// Whether the predicate needs the changes.
  var needsChanges: Bool { isOfChanges }
}

extension PersistentHistoryTransaction {
  /// The entity name for a fetch request over transactions.
  public static let entityName = "TRANSACTION"

  /// A request for transactions that match, for `PersistentHistoryChangeRequest.fetchRequest`.
  public static func fetchRequest(where predicate: MoonbaseModel.Predicate) -> FetchRequest {
    FetchRequest(entityName, where: predicate)
  }

  /// A request for transactions that match a predicate format string with Swift values. Throws `ModelError` with the
  /// position in the text.
  public static func fetchRequest<each Argument: ValueConvertible>(
    where text: String, _ arguments: repeat each Argument
  ) throws(ModelError) -> FetchRequest {
    try FetchRequest(entityName, where: text, repeat each arguments)
  }

  fileprivate var values: [String: Value] {
    func text(_ text: String?) -> Value { text.map(Value.string) ?? .null }
    return [
      "author": text(author), "bundleID": text(bundleID), "contextName": text(contextName),
      "processID": text(processID), "storeID": .string(storeID), "timestamp": .date(timestamp),
      "transactionNumber": .int(transactionNumber),
    ]
  }
}

extension PersistentHistoryChange {
  /// The entity name for a fetch request over changes.
  public static let entityName = "CHANGE"

  /// A request for changes that match, for `PersistentHistoryChangeRequest.fetchRequest`.
  ///
  /// `changeType` is 0 for an insertion, 1 for an update and 2 for a deletion; `changedEntity` is a name.
  /// `transaction.author` is the author of the transaction. `tombstone.name` is a preserved value of a deleted object;
  /// the tombstone is nil if no value was preserved.
  public static func fetchRequest(where predicate: MoonbaseModel.Predicate) -> FetchRequest {
    FetchRequest(entityName, where: predicate)
  }

  /// A request for changes that match a predicate format string with Swift values. Throws `ModelError` with the
  /// position in the text.
  public static func fetchRequest<each Argument: ValueConvertible>(
    where text: String, _ arguments: repeat each Argument
  ) throws(ModelError) -> FetchRequest {
    try FetchRequest(entityName, where: text, repeat each arguments)
  }

  fileprivate func values(in transaction: [String: Value]) -> [String: Value] {
    [
      "changedEntity": .string(changedObjectID.entityName), "changedObjectID": .objectID(changedObjectID),
      "changeID": .int(changeID), "changeType": .int(changeType.rawValue),
      "tombstone": tombstone.isEmpty ? .null : .map(tombstone),
      "transaction": .map(transaction), "updatedProperties": .list(updatedProperties.map(Value.string)),
    ]
  }
}
