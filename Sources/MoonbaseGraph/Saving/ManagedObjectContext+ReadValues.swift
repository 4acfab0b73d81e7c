import MoonbaseModel
import OrderedCollections

extension ManagedObjectContext {
  /// Transforms every transformable value that was read again: other bytes than the object holds mean that the
  /// value was changed in place.
  func checkReadValues() throws {
    let failures = FailureCollector()
    for object in readObjects where object.context === self {
      for failure in try object.valuesChangedInPlace() { try failures.add(failure) }
    }
    try failures.throwFailures(consequence: "; nothing was saved")
  }
}

extension ManagedObject {
  fileprivate func valuesChangedInPlace() throws -> [GraphError] {
    guard !isDeleted, !isFault else { return [] }
    let behavior = try behavior()
    return try caches.keys.sorted().compactMap { slot in
      guard let transformer = behavior.transformer(slot), !transformer.isDefault, let cached = caches[slot],
        !cached.value.isNull,
        try blaming(slot, hook: "transform", { try transformer.transformedValue(cached.value) }) != loaded(slot)
      else { return nil }
      return refused(
        slot, value: cached.value,
        reason: "its value was changed in place, which is no change: assign a changed copy to the attribute",
        as: .changedInPlace)
    }
  }
}
