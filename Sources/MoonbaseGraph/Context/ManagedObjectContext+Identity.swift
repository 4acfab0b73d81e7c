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
    object.waitForPendingSave()
    if object.isFault, object.snapshot == nil {
      guard let snapshot = try source.snapshot(of: object.objectID, in: view, within: greatestAge) else { return nil }
      object.adoptRow(snapshot)
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
    object.waitForPendingSave()
    if let batch = object.batch { try loadRows(of: batch.ids) }
    guard object.needsRow, let row = try source.snapshot(of: object.objectID, in: view, within: greatestAge) else {
      return object.needsRow
    }
    object.adoptRow(row)
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
    if object.row.notesDeparture, let page = object.page { memory.sparsePages.append(page) }
  }

  /// Counts an object less in a page of rows. A page with few remaining rows is compacted later (`sparsePages`).
  func noteDeparture(from page: RowPage?) {
    if let page, page.noteDeparture() { memory.sparsePages.append(page) }
  }
}

/// Permanent IDs and stores of new objects before a save.
extension ManagedObjectContext {
  /// Gives new objects their permanent IDs before they are saved; all other objects keep their IDs.
  ///
  /// The keys are reserved, and not reused if the objects are never saved. Throws for an object of another context,
  /// `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction, and the errors of a
  /// store. After an error all IDs are unchanged.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    try givePermanentIDs(to: objects) { [coordinator] in try coordinator.storeForNewObjects(of: $0) }
  }

  /// Chooses the store of a new object, if several stores hold its entity, and gives the object its permanent ID there.
  ///
  /// Throws `.invalidObject` for an object with an ID in another store, `.invalidRequest` for a store that is not added
  /// or does not hold the entity, `.readOnlyStore`, and the errors of `obtainPermanentIDs`. The object may be assigned
  /// once. Later saves write it into this store.
  public func assign(_ object: ManagedObject, to store: any PersistentStore) throws {
    waitForPendingSave()
    try requireOwn(object, participle: "assigned to a store")
    let path = store.name
    guard coordinator.persistentStores.contains(where: { $0.identifier == store.identifier }) else {
      throw GraphError(.invalidRequest, message: "\(path) is no store of this context's coordinator: add it first")
    }
    let id = object.objectID
    guard id.isTemporaryID else {
      if id.storeNumber == StoreNumber(store.identifier).rawValue { return }
      throw object.invalid("has its ID in another store already: assign it before it is saved or gets a permanent ID")
    }
    let entity = object.entity
    guard coordinator.stores(holding: entity).contains(where: { $0.identifier == store.identifier }) else {
      throw GraphError(
        .invalidRequest, message: "\(path) does not hold \(entity.name): its configuration lacks it",
        entity: entity.name,
        objectID: id)
    }
    guard !store.isReadOnly else {
      throw GraphError(
        .readOnlyStore, message: "\(path) is read-only: \(store.writingAdvice)", entity: entity.name, objectID: id)
    }
    try givePermanentIDs(to: [object]) { _ in store }
  }

  /// All keys are reserved before the first object changes. References to temporary IDs are replaced everywhere: in
  /// changed objects, in the undo manager and in observers.
  private func givePermanentIDs(
    to objects: [ManagedObject], in store: (ResolvedEntity) throws -> any PersistentStore
  ) throws {
    waitForPendingSave()
    for object in objects { try requireOwn(object, participle: "given a permanent ID") }
    try refuseWithinHooks("permanent IDs were asked for")
    guard journal.isSettled else {
      throw GraphError(
        .invalidRequest, message: "permanent IDs were asked for within a transaction: ask before or after it")
    }
    var permanent = PermanentIDs(entityCount: model.entities.count)
    var new: [ManagedObject] = []
    var seen: Set<ObjectIdentifier> = []
    for object in objects where object.objectID.isTemporaryID && seen.insert(ObjectIdentifier(object)).inserted {
      new.append(object)
    }
    guard !new.isEmpty else { return }
    // Each run of keys belongs to one entity.
    for object in new { permanent.note(object.objectID, of: object.entity.index) }
    try permanent.assign { index, count in
      let entity = model.entities[index]
      return try SavePlan.reserveKeys(count, of: entity, in: store(entity))
    }
    undoManager?.prepareForNewIDs()
    observations.observers.prepareForNewIDs()
    for object in new {
      guard let id = permanent[object.objectID] else { continue }
      undoManager?.noteID(id, after: object.objectID)
      object.setPermanentID(id)
    }
    for object in changedObjects.recent {
      object.replaceTemporaryIDs(by: permanent)
      changedObjects.note(object)
    }
    tellHoldersOfTemporaryIDs(permanent)
    forgetReadAhead()
    noteChange()
  }
}

