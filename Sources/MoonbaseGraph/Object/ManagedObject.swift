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
open class ManagedObject {
  // No access to the fields of a graph's objects lasts while other code runs, so that checking each for exclusive
  // access at run time would find nothing (what that saves: docs/development.md, "What the compiler is told"). They are
  // changed in this file only, by the transitions below; who sets what lies in the record: ManagedObject+Record.swift.

  /// What the object shares with others of its entity, store and context. The table counts its objects, and is there as long as it
  /// has any.
  @exclusivity(unchecked) final private(set) var table: Unmanaged<ObjectTable>
  /// The key of the ID.
  @exclusivity(unchecked) final private(set) var key: Int64
  /// The page of the row: that of `snapshot`, or the one that a new object writes its values into.
  @exclusivity(unchecked) final private(set) var page: RowPage?
  /// Values beside the row, by slot; nil where the row's holds. Empty as long as there are none. Of a new object these are what its
  /// row cannot have or cannot have yet: transient values, IDs that are temporary, and what is set when the page is sealed.
  @exclusivity(unchecked) final private(set) var live: ContiguousArray<Value?> = []
  /// Of the first 64 slots, those that may differ from the snapshot.
  @exclusivity(unchecked) final private(set) var changedLow: UInt64 = 0
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
  /// The place in the page.
  @exclusivity(unchecked) final private(set) var place: UInt16 = 0

  /// Makes the object for a place in a context. Subclasses do not call it; they may override it to set up fields.
  public required init(_ place: Place) {
    table = place.table
    key = place.key
    state = place.state
    place.table._withUnsafeGuaranteedRef { table in
      table.retainForObject()
      table.map.insert(self)?.leave(because: .replaced)
    }
  }

  deinit {
    table._withUnsafeGuaranteedRef { table in
      if let context = table.context { context.forget(self) }
      table.releaseForObject()
    }
  }

  // MARK: Life cycle

  /// The life-cycle methods that the class overrides, or a class above it. What is left out is not called.
  ///
  /// All, unless a subclass says otherwise: one that overrides none says `[]`, and then its objects are read and saved as quickly
  /// as those without a class of their own.
  open class var hooks: LifecycleHooks { self == ManagedObject.self ? [] : .all }
  /// After the default values of a new object are set; once in an object's life.
  open func awakeFromInsert() {}
  /// After the values were read from the store. Changes made here are not tracked.
  open func awakeFromFetch() {}
  /// Before the object is saved, again as long as it changes something.
  open func willSave() throws {}
  /// After the object was saved.
  open func didSave() {}
  /// At each call that deletes the object.
  open func prepareForDeletion() {}
  /// Before the object becomes a fault.
  open func willTurnIntoFault() {}
  /// After the object became a fault.
  open func didTurnIntoFault() {}
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
}

// MARK: - What there is beside the row

extension ManagedObject {
  /// The values as the store had them when they were read; nil for a fault and for a new object.
  final private(set) var snapshot: Snapshot? {
    get { state.contains(.ownsRow) ? nil : page.map { Snapshot(unchecked: $0, at: Int(place)) } }
    set { takePlace(newValue?.place ?? 0, in: newValue?.page) }
  }

  private final func takePlace(_ place: Int, in page: RowPage?, owning: Bool = false) {
    let before = rowWeight
    self.page = page
    self.place = UInt16(truncatingIfNeeded: place)
    if owning { state.insert(.ownsRow) } else { state.remove(.ownsRow) }
    weigh(rowWeight &- before)
  }
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

  private final func setLive(_ values: ContiguousArray<Value?>) {
    let before = liveWeight
    live = values
    weigh(liveWeight &- before)
  }

  /// Gives the object a value of its own in a slot; with nil the row's holds again.
  @inline(__always)
  private final func setLive(_ value: Value?, slot: Slot) {
    weigh((value?.weight ?? 0) &- (live[slot]?.weight ?? 0))
    live[slot] = value
  }

