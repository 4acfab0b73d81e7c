public import MoonbaseModel
import MoonbasePlatform

/// The state of an object is a set of flags, changed only by `changeState` and the transitions in other files.
extension ManagedObject {
  /// The state of an object, as a set of flags.
  ///
  /// For example, a new object is `[.inserted, .listed]`, a fault `[.fault]`, a changed object `[.updated, .listed]`.
  struct State: OptionSet {
    /// The flags as bits.
    let rawValue: UInt16
    /// The object was never saved.
    static let inserted = State(rawValue: 1)
    /// The object was saved, and has unsaved changes.
    static let updated = State(rawValue: 2)
    /// The object is marked for deletion.
    static let deleted = State(rawValue: 4)
    /// The values were not read, or not accessed yet.
    static let fault = State(rawValue: 8)
    /// The object is awaking from a fetch, and changes are not tracked.
    static let awaking = State(rawValue: 16)
    /// The object is in the context's list of changes.
    static let listed = State(rawValue: 32)
    /// Delete rules have been applied.
    static let propagated = State(rawValue: 64)
    /// The object was inserted in this context and not refreshed since: an unused to-many relationship is empty.
    static let born = State(rawValue: 128)
    /// Hooks or delete rules of the object's deletion are running.
    static let departing = State(rawValue: 256)
    /// The object is a fault whose values were known before, so that other objects may depend on them.
    static let refreshed = State(rawValue: 512)
    /// Another thread is writing new objects in lists of this object, which is in the list of changes only for them.
    static let hasPendingLists = State(rawValue: 1024)
    /// The object is observed, and changes are reported to `Observers`.
    static let observed = State(rawValue: 2048)
  }

  /// The arguments for making an object, which only the graph can provide.
  ///
  /// The name differs from that of a likely class of a program, `Place`, which it would shadow within subclasses.
  public struct InitializationToken {
    // The context that makes the object retains the table.
    /// The table of the object's store and entity.
    let table: Unmanaged<ObjectTable>
    /// The key of the ID.
    let key: Int64
    /// `.fault` for a stored object, `.inserted` for a new object.
    let state: State
  }

  /// The reason why an object has left its context.
  ///
  /// Later accesses throw an error that names the reason.
  package enum DetachReason {
    /// The context ended, or the object was removed by a request.
    case contextGone, closed, reset, deleted, rolledBack, replaced
  }

  /// The entity of the object.
  public final var entity: ResolvedEntity { table._withUnsafeGuaranteedRef { $0.entity } }
  /// The ID of the object; temporary until the first save, which gives another ID. A temporary ID is known only in its
  /// context.
  public final var objectID: ManagedObjectID {
    waitForPermanentID()
    let key = key
    return table._withUnsafeGuaranteedRef { $0.id(key) }
  }
  /// The context; nil if the object left it.
  @inline(__always)
  package final var context: ManagedObjectContext? { table._withUnsafeGuaranteedRef { $0.context } }
  /// Whether the object has a context; retains nothing.
  final var hasContext: Bool { table._withUnsafeGuaranteedRef { $0.contextReference != nil } }
  /// The context; nil once the context is gone or the object left it.
  public final var managedObjectContext: ManagedObjectContext? { context }
  /// Whether the object was never saved.
  public final var isInserted: Bool {
    waitForPermanentID()
    return readState.contains(.inserted)
  }
  /// Whether the object has unsaved changes.
  public final var isUpdated: Bool {
    waitForPendingSave()
    return readState.contains(.updated)
  }
  /// Whether the object is marked for deletion; false again after the save.
  public final var isDeleted: Bool { readState.contains(.deleted) }
  /// Whether the values have not been accessed since the object was made or refreshed.
  public final var isFault: Bool { state.contains(.fault) }
  /// Whether the next save considers the object. Includes objects with only primitive changes, unlike `hasChanges`.
  package final var awaitsSave: Bool { state.contains(.listed) }
  /// Whether the object is new, changed or marked for deletion.
  public final var hasChanges: Bool {
    waitForPendingSave()
    return !readState.isDisjoint(with: [.inserted, .updated, .deleted])
  }
}

extension ManagedObject {
  /// The state; records the read if a getter is running.
  @inline(__always)
  private final var readState: State {
    noteRead(.state)
    return state
  }
}

/// Conditions of the object's transitions.
///
/// Marks of single properties.
extension ManagedObject {
  /// Whether a slot is marked as changed.
  @inline(__always)
  final func isMarked(_ slot: Slot) -> Bool {
    slot < 64 ? row.changedLow & (1 << UInt64(slot)) != 0 : record?.changedHigh.contains(slot) == true
  }

