package import MoonbaseModel
import MoonbasePlatform

/// The changes that one save will write, computed without modifying objects, so that a failed save leaves everything as
/// it was.
///
/// Made by `SaveOperation`, used once and then dropped. The order of use: `init` (keys, rows, links), `write` (all
/// stores, then the commits), `adopt` (the objects take IDs and rows). Rows of new objects are usually saved in the
/// pages in which the objects keep them, without a copy.
package struct SavePlan {
  /// The changes for one store.
  package struct StorePlan {
    /// The number of the store in object IDs.
    package let number: UInt32
    /// The store.
    let store: any PersistentStore
    /// Complete after `finishRows`.
    package var changes = StoreChanges()
    /// The inserted rows. For copied rows also their place among them and the index of their object in `rows`.
    let inserted: RowCollector
    /// The copied rows among the inserted ones.
    var insertedCopies: [(place: Int, row: Int)] = []
    /// The updated rows, with places and indexes in the same way, and the description of their changes.
    let updated: RowCollector
    /// The copied rows among the updated ones.
    var updatedCopies: [(place: Int, row: Int)] = []
    /// The changed slots of each updated row.
    var notes = StoreChanges.Updates.Notes()

    /// Begins without changes.
    init(number: UInt32, store: any PersistentStore) {
      (self.number, self.store) = (number, store)
      inserted = RowCollector(store: StoreNumber(rawValue: number))
      updated = RowCollector(store: StoreNumber(rawValue: number))
    }

    /// For messages.
    var name: String { store.name }
  }

  /// An object of the save, with its ID and row after the save.
  struct NewRow {
    /// Unretained: the plan's list retains the object.
    let reference: Unmanaged<ManagedObject>
    /// The permanent ID.
    let id: ManagedObjectID
    /// The row that was made; `.nothing` if no value in the row changed.
    var written = WrittenRow.nothing

    /// Nothing is written yet.
    init(_ object: ManagedObject, _ id: ManagedObjectID) { (reference, self.id) = (.passUnretained(object), id) }

    /// The object, retained by the plan.
    var object: ManagedObject { reference.takeUnretainedValue() }
  }

  /// The context that is saved.
  let context: ManagedObjectContext
  /// The changed objects.
  private let objects: ChangeList
  /// The changes by store, in the order in which stores were needed.
  package var plans: [StorePlan] = []
  /// All objects that are not deleted.
  var rows: [NewRow] = []
  /// Objects whose deletion is saved.
  private(set) var deleted: [ManagedObject] = []
  /// Objects whose `didSave` hook is called.
  private(set) var didSaveObservers: [ManagedObject] = []
  /// The permanent IDs of new objects, by temporary ID.
  var permanent: PermanentIDs
  /// The sessions that were begun early, so that new objects get keys in them.
  let begun = BegunSessions()
  /// The pages of new and changed objects whose rows are saved in place.
  private(set) var ownRows: [RowPage] = []
  /// The kinds of slots by entity, computed once each.
  private var shapes: ContiguousArray<Shape?>
  /// The conflicts that the stores found.
  private(set) var conflicts: [SaveConflict] = []
  /// The inputs of stored values that another context saved.
  private(set) var stale = StaleInputs()
  /// The objects with values that stores derived during the save.
  private(set) var derived: [ManagedObjectID] = []
  /// The stores that committed.
  private var saved: [StorePlan] = []
  /// Whether some store has not committed.
  private var isIncomplete = true

  /// The source of keys for new objects.
  package enum NewKeys {
    /// There are no new objects.
    case none
    /// Keys are reserved in the stores, outside sessions.
    case ofStores
    /// Keys are reserved in the sessions of the save: `write` must follow.
    case ofSessions
    /// Consecutive keys from this one on, in a store that holds all new objects, which are of one entity.
    case following(StoreNumber, Int64)
  }

  /// Plans the writing of all changes. Throws errors of reserving keys, and of rows that cannot be written.
  package init(_ context: ManagedObjectContext, keys: NewKeys) throws {
    self.context = context
    objects = context.changedObjects
    permanent = PermanentIDs(entityCount: context.model.entities.count)
    // Seals the pages even if planning fails: later changes of objects must not alter rows of the save.
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

  /// Plans the rows of all changed objects, and then the links. Objects of one entity usually follow each other.
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
        if hears { didSaveObservers.append(object) }
        if let shape { try plan(object, shape) }
      }
    }
    finishRows()
  }

  /// Plans the changes of one object. Transient changes need no row.
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

  /// The kinds of an entity's slots, shared by all its objects.
  ///
  /// A class, so that it is shared without copying.
  final class Shape {
    /// The transient slots.
    let transient: SlotSet
    /// The to-one relationships.
    let toOne: SlotSet
    /// The slots of `toOne` as a list.
    let toOneSlots: [Slot]
    /// The to-many relationships.
    let toMany: SlotSet

    /// Computed once per entity and save.
    fileprivate init(_ entity: ResolvedEntity) {
      transient = SlotSet(entity.transientSlots)
      (toOne, toOneSlots) = (SlotSet(entity.toOneSlots), entity.toOneSlots)
      toMany = SlotSet(entity.toManySlots)
    }
  }

  /// The kinds of slots of an entity, cached. Constant time after the first call.
  private mutating func shape(of entity: ResolvedEntity) -> Shape {
    if let known = shapes[entity.index] { return known }
    let new = Shape(entity)
    shapes[entity.index] = new
    return new
  }

  /// Writes the changes to all stores, and then commits the stores one after the other.
  ///
  /// Stores are used in the order of their numbers, which is the same for all contexts, so that two contexts never wait
  /// for each other. With `checksInputs`, the inputs of stored values must equal the stores' current values. Throws
  /// conflicts as one error, `StaleInputs`, and the errors of the stores. Sessions that did not commit are aborted.
  mutating func write(checksInputs: Bool = false) throws {
    defer { begun.abort() }
    let waiting = plans.filter { !$0.changes.isEmpty }
    let others = try storesOfUnchanged(besides: waiting)
    let visited = (waiting + others.plans).sorted { $0.number < $1.number }
    begun.abort(but: visited.map(\.number))
    var sessions: [(plan: StorePlan, session: any SaveSession)] = []
    var lookers: [any SaveSession] = []
    // The sessions of checked stores stay open until all is saved, so that no other save changes the checked objects.
    defer { for session in lookers.reversed() { session.abort() } }
    do {
      for plan in visited {
        let session = try begun.remove(plan.number) ?? plan.store.beginSave(author: context.transactionAuthor)
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
          context.source.didSave(plan.changes, deriving: derived, from: context.merging.inbox)
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

  /// The error for a save in which some stores committed and others did not. It has the code of the failure and names
  /// the stores.
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

  /// Whether some stores committed, but not all. Then the committed changes must be adopted in spite of the error.
  var isPartlySaved: Bool { isIncomplete && !saved.isEmpty }

  /// Whether the save covered all changes of the context. Then the list of changes can be emptied at once.
  var savedAllChanges: Bool { !isIncomplete && deleted.isEmpty && context.changedObjects.count == rows.count }

  /// The changes that stores committed. In the order of the commits.
  var savedChanges: [StoreChanges] { saved.map(\.changes) }

  /// Whether the changes of an object are saved. Decided by the object's store.
  func isSaved(_ object: ManagedObject) -> Bool {
    let number = permanentID(object.objectID).storeNumber
    return !isIncomplete || saved.contains { $0.number == number }
  }

  /// Gives the objects their permanent IDs and new snapshots after a successful save. Observers and other objects
  /// replace the temporary IDs.
  func adopt() {
    let new = isIncomplete ? permanent.filter { number in saved.contains { $0.number == number } } : permanent
    if !new.isEmpty { context.observations.observers.prepareForNewIDs() }
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

  /// Lets the save adopt the page of an object's own row. Returns false if the page belongs to another store: new
  /// objects of one page may go to several stores, but a page is of one store. The page is completed for this store
  /// with the first object.
  mutating func adoptOwnRow(of object: ManagedObject, in store: StoreNumber) -> Bool {
    guard object.row.isOwn, let page = object.row.page.map(Unmanaged.passUnretained) else { return true }
    return page._withUnsafeGuaranteedRef { page in
      if page.beginCompleting(in: store) {
        ownRows.append(page)
        object.table._withUnsafeGuaranteedRef { $0.endOwnRows() }
      }
      return page.store == store
    }
  }

  /// Afterwards the pages are immutable.
  private func sealOwnRows() {
    for page in ownRows { page.seal() }
  }

  // MARK: Stores

  /// The index of the plan for the store of an ID. Throws `.readOnlyStore`.
  mutating func planIndex(of id: ManagedObjectID) throws -> Int {
    let number = id.storeNumber
    if let index = plans.firstIndex(where: { $0.number == number }) { return index }
    let store = try context.source.store(of: id)
    return try addPlan(number, store, for: id)
  }

  /// Adds a change of a store's metadata. The save then writes this store even without changed objects.
  mutating func add(_ change: MetadataChange) throws {
    let number = StoreNumber(change.store.identifier).rawValue
    let index = try plans.firstIndex { $0.number == number } ?? addPlan(number, change.store, for: nil)
    plans[index].changes.metadataChange = change.body
  }

  /// Records the extensions in the metadata of each written store that does not know them yet. Child contexts write no
  /// metadata.
  mutating func noteExtensions(_ versions: [String: String]) throws {
    for index in plans.indices {
      let plan = plans[index]
      guard try !plan.changes.isEmpty && context.coordinator.mustNote(versions, in: plan.store, number: plan.number)
      else { continue }
      plans[index].changes.metadataChange = RememberedExtensions.adding(
        versions, after: plan.changes.metadataChange)
    }
  }

  /// Adds the plan for a store. Throws for a read-only store. The code is `.readOnlyStore`.
  private mutating func addPlan(
    _ number: UInt32, _ store: any PersistentStore, for id: ManagedObjectID?
  ) throws -> Int {
    guard !store.isReadOnly else {
      throw GraphError(
        .readOnlyStore, message: "\(store.name) is read-only: \(store.writingAdvice)",
        entity: id?.entityName, objectID: id)
    }
    plans.append(StorePlan(number: number, store: store))
    plans[plans.count - 1].changes.contextName = context.name
    return plans.count - 1
  }
}
