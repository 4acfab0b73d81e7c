public import MoonbaseModel

/// An object of a managed object context: the one instance for its ID there.
///
/// An object and its context are confined to one executor and are not `Sendable`; IDs and values travel instead. Subclasses add
/// typed accessors and override the life-cycle methods; the graph makes the instances.
///
/// ```swift
/// let name = try person.value(forKey: "name")              // throws what is wrong
/// try person.setValue("Ann", forKey: "name")
/// try person.setObject(office, forKey: "department")       // the department's people follow
/// ```
nonisolated open class ManagedObject {
  // No access to the fields of a graph's objects lasts while other code runs, so that checking each for exclusive
  // access at run time would find nothing (what that saves: docs/development.md, "What the compiler is told"). But for the
  // row they are changed in this file only, by the transitions below and by `changeState`, which +HandOver calls; what lies in the record
  // is set in +Record.

  /// What the object shares with others of its entity, store and context. The table counts its objects, and is there as long as it
  /// has any.
  @exclusivity(unchecked) final private(set) var table: Unmanaged<ObjectTable>
  /// The key of the ID.
  @exclusivity(unchecked) final private(set) var key: Int64
  /// The row, and values beside it. It has transitions of its own (ObjectRow.swift).
  @exclusivity(unchecked) final var row = ObjectRow()
  /// What there is beside the row.
  @exclusivity(unchecked) final private(set) var record: ObjectRecord?
  @exclusivity(unchecked) final private(set) var state: State
  /// Why there is no context any more.
  @exclusivity(unchecked) final private(set) var departure = Departure.contextGone
  /// Whether the context counts what the object keeps.
  @exclusivity(unchecked) final private(set) var isWeighed = false
  /// The savepoint of the context in which the object was inserted; 0 where that was in none.
  @exclusivity(unchecked) final private(set) var savepoint: UInt32 = 0
  @exclusivity(unchecked) private final var position: UInt32 = 0

  /// Makes the object for a place in a context. Subclasses do not call it; they may override it to set up fields.
  public required init(_ place: ContextPlace) {
    table = place.table
    key = place.key
    state = place.state
    place.table._withUnsafeGuaranteedRef { table in
      table.retainForObject()
      table.map.insert(self)?.leave(because: .replaced)
      if table.keepsObjects { table.context?.keptObjects.insert(self) }
    }
  }

  deinit {
    table._withUnsafeGuaranteedRef { table in
      if let context = table.contextReference { context._withUnsafeGuaranteedRef { $0.forget(self) } }
      table.releaseForObject()
    }
  }

  // MARK: Life cycle

  /// The life-cycle methods that the class overrides, or a class above it. What is left out is not called.
  ///
  /// All, unless a subclass says otherwise: one that overrides none says `[]`, and then its objects are read and saved as quickly
  /// as those without a class of their own.
  open class var overriddenLifecycleMethods: LifecycleHooks { self == ManagedObject.self ? [] : .all }
  /// After the default values of a new object are set; once in an object's life. One that throws is not inserted.
  open func awakeFromInsert() throws {}
  /// After the values were read from the store. Changes made here are not tracked. An object that throws stays a fault.
  open func awakeFromFetch() throws {}
  /// After many values were replaced at once, by a rollback, a refresh or an undo: what was computed from them may be computed anew.
  /// Changes made here are not tracked. After a rollback the object is a fault, which the first access fires, with `awakeFromFetch`.
  open func awake(fromSnapshotEvents events: SnapshotEventType) throws {}
  /// Before the object is saved, again as long as it changes something.
  open func willSave() throws {}
  /// After the object was saved. One whose deletion was saved still has its values, and `isDeleted` is true. An error is kept in the
  /// context's `didSaveErrors`.
  open func didSave() throws {}
  /// At each call that deletes the object. One that throws is not deleted.
  open func prepareForDeletion() throws {}
  /// Before the object becomes a fault. It becomes one whatever this throws.
  open func willTurnIntoFault() throws {}
  /// After the object became a fault: the place to let go of what was computed from its values.
  open func didTurnIntoFault() throws {}
  /// Checks a new object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForInsert() throws {}
  /// Checks a changed object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForUpdate() throws {}
  /// Checks whether the object may go. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForDelete() throws {}
  /// Checks a value that is about to be saved and may replace it.
  open func validateValue(_ value: inout Value, forKey key: String) throws {}

  /// Accessors through which every access by key goes: those a subclass writes itself. Empty for plain properties.
  open class var customAccessors: [CustomAccessor] { [] }

  /// What key paths of the class stand for in Foundation's predicates and sort descriptors: see `PropertyKeyPath`.
  open class var keyPaths: [PropertyKeyPath] { [] }
}

