import MoonbaseModel
import MoonbasePlatform

/// What one save will write, worked out without touching an object, so that a failed save leaves everything as it was.
struct SavePlan {
  /// What one store is to write.
  struct StorePlan {
    let number: UInt32
    let store: any PersistentStore
    var changes = StoreChanges()
    /// The new rows, and of those that are copies their places among them and the indexes of their objects in `rows`.
    let inserted: RowCollector
    var insertedCopies: [(place: Int, row: Int)] = []
    /// The same for changed rows, and what is said of them.
    let updated: RowCollector
    var updatedCopies: [(place: Int, row: Int)] = []
    var notes = StoreChanges.Updates.Notes()

    init(number: UInt32, store: any PersistentStore) {
      (self.number, self.store) = (number, store)
      inserted = RowCollector(store: StoreNumber(rawValue: number))
      updated = RowCollector(store: StoreNumber(rawValue: number))
    }

    var name: String { store.url?.path ?? "store \(store.identifier)" }
  }

  /// What an object becomes when all is written.
  struct NewRow {
    /// The plan's list keeps the object.
    let reference: Unmanaged<ManagedObject>
    let id: ManagedObjectID
    var written = Written.nothing

    init(_ object: ManagedObject, _ id: ManagedObjectID) { (reference, self.id) = (.passUnretained(object), id) }

    var object: ManagedObject { reference.takeUnretainedValue() }
  }

  /// What a store gets of an object.
  enum Written {
    /// No row.
    case nothing
    /// The object's own row where it is; the plan keeps the page. The object may have left it when all is written: what reads rows meanwhile
    /// gives the last objects of a page other ones (`SparsePages`).
    case inPlace(Unmanaged<RowPage>, UInt16)
    /// A row that was made of it.
    case copied(Snapshot)
  }

  let context: ManagedObjectContext
  /// The objects that had changes.
  private let objects: ChangeList
  var plans: [StorePlan] = []
  var rows: [NewRow] = []
  /// Objects whose deletion is saved.
  private(set) var deleted: [ManagedObject] = []
  /// Objects that hear of it in `didSave`.
  private(set) var hearers: [ManagedObject] = []
  var permanent: PermanentIDs
  /// What began already, for new objects to get their keys in it.
  let begun = BegunSessions()
  /// Pages of new and changed objects, whose rows are saved as they are.
  private(set) var ownRows: [RowPage] = []
  /// What was looked up of entities.
  private var shapes: ContiguousArray<Shape?>
  /// What was in the way.
  private(set) var conflicts: [SaveConflict] = []
  /// The inputs of stored values that another context saved.
  private(set) var stale = StaleInputs()
  /// Objects with values that stores derived with the save.
  private(set) var derived: [ManagedObjectID] = []
  /// Stores that committed.
  private var saved: [StorePlan] = []
  /// Whether not all stores committed.
  private var isIncomplete = true

  /// Where new objects get their keys.
  enum NewKeys {
    /// No object is new.
    case none
    /// From their stores, by themselves.
    case ofStores
    /// In the sessions that write: `write` has to follow.
    case ofSessions
    /// From this one on, in a store that holds all of them, which are of one entity.
    case following(StoreNumber, Int64)
  }

  /// Plans to write what has changed.
  init(_ context: ManagedObjectContext, keys: NewKeys) throws {
    self.context = context
    objects = context.changedObjects
    permanent = PermanentIDs(entityCount: context.model.entities.count)
    // Whatever becomes of the save: objects that change after it do not change what it writes.
    defer { sealOwnRows() }
    shapes = ContiguousArray(repeating: nil, count: context.model.entities.count)
    do {
      try assignPermanentIDs(keys)
      try planAll()
    } catch {
      begun.abort()
      throw error
    }
  }

