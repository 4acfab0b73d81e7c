import MoonbaseModel
import OrderedCollections

/// Transformable values that were changed in place, which no setter notices.
extension ManagedObjectContext {
  /// Encodes every transformable value that objects have read. If the bytes differ from the object's, the value was
  /// changed in place. Called at the beginning of a save, if `detectsInPlaceMutation` is set. Throws `.changedInPlace`,
  /// with all failures.
  func checkReadValues() throws {
    let failures = FailureCollector()
    for object in readObjects where object.context === self {
      for failure in try object.valuesChangedInPlace() { try failures.add(failure) }
    }
    try failures.throwFailures(consequence: "; nothing was saved")
  }

  /// Forgets objects that left the context or no longer have such values. Values that are no longer cached cannot have
  /// been changed.
  func forgetReadObjectsThatLeft() {
    if readObjects.isEmpty { return }
    readObjects = readObjects.filter { $0.context === self && !$0.caches.isEmpty }
  }
}

/// Comparing cached values with stored bytes.
extension ManagedObject {
  /// The errors for transformable values of the object that were changed in place. Nothing is encoded for a deleted
  /// object or a fault.
  fileprivate func valuesChangedInPlace() throws -> [GraphError] {
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