  /// Whether all flags are set, and a slot is marked as changed.
  @inline(__always)
  final func has(_ flags: State, mark slot: Slot?) -> Bool {
    state.isSuperset(of: flags) && (slot.map(isMarked) ?? true)
  }

  /// Whether the object has a row and nothing else, neither changes nor cached values. The object can then become a
  /// fault without loss.
  final var isAsSaved: Bool { page != nil && record == nil && state.isDisjoint(with: [.listed, .inserted, .deleted]) }

  /// Whether the object has any state that could not be read again.
  final var hasMoreThanItsRow: Bool {
    state.contains(.listed) || hasLiveValues || relationships.contains { entity.properties[$0.key].isTransient }
  }
}

/// Identity is equality.
extension ManagedObject: Hashable {
  /// Compares identities: a context has one instance for each ID.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  /// Hashes the object's identity.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Estimates of the memory that objects hold, which is charged to the script that holds them.
extension ManagedObject {
  /// An estimate of the bytes of an object without values: 96 for the instance, and up to 36 for its place in a
  /// `KeyMap`.
  static let ownWeight = 136

  /// Adds bytes that the object holds, or subtracts released bytes. Very cheap for objects that are not weighed.
  final func weigh(_ bytes: Int) {
    if bytes != 0, isWeighed { context?.weigh(bytes) }
  }

  /// The object's bytes that the context counts. 0 for an object that the context does not weigh.
  package final var weight: Int {
    isWeighed ? Self.ownWeight &+ row.weight &+ (record?.weight ?? 0) : 0
  }

  /// Updates the weight of cached and delayed values.
  final func weighComputed() {
    guard let record else { return }
    var now = record.caches.sum { $0.pointee.value.weight }
    if !record.delayed.isEmpty { now += record.delayed.sum { $0.pointee.weight } }
    weigh(now - record.computedWeight)
    record.computedWeight = now
  }

  /// Updates the weight of relationships.
  final func weighRelationships() {
    guard let record else { return }
    let now = record.relationships.reduce(0) { $0 + $1.value.weight }
    weigh(now - record.relationshipsWeight)
    record.relationshipsWeight = now
  }
}

/// External values, which the store keeps apart from the row and reads on access.
extension ManagedObject {
  /// The value in a slot; a token is replaced by the value that it stands for. Throws `.storeFailure`, and
  /// `.invalidStore` for damaged data.
  final func loaded(_ slot: Slot) throws -> Value { try loaded(stored(slot), slot: slot) }

  /// A value of the snapshot; a token is replaced by the value that it stands for.
  @inline(__always)
  final func loaded(_ value: Value, slot: Slot) throws -> Value {
    guard case .object(let token) = value else { return value }
    return try resolved(token, slot: slot)
  }

  /// Reads an external value. Throws an error that names the property.
  @inline(never)  // an external value is read once
  private final func resolved(_ token: OpaqueObject, slot: Slot) throws -> Value {
    guard let load = token.load else { return .object(token) }
    do {
      return .data(try load())
    } catch var damage as GraphError where token.damage != nil {
      if damage.property == nil { damage.property = entity.property(at: slot).name }
      throw damage
    } catch {
      let name = entity.property(at: slot).name
      throw GraphError(
        .storeFailure, message: "\(entity.name).\(name) of \(objectID): \(error)", entity: entity.name, property: name,
        objectID: objectID, underlying: error)
    }
  }

  /// Whether a slot has an external value that is equal to a value, so that assigning it is no change. The data of the
  /// token is read for the comparison.
  final func isUnread(_ slot: Slot, equalTo value: Value) throws -> Bool {
    guard case .object(let token) = try stored(slot), token.load != nil, case .data = value else { return false }
    return (try? loaded(slot)) == value
  }