// MARK: - What there is beside the row

extension ManagedObject {
  /// The place in the context's list of changed objects, where it is listed. Kept by the list.
  final var changePosition: Int {
    get { Int(position) }
    set { position = UInt32(truncatingIfNeeded: newValue) }
  }

  /// The record, made where there is none yet.
  @inline(__always)
  final var ownRecord: ObjectRecord { record ?? makeRecord() }

  @inline(never)
  private final func makeRecord() -> ObjectRecord {
    let new = ObjectRecord()
    record = new
    return new
  }

  /// A record with nothing in it goes.
  final func dropEmptyRecord() {
    if record?.isEmpty == true { record = nil }
  }

  /// The context counts the object from now on.
  final func beginWeighing() {
    isWeighed = true
    context?.weigh(weight)
  }
}

// MARK: - Transitions

extension ManagedObject {
  /// For transitions in files of their own: whoever calls it is one.
  @inline(__always)
  final func changeState(removing: State = [], adding: State = []) {
    state = state.subtracting(removing).union(adding)
  }
}

/// Coming to a context and leaving it.
extension ManagedObject {
  /// A new object has a row of its own with the values of its model, and the savepoint that it was made in keeps nothing of it.
  final func takeInitialValues(in savepoint: UInt32) {
    self.savepoint = savepoint
    table._withUnsafeGuaranteedRef { table in
      weigh(row.beginOwn(key: key, in: table.pageForOwnRow().takeUnretainedValue()))
      for slot in table.entity.initialSlots { setOwn(table.entity.initialValues[slot], slot: slot) }
    }
  }

  /// The object is no longer of its context. One that may come back keeps its values, and they count until `letGo`.
  final func leave(because departure: Departure, mayReturn: Bool = false) {
    self.departure = departure
    guard let former = context else { return }
    if row.isOwn { former.noteDeparture(from: row.page) }
    move(to: former.registered.departed(from: table.takeUnretainedValue()))
    if !mayReturn { letGo(of: former) }
  }

  /// The object, which left its context, comes back under this ID as a new one, with the initial values of its entity.
  final func returnAsNew(to context: ManagedObjectContext, as id: ManagedObjectID) {
    if isWeighed { letGo(of: context) }
    move(to: context.table(of: id.kind, entity: entity).takeUnretainedValue(), key: id.key)
    (state, departure) = (state.intersection(.observed).union(.inserted), .contextGone)
    context.register(self)
    beginWeighing()
  }

  /// The object's table no longer has a context, and nobody can read the values any more.
  final func becomeAbandoned(because departure: Departure) {
    self.departure = departure
    dropValues()
  }

  /// The object is one of another table.
  private final func move(to new: ObjectTable, key: Int64? = nil) {
    let old = table
    if old._withUnsafeGuaranteedRef({ $0.keepsObjects }) != new.keepsObjects {
      if let context = new.context { context.keptObjects.insert(self) } else { context?.keptObjects.remove(self) }
    }
    new.retainForObject()
    table = .passUnretained(new)
    if let key { self.key = key }
    old._withUnsafeGuaranteedRef { $0.releaseForObject() }
  }

