import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A batch insert in progress.
///
/// The rows are objects of a separate context without hooks and rules, so the insertion can rely on its save. Many rows
/// go to the store in chunks, and another thread writes each chunk while the next is made (`InsertionPipe`), still in a
/// single transaction.
struct BatchInsertion {
  private let asker: ManagedObjectContext
  private let entity: ResolvedEntity
  private var attributes: BatchAttributes
  /// The store, if it takes rows as they come; nil if all are saved at the end.
  private var store: (any StreamingStore)?
  private var pipe: InsertionPipe?
  /// The context of the rows that were not yet passed to the pipe.
  private var context: ManagedObjectContext
  /// The number of rows in the context, and the number before them.
  private var (count, earlier) = (0, 0)

  /// The number of rows or bytes in a chunk.
  private static let chunk = (rows: 2048, bytes: 4 << 20)

  init(of entity: ResolvedEntity, beside asker: ManagedObjectContext) throws {
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, message: "\(entity.name) is abstract: insert objects of its subentities", entity: entity.name)
    }
    (self.asker, self.entity) = (asker, entity)
    attributes = BatchAttributes(entity, verb: "inserted")
    // Throws for a read-only store before a handler is called.
    let store = try asker.coordinator.storeForNewObjects(of: entity)
    // With unique values, a merge policy may need all conflicts at once.
    let mayFollow =
      asker.hostSettings.savesAhead && asker.mergePolicy.isError && entity.uniquenessConstraints.isEmpty
      // The keys of rows on their way are counted here, so that no other save may be given any.
      && store.reservesKeysInSaves
    self.store = mayFollow ? store as? any StreamingStore : nil
    context = Self.context(beside: asker)
  }

  private static func context(beside asker: ManagedObjectContext) -> ManagedObjectContext {
    let context = asker.contextForBatches()
    context.mergePolicy = asker.mergePolicy
    return context
  }

  /// Inserts the rows of the request.
  mutating func run(_ request: BatchInsertRequest) throws -> BatchResult {
    do {
      try BatchInsertHandler.run { try insert(request.source) }
      if let pipe {
        if count > 0 { _ = try beginPendingSave(to: pipe) }
        return BatchResult(request.resultType, of: try pipe.finish())
      }
    } catch {
      throw pipe?.breakOff(because: error) ?? error
    }
    nameRows()
    return try saved(request.resultType)
  }

  /// Inserts the rows of a source.
  private mutating func insert(_ source: BatchInsertRequest.Source) throws {
    switch source {
    case .dictionaries(let rows):
      for values in rows { try insert(values) }
    case .dictionaryHandler(let handler):
      while true {
        var values: [String: Value] = [:]
        if try handler(&values) { break }
        try insert(values)
      }
    case .objectHandler(let handler): try insert(handler)
    }
  }

  /// Inserts a row of values.
  private mutating func insert(_ values: [String: Value]) throws {
    try HostWork.charge()
    do {
      let object = try context.insert(entity)
      for (key, value) in values { try object.setValue(value, slot: attributes.slot(key)) }
    } catch {
      throw named(error)
    }
    try endRow()
  }

  /// Inserts the rows of a handler until it returns true.
  private mutating func insert(_ handler: BatchInsertRequest.ObjectHandler) throws {
    while true {
      try HostWork.charge()
      let object = try context.insert(entity)
      let isLast: Bool
      do {
        isLast = try BatchInsertHandler.fill(object, handler)
      } catch {
        throw named(error)
      }
      if isLast {
        context.disownNew(object)
        return try checkRows()
      }
      guard object.context === context, !object.isDeleted else {
        throw refusal(", row \(earlier + count + 1): the handler of a batch insert deleted its object")
      }
      if let name = object.nameOfRelationshipThatWasSet {
        throw refusal(
          ".\(name): row \(earlier + count + 1): a batch insert sets no relationships: insert the objects in a context",
          property: name)
      }
      try endRow(checking: true)
    }
  }

  /// Completes a row, and passes a full chunk to the store.
  @inline(__always)
  private mutating func endRow(checking: Bool = false) throws {
    count += 1
    guard count >= Self.chunk.rows || context.memory.weight >= Self.chunk.bytes, let store else { return }
    if checking { try checkRows() }
    let pipe = try pipe ?? InsertionPipe(to: store, of: entity, for: asker)
    self.pipe = pipe
    if try !beginPendingSave(to: pipe) { (self.pipe, self.store) = (nil, nil) }
  }

  /// Passes the context's rows to the pipe, and continues with a new context.
  private mutating func beginPendingSave(to pipe: InsertionPipe) throws -> Bool {
    guard try pipe.send(context) else { return false }
    earlier += count
    count = 0
    context = Self.context(beside: asker)
    return true
  }

  /// Throws if the handler inserted or changed objects other than its own.
  private func checkRows() throws {
    guard context.changedObjects.count == count else {
      throw refusal(": the handler of its batch insert inserted or changed other objects")
    }
  }

  private func refusal(_ text: String, property: String? = nil) -> GraphError {
    GraphError(.invalidRequest, message: entity.name + text, entity: entity.name, property: property)
  }

  /// The error with the number of the input row.
  private func named(_ error: any Error) -> any Error {
    guard var error = error as? GraphError, !error.code.endsRun else { return error }
    error.message = "row \(earlier + count + 1) of the batch insert: \(error.message)"
    return error
  }

  /// Makes errors about unique values name the input row instead of an ID that the object does not get.
  private func nameRows() {
    guard !entity.uniquenessConstraints.isEmpty else { return }
    // Recorded before the save, as new objects that a saved one replaces leave the list of changes.
    let rows = context.changedObjects.map(ObjectIdentifier.init)
    var places: [ObjectIdentifier: Int]?
    context.hostSettings.nameOfNewObject = { object in
      let known = places ?? Dictionary(uniqueKeysWithValues: zip(rows, 1...))
      places = known
      return known[ObjectIdentifier(object)].map { "row \($0) of the batch insert" }
    }
  }

  /// Saves the rows of the context, and returns the result.
  private func saved(_ type: BatchResultType) throws -> BatchResult {
    let changes = try context.saveBatch()
    // Further objects changed only because a new object's values were copied to a saved one.
    let own = Set(entity.subtree)
    let updated = changes.updated.filter { context.model.entity(of: $0).map { own.contains($0.index) } ?? false }
    let ids = changes.inserted + updated
    return BatchResult(type, ids: ids, count: ids.count, changes: changes)
  }
}