  /// Whether the store's row has a damaged value in a slot, and nothing was assigned since. The next save leaves the
  /// value in the file.
  final func isDamaged(_ slot: Slot) -> Bool { !isAdded(slot) && current(slot)?.isDamage == true }
}

/// Damage in values.
extension Value {
  /// Whether the value stands for damaged data, which is shown to readers and never written.
  package var isDamage: Bool { if case .object(let token) = self { token.damage != nil } else { false } }
}

/// An object's current values, in its row and beside it.
extension ManagedObject {
  /// The page of the object's row, a store's or its own. Nil for a fault without a row.
  final var page: RowPage? { row.page }
  /// Whether the object has values of its own, beside a store's row or in a row of its own.
  final var hasLiveValues: Bool { !row.live.isEmpty || row.isOwn }
  /// The value in a slot: the object's own value, else the row's. Nil if neither exists, for a fault. Neither fires a
  /// fault nor runs accessors.
  @inline(__always)
  package final func current(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.page?.value(slot, of: Int(row.place))
  }
  /// The object's own value in a slot; nil if the row's value applies. Own values are unsaved, or belong to a row that
  /// only this object has.
  @inline(__always)
  final func own(_ slot: Slot) -> Value? {
    if !row.live.isEmpty, let value = row.live[slot] { return value }
    return row.owns(slot) ? row.page?.value(slot, of: Int(row.place)) : nil
  }
  /// The values of all slots; nil for a fault without a row. An array by slot; null where there is no value.
  final var currentValues: ContiguousArray<Value>? {
    guard hasLiveValues || row.page != nil else { return nil }
    return ContiguousArray(entity.properties.map { current($0.slot) ?? .null })
  }
  /// The cell of a slot, without an intermediate `Value` where possible. Used for comparisons in predicates and sort
  /// keys.
  @inline(__always)
  final func currentRawCell(_ slot: Slot) -> RawCell {
    if !row.live.isEmpty, let value = row.live[slot] { return RawCell(of: value) }
    return row.page?.rawCell(slot, of: Int(row.place)) ?? RawCell(.null)
  }
  /// Whether a slot has a value. Without a row, only null is held.
  @inline(__always)
  final func holds(_ value: Value, slot: Slot) -> Bool {
    if !row.live.isEmpty, let beside = row.live[slot] { return beside.isSame(as: value) }
    return row.page?.cell(slot, of: Int(row.place)).isSame(as: value) ?? value.isNull
  }
  /// Whether a slot has the same value as a store's row. Compares cells where possible, without intermediate values.
  /// Cells without such a comparison are compared as values.
  final func holds(valueOf row: Snapshot, slot: Slot) -> Bool {
    if self.row.live.isEmpty || self.row.live[slot] == nil {
      let (own, other) = (currentRawCell(slot), row.page.rawCell(slot, of: row.place))
      if own.kind != .other || other.kind != .other { return own.isSame(as: other) }
    }
    return row.cell(slot).isSame(as: current(slot) ?? .null)
  }
  /// Whether a slot has a value, without converting it. Fires a fault. Accessors and transformers do not run.
  final func hasStoredValue(_ slot: Slot) throws -> Bool {
    if state.contains(.fault) { try fireFault() }
    return !holds(.null, slot: slot)
  }
  /// Slots that may differ from the snapshot and that a save writes. The list is not exact: a value may have been set
  /// back.
  final var changed: SlotSet { SlotSet(low: row.changedLow, high: record?.changedHigh ?? []) }
  /// The version of the row; nil without a row. Increased by each save that changes the row.
  final var rowVersion: Int64? { snapshot?.version }
}

/// Saves that another thread writes: the object's state meanwhile and afterwards.
extension ManagedObject {
  /// Prepares the object for a save that another thread writes. Returns the object's former state.
  ///
  /// Until the outcome is known the object is a fault, so that an access waits for it. A new object keeps its values in
  /// the row that is written; `copy` is a copy of this row, if one was made. A saved object becomes a fault without
  /// values; its former state is kept by the save.
  final func beginPendingSave(to copy: Snapshot?) -> Reading? {
    guard !state.contains(.inserted) else {
      if let copy { weigh(row.setLocation(copy.place, in: copy.page, owning: true)) }
      changeState(removing: .listed, adding: [.fault, .refreshed])
      return nil
    }
    let reading = reading
    changeState(removing: [.updated, .listed])
    becomeFaultForPendingSave()
    dropEmptyRecord()
    changeState(adding: .refreshed)
    return reading
  }

  /// Ends the pending save of a new object. With `listed` the object waits for the next save. Called with the result of
  /// the save.
  final func endPendingSave(listed: Bool) {
    changeState(removing: [.fault, .refreshed], adding: listed ? .listed : [])
  }

  /// Marks the object's lists as part of a pending save of new objects, whose addition counts as a change until the
  /// outcome is known.
  final func handOverLists() { changeState(adding: .hasPendingLists) }

