import DequeModule
public import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// A set of objects that belong together: it knows one instance for each ID, notes what changes, and saves it.
///
/// A context and its objects are confined to one executor: the main actor's, a background context's own, or the one thread of a
/// simple program. It is not `Sendable`; the compiler keeps it and its objects from crossing.
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
    /// Validation, then `willSave`, then validation of what `willSave` changed: Apple's guide on non-standard attributes.
    case guide
    /// `willSave`, then validation: what Apple's frameworks are reported to do.
    case framework
  }

  /// The context that this one is a child of: what it reads from and saves into. It is kept alive. Nil where that is a coordinator.
  public let parent: ManagedObjectContext?
  /// What the context draws on, and saves into: its coordinator, or one whose stores are those of the parent as the parent has them.
  let source: PersistentStoreCoordinator
  /// What child contexts draw on, as long as there are any.
  weak var sourceOfChildren: PersistentStoreCoordinator?
  /// The coordinator of the stores behind the context; of a child the parent's.
  public var coordinator: PersistentStoreCoordinator { parent?.coordinator ?? source }
  /// The model, with the attributes that only the extensions of now declare.
  @exclusivity(unchecked) public private(set) var model: ResolvedModel
  /// The transformers, rules and hooks that hold in this context.
  public let extensionRegistry: ExtensionRegistry
  /// The order of validation and `willSave`.
  public var saveOrder: SaveOrder = .guide
  /// Whether what other contexts of the coordinator save is merged (`mergeChanges`). A child takes in what its parent
  /// saves and merges, and what other children save into that.
  ///
  /// Every context merges before each fetch and save, and by `processPendingChanges`. A background context and the view
  /// context of a container merge as soon as their executor is free, too: lists, observers and sequences follow without
  /// a call. On at first for background contexts.
  public var automaticallyMergesChangesFromParent = false {
    didSet {
      guard automaticallyMergesChangesFromParent != oldValue else { return }
      inbox = automaticallyMergesChangesFromParent ? source.addInbox(onNews) : nil
    }
  }
  /// Called on any thread when there is something to merge, for a context that knows when its executor is free
  /// (`takeNews`).
  package var onNews: (@Sendable () -> Void)?
  /// What a save does where another context came first; unless something is set, it fails.
  public var mergePolicy = MergePolicy.error
  /// Whether a save looks for transformable values that were read and then changed in place.
  ///
  /// A value read is shared, and changing it in place is no change: it would be lost without a word. With this on, the context
  /// keeps every object of which such a value was read until the next save, transforms the values again, and refuses the save
  /// with `.changedInPlace` where the bytes differ. For finding mistakes: it costs time and memory.
  public var detectsInPlaceMutation = false
  /// Whether the context keeps all objects that are registered, and not only those with changes; until it is turned off, or a reset. So
  /// nothing is read twice, and nothing that was read is let go.
  public var retainsRegisteredObjects = false {
    didSet {
      guard retainsRegisteredObjects != oldValue else { return }
      registered.setRetaining(retainsRegisteredObjects)
      // Let go of when nothing is being changed any more.
      let former = keptObjects
      keptObjects = retainsRegisteredObjects ? Set(registered.values.map { $0.takeUnretainedValue() }) : []
      withExtendedLifetime(former) {}
    }
  }
  /// How old a row that was read may be when a fault takes its values from it; an older one is read anew. Nil, as it is
  /// at first, or a negative span for rows of any age; zero for none but those that are read then.
  ///
  /// It concerns faults: an object that has its values keeps them until it is refreshed, which reads its row in any case. What a walk
  /// (`fetchedObjects`) finds is of one state as long as its view is kept. Rows that were read before any context of the process set an
  /// interval count as older; so do those of a store in memory, which costs nothing to ask.
  ///
  /// ```swift
  /// context.stalenessInterval = .seconds(5)    // what others saved shows no later than five seconds after
  /// ```
  public var stalenessInterval: Duration? {
    didSet {
      greatestAge = stalenessInterval.flatMap { $0 < .zero ? nil : $0.seconds }
      if greatestAge != nil { RowPage.noteAges() }
      for case let behavior? in behaviors {
        for table in registered.tables(of: behavior.entity.index) { table.take(behavior) }
      }
    }
  }
  /// The same; nil for rows of any age.
  private(set) var greatestAge: Double?
  /// A name for people.
  public var name: String?
  /// Whether delete rules are applied by `processPendingChanges` and fetches too, and not only by a save.
  public var propagatesDeletesAtEndOfEvent = true
  /// The name that saves of this context bear in the history of stores that keep one; nil leaves it to the store.
  public var transactionAuthor: String?
  /// Undoes and redoes changes; nil, and without any cost, as long as none is set. One manager belongs to one context.
  public var undoManager: UndoManager? {
    didSet {
      guard undoManager !== oldValue else { return }
      oldValue?.leave()
      undoManager?.enter(self)
      if journal.isSettled { settleUndo() }
    }
  }
  /// Whether a save checks objects. A migration saves them in pieces, and checks them when all are there.
  package var validatesAtSave = true
  /// Errors of accessors that could not throw. The next save throws the first of them; `drainAccessorErrors` clears them.
  public internal(set) var pendingErrors: [any Error] = []
  /// Errors of `didSave` hooks, the first hundred: what they belong to is saved. `takeDidSaveErrors` clears them.
  public internal(set) var didSaveErrors: [GraphError] = []

  // Unchecked are the fields that every read or change of an object touches: docs/development.md, "What the compiler is told".

  /// The instances that are held or have changes.
  let registered = IdentityMap()
  /// New, changed and deleted objects, in the order they became so. Retained until saved or rolled back.
  @exclusivity(unchecked) var changedObjects: ChangeList = []
  /// Goes up with every change of any object, so that a derived value knows whether it still holds.
  @exclusivity(unchecked) var changeCount: UInt64 = 0
  /// What errors call a new object that is known by something else than its ID: by the row of a batch insert.
  package var nameOfNewObject: ((ManagedObject) -> String?)?
  /// What rules warned of at the last save.
  var warnings = ValidationWarnings()
  /// Goes up with every object that comes, or comes back, with a temporary ID.
  @exclusivity(unchecked) var arrivalCount: UInt64 = 0
  /// How far a running save is; nil where none runs.
  var phase: SavePhase?
  /// How many hooks, rules, transformers and derived attributes are running inside of each other.
  @exclusivity(unchecked) var hookDepth = 0
  /// Closures to call when hooks return, with the depths of these hooks; and whether there are any.
  var endsOfHooks: [(depth: Int, body: () -> Void)] = []
  @exclusivity(unchecked) var hasEndsOfHooks = false
  /// How many rules are running inside of each other.
  @exclusivity(unchecked) var ruleDepth = 0
  /// How many times delete rules are being applied inside of each other, and how often they were.
  var propagationDepth = 0
  var propagationCount: UInt64 = 0
  /// How many accessors of subclasses are running inside of each other.
  @exclusivity(unchecked) var accessorDepth = 0
  /// What derived values were computed from.
  @exclusivity(unchecked) var derivations = Derivations()
  /// Stored derived attributes of which something changed that they were computed from, until the next save.
  var outdatedStored: [StoredPlace] = []
  /// What others saved, and is to be merged.
  var inbox: NewsInbox<SavedObjectIDs>?
  /// Objects that were not merged automatically, because a value was changed here and elsewhere.
  var unmergedIDs: Set<ManagedObjectID> = []
  /// Who observes saves.
  var saveObservations: [SaveObserver] = []
  /// Observers of merges.
  var mergeObservations: [MergeObserver] = []
  /// Observations of programs that end with the context.
  var keptObservations: [ObjectIdentifier: AnyObject] = [:]
  /// Who reads of saves elsewhere, by IDs.
  var saveSequences: SaveSequences?
  /// Whether the body of a transaction runs.
  var isInTransaction = false
  /// Whether a part of what is saved together runs.
  var refusesGivingUp = false
  /// What was there before changes that may have to be undone.
  @exclusivity(unchecked) var journal = ChangeJournal()
  /// Objects deleted since delete rules were last applied.
  var deletionsToPropagate: Deque<ManagedObject> = []

  /// Who observes objects.
  let observers = Observers()
  /// Who follows all objects.
  let listeners = ChangeListeners()
  /// Whether any of them waits to be told something.
  @exclusivity(unchecked) var hasNewsForObservers = false

  /// Pages of which hardly any row is used any more.
  @exclusivity(unchecked) var sparsePages = SparsePages()

  /// The bytes that the objects hold, by estimate, and those that the registry was told of.
  @exclusivity(unchecked) var weight = 0
  @exclusivity(unchecked) var toldWeight = 0

  /// Destinations that were read ahead, until something is saved, rolled back or refreshed.
  var prefetched = PrefetchedLists()
  /// The views of walks, the newest last; some may be over, or gone.
  var openViews: ContiguousArray<OpenView> = []
  /// The view of what is being read just now.
  var pinnedView: ReadView?
  /// Rows that a prefetch found too many to read; not read yet.
  var wantedRows: WantedRows?
  /// Another number each time that what was read ahead no longer counts.
  private(set) var readAheadNumber = 0
  /// Who leads to objects that nothing but `LooseEnds` takes away.
  @exclusivity(unchecked) var looseLeads = LooseLeads()
  /// New objects that were deleted and wait to leave; some may have left, or be back.
  var newDeletedObjects: ContiguousArray<ManagedObject> = []

  /// Objects of which transformable values were read since the last save; see `detectsInPlaceMutation`.
  var readObjects: OrderedSet<ManagedObject> = []

  /// Objects that the next save looks at for conflicts, changed or not.
  var objectsToCheck: OrderedSet<ManagedObject> = []

  /// All objects, where these are kept.
  var keptObjects: Set<ManagedObject> = []

  /// What changed since the last event, as long as anybody wants to know.
  var changeEvent: ChangeEvent?

  var knownReference: ContextReference?
  /// Where it may be used; nil where nobody looks.
  @exclusivity(unchecked) var confinement: Confinement?
  /// Whether it takes no more requests.
  var isClosed = false

  /// Key paths that were followed.
  var keyPaths = KeyPaths()
  /// Entities by the classes of their objects, as far as they were asked for.
  var entitiesByClass: [ObjectIdentifier: ResolvedEntity] = [:]

  /// The plans of lookups of objects by values, and the revision of the stores for which they hold.
  var lookups: (revision: Int, known: [ObjectLookup]) = (0, [])
  /// The view of lookups that follow each other.
  var lookupSession: LookupSession?
  /// Which stored attributes depend on what; made by the first save that asks.
  var storedInputs: StoredInputs?

  /// The save that another thread writes.
  @exclusivity(unchecked) var saveUnderWay: SaveAhead?
  /// Whether lists of destinations were read of which rows tell too.
  @exclusivity(unchecked) var hasReadLists = false
  /// How often an object was refreshed that may have moved from one list to another, and nobody knew which it was in. Lists that were
  /// read before are read anew.
  @exclusivity(unchecked) var unseenMoves: UInt32 = 0
  /// Objects that no save lists, with values that hold temporary IDs.
  var holdersOfTemporaryIDs: [ManagedObject] = []
  /// Saved objects with changed lists for which the save that was under way ended within the savepoints of now: where these are
  /// undone, nothing may be left to save.
  var ownersInDoubt: [ManagedObject] = []
  /// How often all objects were let go.
  @exclusivity(unchecked) var resetCount = 0
  /// Why it failed, until somebody is told.
  var failureOfSave: (any Error)?
  /// The thread that writes such saves.
  var saveWriter: ThreadExecutor?
  /// Whether saves may be written by another thread: on one core that would only take longer.
  package var savesAhead = HostErrand.hasSeveralCores

  @exclusivity(unchecked) private var behaviors: ContiguousArray<EntityBehavior?>
  /// Why extensions that a program put together do not fit the model.
  private var extensionError: (any Error)?
  /// By entity: the temporary keys of its new objects.
  @exclusivity(unchecked) private var entityNamedLast: ResolvedEntity?
  @exclusivity(unchecked) private var temporaryKeys: ContiguousArray<TemporaryKeyRange>

  /// Makes a context over a coordinator, with a registry of its own from `extensions`.
  public convenience init(_ coordinator: PersistentStoreCoordinator, extensions: (any ExtensionProvider)? = nil) throws
  {
    self.init(coordinator, extensionRegistry: try extensions?.makeRegistry() ?? ExtensionRegistry())
  }

  /// Makes a context over a coordinator with a registry that was made for it on this thread.
  public init(_ coordinator: PersistentStoreCoordinator, extensionRegistry: ExtensionRegistry) {
    parent = nil
    source = coordinator
    self.extensionRegistry = extensionRegistry
    model = coordinator.model
    behaviors = ContiguousArray(repeating: nil, count: coordinator.model.entities.count)
    temporaryKeys = ContiguousArray(repeating: TemporaryKeyRange(), count: coordinator.model.entities.count)
    takeModel()
    extensionRegistry.enter(self)
  }

  /// Makes a child of another context: what it reads is what the parent has, unsaved changes among it, and what it saves becomes unsaved
  /// changes of the parent. Only the save of the parent writes them into a store.
  ///
  /// Both are of one executor, and share their extensions. A new object of the parent gets its permanent ID when the child reads for
  /// the first time after it came, and one of the child when the child is saved.
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
    confinement = parent.confinement
    (model, behaviors, extensionError) = (parent.model, parent.behaviors, parent.extensionError)
    temporaryKeys = ContiguousArray(repeating: TemporaryKeyRange(), count: parent.model.entities.count)
    extensionRegistry.enter(self)
    source.parentStores?.rows.add(self)
  }

  /// Makes a context without changes beside another one: in it, objects are as they are saved.
  init(twinOf other: ManagedObjectContext) {
    parent = other.parent
    source = other.source
    extensionRegistry = other.extensionRegistry
    (model, behaviors, extensionError) = (other.model, other.behaviors, other.extensionError)
    temporaryKeys = ContiguousArray(repeating: TemporaryKeyRange(), count: other.model.entities.count)
    hookDepth = other.hookDepth
    accessorDepth = other.accessorDepth
    extensionRegistry.enter(self)
  }

  deinit {
    _ = saveUnderWay?.wait()
    knownReference?.clear()
    extensionRegistry.leave(self)
    registered.abandon { $0.becomeAbandoned(because: .contextGone) }
    weight = 0
    tellWeight()
  }

  func behavior(of entity: ResolvedEntity) throws -> EntityBehavior {
    if let known = behaviors[entity.index] { return known }
    if let extensionError { throw extensionError }
    let new = try EntityBehaviorBuilder.behavior(
      of: model.entities[entity.index], objectClass: coordinator.objectClass(of: entity), model: model,
      registry: extensionRegistry)
    behaviors[entity.index] = new
    for table in registered.tables(of: entity.index) { table.take(new) }
    return new
  }

  /// Whether what tables say of simple slots holds: nothing special happens to these, not even that a getter reads them.
  @inline(__always)
  var knowsSimpleSlots: Bool { !derivations.isRecording }

  /// Whether nobody wants to know that a changed object gets another value, and what it had before.
  @inline(__always)
  var overwritesQuietly: Bool {
    !derivations.isWatching && !journal.isActive && !changedObjects.isFollowed
  }

  /// The table of objects of a store and an entity.
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
    if let behavior = behaviors[entity.index] { table.take(behavior) }
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

  /// The extensions were replaced: what they computed no longer holds, and what they add is in the model.
  func takeExtensions() {
    let former = model
    takeModel()
    for index in behaviors.indices { behaviors[index] = nil }
    registered.take(model)
    forgetEntities()
    changedObjects.forgetIndex()
    storedInputs = nil
    lookups.known = []
    // What is stored and was computed from what changed, the next save computes, in whichever way that is then.
    let outdated = outdatedStored
    forgetDerivations()
    outdatedStored = outdated
    for object in registered.values { object.takeUnretainedValue().forgetCaches() }
    changeCount &+= 1
    noteReload(from: former)
  }

  /// The model as extensions of now have it. Where they do not fit, it stays as it was, and whoever asks how objects behave is told.
  private func takeModel() {
    do {
      model = try extensionRegistry.model(over: source.model)
      extensionError = nil
    } catch {
      extensionError = error
    }
  }

  /// The ID of a new object.
  func temporaryID(for entity: ResolvedEntity) -> ManagedObjectID {
    arrivalCount &+= 1
    return temporaryKeys[entity.index].take(for: entity.symbol)
  }

  /// Keeps the error of an accessor that cannot throw for the next save.
  func keep(_ error: any Error) { pendingErrors.append(error) }

  func noteChange() { changeCount &+= 1 }

  /// Something was saved, given up or refreshed: what was read before for later use is read anew.
  func forgetReadAhead() {
    endViews()
    prefetched = PrefetchedLists()
    forgetWantedRows()
    readAheadNumber += 1
  }

  /// An object has unsaved changes, in a slot or otherwise.
  func didChange(_ object: ManagedObject, _ slot: Slot? = nil) {
    changeCount &+= 1
    changedObjects.note(object)
    mark(object, slot, as: object.state.contains(.inserted) ? .listed : [.listed, .updated])
  }

  /// A value was set past change notes. The object is kept until the next save, which writes it; `willSave` is not called again
  /// for it, so that it may set what is new each time.
  func didChangePrimitive(_ object: ManagedObject, _ slot: Slot) {
    mark(object, slot, as: .listed, silently: primitivesAreSilent)
  }

  /// Whether primitive values are set silently. A rule may not change values, so what a rule sets is noted.
  var primitivesAreSilent: Bool { phase != .validating && ruleDepth == 0 }

  /// The next save looks at an object and a slot.
  @inline(__always)
  func mark(_ object: ManagedObject, _ slot: Slot?, as flags: ManagedObject.State, silently: Bool = false) {
    if !object.has(flags, mark: slot) { markAnew(object, slot, as: flags, silently: silently) }
  }

  @inline(never)  // an object changes more often than it becomes changed
  private func markAnew(_ object: ManagedObject, _ slot: Slot?, as flags: ManagedObject.State, silently: Bool) {
    record(.flags(object.flags(slot)), of: object, silently: silently)
    if object.mark(slot, as: flags) { changedObjects.append(object) }
  }

  /// The next save need not look at the object.
  func unlist(_ object: ManagedObject) {
    if object.markUnlisted() { changedObjects.remove(object, keepingPlaces: journal.isActive) }
  }

  /// An entity of the model. Throws `.unknownName` where there is none of that name.
  package func entity(_ name: String) throws -> ResolvedEntity {
    // Who inserts many objects names their entity again and again.
    if let entityNamedLast, ExactText.areSame(entityNamedLast.name, name) { return entityNamedLast }
    try checkOpen()
    guard let entity = model.entity(name) else { throw GraphError.unknownEntity(name, in: model) }
    // Who closed the context, or looks where it is used, asks each time.
    if confinement == nil { entityNamedLast = entity }
    return entity
  }

  /// Entities are looked up again, which a closed context refuses.
  func forgetEntities() {
    entityNamedLast = nil
    entitiesByClass = [:]
  }

  /// The entity that was named last, where a name is its.
  package func entity(namedLastAs name: UnsafeRawBufferPointer) -> ResolvedEntity? {
    guard let entityNamedLast, entityNamedLast.name.utf8.elementsEqual(name) else { return nil }
    return entityNamedLast
  }
}
