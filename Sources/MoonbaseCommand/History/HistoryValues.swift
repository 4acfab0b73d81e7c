import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The values that are known of changes in a history: values that no later change replaced, and values that a deletion
/// kept.
///
/// A history keeps names of properties and no values, but for tombstones. As long as no later change names a property,
/// the object still has the value that the change gave it. Objects are read before the rest of the history. A change
/// that is saved in between makes a value unknown, and never wrong.
struct HistoryValues {
  private static let chunk = 500

  /// The last changes of an object.
  private struct Later {
    /// By property, the number of the last update that names it.
    var updates: [String: Int64] = [:]
    /// The last update that names no property.
    var unnamed: Int64 = 0
    var deletion: PersistentHistoryChange?

    func changes(_ name: String, after change: Int64) -> Bool {
      max(unnamed, updates[name] ?? 0) > change
    }
  }

  private let context: ManagedObjectContext
  private var later: [ManagedObjectID: Later] = [:]
  private var token: PersistentHistoryToken
  /// Whether a value could not be read.
  private(set) var failed = false

  /// Goes through the history from a place to its end. `context` is one in which nothing else is read.
  init(_ context: ManagedObjectContext, from start: HistoryWalk.Start) throws {
    self.context = context
    token = if case .token(let given?) = start { given } else { PersistentHistoryToken() }
    try note(from: start)
  }

  private mutating func note(from start: HistoryWalk.Start) throws {
    var walk = try HistoryWalk(context, from: start)
    while let transactions = try walk.next() {
      for transaction in transactions {
        token.advance(past: transaction)
        for change in transaction.changes ?? [] { note(change) }
      }
    }
  }

  private mutating func note(_ change: PersistentHistoryChange) {
    switch change.changeType {
    case .insert: break
    case .delete: later[change.changedObjectID, default: Later()].deletion = change
    case .update where change.updatedProperties.isEmpty:
      later[change.changedObjectID, default: Later()].unnamed = change.changeID
    case .update:
      for name in change.updatedProperties {
        later[change.changedObjectID, default: Later()].updates[name] = change.changeID
      }
    }
  }

  /// Whether a transaction was there when the values began. Values of later ones would be those of earlier reads.
  func covers(_ transaction: PersistentHistoryTransaction, upTo end: PersistentHistoryToken) -> Bool {
    transaction.transactionNumber <= end.transactionNumbers[transaction.storeID] ?? 0
  }

  /// The place up to which the history was read.
  var end: PersistentHistoryToken { token }

  // MARK: Values

  /// A change with its old and its new values, as far as they are known.
  typealias Row = (change: PersistentHistoryChange, old: Value, new: Value)

  /// Calls `body` for each change, some objects at a time.
  mutating func each(of changes: ArraySlice<PersistentHistoryChange>, _ body: (Row) throws -> Void) throws {
    var rest = changes
    while !rest.isEmpty {
      let some = rest.prefix(Self.chunk)
      rest = rest.dropFirst(Self.chunk)
      let objects = try context.loadObjects(with: some.filter { $0.changeType != .delete }.map(\.changedObjectID))
      // Objects that were read may have values of later saves.
      try note(from: .token(token))
      let known = Dictionary(objects.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
      for change in some { try body(row(change, known[change.changedObjectID])) }
      try context.turnIntoFaults(objects)
    }
  }

  private mutating func row(_ change: PersistentHistoryChange, _ object: ManagedObject?) -> Row {
    switch change.changeType {
    case .delete: return (change, change.tombstone.isEmpty ? .null : .map(change.tombstone), .null)
    case .insert, .update:
      let values = values(after: change, object)
      return (change, .null, values.isEmpty ? .null : .map(values))
    }
  }

  private mutating func values(after change: PersistentHistoryChange, _ object: ManagedObject?) -> [String: Value] {
    let later = later[change.changedObjectID] ?? Later()
    var values: [String: Value] = [:]
    for property in properties(of: change) where !later.changes(property.name, after: change.changeID) {
      if let deletion = later.deletion {
        values[property.name] = deletion.tombstone[property.name]
      } else if let object {
        values[property.name] = value(of: property, of: object)
      }
    }
    return values
  }

  /// The stored attributes and relationships to one object that a change gave values.
  private func properties(of change: PersistentHistoryChange) -> [ResolvedProperty] {
    guard let entity = context.model.entity(of: change.changedObjectID) else { return [] }
    return entity.properties.filter { property in
      // Stores derive values without a change. A to-many relationship is known by the changes of its other side.
      guard !property.isTransient, !property.isDerived else { return false }
      if case .toMany = property.kind { return false }
      return change.changeType == .insert || change.updatedProperties.contains(property.name)
    }
  }

  private mutating func value(of property: ResolvedProperty, of object: ManagedObject) -> Value? {
    do {
      return try object.value(forKey: property.name)
    } catch {
      failed = true
      Terminal.complain("moonbase: \(error)")
      return nil
    }
  }
}
