import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform

/// The known values of the changes in a history. These are values that no later change replaced, and values that a
/// tombstone contains.
///
/// A history contains the names of changed properties, but no values except for tombstones. As long as no later change
/// names a property, the object still has the value that the change set. The objects are read before the rest of the
/// history. A change that is saved between the two makes a value unknown, but never wrong.
struct HistoryValues {
  /// The number of changes whose objects are loaded together.
  private static let chunk = 500

  /// The number of changes that are read together to find the tombstones of deleted objects.
  private static let tombstones = 32

  /// The context that loads the current objects. It contains no objects before.
  private let context: ManagedObjectContext
  /// The updates and deletions that follow each change.
  private var later = LaterChanges()
  /// The token after the last transaction that was noted.
  private var token: PersistentHistoryToken
  /// Whether a value could not be read.
  private(set) var failed = false

  /// Reads the history from a place to its end. `context` must not be used to read anything else.
  ///
  /// - Parameters:
  ///   - context: A new context. Objects that were loaded earlier would have old values.
  ///   - start: The place of the first change whose values are wanted.
  /// - Throws: The errors of reading the history, for example if it was deleted up to a later
  ///   place.
  init(_ context: ManagedObjectContext, from start: HistoryWalk.Start) throws {
    self.context = context
    token = if case .token(let given?) = start { given } else { PersistentHistoryToken() }
    try note(from: start)
  }

  /// Walks the history from `start` to its end, and notes each change without keeping it.
  private mutating func note(from start: HistoryWalk.Start) throws {
    var walk = try HistoryWalk(context, from: start)
    while let transactions = try walk.next() {
      for transaction in transactions {
        token.advance(past: transaction)
        for change in transaction.changes ?? [] { later.note(change, of: transaction.transactionNumber) }
      }
    }
  }

  /// Whether a transaction existed when this object was created. For later transactions, the values would be from
  /// earlier reads.
  ///
  /// - Parameters:
  ///   - transaction: The transaction to examine.
  ///   - end: The token that was the end when the history was read.
  func covers(_ transaction: PersistentHistoryTransaction, upTo end: PersistentHistoryToken) -> Bool {
    transaction.transactionNumber <= end.transactionNumbers[transaction.storeID] ?? 0
  }

  /// The place up to which the history has been read.
  var end: PersistentHistoryToken { token }

  // MARK: Values

  /// A change with the old and the new values that are known.
  typealias Row = (change: PersistentHistoryChange, old: Value, new: Value)

  /// Calls `body` for each change. The objects are read in groups.
  ///
  /// - Parameters:
  ///   - changes: The changes of one transaction, in their order.
  ///   - body: Receives each change with its values. The values are null if nothing is known.
  mutating func each(of changes: ArraySlice<PersistentHistoryChange>, _ body: (Row) throws -> Void) throws {
    var rest = changes
    while !rest.isEmpty {
      let some = rest.prefix(Self.chunk)
      rest = rest.dropFirst(Self.chunk)
      let objects = try context.loadObjects(with: some.filter { $0.changeType != .delete }.map(\.changedObjectID))
      // Objects that were read may contain values from later saves.
      try note(from: .token(token))
      let known = Dictionary(objects.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
      let left = try tombstones(of: some)
      for change in some {
        try body(row(change, known[change.changedObjectID], tombstone: left[change.changedObjectID]))
      }
      try context.turnIntoFaults(objects)
    }
  }

  /// The tombstones of objects that a later change deleted.
  ///
  /// Each deletion is read again from the history, because a tombstone may be large. This method
  /// reads at most one group of changes at a time.
  ///
  /// - Returns: The tombstones by the ID of the deleted object.
  private func tombstones(
    of changes: ArraySlice<PersistentHistoryChange>
  ) throws -> [ManagedObjectID: [String: Value]] {
    var deletions: [(id: ManagedObjectID, place: LaterChanges.Place)] = []
    for change in changes where change.changeType != .delete {
      if let place = later.deletion(of: change.changedObjectID) { deletions.append((change.changedObjectID, place)) }
    }
    deletions.sort { $0.place.change < $1.place.change }
    var found: [ManagedObjectID: [String: Value]] = [:]
    for (id, place) in deletions where found[id] == nil {
      guard let store = id.storeIdentifier else { continue }
      // Objects that were deleted in sequence were often also changed in this sequence.
      let part = try context.historyChanges(
        of: place.transaction...place.transaction, in: store, after: place.change - 1, limit: Self.tombstones)
      for change in part.changes.values.joined() where change.changeType == .delete {
        found[change.changedObjectID] = change.tombstone
      }
    }
    return found
  }

  /// Combines a change with its values.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - object: The current object, or nil if it no longer exists.
  ///   - tombstone: The tombstone of a later deletion, if there is one.
  private mutating func row(
    _ change: PersistentHistoryChange, _ object: ManagedObject?, tombstone: [String: Value]?
  ) -> Row {
    switch change.changeType {
    case .delete: return (change, change.tombstone.isEmpty ? .null : .map(change.tombstone), .null)
    case .insert, .update:
      let values = values(after: change, object, tombstone)
      return (change, .null, values.isEmpty ? .null : .map(values))
    }
  }

  /// The values that a change set and that are still known. Properties that a later change names
  /// are left out.
  private mutating func values(
    after change: PersistentHistoryChange, _ object: ManagedObject?, _ tombstone: [String: Value]?
  ) -> [String: Value] {
    let id = change.changedObjectID
    guard let names = later.names(of: id, after: change.changeID) else { return [:] }
    let isDeleted = later.isDeleted(id)
    var values: [String: Value] = [:]
    for property in properties(of: change) where !names.contains(property.name) {
      if isDeleted {
        values[property.name] = tombstone?[property.name]
      } else if let object {
        values[property.name] = value(of: property, of: object)
      }
    }
    return values
  }

  /// The stored attributes and to-one relationships that a change set.
  ///
  /// For an update, these are the properties that the change names. For an insertion, these are
  /// all.
  private func properties(of change: PersistentHistoryChange) -> [ResolvedProperty] {
    guard let entity = context.model.entity(of: change.changedObjectID) else { return [] }
    return entity.properties.filter { property in
      // Stores compute derived values without recording a change. A to-many relationship is known from the changes of
      // its inverse.
      guard !property.isTransient, !property.isDerived else { return false }
      if case .toMany = property.kind { return false }
      return change.changeType == .insert || change.updatedProperties.contains(property.name)
    }
  }

  /// The value of a property, or nil if it cannot be read. The error is printed, and the command
  /// continues.
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