  /// The values cannot be read any more: they go, and what they weighed.
  final func letGo(of former: ManagedObjectContext) {
    former.weigh(-weight)
    dropValues()
  }

  private final func dropValues() {
    isWeighed = false
    row.drop()
    record = nil
  }

  /// The insertion of the object is undone, or was followed by its deletion.
  final func leaveUnsaved(because departure: Departure, mayReturn: Bool) {
    state.formIntersection(.observed)
    leave(because: departure, mayReturn: mayReturn)
  }

  /// The object is of its context again.
  final func enter(_ context: ManagedObjectContext, state: State) {
    move(to: context.table(of: objectID.kind, entity: entity).takeUnretainedValue())
    self.state = state
    context.register(self)
  }
}

/// Reading a row.
extension ManagedObject {
  /// A new fault takes the row that it was made for. False, and nothing done, where the class's own `init` has done more with it
  /// already; otherwise the context that made it counts what both weigh.
  @inline(__always)
  final func begin(with page: RowPage, at place: Int) -> Bool {
    guard state == .fault, row.page == nil, row.live.isEmpty, record == nil else { return false }
    row.begin(at: place, in: page)
    isWeighed = true
    return true
  }

  /// The values are asked for the first time. True where that is all there is to it: the row is here, nobody knew the object by another one,
  /// and no hook wants to know.
  @inline(__always)
  final func wakeQuietly() -> Bool {
    guard row.page != nil, record == nil, !state.contains(.refreshed),
      table._withUnsafeGuaranteedRef({ $0.wakesQuietly }),
      table._withUnsafeGuaranteedRef({ $0.contextReference?._withUnsafeGuaranteedRef { $0.knowsSimpleSlots } }) == true
    else { return false }
    state.remove(.fault)
    return true
  }

  /// The values are asked for, and are here. Returns whether others may know the object by those that it had before.
  final func stopBeingFault() -> Bool {
    let before = state
    state.subtract([.fault, .refreshed])
    return before.contains(.refreshed)
  }

  /// Runs what sets values that are no changes. One that fails leaves a fault: half awake is not awake.
  final func awaking(_ body: () throws -> Void) throws {
    let isWithin = state.contains(.awaking)
    state.insert(.awaking)
    defer { if !isWithin { state.remove(.awaking) } }
    do {
      try body()
    } catch {
      outdateAll()
      weigh(row.setLive([]))
      setCaches([:])
      state.insert(.fault)
      throw error
    }
  }

  /// Runs what sets values that are no changes on top of others that stay.
  final func awakingAgain(_ body: () throws -> Void) rethrows {
    let isWithin = state.contains(.awaking)
    state.insert(.awaking)
    defer { if !isWithin { state.remove(.awaking) } }
    try body()
  }

  /// Drops the values and all that differs from the row, and tells other objects what they no longer know of this one.
  final func becomeFault() {
    rowLeaves()
    leaveTransientDestinations()
    if hasMoreThanItsRow { remember(.row(reading)) }
    context?.unlist(self)
    state.subtract([.updated, .deleted, .propagated, .born])
    setSnapshot(nil)
    forgetChanges()
    setRelationships([:])
    dropEmptyRecord()
    state.insert([.fault, .refreshed])
  }

  /// The same for an object of which nothing but its row is known, and no destination. False, and nothing done, where there is more.
  final func becomeFaultQuietly() -> Bool {
    guard isAsSaved, row.live.isEmpty, row.changedLow == 0 else { return false }
    outdateAll()
    setSnapshot(nil)
    state.subtract([.updated, .propagated, .born])
    state.insert([.fault, .refreshed])
    return true
  }

  /// Becomes a fault without telling anybody, for it is the same object with the same values but for a count.
  final func becomeFaultSilently() {
    forgetChanges()
    setSnapshot(nil)
    state.insert(.fault)
  }
}

