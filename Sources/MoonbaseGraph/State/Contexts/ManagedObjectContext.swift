import DequeModule
public import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// A set of related objects: keeps one instance for each ID, tracks changes, and saves them.
///
/// A context and its objects are confined to one executor: the main actor's, a background context's own, or the only
/// thread of a simple program. A context is not `Sendable`; the compiler prevents it and its objects from crossing
/// executors.
///
/// ```swift
/// let context = try ManagedObjectContext(coordinator)
/// let ann = try context.insert("Person", values: ["name": "Ann"])
/// try context.save()
/// let others = try context.fetch(FetchRequest("Person", where: "name != 'Ann'"))
/// ```
public final class ManagedObjectContext {
  /// The order of validation and `willSave` at a save.
  public enum SaveOrder: Sendable {
    /// Validation, then `willSave`, then validation of what `willSave` changed: Apple's guide on non-standard
    /// attributes.
    case validateFirst
    /// `willSave`, then validation: the reported order of Apple's frameworks.
    case willSaveFirst
  }

  /// The parent context, from which a child context reads and into which it saves; retained. Nil for a context of a
  /// coordinator.
  public let parent: ManagedObjectContext?
  /// The coordinator that the context reads from and saves into. A child's is made by the parent, with stores that show
  /// the parent's unsaved changes.
  let source: PersistentStoreCoordinator
  /// The coordinator of the stores behind the context; for a child context, the parent's.
  public var coordinator: PersistentStoreCoordinator { parent?.coordinator ?? source }
  /// The model, including attributes that only the current extensions declare.
  @exclusivity(unchecked) public private(set) var model: ResolvedModel
  /// The transformers, rules and hooks of this context.
  public let extensionRegistry: ExtensionRegistry
  /// The order of validation and `willSave`.
  public var saveOrder: SaveOrder = .validateFirst
  /// Whether the context merges the saves of the coordinator's other contexts automatically (`mergeChanges`).
  ///
  /// A child context merges the saves and merges of its parent, and the saves of the parent's other children. Every
  /// context merges before each fetch and save, and in `processPendingChanges`. A background context, and the view
  /// context of a container, also merge as soon as their executor is free, so that lists, observers and sequences are
  /// updated without a call. Initially true for background contexts only.
  public var automaticallyMergesChangesFromParent: Bool {
    get { merging.inbox != nil }
    set {
      guard newValue != automaticallyMergesChangesFromParent else { return }
      merging.inbox = newValue ? source.addInbox(hostSettings.onNews) : nil
    }
  }
  /// The resolution of conflicts with saves of other contexts; by default a conflict fails the save.
  public var mergePolicy = MergePolicy.error
  /// Whether a save detects transformable values that were read and then changed in place.
  ///
  /// Values are shared, and a change in place is not tracked: it would be lost silently. If true, the context retains
  /// every object whose transformable value was read until the next save, transforms the values again, and refuses the
  /// save with `.changedInPlace` if the bytes differ. For debugging: the check costs time and memory.
  public var detectsInPlaceMutation = false
  /// Whether the context retains all registered objects, not only those with changes, until this is set to false or the
  /// context is reset. Retained objects are not read twice.
  public var retainsRegisteredObjects: Bool {
    get { retained.retainsAll }
    set {
      guard newValue != retained.retainsAll else { return }
      retained.retainsAll = newValue
      registered.setRetaining(newValue)
      // Released only when no change is in progress.
      let former = retained.all
      retained.all = newValue ? Set(registered.values.map { $0.takeUnretainedValue() }) : []
      withExtendedLifetime(former) {}
    }
  }
  /// The greatest age of a known row that a fault may use; an older row is read again.
  ///
  /// Nil, the initial value, or a negative duration accepts any age; zero accepts only a row that is read at that
  /// moment. An object that has its values keeps them until it is refreshed, which always reads the row. The results of
  /// a walk (`fetchedObjects`) belong to one state as long as its view is kept. Rows that were read before the first
  /// context of the process set an interval count as too old. So do rows of an in-memory store, where reading costs
  /// nothing.
  ///
  /// ```swift
  /// context.stalenessInterval = .seconds(5)    // what others saved shows no later than five seconds after
  /// ```
  public var stalenessInterval: Duration? {
    didSet {
      if greatestAge != nil { RowPage.noteAges() }
      for case let behavior? in behaviorTable.behaviors {
        for table in registered.tables(of: behavior.entity.index) { table.adopt(behavior) }
      }
    }
  }
  /// The staleness interval in seconds; nil for rows of any age.
  var greatestAge: Double? { stalenessInterval.flatMap { $0 < .zero ? nil : $0.seconds } }
  /// A name for messages.
  public var name: String?
  /// Whether fetches and `processPendingChanges` apply delete rules, in addition to saves.
  public var propagatesDeletesAtEndOfEvent = true
  /// The author of this context's saves in the persistent history; nil for the store's default.
  public var transactionAuthor: String?
  /// Undoes and redoes changes; nil, the initial value, costs nothing. A manager belongs to one context.
  public var undoManager: UndoManager? {
    didSet {
      guard undoManager !== oldValue else { return }
      oldValue?.leave()
      undoManager?.enter(self)
      if journal.isSettled { settleUndo() }
    }
  }
  /// Errors of accessors that cannot throw. The next save throws the first error; `drainAccessorErrors` clears them.
  public var pendingErrors: [any Error] { errors.pending }
  /// Errors of `didSave` hooks after successful saves, at most a hundred. `drainDidSaveErrors` clears them.
  public var didSaveErrors: [GraphError] { errors.didSave }