/// Lookup of entities by the Swift class of their objects.
extension ManagedObjectContext {
  /// The entity whose objects have a class; among several, the entity from which all others inherit.
  ///
  /// Throws `.unknownName` if no entity has the class, or if several have it without a common ancestor among them.
  public func entity(of type: ManagedObject.Type) throws -> ResolvedEntity {
    if let known = caches.entitiesByClass[ObjectIdentifier(type)] { return known }
    try checkOpen()
    let found = model.entities.filter { coordinator.objectClass(of: $0) == type }
    guard let top = found.first(where: { candidate in found.allSatisfy { $0.isKind(of: candidate) } }) else {
      throw Self.noEntity(of: type, among: found)
    }
    if lifetime.confinement == nil { caches.entitiesByClass[ObjectIdentifier(type)] = top }
    return top
  }

  /// Lists the entities if there are several.
  private static func noEntity(of type: ManagedObject.Type, among found: [ResolvedEntity]) -> GraphError {
    let name = String(describing: type)
    guard found.isEmpty else {
      let names = found.map(\.name).sorted().joined(separator: ", ")
      return GraphError(
        .unknownName, message: "\(name) is the class of several entities, \(names): name the one that is meant")
    }
    return GraphError(
      .unknownName,
      message:
        "no entity of the model has the class \(name): name it in the model (managedObjectClassName), and give it to "
        + "the container (classes:) or to the coordinator (register(_:forClassName:))")
  }

  /// Throws if a request may find objects of another class. The code is `.invalidObject`. Requests for `ManagedObject`
  /// find anything.
  package func checkClass<Object: ManagedObject>(_ wanted: Object.Type, of request: FetchRequest) throws {
    guard wanted != ManagedObject.self else { return }
    for index in try entity(request.entityName).indexes(includingSubentities: request.includesSubentities) {
      let entity = model.entities[index]
      let type = try behavior(of: entity).objectClass
      if !(type is Object.Type) { throw Self.otherClass(type, of: entity, insteadOf: wanted) }
    }
  }

  /// The error for such a request.
  private static func otherClass(
    _ type: ManagedObject.Type, of entity: ResolvedEntity, insteadOf wanted: ManagedObject.Type
  ) -> GraphError {
    GraphError(
      .invalidObject,
      message: "\(entity.name): its objects are of the class \(type), which is no \(wanted): ask for another class",
      entity: entity.name)
  }

  /// Casts an object to its class. Throws if a subentity has a class that does not inherit from it. The code is
  /// `.invalidObject`.
  func typed<Object: ManagedObject>(_ object: ManagedObject) throws -> Object {
    if let object = object as? Object { return object }
    throw GraphError(
      .invalidObject,
      message:
        "\(object.entity.name): its objects are of the class \(type(of: object)), which is no \(Object.self): give the "
        + "entity a class that inherits from it", entity: object.entity.name, objectID: object.objectID)
  }
}

/// Entities of Swift classes.
extension TypedObject where Self: ManagedObject {
  /// The entity of the class in the model of a context: see `ManagedObjectContext.entity(of:)`.
  public static func entity(in context: ManagedObjectContext) throws -> ResolvedEntity {
    try context.entity(of: Self.self)
  }
}

/// Making new objects. A new object has a temporary ID until it is saved or gets a permanent one.
extension ManagedObjectContext {
  /// Makes a new object with the entity's default values.
  ///
  /// Throws for an unknown or abstract entity, and the error of an awake-from-insert hook.
  @discardableResult
  public func insert(_ entityName: String) throws -> ManagedObject { try insert(entity(entityName)) }

  /// Makes a new object and sets its properties. After an error nothing is inserted or changed. Throws the errors of
  /// `setValue`.
  @discardableResult
  public func insert(_ entityName: String, values: [String: Value]) throws -> ManagedObject {
    try changingTogether {
      let object = try insert(entityName)
      for (key, value) in values { try object.setValue(value, forKey: key) }
      return object
    }
  }