  /// Gives the object a value of its own in a slot, which a new one writes into its row.
  @inline(__always)
  private final func setOwn(_ value: Value, slot: Slot) {
    if state.contains(.ownsRow), write(value, cell: slot) { return }
    materialize()
    setLive(value, slot: slot)
  }

  /// Writes a value into the row of a new object; false where it has to lie beside it.
  private final func write(_ value: Value, cell slot: Slot) -> Bool {
    guard let page, slot < 64, table._withUnsafeGuaranteedRef({ $0.rowSlots }) & 1 << UInt64(slot) != 0,
      live.isEmpty || live[slot] == nil
    else { return false }
    if case .objectID(let id) = value, id.isTemporaryID { return false }
    guard let bytes = page.replace(value, slot: slot, of: Int(place)) else { return false }
    weigh(bytes)
    return true
  }

  private final func setChanged(_ slots: SlotSet) {
    changedLow = slots.low
    if record != nil || !slots.high.isEmpty { ownRecord.changedHigh = slots.high }
  }
}

// MARK: - Transitions

/// Coming to a context and leaving it.
extension ManagedObject {
  /// A new object has a row of its own with the values of its model, and the savepoint that it was made in keeps nothing of it.
  final func takeInitialValues(in savepoint: UInt32) {
    self.savepoint = savepoint
    let page = table._withUnsafeGuaranteedRef { $0.pageForNewRow() }
    place = UInt16(truncatingIfNeeded: page.addRow(key: key))
    self.page = page
    state.insert(.ownsRow)
    weigh(page.shape.stride)
    table._withUnsafeGuaranteedRef { table in
      for slot in table.entity.initialSlots { setOwn(table.entity.initialValues[slot], slot: slot) }
    }
  }

  /// A new object is one of the last of its page, and moves to another one.
  final func copyOwnRow() {
    guard state.contains(.ownsRow), let former = page else { return }
    let page = table._withUnsafeGuaranteedRef { $0.pageForNewRow() }
    let new = page.addRow(key: key)
    for slot in 0..<page.shape.slotCount { page.copy(former.cell(slot, of: Int(place)), slot: slot, in: page.row(new)) }
    takePlace(new, in: page, owning: true)
  }

  /// The object is no longer of its context. One that may come back keeps its values, and they count until `letGo`.
  final func leave(because departure: Departure, mayReturn: Bool = false) {
    self.departure = departure
    guard let former = context else { return }
    if state.contains(.ownsRow) { former.noteDeparture(from: page) }
    move(to: former.registered.departed(from: table.takeUnretainedValue()))
    if !mayReturn { letGo(of: former) }
  }

  /// The object's table no longer has a context, and nobody can read the values any more.
  final func becomeAbandoned(because departure: Departure) {
    self.departure = departure
    dropValues()
  }

  /// The object is one of another table.
  private final func move(to new: ObjectTable, key: Int64? = nil) {
    let old = table
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
    if state.contains(.ownsRow) { page?.forgetValuesApart(of: Int(place)) }
    page = nil
    state.remove(.ownsRow)
    live = []
    changedLow = 0
    record = nil
  }

  /// The insertion of the object is undone, or was followed by its deletion.
  final func leaveUnsaved(because departure: Departure, mayReturn: Bool) {
    state.formIntersection(.ownsRow)
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
    guard state == .fault, self.page == nil, live.isEmpty, record == nil else { return false }
    self.page = page
    self.place = UInt16(truncatingIfNeeded: place)
    isWeighed = true
    return true
  }

  /// Takes a row that was read, where the values were not looked at yet; an older one than is here is of no use.
  final func takeRow(_ row: Snapshot) {
    guard isFault, snapshot.map({ $0.version <= row.version }) ?? true else { return }
    snapshot = row
    leaveBatch()
    if let context, context.derivations.isWatching { context.takeNote(ofRow: row, self) }
  }

  /// The same row, in another page.
  final func move(to copy: Snapshot) { snapshot = copy }