/// Changing.
extension ManagedObject {
  /// Destinations are read anew, of a new object that was saved too; what changed of them stays.
  final func forgetReadDestinations() {
    state.remove(.born)
    for slot in entity.toManySlots { outdate(slot, because: .row) }
    for (slot, known) in relationships where isList(slot) { forgetInverseLists(of: known, slot: slot) }
    // What a savepoint knows of a relationship may be wanted back in it.
    if context?.journal.isActive != true {
      setRelationships(relationships.filter { $0.value.hasChanges || entity.properties[$0.key].isTransient })
    }
    for (slot, known) in relationships where !entity.properties[slot].isTransient { unload(known, slot: slot) }
  }

  /// The object is all this, and a slot counts as changed. Returns whether the context's list of changes is to take the object in.
  final func mark(_ slot: Slot?, as flags: State) -> Bool {
    defer { state.formUnion(flags) }
    if let slot { markChanged(slot) }
    return flags.contains(.listed) && !state.contains(.listed)
  }

  /// The context's list of changes no longer has the object. False if it did not have it.
  @discardableResult
  final func markUnlisted() -> Bool { state.remove(.listed) != nil }

  /// Runs hooks of the object's deletion.
  final func departing(_ body: () throws -> Void) throws {
    state.insert(.departing)
    defer { state.remove(.departing) }
    try body()
  }

  /// Delete rules are to be applied anew.
  final func markUnpropagated() {
    remember(.flags(flags(nil)), silently: true)
    state.remove(.propagated)
  }

  /// Runs delete rules of the object's deletion. They count as applied unless they fail.
  final func propagating(_ body: () throws -> Void) throws {
    remember(.flags(flags(nil)), silently: true)
    state.insert(.propagated)
    do {
      try departing(body)
    } catch {
      state.remove(.propagated)
      throw error
    }
  }
}

/// Observing.
extension ManagedObject {
  /// Whether anybody observes the object.
  final var isObserved: Bool {
    get { state.contains(.observed) }
    set { if newValue { state.insert(.observed) } else { state.remove(.observed) } }
  }
}

/// The undo manager.
extension ManagedObject {
  /// The object is not to go after all.
  final func unmarkDeleted() {
    remember(.flags(flags(nil)))
    state.subtract([.deleted, .propagated])
    // An object that was changed before stays in the list, and is found by its values again.
    context?.changedObjects.note(self)
    outdate(.presence)
  }

  /// A slot does not count as changed any more.
  final func unmark(_ slot: Slot) {
    remember(.flags(flags(slot)), silently: true)
    restoreMark(false, slot: slot)
  }

  /// The next save need not look at the object, for it is as it is saved.
  final func unlistUnchanged() {
    remember(.flags(flags(nil)), silently: true)
    state.remove(.updated)
    outdate(.state)
    context?.unlist(self)
    spillRow()
    dropEmptyOwnValues()
    // What a primitive setter put there stays, for that was no change.
    if hasLiveValues || record != nil { for slot in entity.transientSlots { keepForNewIDs(slot) } }
  }
}

/// Saving and undoing.
extension ManagedObject {
  /// The object is in its store: under the ID that was set aside for it, and with the row that was written, if any
  /// was. `permanent` has the IDs of other objects that were saved with it, by their temporary ones.
  final func becomeSaved(as written: SavePlan.Written, id: ManagedObjectID, permanent: PermanentIDs) {
    if state.contains(.inserted) { state.insert(.born) }
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    if keepsItsRowOnly(of: written), objectID == id { return weigh(row.keepCompleted()) }
    if !permanent.isEmpty { outdateTemporaryDestinations() }
    if objectID != id { changeID(to: id) } else { outdate(.state, because: .row) }
    if let new = rowSaved(as: written) {
      if let context, context.derivations.isWatching { context.derivations.setVersion(new.version, of: id) }
      setSnapshot(new)
      keepTransientValues()
    }
    replaceTransientDestinations(by: permanent)
    setChanged(SlotSet())
    guard record != nil else { return }
    for known in relationships.values { known.didSave(permanent: permanent) }
    dropEmptyRecord()
  }