  private mutating func planAll() throws {
    rows.reserveCapacity(objects.count)
    var (table, shape, hears): (UnsafeMutableRawPointer?, Shape?, Bool) = (nil, nil, false)
    try objects.forEachUnretained { pointer in
      try pointer._withUnsafeGuaranteedRef { object in
        try HostWork.charge()
        if table != object.table.toOpaque() {
          table = object.table.toOpaque()
          shape = self.shape(of: object.entity)
          hears = try context.behavior(of: object.entity).hasDidSave
        }
        if hears { hearers.append(object) }
        if let shape { try plan(object, shape) }
      }
    }
    finishRows()
  }

  private mutating func plan(_ object: ManagedObject, _ shape: Shape) throws {
    if object.state.contains(.deleted) {
      deleted.append(object)
      return try plan(deletionOf: object)
    }
    if object.state.contains(.inserted) {
      try plan(insertionOf: object, shape)
    } else {
      try plan(updateOf: object, shape)
    }
    if object.record != nil { try planLinks(of: object) }
  }

  /// Which slots of an entity are of which kind: looked up once for all its objects.
  final class Shape {
    let transient: SlotSet
    let toOne: SlotSet
    let toOneSlots: [Slot]
    let toMany: SlotSet

    fileprivate init(_ entity: ResolvedEntity) {
      transient = SlotSet(entity.transientSlots)
      (toOne, toOneSlots) = (SlotSet(entity.toOneSlots), entity.toOneSlots)
      toMany = SlotSet(entity.toManySlots)
    }
  }

  private mutating func shape(of entity: ResolvedEntity) -> Shape {
    if let known = shapes[entity.index] { return known }
    let new = Shape(entity)
    shapes[entity.index] = new
    return new
  }

  /// Writes the changes to all stores, and then commits them one by one.
  ///
  /// Stores are taken in the order of their numbers, which is the same for all contexts, so that two contexts never
  /// wait for each other. With `checksInputs` the inputs of stored values have to be as the stores have them.
  mutating func write(checksInputs: Bool = false) throws {
    defer { begun.abort() }
    let waiting = plans.filter { !$0.changes.isEmpty }
    let others = try storesOfUnchanged(besides: waiting)
    let visited = (waiting + others.plans).sorted { $0.number < $1.number }
    begun.abort(but: visited.map(\.number))
    var sessions: [(plan: StorePlan, session: any SaveSession)] = []
    var lookers: [any SaveSession] = []
    // Nobody saves what was looked at before all is saved.
    defer { for session in lookers.reversed() { session.abort() } }
    do {
      for plan in visited {
        let session = try begun.take(plan.number) ?? plan.store.beginSave(author: context.transactionAuthor)
        if plan.changes.isEmpty { lookers.append(session) } else { sessions.append((plan, session)) }
        if checksInputs { stale = try staleInputs(in: plan.number, besides: plan.changes) }
        if !stale.isEmpty { throw stale }
        conflicts = plan.changes.isEmpty ? [] : try context.source.conflicts(writing: plan.changes, in: session)
        conflicts += try conflictsOfUnchanged(in: plan.number, besides: conflicts)
        try throwConflicts()
        if !plan.changes.isEmpty { try session.prepare() }
      }
      conflicts = try others.readOnly.flatMap { try conflictsOfUnchanged(in: $0, besides: []) }
      try throwConflicts()
      while let (plan, session) = sessions.last {
        try context.source.committing {
          try session.commit()
          sessions.removeLast()
          let derived = session.derivedObjectIDs
          context.source.didSave(plan.changes, deriving: derived, from: context.inbox)
          self.derived += derived
        }
        saved.append(plan)
      }
      isIncomplete = false
    } catch {
      for (plan, session) in sessions.reversed() {
        session.abort()
        context.source.didNotSave(plan.changes)
      }
      throw saved.isEmpty ? error : partial(error, of: waiting)
    }
  }

  private func partial(_ error: any Error, of all: [StorePlan]) -> any Error {
    let lost = all.filter { plan in !saved.contains { $0.number == plan.number } }
    let known = error as? GraphError
    return GraphError(
      known?.code ?? .storeFailure,
      message:
        "\(known?.message ?? "\(error)"); \(saved.map(\.name).joined(separator: ", ")) was saved before this, and "
        + "\(lost.map(\.name).joined(separator: ", ")) was not: save again for the rest",
      entity: known?.entity, objectID: known?.objectID, underlying: error)
  }