  /// The values are asked for the first time. True where that is all there is to it: the row is here, nobody knew the object by another one,
  /// and no hook wants to know.
  @inline(__always)
  final func wakeQuietly() -> Bool {
    guard page != nil, record == nil, !state.contains(.refreshed), table._withUnsafeGuaranteedRef({ $0.wakesQuietly }),
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
    state.insert(.awaking)
    defer { state.remove(.awaking) }
    do {
      try body()
    } catch {
      outdateAll()
      setLive([])
      setCaches([:])
      state.insert(.fault)
      throw error
    }
  }

  /// A newer row takes the place of the one that is here, with what changed since on top.
  final func rebase(on newer: Snapshot) {
    if !live.isEmpty {
      // A value that was set back to the one it had is no change, so the newer one counts.
      if let snapshot, state.contains(.listed), !isDeleted {
        var stillChanged = SlotSet()
        for slot in changed.slots {
          guard let value = live[slot] else { continue }
          if entity.properties[slot].isTransient || value != snapshot.values[slot] { stillChanged.insert(slot) }
        }
        setChanged(stillChanged)
      }
      let changed = changed
      for slot in live.indices where live[slot] != nil && !changed.contains(slot) {
        if !entity.properties[slot].isTransient { setLive(nil, slot: slot) }
      }
    }
    snapshot = newer
  }

  /// Runs `body` with the values of the row in the place of those that awake-from-fetch set; transient ones stay.
  final func asSaved<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard page != nil, !state.contains(.ownsRow) else { return try body() }
    let (awakened, computed, slots) = (live, caches, changed.slots)
    if !live.isEmpty {
      for slot in slots { setLive(nil, slot: slot) }
    }
    setCaches([:])
    defer {
      // What others computed meanwhile was computed from the row.
      for slot in slots { outdate(slot, because: .row) }
      // Who computes a value may have changed the object.
      if !state.contains(.listed) {
        setLive(awakened)
        setCaches(computed)
      }
    }
    return try body()
  }

  /// Gives up what was made of the row, but not unsaved changes. What awake-from-fetch set is none.
  final func forgetReadings() {
    if !state.contains(.listed) { setChanged(SlotSet()) }
    let changed = changed
    setCaches(caches.filter { $1.reads != nil || changed.contains($0) })
  }

  /// The row of the other side of a relationship tells that a value is another one; an unsaved change stays on top, and a fault
  /// reads it.
  final func takeRowValue(_ value: Value, slot: Slot) {
    guard !isFault, !changed.contains(slot) else { return }
    setOwn(value, slot: slot)
    outdate(slot, because: .row)
    context?.noteChange()
  }

  /// Drops the values and all that differs from the row, and tells other objects what they no longer know of this one.
  final func becomeFault() {
    rowLeaves()
    leaveTransientDestinations()
    if hasMoreThanItsRow { remember(.row(reading)) }
    context?.unlist(self)
    state.subtract([.updated, .deleted, .propagated, .born])
    snapshot = nil
    forgetChanges()
    setRelationships([:])
    dropEmptyRecord()
    state.insert([.fault, .refreshed])
  }

  /// Becomes a fault without telling anybody, for it is the same object with the same values but for a count.
  final func becomeFaultSilently() {
    forgetChanges()
    snapshot = nil
    state.insert(.fault)
  }

  /// Forgets all that differs from the snapshot.
  final func forgetChanges() {
    outdateAll()
    setLive([])
    setChanged(SlotSet())
    setCaches([:])
    setDelayed([:])
  }
}

/// Changing.
extension ManagedObject {
  /// Puts a value of its own into a slot.
  @inline(__always)
  final func put(_ value: Value, slot: Slot, because cause: Derivations.Cause, silently: Bool = false) {
    rememberValue(slot, because: cause, silently: silently)
    setOwn(value, slot: slot)
  }

