public import MoonbaseModel
import MoonbasePlatform

/// From IDs to objects. A context has one object for each ID; objects are registered in tables by store and entity
/// (`ObjectTable`).
extension ManagedObjectContext {
  /// The object with an ID, as a fault unless it is registered. A missing row is reported at the first access.
  ///
  /// Throws for an ID whose entity the model lacks, and for a temporary ID of another context. The ID of a new object
  /// of the parent context gives the object, and gives it a permanent ID.
  public func object(with id: ManagedObjectID) throws -> ManagedObject {
    if let known = registered[id] { return known.takeUnretainedValue() }
    guard !id.isTemporaryID else { return try objectOfParent(id) }
    let entity = try entity(of: id)
    // An ID from a text may name another entity of the same table.
    if entity.root != entity.index || entity.hasSubentities, let known = registered.object(id, inTableOf: entity) {
      return known
    }
    return try makeObject(id.key, in: table(of: id.kind, entity: entity), state: .fault)
  }

  /// The object with a temporary ID of the parent context. The object gets a permanent ID in the parent first. Throws
  /// `.objectNotFound` without a parent.
  private func objectOfParent(_ id: ManagedObjectID) throws -> ManagedObject {
    guard let parent else { throw unknownTemporaryID(id) }
    try parent.checkOpen()
    let theirs = try parent.object(with: id)
    try parent.obtainPermanentIDs(for: [theirs])
    return try object(with: theirs.objectID)
  }

  /// The entity of an ID. Throws `.unknownName` if the model lacks the entity.
  func entity(of id: ManagedObjectID) throws -> ResolvedEntity {
    try checkOpen()
    if let entity = model.entity(of: id) { return entity }
    throw GraphError(.unknownName, message: "\(id): the model has no entity \(id.entityName)", objectID: id)
  }

  /// The error for a temporary ID without an object in this context. The code is `.objectNotFound`.
  func unknownTemporaryID(_ id: ManagedObjectID) -> GraphError {
    GraphError(
      .objectNotFound,
      message:
        "\(id) is the temporary ID of another context, of an object that is gone, or from before a save: save it first, "
        + "and take its objectID then",
      entity: id.entityName, objectID: id)
  }

  /// The objects with some IDs, in their order, as faults unless they are registered. Duplicate IDs give the same
  /// object. Throws as `object(with:)` does, and at the limits of a script.
  public func objects(with ids: [ManagedObjectID]) throws -> [ManagedObject] {
    try HostMemory.require(ids.count &* ManagedObject.ownWeight)
    return try ids.map { id in
      try HostWork.charge()
      return try object(with: id)
    }
  }

  /// The objects with IDs from a store; IDs of the same kind are looked up in one table. Faster than `objects(with:)`,
  /// since the entity is looked up once.
  func objects(with ids: IDList) throws -> [ManagedObject] {
    guard let (kind, keys) = ids.uniform, kind.store != 0, let entity = model.entity(of: ids[0]) else {
      return try objects(with: Array(ids))
    }
    try HostMemory.require(keys.count &* ManagedObject.ownWeight)
    let table = table(of: kind, entity: entity)
    return try keys.map { key in
      try HostWork.charge()
      if let known = table._withUnsafeGuaranteedRef({ $0.map.object(key, of: table) }) {
        return known.takeUnretainedValue()
      }
      return try makeObject(key, in: table, state: .fault)
    }
  }