  /// Whether there is nothing of it but the row that it filled, and nobody looks at it.
  @inline(__always)
  private final func keepsItsRowOnly(of written: SavePlan.Written) -> Bool {
    guard case .inPlace(let page, let place) = written, row.isItsOwn(at: place, in: page), row.live.isEmpty,
      record == nil, !state.contains(.observed)
    else { return false }
    return table._withUnsafeGuaranteedRef { table in
      table.contextReference?._withUnsafeGuaranteedRef { !$0.derivations.isWatching } ?? false
    }
  }

  private final func rowSaved(as written: SavePlan.Written) -> Snapshot? {
    switch written {
    case .copied(let new): new
    case .inPlace(let page, let place): Snapshot(unchecked: page.takeUnretainedValue(), at: Int(place))
    // A changed object has nothing then that was not in its row before.
    case .nothing: row.isOwn ? row.snapshot ?? row.inItsPage : nil
    }
  }

  /// Lists that are as they were saved are no changes. Returns whether the next save leaves the object out.
  @discardableResult
  final func forgetSavedLists() -> Bool {
    var rest = changed
    for slot in entity.toManySlots where relationships[slot]?.hasChanges != true { rest.remove(slot) }
    setChanged(rest)
    guard rest.isEmpty, delayed.isEmpty, !state.contains(.deleted) else { return !state.contains(.listed) }
    state.remove(.updated)
    spillRow()
    context?.unlist(self)
    return true
  }

  /// The deletion of the object is saved, and its hooks are still to hear of it.
  final func hearOfDeletion() {
    spillRow()
    state.subtract([.inserted, .updated, .listed, .propagated])
  }

  /// A new object has the ID under which it will be saved.
  final func takePermanentID(_ id: ManagedObjectID) { changeID(to: id) }

  /// The deletion of the object is saved.
  final func becomeDeleted() {
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    leave(because: .deleted)
  }

  private func changeID(to id: ManagedObjectID) {
    // A getter may have looked at the ID, which nothing tells.
    outdateAll(because: .identity)
    if hasCaches { setCaches(caches.filter { $1.reads.map { $0.isStored || $0.isAssigned } ?? true }) }
    guard let context else { return }
    if context.derivations.isWatching || hasCaches { context.derivations.rename(self, to: id) }
    context.tellListeners(of: objectID, renamedTo: id)
    context.registered.remove(self)
    move(to: context.table(of: id.kind, entity: entity).takeUnretainedValue(), key: id.key)
    context.register(self)
  }
}

/// Undoing: putting back what was there before a change.
extension ManagedObject {
  /// What a change, its saving or giving it up alters of the state.
  private static let undoable: State = [.updated, .deleted, .listed, .propagated]

  final func restore(_ flags: Flags) {
    state = state.subtracting(Self.undoable).union(flags.state.intersection(Self.undoable))
    if let slot = flags.slot { restoreMark(flags.isMarked, slot: slot) }
  }

  /// A slot counts as changed, or does not, as it did before.
  final func restoreMark(_ wasMarked: Bool, slot: Slot) {
    if wasMarked { return markChanged(slot) }
    if slot < 64 { row.unmarkChanged(low: slot) } else { record?.changedHigh.remove(slot) }
  }

  /// Puts back the row and what was on top of it; a fault is one again.
  final func restore(_ reading: Reading) {
    restore(reading.flags)
    setRelationships(reading.relationships)
    setDelayed(reading.delayed)
    leaveBatch()
    let faults: State = [.fault, .refreshed]
    state = state.subtracting(faults).union(reading.flags.state.intersection(faults))
    weigh(row.restore(reading.row))
    setChanged(high: reading.changedHigh)
    dropEmptyRecord()
  }
}
