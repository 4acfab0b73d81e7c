import MoonbaseModel
import OrderedCollections

/// Checking objects that are not changed.
extension ManagedObjectContext {
  /// Makes the next save check whether another context saved an object, even if the object is unchanged here. If so,
  /// the save has a conflict, as for changed and deleted objects.
  ///
  /// A save without any changes checks nothing. A store in which the save only checks objects is locked like one that
  /// it writes: no other save runs there until this save is done. A read-only store is checked before any store
  /// commits. The request ends with a successful save or a rollback. Throws for an object of another context, and the
  /// errors of the store.
  ///
  /// ```swift
  /// try context.detectConflicts(for: account)  // the order is right only while the account is unchanged
  /// try context.insert("Order", values: ["limit": account["limit"]])
  /// try context.save()
  /// ```
  public func detectConflicts(for object: ManagedObject) throws {
    settle()
    try requireOwn(object, participle: "looked at for conflicts")
    guard !object.isInserted else { return }
    if object.snapshot == nil { try object.fireFault() }
    objectsToCheck.append(object)
  }
}

/// The part of a save that only checks.
extension SavePlan {
  /// The stores in which the save only checks objects, without changes to write. Read-only stores, which have no save
  /// session, are returned separately. The result is not sorted.
  func storesOfUnchanged(besides waiting: [StorePlan]) throws -> (plans: [StorePlan], readOnly: [UInt32]) {
    var numbers = Set(waiting.lazy.map(\.number))
    var (new, readOnly): ([StorePlan], [UInt32]) = ([], [])
    for object in context.objectsToCheck where object.context === context {
      let number = object.objectID.storeNumber
      guard numbers.insert(number).inserted else { continue }
      let store = try context.source.store(of: object.objectID)
      if store.isReadOnly { readOnly.append(number) } else { new.append(StorePlan(number: number, store: store)) }
    }
    return (new, readOnly)
  }

  /// The conflicts of objects in a store that `detectConflicts(for:)` marked and another context saved. The caller
  /// holds a save session of the store. Rows are read in the session, so they cannot change before the commit.
  func conflictsOfUnchanged(in store: UInt32, besides known: [SaveConflict]) throws -> [SaveConflict] {
    guard !context.objectsToCheck.isEmpty else { return [] }
    let others = Set(known.lazy.map(\.objectID))
    let objects = context.objectsToCheck.filter {
      $0.context === context && $0.objectID.storeNumber == store && !others.contains($0.objectID)
    }
    var rows: [ManagedObjectID: Snapshot] = [:]
    for row in try context.source.snapshots(of: objects.map(\.objectID)) { rows[row.id] = row }
    return objects.compactMap { object in
      guard let expected = object.snapshot?.version else { return nil }
      guard let row = rows[object.objectID] else { return SaveConflict(object.objectID, .deleted) }
      if row.version == expected { return nil }
      return SaveConflict(object.objectID, .changed(expected: expected, found: row.version), foundRow: row)
    }
  }
}