  // The compiler's exclusivity checks are off for fields that every read or change of an object touches:
  // docs/development.md, "What the compiler is told".

  /// The work in progress: nesting depths of hooks, rules, accessors and delete rules, and the transaction.
  /// Requests that would disturb the work are refused.
  @exclusivity(unchecked) package var running = RunningWork()
  /// The saves of other contexts that are to be merged.
  @exclusivity(unchecked) var merging = PendingMerges()
  /// Observers of saves and merges.
  @exclusivity(unchecked) package var observations = ContextObservations()
  /// Rows, lists and views that were read ahead, until something is saved, rolled back or refreshed.
  @exclusivity(unchecked) var readAhead = ReadAhead()
  /// The save that another thread writes, and what depends on its result.
  @exclusivity(unchecked) var writing = ConcurrentSaving()
  /// Deleted objects whose consequences are pending.
  @exclusivity(unchecked) var deletions = PendingDeletions()
  /// Objects that the context retains for a check at the next save, or by request.
  @exclusivity(unchecked) var retained = RetainedObjects()
  /// Counters by which other parts detect that their knowledge is outdated.
  @exclusivity(unchecked) var counters = ContextCounters()
  /// Compiled key paths, and entities that were looked up.
  @exclusivity(unchecked) var caches = ContextCaches()
  /// The memory that the objects hold.
  @exclusivity(unchecked) package var memory = ContextMemory()
  /// The executor of the context, and whether the context is closed.
  @exclusivity(unchecked) var lifetime = ContextLifetime()
  /// Errors and warnings that no call has thrown.
  var errors = ContextErrors()
  /// Hooks, rules and slot kinds by entity.
  @exclusivity(unchecked) private var behaviorTable: BehaviorTable
  /// The registered objects.
  let registered = IdentityMap()
  /// The new, changed and deleted objects in order of their first change; retained until saved or rolled back.
  @exclusivity(unchecked) package var changedObjects: ChangeList = []
  /// The dependencies of derived values.
  @exclusivity(unchecked) var derivations = Derivations()
  /// The former states of changes that may have to be undone.
  @exclusivity(unchecked) package var journal = ChangeJournal()

  /// Settings of the code that owns the context: containers, imports and migrations.
  package var hostSettings = ContextHostSettings()

