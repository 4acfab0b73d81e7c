import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// A batch request on its way: it changes objects of a context of its own, without hooks and rules, and saves these at once.
///
/// What a save knows (keys, versions, delete rules, links, conflicts, several stores) need not be known here once more.
struct BatchOperation {
  /// The context whose request it is.
  private let asker: ManagedObjectContext
  let context: ManagedObjectContext

  init(beside asker: ManagedObjectContext) {
    self.asker = asker
    context = ManagedObjectContext(asker.coordinator, domain: asker.domain.withoutHooks())
    context.transactionAuthor = asker.transactionAuthor
    context.name = asker.name
  }

  /// Who loses against others again and again has to say so at last.
  private static let greatestRounds = 32

  /// Runs a request on what is saved; once more where others saved what it is about before it could.
  static func retrying(
    beside asker: ManagedObjectContext, _ body: (BatchOperation) throws -> BatchResult
  ) throws -> BatchResult {
    for _ in 1..<greatestRounds {
      do {
        return try body(BatchOperation(beside: asker))
      } catch let error as GraphError where error.isOvertaken {
        continue
      }
    }
    return try body(BatchOperation(beside: asker))
  }

  // MARK: Inserting

  mutating func insert(_ request: BatchInsertRequest, of entity: ResolvedEntity) throws -> BatchResult {
    context.mergePolicy = asker.mergePolicy
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, message: "\(entity.name) is abstract: insert objects of its subentities", entity: entity.name)
    }
    // A store that cannot take them is told of before a handler is asked.
    _ = try context.coordinator.storeForNewObjects(of: entity)
    var attributes = BatchAttributes(entity, verb: "inserted")
    switch request.source {
    case .dictionaries(let rows):
      for (index, values) in rows.enumerated() {
        try Self.naming(row: index, of: entity) { try insert(values, of: entity, &attributes) }
      }
    case .dictionaryHandler(let handler):
      var index = 0
      while true {
        var values: [String: Value] = [:]
        if try handler(&values) { break }
        try Self.naming(row: index, of: entity) { try insert(values, of: entity, &attributes) }
        index += 1
      }
    case .objectHandler(let handler): try insert(entity, handler)
    }
    nameRows(of: entity)
    return try saved(request.resultType, of: entity)
  }

  /// Where values must be unique, an error says which row of the input has them, and not the ID that it would have got.
  private func nameRows(of entity: ResolvedEntity) {
    guard !entity.uniquenessConstraints.isEmpty else { return }
    // Those that give way to a saved one are in no list meanwhile.
    let rows = context.changedObjects.map(ObjectIdentifier.init)
    var places: [ObjectIdentifier: Int]?
    context.nameOfNewObject = { object in
      let known = places ?? Dictionary(uniqueKeysWithValues: zip(rows, 1...))
      places = known
      return known[ObjectIdentifier(object)].map { "row \($0) of the batch insert" }
    }
  }

  private func insert(_ values: [String: Value], of entity: ResolvedEntity, _ attributes: inout BatchAttributes) throws
  {
    try HostWork.charge()
    let object = try context.insert(entity)
    for (key, value) in values { try object.setValue(value, slot: attributes.slot(key)) }
  }

  private func insert(_ entity: ResolvedEntity, _ handler: BatchInsertRequest.ObjectHandler) throws {
    var count = 0
    while true {
      try HostWork.charge()
      let object = try context.insert(entity)
      let isLast = try Self.naming(row: count, of: entity) {
        // The handler sets values; the context is none that it could save.
        let isLast = try context.withinHook { try handler(object) }
        try context.throwPendingError()
        return isLast
      }
      if isLast {
        context.disownNew(object)
        break
      }
      count += 1
      guard object.context === context, !object.isDeleted else {
        throw GraphError(
          .invalidRequest, message: "\(entity.name), row \(count): the handler of a batch insert deleted its object",
          entity: entity.name)
      }
      if let name = object.nameOfRelationshipThatWasSet {
        throw GraphError(
          .invalidRequest,
          message:
            "\(entity.name).\(name): row \(count): a batch insert sets no relationships: insert the objects in a context",
          entity: entity.name, property: name)
      }
    }
    guard context.changedObjects.count == count else {
      throw GraphError(
        .invalidRequest, message: "the handler of a batch insert of \(entity.name) inserted or changed other objects",
        entity: entity.name)
    }
  }

  private static func naming<Result>(
    row index: Int, of entity: ResolvedEntity, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch var error as GraphError where !error.code.endsRun {
      error.message = "row \(index + 1) of the batch insert: \(error.message)"
      throw error
    }
  }

  private func saved(_ type: BatchResultType, of entity: ResolvedEntity) throws -> BatchResult {
    let changes = try save()
    // Others changed only because a new one handed its values over.
    let own = Set(entity.subtree)
    let updated = changes.updated.filter { context.model.entity(of: $0).map { own.contains($0.index) } ?? false }
    let ids = changes.inserted + updated
    return BatchResult(type, ids: ids, count: ids.count, changes: changes)
  }

  // MARK: Updating

  func update(_ update: BatchUpdate) throws -> BatchResult {
    if let result = try update.executed(by: asker) { return BatchResult(update.resultType, of: result) }
    let objects = try context.fetch(update.fetchRequest)
    // All are computed from what was there before the first changes.
    var values: [[Value]] = []
    var memory = HostMemory()
    for object in objects {
      try HostWork.charge()
      let new = try update.values(for: object)
      try memory.hold(32 + new.reduce(0) { $0 + 24 + $1.weight })
      values.append(new)
    }
    for (object, new) in zip(objects, values) {
      try HostWork.charge()
      for (slot, value) in zip(update.slots, new) { try object.setValue(value, slot: slot) }
    }
    let ids = update.resultType == .objectIDs ? objects.map(\.objectID) : []
    let changes = try save()
    return BatchResult(update.resultType, ids: ids, count: objects.count, changes: changes)
  }

  // MARK: Deleting

  func delete(_ deletion: BatchDeletion) throws -> BatchResult {
    if let result = try deletion.executed(by: asker) { return BatchResult(deletion.resultType, of: result) }
    let objects = try context.fetch(deletion.fetchRequest)
    if try deleteTogether(objects) == nil { try deleteEach(of: objects) }
    let ids = objects.filter(\.isDeleted).map(\.objectID)
    let changes = try save()
    return BatchResult(deletion.resultType, ids: ids, count: ids.count, changes: changes)
  }

  /// An object may not go as long as another one is there.
  private struct Denied: Error {
    let keeper: ManagedObjectID
  }

  /// Deletes objects with all that their rules take along, and returns these; nil, and all as it was, where a relationship denies it, and
  /// `keeper` is one that it leads to.
  private func deleteTogether(
    _ objects: [ManagedObject], keeper: (ManagedObjectID) -> Void = { _ in }
  ) throws -> [ManagedObjectID]? {
    do {
      return try context.undoingOnFailure {
        for object in objects where !object.isDeleted { try context.delete(object) }
        try context.applyDeleteRules()
        // What went before was not denied, and nobody came since.
        let deleted = OrderedSet(context.journal.all.lazy.map(\.object)).filter(\.isDeleted)
        for object in deleted { if let keeper = try context.keeper(of: object) { throw Denied(keeper: keeper) } }
        return deleted.map(\.objectID)
      }
    } catch let denied as Denied {
      keeper(denied.keeper)
      return nil
    }
  }

  /// Some stay. Those that are denied by others that go may go after these: they are tried again when one that kept them is gone.
  private func deleteEach(of objects: [ManagedObject]) throws {
    var kept: [ManagedObjectID: [ManagedObject]] = [:]
    var waiting = objects
    while !waiting.isEmpty {
      var gone: [ManagedObjectID] = []
      for object in waiting where !object.isDeleted {
        try HostWork.charge()
        gone += try deleteTogether([object]) { kept[$0, default: []].append(object) } ?? []
      }
      waiting = gone.flatMap { kept.removeValue(forKey: $0) ?? [] }
    }
  }

  // MARK: Saving

  /// Saves the context; returns what was written.
  private func save() throws -> SavedObjectIDs {
    var changes = SavedObjectIDs()
    let deleted = context.changedObjects.filter(\.isDeleted).map(\.objectID)
    let observation = context.observeSaves(didSave: { save in
      changes = SavedObjectIDs(
        inserted: save.inserted.map(\.objectID), updated: save.updated.map(\.objectID), deleted: deleted)
    })
    defer { observation.cancel() }
    try context.save()
    return changes
  }
}

extension GraphError {
  /// Whether others saved meanwhile what was to be saved.
  fileprivate var isOvertaken: Bool {
    let all = details.isEmpty ? [self] : details
    return all.allSatisfy { [.mergeConflict, .objectNotFound].contains($0.code) }
  }
}

extension ManagedObjectContext {
  /// A new object that nothing knows of goes as if it had not been.
  fileprivate func disownNew(_ object: ManagedObject) {
    guard object.context === self else { return }
    object.markUnlisted()
    changedObjects.remove(object, keepingPlaces: false)
    disown(object, because: .rolledBack)
  }
}

extension ManagedObject {
  /// The name of a relationship of a new object that leads somewhere.
  fileprivate final var nameOfRelationshipThatWasSet: String? {
    let toOne = entity.toOneSlots.first { !(current($0) ?? .null).isNull }
    let slot = toOne ?? relationships.first { $0.value.hasChanges }?.key
    return slot.map { entity.properties[$0].name }
  }
}
