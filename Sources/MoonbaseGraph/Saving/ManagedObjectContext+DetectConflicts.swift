import MoonbaseModel
import OrderedCollections

extension ManagedObjectContext {
  /// Has the next save look whether anybody else saved an object, also where it is not changed here: that is a conflict then, as it always
  /// is of an object that is changed or deleted.
  ///
  /// A save without any changes looks at nothing. A store that it only looks at is taken as one that it writes: nobody else saves there until
  /// the save is done. One that is read-only is looked at before any store commits. What is marked is forgotten when a save succeeds, and by a rollback. Throws for an object of
  /// another context, and what the store throws.
  ///
  /// ```swift
  /// try context.detectConflicts(for: account)       // the order is only right as long as the account is as it was read
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

extension SavePlan {
  /// Stores of which the save only looks at objects, without anything to write; those apart of which there is no session to hold.
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

  /// Objects of a store that somebody else saved and that this save was told to look at; nobody saves there meanwhile.
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