  /// Makes a context over a coordinator, with a registry of its own from `extensions`.
  public convenience init(_ coordinator: PersistentStoreCoordinator, extensions: (any ExtensionProvider)? = nil) throws
  {
    self.init(coordinator, extensionRegistry: try extensions?.makeRegistry() ?? ExtensionRegistry())
  }

  /// Makes a context over a coordinator with a registry that was made on this thread.
  public init(_ coordinator: PersistentStoreCoordinator, extensionRegistry: ExtensionRegistry) {
    parent = nil
    source = coordinator
    self.extensionRegistry = extensionRegistry
    model = coordinator.model
    behaviorTable = BehaviorTable(entityCount: coordinator.model.entities.count)
    updateModel()
    extensionRegistry.enter(self)
  }

  /// Makes a child context, which reads the parent's state with its unsaved changes, and saves into the parent.
  ///
  /// The child's saves become unsaved changes of the parent; only the parent's save writes them into a store. Both
  /// contexts belong to one executor, and share their extensions. A new object of the parent gets its permanent ID at
  /// the first read of the child, a new object of the child at the child's save.
  ///
  /// ```swift
  /// let sheet = ManagedObjectContext(parent: context)
  /// try sheet.object(with: person.objectID).setValue("Ann", forKey: "name")
  /// try sheet.save()      // person has the name, and waits to be saved
  /// ```
  public init(parent: ManagedObjectContext) {
    self.parent = parent
    source = parent.makeSourceOfChildren()
    extensionRegistry = parent.extensionRegistry
    saveOrder = parent.saveOrder
    lifetime.confinement = parent.lifetime.confinement
    (model, behaviorTable) = (parent.model, BehaviorTable(like: parent.behaviorTable))
    extensionRegistry.enter(self)
    source.parentRows?.add(self)
  }

  /// Makes a context beside another context, without its changes: objects appear as they are saved.
  init(twinOf other: ManagedObjectContext) {
    parent = other.parent
    source = other.source
    extensionRegistry = other.extensionRegistry
    (model, behaviorTable) = (other.model, BehaviorTable(like: other.behaviorTable))
    running.hookDepth = other.running.hookDepth
    running.accessorDepth = other.running.accessorDepth
    extensionRegistry.enter(self)
  }

  deinit {
    _ = writing.pendingSave?.wait()
    lifetime.reference?.clear()
    extensionRegistry.leave(self)
    registered.abandon { $0.becomeAbandoned(because: .contextGone) }
    memory.weight = 0
    tellWeight()
  }

  /// The combined hooks, rules and slot kinds of an entity. Throws if the extensions do not fit the model.
  package func behavior(of entity: ResolvedEntity) throws -> EntityBehavior {
    if let known = behaviorTable.behaviors[entity.index] { return known }
    if let error = behaviorTable.error { throw error }
    let new = try EntityBehaviorBuilder.behavior(
      of: model.entities[entity.index], objectClass: coordinator.objectClass(of: entity), model: model,
      registry: extensionRegistry)
    behaviorTable.behaviors[entity.index] = new
    for table in registered.tables(of: entity.index) { table.adopt(new) }
    return new
  }

  /// Whether the tables' sets of simple slots may be used: reads of simple slots need no recording.
  @inline(__always)
  var knowsSimpleSlots: Bool { !derivations.isRecording }

  /// Whether a changed object's value may be overwritten without recording the former value or notifying anyone.
  @inline(__always)
  var overwritesQuietly: Bool {
    !derivations.isWatching && !journal.isActive && !changedObjects.isFollowed
  }

  /// The table for objects of an entity and store.
  @inline(__always)
  func table(of kind: ManagedObjectID.Kind, entity: @autoclosure () throws -> ResolvedEntity) rethrows
    -> Unmanaged<ObjectTable>
  {
    if let known = registered.table(kind) { return known }
    return try makeTable(kind, of: entity())
  }

