import MoonbaseModel
import OrderedCollections

extension ManagedObjectContext {
  /// Transforms every transformable value that was read again: other bytes than the object holds mean that the
  /// value was changed in place.
  func checkReadValues() throws {
    var failures: [GraphError] = []
    for object in readObjects where object.context === self {
      failures += try object.valuesChangedInPlace()
    }
    try GraphError.throwFailures(failures, consequence: "; nothing was saved")
  }
}

extension ManagedObject {
  fileprivate func valuesChangedInPlace() throws -> [GraphError] {
    guard !isDeleted, !isFault else { return [] }
    let behavior = try behavior()
    return try caches.keys.sorted().compactMap { slot in
      guard let transformer = behavior.transformer(slot), let cached = caches[slot], !cached.value.isNull,
        try blaming(slot, hook: "transform", { try transformer.transformedValue(cached.value) }) != loaded(slot)
      else { return nil }
      return refused(
        slot, value: cached.value,
        reason: "its value was changed in place, which is no change: assign a changed copy to the attribute",
        as: .changedInPlace)
    }
  }
}
