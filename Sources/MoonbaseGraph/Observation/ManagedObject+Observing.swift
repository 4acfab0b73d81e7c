import MoonbaseModel

/// Observing objects: what Core Data's key-value observing is for.
///
/// ```swift
/// let token = try person.observe("age") { change in print(change.old, "->", change.new) }
/// person.age = 31                                  // 30 -> 31
/// token.cancel()
/// ```
extension ManagedObject {
  /// Calls `handler` each time that a property has another value, by whichever door: an assignment, the other side of a relationship,
  /// an undone change, a rollback or a newer row; of a derived attribute also where something changed that it was computed from.
  ///
  /// It is called when the call that changed something is done: after a save for what its hooks changed, and once where the value
  /// changed several times meanwhile. An equal value is no change. The value is read at once, for it is what `old` will be. One that
  /// cannot be read later counts as none, and its error is in the context's `pendingErrors`. The handler may change objects.
  ///
  /// The observation ends with the token that is returned. Throws for an unknown name, for a key path, for a fetched property, for an object that is
  /// in no context, and what reading the value throws.
  public final func observe(_ key: String, _ handler: @escaping (ObservedChange) -> Void) throws -> Observation {
    if entity.slot(key) == nil, let error = observedPathError(key) { throw error }
    let slot = try slot(of: key)
    guard let context else { throw goneError }
    if case .toMany = entity.property(at: slot).kind {
      _ = try memberIDs(slot)
      return begin(MembersWatch(self, slot: slot, handler: handler), in: context)
    }
    _ = try value(at: slot)
    return begin(ValueWatch(self, slot: slot, handler: handler), in: context)
  }

  /// Calls `handler` each time that anything of the object changed, with the names of the properties, or that it was deleted.
  ///
  /// It says as `observe(_:_:)` does when, but compares no values: a property that was set to another value and back is named. Throws for
  /// an object that is in no context.
  public final func observe(_ handler: @escaping (ObjectChange) -> Void) throws -> Observation {
    guard let context else { throw goneError }
    return begin(ObjectWatch(self, handler: handler), in: context)
  }

  /// What is wrong with a key path that begins with a property; nil where it does not.
  private func observedPathError(_ path: String) -> GraphError? {
    guard let dot = path.firstIndex(of: "."), entity.slot(String(path[..<dot])) != nil else { return nil }
    return GraphError(
      .unknownName,
      message: "\(entity.name).\(path) is a key path, and an observer follows one property of one object: observe "
        + "\(path[..<dot]) and the objects that it leads to, or a derived attribute that reads the path",
      entity: entity.name, property: path, objectID: objectID)
  }

  private final func begin(_ watch: Watch, in context: ManagedObjectContext) -> Observation {
    context.observe(self, watch)
    return Observation(self, watch, in: context)
  }
}