  @inline(never)
  private func makeTable(_ kind: ManagedObjectID.Kind, of entity: ResolvedEntity) -> Unmanaged<ObjectTable> {
    let table = registered.add(kind, entity: model.entities[entity.index], context: self)
    table.keepsObjects = retainsRegisteredObjects
    if let behavior = behaviorTable.behaviors[entity.index] { table.adopt(behavior) }
    return .passUnretained(table)
  }

  /// The class of a table's objects.
  @inline(__always)
  func objectClass(of table: Unmanaged<ObjectTable>) throws -> ManagedObject.Type {
    if let known = table._withUnsafeGuaranteedRef({ $0.objectClass }) { return known }
    let table = table.takeUnretainedValue()
    let type = try behavior(of: table.entity).objectClass
    table.objectClass = type
    return type
  }

  /// Adopts replaced extensions: computed values become invalid, and added attributes appear in the model.
  func adoptExtensions() {
    let former = model
    updateModel()
    for index in behaviorTable.behaviors.indices { behaviorTable.behaviors[index] = nil }
    registered.adopt(model)
    forgetEntities()
    changedObjects.forgetIndex()
    derivations.stored.inputs = nil
    caches.lookups.known = []
    // The next save computes stored values with changed inputs, by the new getters.
    let outdated = derivations.stored.outdated
    forgetDerivations()
    derivations.stored.outdated = outdated
    for object in registered.values { object.takeUnretainedValue().forgetCaches() }
    counters.changeCount &+= 1
    noteReload(from: former)
  }

  /// Updates the model for the extensions. If they do not fit, the model stays unchanged, and `behavior(of:)` throws.
  private func updateModel() {
    do {
      model = try extensionRegistry.model(over: source.model)
      behaviorTable.error = nil
    } catch {
      behaviorTable.error = error
    }
  }

  /// Makes the temporary ID of a new object.
  func temporaryID(for entity: ResolvedEntity) -> ManagedObjectID {
    counters.arrivalCount &+= 1
    return behaviorTable.temporaryKeys[entity.index].makeID(for: entity.symbol)
  }

  /// Keeps the error of an accessor that cannot throw; the next save throws it.
  package func keep(_ error: any Error) { errors.pending.append(error) }

  /// Counts a change, which makes values invalid that depend on anything.
  func noteChange() { counters.changeCount &+= 1 }

  /// Drops rows and lists that were read ahead, after a save, a rollback or a refresh.
  func forgetReadAhead() {
    endViews()
    readAhead.prefetched = PrefetchedLists()
    forgetDeferredRows()
    readAhead.number += 1
  }

  /// Marks an object as changed, in a slot or as a whole.
  func didChange(_ object: ManagedObject, _ slot: Slot? = nil) {
    counters.changeCount &+= 1
    changedObjects.note(object)
    mark(object, slot, as: object.state.contains(.inserted) ? .listed : [.listed, .updated])
  }

  /// Marks a value as set by a primitive setter.
  ///
  /// The next save writes the object, which is retained until then. `willSave` is not called again for the change, so
  /// that `willSave` may set a new value each time.
  func didChangePrimitive(_ object: ManagedObject, _ slot: Slot) {
    mark(object, slot, as: .listed, silently: primitivesAreSilent)
  }

  /// Whether setting a primitive value is silent. A rule must not change values, so its changes are recorded.
  var primitivesAreSilent: Bool { running.phase != .validating && running.ruleDepth == 0 }

  /// Adds an object and a slot to those that the next save considers.
  @inline(__always)
  func mark(_ object: ManagedObject, _ slot: Slot?, as flags: ManagedObject.State, silently: Bool = false) {
    if !object.has(flags, mark: slot) { markAnew(object, slot, as: flags, silently: silently) }
  }

  @inline(never)  // most changes concern an object that is already marked
  private func markAnew(_ object: ManagedObject, _ slot: Slot?, as flags: ManagedObject.State, silently: Bool) {
    record(.flags(object.flags(slot)), of: object, silently: silently)
    if object.mark(slot, as: flags) { changedObjects.append(object) }
  }

  /// Removes an object from those that the next save considers.
  func unlist(_ object: ManagedObject) {
    if object.markUnlisted() { changedObjects.remove(object, keepingPlaces: journal.isActive) }
  }