  /// Makes a new object with values of Swift types: `["name": name, "department": department, "born": nil]`.
  @_disfavoredOverload
  @discardableResult
  public func insert(_ entityName: String, values: ConvertibleValues) throws -> ManagedObject {
    try insert(entityName, values: [String: Value](values))
  }

  /// Makes a new object of a Swift class and sets its properties. After an error nothing is inserted or changed.
  ///
  /// ```swift
  /// let ann = try context.insert(Person.self, values: ["name": "Ann"])
  /// ```
  @discardableResult
  public func insert<Object: ManagedObject>(_ type: Object.Type, values: [String: Value] = [:]) throws -> Object {
    let entity = try entity(of: type)
    guard !values.isEmpty else { return try typed(insert(entity)) }
    return try changingTogether {
      let object = try insert(entity)
      for (key, value) in values { try object.setValue(value, forKey: key) }
      return try typed(object)
    }
  }

  /// Makes a new object with values of Swift types: `["name": name, "department": department, "born": nil]`.
  @_disfavoredOverload
  @discardableResult
  public func insert<Object: ManagedObject>(_ type: Object.Type, values: ConvertibleValues) throws -> Object {
    try insert(type, values: [String: Value](values))
  }

  /// Makes a new object of an entity. Throws `.invalidRequest` for an abstract entity, and errors of hooks.
  package func insert(_ entity: ResolvedEntity) throws -> ManagedObject {
    let place = try reserveNewObject(of: entity)
    let object = try objectClass(of: place.table).init(place)
    try awakeInserted(object)
    return object
  }

  /// Checks that a new object may be made, and reserves its ID. Throws `.invalidRequest` and `.contextBusy`.
  @inline(__always)
  func reserveNewObject(of entity: ResolvedEntity) throws -> ManagedObject.InitializationToken {
    try refuseWhileValidating("an object was inserted")
    try refuseWithinGetters("an object was inserted")
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, message: "\(entity.name) is abstract: insert one of its subentities", entity: entity.name)
    }
    let id = temporaryID(for: entity)
    return ManagedObject.InitializationToken(table: table(of: id.kind, entity: entity), key: id.key, state: .inserted)
  }

  /// Inserts an object that was just made, and runs its awake-from-insert hooks. If a hook fails, the insertion is
  /// undone.
  func awakeInserted(_ object: ManagedObject) throws {
    object.beginWeighing()
    let behavior = try behavior(of: object.entity)
    defer { tellObservers() }
    guard behavior.hasAwakeFromInsert else { return begin(object) }
    try undoingOnFailure {
      begin(object)
      if behavior.hooks.contains(.awakeFromInsert) {
        try object.running("awakeFromInsert") { try object.awakeFromInsert() }
      }
      // An object that deleted itself needs no further hooks, and may have left the context.
      for entry in behavior.extensions where object.context === self && !object.isDeleted {
        try object.run("awakeFromInsert", hook: entry.awakeFromInsert)
      }
    }
  }

  /// Registers a new object as inserted, with default values. The caller notifies observers.
  func begin(_ object: ManagedObject) {
    record(.absence, of: object)
    object.setInitialValues(in: journal.current)
    if object.mark(nil, as: .listed) { changedObjects.append(object) }
    if derivations.hasListeners { tellListeners(of: CollectionOfOne(object.objectID)) }
    counters.changeCount &+= 1
  }
}

/// Questions about the hooks of an entity, for code that skips steps without hooks.
extension ManagedObjectContext {
  /// Whether inserting an object of an entity calls no hook and no accessor, so that an unwanted insertion leaves no
  /// trace.
  package func insertsWithoutHooks(_ entity: ResolvedEntity) throws -> Bool {
    let behavior = try behavior(of: entity)
    return !behavior.hasAwakeFromInsert && behavior.accessors.isEmpty
  }

  /// Whether reading a saved object, or assigning equal values to it, calls no hook and no accessor.
  package func readsWithoutHooks(_ entity: ResolvedEntity) throws -> Bool {
    let behavior = try behavior(of: entity)
    return !behavior.hasAwakeFromFetch && behavior.accessors.isEmpty
  }

  /// Whether a `willSave` hook may change objects of an entity or its subentities.
  package func changesWhenSaving(_ entity: ResolvedEntity) throws -> Bool {
    try entity.subtree.contains { try behavior(of: model.entities[$0]).hasWillSave }
  }
}
