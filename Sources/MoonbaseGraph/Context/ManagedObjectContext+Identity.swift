public import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// The object of an ID, made as a fault if it is not registered. Whether the store has it shows at the first access.
  ///
  /// Throws for an ID of an entity that the model does not have, and for a temporary ID of another context. One of the parent's new
  /// objects gives the object with its permanent ID, which it gets now.
  public func object(with id: ManagedObjectID) throws -> ManagedObject {
    if let known = registered[id] { return known.takeUnretainedValue() }
    guard !id.isTemporaryID else { return try objectOfParent(id) }
    let entity = try entity(of: id)
    // A text may have named the object by another entity with the same table.
    if entity.root != entity.index || entity.hasSubentities, let known = registered.object(id, inTableOf: entity) {
      return known
    }
    return try makeObject(id.key, in: table(of: id.kind, entity: entity), state: .fault)
  }

  /// The object of a temporary ID that nothing here has: of the parent's, if it has one.
  private func objectOfParent(_ id: ManagedObjectID) throws -> ManagedObject {
    guard let parent else { throw unknownTemporaryID(id) }
    try parent.checkOpen()
    let theirs = try parent.object(with: id)
    try parent.obtainPermanentIDs(for: [theirs])
    return try object(with: theirs.objectID)
  }

  /// The entity of an ID, which the model must have.
  func entity(of id: ManagedObjectID) throws -> ResolvedEntity {
    try checkOpen()
    if let entity = model.entity(of: id) { return entity }
    throw GraphError(.unknownName, message: "\(id): the model has no entity \(id.entityName)", objectID: id)
  }

  /// The error of a temporary ID that no object here has.
  func unknownTemporaryID(_ id: ManagedObjectID) -> GraphError {
    GraphError(
      .objectNotFound,
      message: "\(id) is the temporary ID of another context or of an object that is gone: save it first",
      entity: id.entityName, objectID: id)
  }

  /// The objects of IDs, in their order; faults where they are not registered.
  public func objects(with ids: [ManagedObjectID]) throws -> [ManagedObject] {
    try HostMemory.require(ids.count &* ManagedObject.ownWeight)
    return try ids.map { id in
      try HostWork.charge()
      return try object(with: id)
    }
  }

  /// The same of IDs as a store gives them: those of one kind are looked up in one table.
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

  /// The object of an ID if it is in the store or waits to be saved; reads its values.
  ///
  /// The ID may name another entity with the same table: the row says of which the object is.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject? {
    if let object = try objectOfRow(id) { return object }
    let known = try source.known([id])[0]
    return try known == id ? nil : objectOfRow(known)
  }

  /// IDs, of which a text may have named some by another entity with the same table: as the objects are called here, or in their rows.
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

  private func objectOfRow(_ id: ManagedObjectID) throws -> ManagedObject? {
    let object = try object(with: id)
    object.settle()
    if object.isFault, object.snapshot == nil {
      guard let snapshot = try source.snapshot(of: object.objectID, in: view, within: greatestAge) else { return nil }
      object.takeRow(snapshot)
    }
    return object.state.contains(.deleted) ? nil : object
  }

  /// The object of an ID if it is registered.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? { registered[id]?.takeUnretainedValue() }

  /// The object of an ID unless it is deleted here or gone from the store: for the far side of a relationship.
  func objectIfPresent(with id: ManagedObjectID) throws -> ManagedObject? {
    if derivations.isRecording { noteRead(ofPresence: id) }
    if let known = registered[id]?.takeUnretainedValue() {
      return try known.state.contains(.deleted) || isGone(known) ? nil : known
    }
    return id.isTemporaryID ? nil : try objectOfRow(id)
  }

  /// The same, but also an object that is deleted here: its delete rules go by what it leads to when they are applied.
  func objectToLeave(with id: ManagedObjectID) throws -> ManagedObject? {
    guard let known = registered[id]?.takeUnretainedValue() else { return try objectIfPresent(with: id) }
    return try isGone(known) ? nil : known
  }

  /// Whether an object is a fault whose row is not in the store any more; reads the row if it is there.
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

  @inline(__always)
  func makeObject(
    _ key: Int64, in table: Unmanaged<ObjectTable>, state: ManagedObject.State
  ) throws -> ManagedObject {
    let object = try objectClass(of: table).init(ManagedObject.ContextPlace(table: table, key: key, state: state))
    object.beginWeighing()
    return object
  }

  /// An object is of this context from now on. One that was made for the same ID while there was no row leaves: two
  /// must not have one ID, and what is not registered would outlive the context.
  func register(_ object: ManagedObject) {
    object.table._withUnsafeGuaranteedRef { $0.map.insert(object) }?.leave(because: .replaced)
  }

  /// An object goes away: called from its `deinit`.
  func forget(_ object: ManagedObject) {
    if derivations.isWatching, object.hasCaches { derivations.detach(object) }
    registered.remove(object)
    weigh(-object.weight)
    if object.row.notesDeparture, let page = object.page { sparsePages.append(page) }
  }

  /// An object with a row of a page went.
  func noteDeparture(from page: RowPage?) {
    if let page, page.noteDeparture() { sparsePages.append(page) }
  }
}
