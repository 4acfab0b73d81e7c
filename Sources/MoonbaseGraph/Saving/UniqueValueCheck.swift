import MoonbaseModel

/// Checks unique values of changed objects before a save, as stores do when they write.
///
/// Used by `prepareSave`, which does not write. Constraints of parents are checked with their own entity.
struct UniqueValueCheck {
  /// The context that is checked.
  let context: ManagedObjectContext

  /// Throws the conflicts, as a save does. The code is `.constraintConflict`.
  func run() throws {
    var conflicts: [SaveConflict] = []
    var values: [ManagedObjectID: [Value]] = [:]
    for entity in context.model.entities {
      for slots in entity.uniquenessConstraints.suffix(entity.description.uniquenessConstraints.count) {
        for (object, other, key) in try doubled(entity, slots) where values.updateValue(key, forKey: object) == nil {
          let names = slots.map { entity.properties[$0].name }
          conflicts.append(SaveConflict(object, .sameValues(properties: names, as: other)))
        }
      }
    }
    try GraphError.throwConflicts(conflicts) { $0.error(values: values[$0.objectID] ?? []) }
  }

  /// An object, the object that has the same values, and these values.
  private typealias Double = (object: ManagedObjectID, other: ManagedObjectID, key: [Value])

  /// The changed objects whose unique values another object has; of several changed objects with the same values, all
  /// but the first. Null never equals another null.
  private func doubled(_ entity: ResolvedEntity, _ slots: [Slot]) throws -> [Double] {
    let changed = context.changedObjects.filter { object in
      !object.isDeleted && entity.subtree.contains(object.entity.index)
        && (object.isInserted || slots.contains(where: object.changed.contains))
    }
    let keys = try changed.map { try key(of: $0, slots) }
    let wanted = Set(keys.filter { !$0.contains(.null) })
    guard !wanted.isEmpty else { return [] }
    let own = Set(changed.map(\.objectID))
    var holders: [[Value]: ManagedObjectID] = [:]
    for object in try context.fetchNow(request(entity, slots, wanted)) where !own.contains(object.objectID) {
      holders[try key(of: object, slots)] = object.objectID
    }
    return zip(changed, keys).compactMap { object, key in
      guard wanted.contains(key) else { return nil }
      guard let holder = holders[key] else {
        holders[key] = object.objectID
        return nil
      }
      return (object.objectID, holder, key)
    }
  }

  /// The values of a constraint.
  private func key(of object: ManagedObject, _ slots: [Slot]) throws -> [Value] {
    try slots.map { try object.value(at: $0) }
  }

  /// A request for the objects with any of the given combinations of values. The result may contain objects with values
  /// of different combinations, so keys are compared again.
  private func request(_ entity: ResolvedEntity, _ slots: [Slot], _ keys: Set<[Value]>) -> FetchRequest {
    var request = FetchRequest(entity.name)
    request.predicate = .and(
      slots.indices.map { place in
        let path = Expression.keyPath(.evaluatedObject, [entity.properties[slots[place]].name])
        return .comparison(.init(path, .in, .constant(.list(Array(Set(keys.map { $0[place] }))))))
      })
    return request
  }
}