  /// Sets a value of a new object, the quick way: nobody keeps what was there, nothing was computed from it, and it lies in the row.
  /// False, and nothing done, where that is not so. Nothing is retained, for that took as long as all else.
  @inline(__always)
  final func setNew(_ value: Value, slot: Slot) -> Bool {
    guard state == [.inserted, .listed, .ownsRow], record == nil, live.isEmpty, slot < 64 else { return false }
    return table._withUnsafeGuaranteedRef { table in
      guard table.rowSlots & 1 << UInt64(slot) != 0, let context = table.contextReference,
        let page = page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard !context.derivations.isWatching, !context.journal.records(self) else { return false }
        return page._withUnsafeGuaranteedRef { setNew(value, slot: slot, in: $0, of: context) }
      }
    }
  }

  private final func setNew(_ value: Value, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    if case .objectID(let id) = value, id.isTemporaryID { return false }
    if page.cell(slot, of: Int(place)).isSame(as: value) { return true }
    guard let bytes = page.replace(value, slot: slot, of: Int(place)) else { return false }
    if bytes != 0, isWeighed { context.weigh(bytes) }
    changedLow |= 1 << UInt64(slot)
    context.changeCount &+= 1
    context.changedObjects.note(self)
    return true
  }

  /// Gives the object room for values of its own.
  @inline(__always)
  final func materialize() {
    if live.isEmpty { makeRoom() }
  }

  @inline(never)
  private final func makeRoom() {
    let count = entity.properties.count
    live = ContiguousArray(repeating: nil, count: count)
    weigh(Self.liveSlotWeight &* count)
  }

  /// The next save looks at a slot.
  @inline(__always)
  final func markChanged(_ slot: Slot) {
    if slot < 64 { changedLow |= 1 << UInt64(slot) } else { ownRecord.changedHigh.insert(slot) }
  }

  /// Destinations are read anew, of a new object that was saved too; what changed of them stays.
  final func forgetReadDestinations() {
    state.remove(.born)
    for slot in entity.toManySlots { outdate(slot, because: .row) }
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

/// Saving and undoing.
extension ManagedObject {
  /// The object is in its store: under the ID that was set aside for it, and with the row that was written; nil where that was
  /// none, or its own. `permanent` has the IDs of other objects that were saved with it, by their temporary ones.
  final func becomeSaved(as row: Snapshot?, id: ManagedObjectID, permanent: PermanentIDs) {
    if state.contains(.inserted) { state.insert(.born) }
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    if !permanent.isEmpty { outdateTemporaryDestinations() }
    if objectID != id { changeID(to: id) } else { outdate(.state, because: .row) }
    if let row = row ?? ownRow {
      if let context, context.derivations.isWatching { context.derivations.setVersion(row.version, of: id) }
      snapshot = row
      keepTransientValues()
    }
    replaceTransientDestinations(by: permanent)
    setChanged(SlotSet())
    guard record != nil else { return }
    for known in relationships.values { known.didSave(permanent: permanent) }
    dropEmptyRecord()
  }

  /// The row of a new object becomes the one that is saved: under its key, with what lies on top of it, and with the IDs that
  /// destinations get. What lies on top stays there, for the save may fail. Returns where it is; nil where the row cannot
  /// be written any more.
  final func completeRow(
    under id: ManagedObjectID, destination: (Slot) throws -> ManagedObjectID?
  ) rethrows -> (page: RowPage, place: Int)? {
    guard state.contains(.ownsRow), let page, page.stage == .completing else { return nil }
    let place = Int(place)
    page.complete(place, key: id.key)
    let rowSlots = table._withUnsafeGuaranteedRef { $0.rowSlots }
    for slot in live.indices where slot >= 64 ? !entity.properties[slot].isTransient : rowSlots & 1 << UInt64(slot) != 0
    {
      if let value = live[slot] { weigh(page.complete(place, value, slot: slot)) }
    }
    for slot in entity.toOneSlots {
      if let id = try destination(slot) { weigh(page.complete(place, .objectID(id), slot: slot)) }
    }
    return (page, place)
  }

  /// The row that was completed.
  private final var ownRow: Snapshot? {
    state.contains(.ownsRow) ? page.map { Snapshot(unchecked: $0, at: Int(place)) } : nil
  }

  /// Another thread writes the changes. Until it is known what became of them the object is a fault, so that who asks for its values
  /// or sets one waits for that. Returns what it had. A new object keeps that, in the row that is written; `copy` is one that was
  /// made of it.
  final func handOver(to copy: Snapshot?) -> Reading? {
    guard !state.contains(.inserted) else {
      if let copy { takePlace(copy.place, in: copy.page, owning: true) }
      state.remove(.listed)
      state.insert([.fault, .refreshed])
      return nil
    }
    let reading = reading
    state.subtract([.updated, .listed])
    becomeFaultSilently()
    dropEmptyRecord()
    state.insert(.refreshed)
    return reading
  }

  /// It is known what became of a new object that another thread wrote. With `listed` it waits to be saved again.
  final func endHandOver(listed: Bool) {
    state.subtract([.fault, .refreshed])
    if listed { state.insert(.listed) }
  }

  /// The deletion of the object is saved.
  final func becomeDeleted() {
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    leave(because: .deleted)
  }

  private func changeID(to id: ManagedObjectID) {
    // A getter may have looked at the ID, which nothing tells.
    outdateAll(because: .identity)
    if hasCaches { setCaches(caches.filter { $1.reads?.isStored ?? true }) }
    guard let context else { return }
    if context.derivations.isWatching || hasCaches { context.derivations.rename(self, to: id) }
    context.registered.remove(self)
    move(to: context.table(of: id.kind, entity: entity).takeUnretainedValue(), key: id.key)
    context.register(self)
  }

  /// Persistent values are the row's now; transient ones live on in the object.
  private func keepTransientValues() {
    guard !live.isEmpty else { return }
    let old = live
    setLive([])
    for slot in entity.transientSlots {
      guard let value = old[slot], !value.isNull else { continue }
      materialize()
      setLive(value, slot: slot)
    }
  }

  /// Transient relationships and values name objects that have their permanent IDs only now.
  private func replaceTransientDestinations(by permanent: PermanentIDs) {
    guard !live.isEmpty, !permanent.isEmpty else { return }
    for slot in entity.transientSlots {
      if let value = live[slot]?.replacingIDs({ permanent[$0] }) { setLive(value, slot: slot) }
    }
  }
}

/// Undoing: putting back what was there before a change.
extension ManagedObject {
  /// What a change, its saving or giving it up alters of the state.
  private static let undoable: State = [.updated, .deleted, .listed, .propagated]

  final func restore(_ flags: Flags) {
    state = state.subtracting(Self.undoable).union(flags.state.intersection(Self.undoable))
    guard let slot = flags.slot, isMarked(slot) != flags.isMarked else { return }
    if flags.isMarked { return markChanged(slot) }
    if slot < 64 { changedLow &= ~(1 << UInt64(slot)) } else { record?.changedHigh.remove(slot) }
  }

  /// Puts back the row and what was on top of it; a fault is one again.
  final func restore(_ reading: Reading) {
    restore(reading.flags)
    setRelationships(reading.relationships)
    setDelayed(reading.delayed)
    leaveBatch()
    let faults: State = [.fault, .refreshed]
    state = state.subtracting(faults).union(reading.flags.state.intersection(faults))
    takePlace(reading.place, in: reading.page, owning: reading.flags.state.contains(.ownsRow))
    setLive(reading.live)
    setChanged(reading.changed)
    dropEmptyRecord()
  }

  /// Puts back the object's own value in a slot; with nil the row's holds again.
  final func restoreOwn(_ value: Value?, slot: Slot) {
    if let value { setOwn(value, slot: slot) } else if !live.isEmpty { setLive(nil, slot: slot) }
  }

  /// Where no value is the object's own, it needs no room for any.
  final func dropEmptyOwnValues() {
    if !live.isEmpty, live.allSatisfy({ $0 == nil }) { setLive([]) }
  }
}
