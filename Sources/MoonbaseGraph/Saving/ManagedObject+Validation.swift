import DequeModule
public import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Validation at any time, without a save.
extension ManagedObject {
  /// Checks a proposed value of a property against all rules without storing the value.
  ///
  /// Returns the issues with severity warning. Throws the failure, or `.multipleErrors` with all failures. For example,
  /// `try person.validate(-1, forKey: "age")` throws `.numberTooSmall` if the model has a minimum of 0. Unknown keys
  /// throw `.unknownName`.
  @discardableResult
  public final func validate(_ value: Value, forKey key: String) throws -> [GraphError] {
    let failures = FailureCollector()
    let validator = try ObjectValidator(self, failures: failures)
    try validator.validate(value, slot: slot(of: key))
    try failures.throwFailures()
    return failures.warnings
  }

  /// Checks the object as the next save would.
  ///
  /// Returns the issues with severity warning. Throws the failure, or `.multipleErrors` with all failures. Rules that
  /// normalize a value change the object.
  @discardableResult
  public final func validate() throws -> [GraphError] {
    let failures = FailureCollector()
    var validator = try ObjectValidator(self, failures: failures)
    try validator.validate(for: isDeleted ? .delete : isInserted ? .insert : .update)
    try failures.throwFailures()
    return failures.warnings
  }

  /// Checks a saved object as if it were new. Throws the failure, or `.multipleErrors` with all failures. Used when
  /// objects are copied or imported.
  package final func validateAsNew() throws {
    let failures = FailureCollector()
    var validator = try ObjectValidator(self, failures: failures)
    try validator.validate(for: .insert, isSaved: true)
    try failures.throwFailures()
  }
}

/// Discarding changes of single properties.
extension ManagedObject {
  /// Discards the change of an attribute, so that the attribute has the row's value and the next save does not write
  /// it.
  final func giveUpChange(_ slot: Slot) {
    rememberValue(slot)
    restoreOwn(nil, slot: slot)
    cache(nil, slot: slot)
    if isMarked(slot) { unmark(slot) }
    delay(nil, slot: slot)
    context?.noteChange()
    context?.changedObjects.note(self)
  }
}

/// Replacing derived values.
extension ManagedObject {
  /// Replaces some values of the object's row by those of another row. The version of the row stays.
  func adoptValues(of row: Snapshot, slots: [Slot]) {
    guard let snapshot else { return }
    var values = ContiguousArray(snapshot.values)
    for slot in slots { values[slot] = row.values[slot] }
    if !values.elementsEqual(snapshot.values) {
      adopt(Snapshot(id: objectID, version: snapshot.version, values: values))
    }
  }
}

/// Comparing cached values with stored bytes.
extension ManagedObject {
  /// The errors for transformable values of the object that were changed in place. Nothing is encoded for a deleted
  /// object or a fault.
  func valuesChangedInPlace() throws -> [GraphError] {
    guard !isDeleted, !isFault else { return [] }
    let behavior = try behavior()
    return try caches.keys.sorted().compactMap { slot in
      guard let cached = caches[slot], !cached.value.isNull, try isChangedInPlace(cached, slot: slot, behavior) else {
        return nil
      }
      return refused(
        slot, value: cached.value,
        reason: "its value was changed in place, which is no change: assign a changed copy to the attribute",
        as: .changedInPlace)
    }
  }

  /// Whether encoding the cached value gives other bytes than the stored ones. Throws errors of the transformer.
  private func isChangedInPlace(_ cached: Cached, slot: Slot, _ behavior: EntityBehavior) throws -> Bool {
    if let transformer = behavior.transformer(slot), !transformer.own.isDefault {
      let bytes = try blaming(slot, hook: "transform") { try transformer.own.transformedValue(cached.value) }
      return try bytes != loaded(slot)
    }
    guard case .derived(let derived) = behavior.kind(slot), let shadow = derived.shadow.flatMap(entity.slot),
      let stored = derived.shadowValue, delayed[slot] == nil, cached.reads.map(holds) ?? true
    else { return false }
    return try !blaming(slot, hook: "transform", { try stored(cached.value, self) }).isSame(as: value(at: shadow))
  }
}

/// Rows after a save.
extension ManagedObject {
  /// Whether the object has no state beside the row that it filled, and no observers. Then the save need not touch the
  /// object.
  @inline(__always)
  final func keepsItsRowOnly(of written: WrittenRow) -> Bool {
    guard case .inPlace(let page, let place) = written, row.isItsOwn(at: place, in: page), row.live.isEmpty,
      record == nil, !state.contains(.observed)
    else { return false }
    return table._withUnsafeGuaranteedRef { table in
      table.contextReference?._withUnsafeGuaranteedRef { !$0.derivations.isWatching } ?? false
    }
  }

  /// The row after a save; nil if the object keeps its row. The row may lie in a page that the save sealed.
  final func rowSaved(as written: WrittenRow) -> Snapshot? {
    switch written {
    case .copied(let new): new
    case .inPlace(let page, let place): Snapshot(unchecked: page.takeUnretainedValue(), at: Int(place))
    // A changed object had no values outside of its row in this case.
    case .nothing: row.isOwn ? row.snapshot ?? row.inItsPage : nil
    }
  }
}

/// Objects that another thread may be writing.
extension ManagedObject {
  /// Whether another thread may be writing the object. An object on its way must not be turned into a fault again.
  package final var isOnItsWay: Bool { context?.writing.pendingSave != nil && needsRow }

  /// Waits, before a property is read or set, for a save in progress that writes this object or its lists. Called at
  /// the beginning of accessors.
  @inline(__always)
  final func waitForPendingSave() {
    if !state.isDisjoint(with: [.refreshed, .hasPendingLists]), let context { context.waitForPendingSave() }
  }

  /// Waits, before a list changes, for a save in progress that writes this object's own changes. New objects that were
  /// added to a list before may still be written meanwhile. Called before a destination is added or removed.
  @inline(__always)
  final func waitForPendingSaveOfOwnChanges() {
    if state.isSuperset(of: [.fault, .refreshed]), let context { context.waitForPendingSave() }
  }

  /// Waits before an access that only the save of a new object affects, such as reading the ID. The temporary ID would
  /// otherwise be seen after the save.
  @inline(__always)
  final func waitForPermanentID() {
    if state.isSuperset(of: [.refreshed, .inserted]) { waitForPendingSave() }
  }
}