  /// Whether some stores committed, but not all.
  var isPartlySaved: Bool { isIncomplete && !saved.isEmpty }

  /// Whether nothing that had changed waits to be saved any more, nor anything else.
  var savedAllChanges: Bool { !isIncomplete && deleted.isEmpty && context.changedObjects.count == rows.count }

  /// What stores committed.
  var savedChanges: [StoreChanges] { saved.map(\.changes) }

  /// Whether what an object has to save is saved.
  func isSaved(_ object: ManagedObject) -> Bool {
    let number = permanentID(object.objectID).storeNumber
    return !isIncomplete || saved.contains { $0.number == number }
  }

  /// The save succeeded: objects take their new IDs and snapshots.
  func adopt() {
    let new = isIncomplete ? permanent.filter { number in saved.contains { $0.number == number } } : permanent
    if !new.isEmpty { context.observers.prepareForNewIDs() }
    rows.withUnsafeBufferPointer { rows in
      for row in rows {
        row.reference._withUnsafeGuaranteedRef { object in
          if !isIncomplete || isSaved(object) { object.becomeSaved(as: row.written, id: row.id, permanent: new) }
        }
      }
    }
    context.tellHoldersOfTemporaryIDs(new)
    for page in ownRows where !isIncomplete || saved.contains(where: { $0.number == page.store.rawValue }) {
      page.forgetBases()
    }
  }

  // MARK: Own rows

  /// The page of an object's own row is the save's from now on. False where another store takes it: new objects of one page may go into
  /// several stores, and a page is of one.
  mutating func takeOwnRow(of object: ManagedObject, in store: StoreNumber) -> Bool {
    guard object.row.isOwn, let page = object.row.page.map(Unmanaged.passUnretained) else { return true }
    return page._withUnsafeGuaranteedRef { page in
      if page.beginCompleting(in: store) {
        ownRows.append(page)
        object.table._withUnsafeGuaranteedRef { $0.endOwnRows() }
      }
      return page.store == store
    }
  }

  private func sealOwnRows() {
    for page in ownRows { page.seal() }
  }

  // MARK: Stores

  /// The place of the changes for the store of an ID.
  mutating func planIndex(of id: ManagedObjectID) throws -> Int {
    let number = id.storeNumber
    if let index = plans.firstIndex(where: { $0.number == number }) { return index }
    let store = try context.source.store(of: id)
    return try addPlan(number, store, for: id)
  }

  /// Adds a change of a store's metadata.
  mutating func add(_ change: MetadataChange) throws {
    let number = StoreNumber(change.store.identifier).rawValue
    let index = try plans.firstIndex { $0.number == number } ?? addPlan(number, change.store, for: nil)
    plans[index].changes.metadataChange = change.body
  }

  /// Has each store that is written note the extensions, where it does not know them.
  mutating func noteExtensions(_ versions: [String: String]) throws {
    for index in plans.indices {
      let plan = plans[index]
      guard try !plan.changes.isEmpty && context.coordinator.mustNote(versions, in: plan.store, number: plan.number)
      else { continue }
      plans[index].changes.metadataChange = RememberedExtensions.adding(
        versions, after: plan.changes.metadataChange)
    }
  }

  private mutating func addPlan(
    _ number: UInt32, _ store: any PersistentStore, for id: ManagedObjectID?
  ) throws -> Int {
    guard !store.isReadOnly else {
      throw GraphError(
        .readOnlyStore, message: "\(store.url?.path ?? store.identifier) is read-only: \(store.writingAdvice)",
        entity: id?.entityName, objectID: id)
    }
    plans.append(StorePlan(number: number, store: store))
    plans[plans.count - 1].changes.contextName = context.name
    return plans.count - 1
  }
}