  /// Ends the pending save of the object's lists. `permanent` has the IDs of saved objects; nil if the save failed.
  ///
  /// Later changes are kept.
  final func endHandOverOfLists(_ permanent: PermanentIDs?) {
    changeState(removing: .hasPendingLists)
    guard let permanent else { return }
    outdateTemporaryDestinations()
    for known in relationships.values { known.didSave(only: permanent) }
    weighRelationships()
    if !forgetSavedLists(), let context, context.journal.isActive { context.writing.ownersToRecheck.append(self) }
  }
}

/// Temporary IDs in values that are not saved: values that awake-from-fetch sets, and primitive transient values.
///
/// No save considers their objects, while the IDs change with a save.
extension ManagedObject {
  /// Registers the object for replacement of temporary IDs at the next save, if a slot contains one and no change lists
  /// it. Called after each value that no change records.
  final func keepForNewIDs(_ slot: Slot) {
    guard let context, !state.contains(.listed), holdsTemporaryID(slot) else { return }
    context.writing.objectsWithTemporaryIDs.append(self)
  }

  /// Whether the object's own value contains one.
  private func holdsTemporaryID(_ slot: Slot) -> Bool {
    // A delayed value of an added attribute lists the object.
    if isAdded(slot) { return false }
    guard case .toMany = entity.properties[slot].kind else { return own(slot)?.holdsTemporaryID == true }
    return relationships[slot]?.added.contains(where: \.isTemporaryID) == true
  }

  /// Replaces temporary IDs in the object's values by permanent IDs. Values computed from such IDs are invalidated.
  final func replaceTemporaryIDs(by permanent: PermanentIDs) {
    guard context != nil else { return }
    outdateTemporaryDestinations()
    for slot in entity.properties.indices {
      if let known = relationships[slot] {
        known.replaceIDs(by: permanent)
      } else if let value = own(slot)?.replacingIDs({ permanent[$0] }) {
        restoreOwn(value, slot: slot)
        outdate(slot, because: .identity)
      }
    }
  }
}

extension ManagedObject: CustomStringConvertible {
  /// The entity, the ID and the known values: `Person x-coredata://…/Person/p1 { firstName = "Ada", age = 36 }`.
  ///
  /// The description changes nothing and runs no code of an extension: a fault stays a fault, although the values of
  /// its row are shown, and derived values are omitted. Long texts are truncated.
  public final var description: String {
    guard let values = valuesToShow else { return "\(entity.name) \(objectID) (\(absence))" }
    var text = ""
    for property in entity.properties where !values[property.slot].isNull {
      text += "\(text.isEmpty ? " " : ", ")\(property.name) = \(shown(values[property.slot], as: property))"
      if text.utf8.count > Self.greatestDescription {
        text += ", …"
        break
      }
    }
    return "\(entity.name) \(objectID)\(isDeleted ? " (deleted)" : "") {\(text) }"
  }

  /// The number of UTF-8 bytes after which further properties are omitted.
  private static let greatestDescription = 800

  /// The stored values, with unsaved changes; nil if they cannot be read. The values of a fault are read from the store
  /// without firing it.
  private var valuesToShow: ContiguousArray<Value>? {
    waitForPendingSave()
    guard let context else { return nil }
    noteRead(.state)
    if let currentValues { return currentValues }
    return (try? context.source.snapshot(of: objectID, in: context.view)).map { ContiguousArray($0.values) }
  }

  /// Why there are no values, as text in parentheses.
  private var absence: String {
    guard context == nil else { return "its row cannot be read" }
    return switch departure {
    case .contextGone: "its context is gone"
    case .closed: "its context was closed"
    case .reset: "its context was reset"
    case .deleted: "deleted"
    case .rolledBack: "its insertion was rolled back"
    case .replaced: "it was made before its row: fetch it again"
    }
  }

  /// The value as text. Large values are described by kind and size.
  private func shown(_ value: Value, as property: ResolvedProperty) -> String {
    // The cache entry of a stored derived attribute contains no value.
    let computed = caches[property.slot]?.value ?? .null
    return switch computed.isNull ? value : computed {
    case .string(let text): Self.quoted(text)
    case .data(let data): "\(data.count) bytes"
    case .list(let list): "a list of \(list.count)"
    case .map(let map): "a map of \(map.count)"
    case .object(let object) where object.damage != nil: "a damaged value"
    case .object(let object) where object.load != nil: "bytes in a file"
    case .object(let object): "a \(object.className)"
    case .objectID(let id): id.lastComponents
    case let scalar: scalar.description
    }
  }

  /// At most 60 Unicode scalars, in quotation marks, with special characters escaped.
  private static func quoted(_ text: String) -> String {
    let start = String(text.unicodeScalars.prefix(60))
    return (start.utf8.count < text.utf8.count ? start + "…" : start).quoted { "\\u{\(String($0.value, radix: 16))}" }
  }
}