  /// The entity with a name. Throws `.unknownName` if the model lacks it.
  package func entity(_ name: String) throws -> ResolvedEntity {
    // Callers that insert many objects look up the same entity again and again.
    if let entityNamedLast = caches.entityNamedLast, ExactText.areSame(entityNamedLast.name, name) {
      return entityNamedLast
    }
    try checkOpen()
    guard let entity = model.entity(name) else { throw GraphError.unknownEntity(name, in: model) }
    // The cache is off if uses are checked, so that each lookup checks the executor and the closed state.
    if lifetime.confinement == nil { caches.entityNamedLast = entity }
    return entity
  }

  /// Clears the lookup caches, so that a closed context refuses the next lookup.
  func forgetEntities() {
    caches.entityNamedLast = nil
    caches.entitiesByClass = [:]
  }

  /// The entity that was last looked up, if it has the name.
  package func entity(namedLastAs name: UnsafeRawBufferPointer) -> ResolvedEntity? {
    guard let entityNamedLast = caches.entityNamedLast, entityNamedLast.name.utf8.elementsEqual(name) else {
      return nil
    }
    return entityNamedLast
  }
}

extension ManagedObjectContext {
  /// Binds the context to the main actor; uses elsewhere end the process if they are checked.
  package func confineToMainActor() { confine(to: .mainActor) }

  /// Binds the context to an executor, if uses are checked.
  func confine(to confinement: @autoclosure () -> Confinement) {
    if Confinement.isChecked { lifetime.confinement = confinement() }
  }

  /// Ends the process if the context, or an object of it, is used on the wrong executor.
  @inline(__always)
  func checkConfinement(of object: ManagedObject? = nil) {
    if lifetime.confinement != nil { failElsewhere(object) }
  }

  @inline(never)
  private func failElsewhere(_ object: ManagedObject?) {
    guard let confinement = lifetime.confinement, !confinement.isCurrent() else { return }
    let context = name.map { "the context '\($0)'" } ?? "a context"
    confinement.fail(object.map { "\($0.entity.name) \($0.objectID) of \(context)" } ?? context)
  }

  /// Discards all unsaved changes and releases all objects with their memory; observations end.
  ///
  /// From then on every request to the context, or to a child of it, throws `.invalidObject`. Closing it again does
  /// nothing. Throws `.recursiveSave` and `.contextBusy` within a hook, and `.invalidRequest` within a transaction.
  public func close() throws {
    guard !lifetime.isClosed else { return }
    if running.isInTransaction {
      throw GraphError(.invalidRequest, message: "a context was closed within its transaction: do it when that is done")
    }
    try releaseAllObjects(because: .closed)
    endObservations()
    lifetime.isClosed = true
    merging.inbox = nil
    endSequences()
    forgetEntities()
  }

  /// Throws `.invalidObject` if the context was closed.
  package func checkOpen() throws {
    checkConfinement()
    guard lifetime.isClosed else { return }
    throw GraphError(.invalidObject, message: "the context was closed: ask for a new one")
  }
}

extension ManagedObjectContext {
  /// The only reference of this kind to the context.
  package var reference: ContextReference {
    if let known = lifetime.reference { return known }
    let new = ContextReference(self)
    lifetime.reference = new
    return new
  }
}

extension ManagedObjectContext {
  /// Runs an operation and reports it to the meter, if there is one.
  func measuring<Result>(
    _ kind: GraphOperation.Kind, of entity: String? = nil, _ body: () throws -> Result
  ) rethrows -> Result {
    guard parent == nil else { return try body() }
    return try source.measuring(kind, of: entity, body)
  }
}

extension ManagedObjectContext {
  /// The issues with severity warning (`ValidationIssue.severity`) of the last save, whether it succeeded or not: the
  /// first 10,000. Each error names the object and the property. The next save begins a new list.
  public var validationWarnings: [GraphError] { errors.warnings.all }
}