  /// The object with an ID if the store has it or it waits to be saved; reads its values. Nil otherwise.
  ///
  /// The ID may name another entity of the same table: the row determines the object's entity.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject? {
    if let object = try objectWithRow(id) { return object }
    let known = try source.known([id])[0]
    return try known == id ? nil : objectWithRow(known)
  }

  /// IDs with the right entities, looked up in memory or in the rows; an ID from a text may name another entity of its
  /// table. All unknown IDs take a single request to the store.
  func known(_ ids: [ManagedObjectID]) throws -> [ManagedObjectID] {
    var (result, rest): ([ManagedObjectID], [Int]) = (ids, [])
    for (place, id) in ids.enumerated() where !id.isTemporaryID && registered[id] == nil {
      guard let entity = model.entity(of: id), entity.root != entity.index || entity.hasSubentities else { continue }
      if let object = registered.object(id, inTableOf: entity) {
        result[place] = object.objectID
      } else {
        rest.append(place)
      }
    }
    if rest.isEmpty { return result }
    for (place, id) in zip(rest, try source.known(rest.map { ids[$0] })) { result[place] = id }
    return result
  }

  /// The object of an ID with its row; nil if the row does not exist or the object is deleted. A row is not read again
  /// for a loaded object.
  private func objectWithRow(_ id: ManagedObjectID) throws -> ManagedObject? {
    let object = try object(with: id)
    object.settle()
    if object.isFault, object.snapshot == nil {
      guard let snapshot = try source.snapshot(of: object.objectID, in: view, within: greatestAge) else { return nil }
      object.takeRow(snapshot)
    }
    return object.state.contains(.deleted) ? nil : object
  }

  /// The object with an ID if it is registered. Nothing is read from the store.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? { registered[id]?.takeUnretainedValue() }

  /// The object with an ID, or nil if it is deleted or gone from the store; for the destination of a relationship.
  /// Records the read, if a derived value is being computed.
  func objectIfPresent(with id: ManagedObjectID) throws -> ManagedObject? {
    if derivations.isRecording { noteRead(ofPresence: id) }
    if let known = registered[id]?.takeUnretainedValue() {
      return try known.state.contains(.deleted) || isGone(known) ? nil : known
    }
    return id.isTemporaryID ? nil : try objectWithRow(id)
  }

  /// The object with an ID, or nil if it is gone from the store. Includes deleted objects, whose delete rules are not
  /// applied yet.
  func objectUnlessGone(with id: ManagedObjectID) throws -> ManagedObject? {
    guard let known = registered[id]?.takeUnretainedValue() else { return try objectIfPresent(with: id) }
    return try isGone(known) ? nil : known
  }

  /// Whether an object is a fault whose row no longer exists; reads the row if it exists. Rows of a batch of faults are
  /// read together.
  func isGone(_ object: ManagedObject) throws -> Bool {
    guard object.needsRow else { return false }
    object.settle()
    if let batch = object.batch { try loadRows(of: batch.ids) }
    guard object.needsRow, let row = try source.snapshot(of: object.objectID, in: view, within: greatestAge) else {
      return object.needsRow
    }
    object.takeRow(row)
    return false
  }

  /// Makes and registers an object of a table. The class is that of the table's entity.
  @inline(__always)
  func makeObject(
    _ key: Int64, in table: Unmanaged<ObjectTable>, state: ManagedObject.State
  ) throws -> ManagedObject {
    let object = try objectClass(of: table).init(
      ManagedObject.InitializationToken(table: table, key: key, state: state))
    object.beginWeighing()
    return object
  }

  /// Registers an object of this context.
  ///
  /// Another object with the same ID, made while no row existed, leaves the context, because IDs are unique.
  func register(_ object: ManagedObject) {
    object.table._withUnsafeGuaranteedRef { $0.map.insert(object) }?.leave(because: .replaced)
  }

  /// Unregisters an object; called from its `deinit`. The object's page may be compacted afterwards.
  func forget(_ object: ManagedObject) {
    if derivations.isWatching, object.hasCaches { derivations.detach(object) }
    registered.remove(object)
    weigh(-object.weight)
    if object.row.notesDeparture, let page = object.page { sparsePages.append(page) }
  }

  /// Counts an object less in a page of rows. A page with few remaining rows is compacted later (`sparsePages`).
  func noteDeparture(from page: RowPage?) {
    if let page, page.noteDeparture() { sparsePages.append(page) }
  }
}
