import MoonbaseModel

/// Observation of objects, in place of Core Data's key-value observing.
///
/// ```swift
/// let token = try person.observe("age") { change in print(change.old, "->", change.new) }
/// person.age = 31                                  // 30 -> 31
/// token.cancel()
/// ```
extension ManagedObject {
  /// Calls `handler` each time that the value of a property changed, for any reason: an assignment, a change of the
  /// inverse, undo, a rollback or a newer row. A derived attribute is also reported when one of its inputs changed.
  ///
  /// The handler is called at the end of the call that made the change: after a save for changes by hooks, and once
  /// even if the value changed several times. Setting an equal value is not a change. The value is read immediately, as
  /// the later `old` value. If it cannot be read later, it counts as null, and the error is in the context's
  /// `pendingErrors`. The handler may change objects.
  ///
  /// The observation ends when the returned token is released. Throws for an unknown name, a key path, a fetched
  /// property, an object without a context, and the errors of reading the value.
  public final func observe(_ key: String, _ handler: @escaping (ObservedChange) -> Void) throws -> Observation {
    if entity.slot(key) == nil, let error = observedPathError(key) { throw error }
    let slot = try slot(of: key)
    guard let context else { throw detachedError }
    if case .toMany = entity.property(at: slot).kind {
      _ = try memberIDs(slot)
      return begin(MembersObserver(self, slot: slot, handler: handler), in: context)
    }
    _ = try value(at: slot)
    return begin(ValueObserver(self, slot: slot, handler: handler), in: context)
  }

  /// Calls `handler` each time that the object changed, with the names of the properties, or that it was deleted.
  ///
  /// The times of calls are those of `observe(_:_:)`, but values are not compared: a property that was set and reset is
  /// also reported. Throws for an object without a context.
  public final func observe(_ handler: @escaping (ObjectChange) -> Void) throws -> Observation {
    guard let context else { throw detachedError }
    return begin(ObjectObserver(self, handler: handler), in: context)
  }

  /// The error for a key path that begins with a property; nil for other texts.
  private func observedPathError(_ path: String) -> GraphError? {
    guard let dot = path.firstIndex(of: "."), entity.slot(String(path[..<dot])) != nil else { return nil }
    return GraphError(
      .unknownName,
      message: "\(entity.name).\(path) is a key path, and an observer follows one property of one object: observe "
        + "\(path[..<dot]) and the objects that it leads to, or a derived attribute that reads the path",
      entity: entity.name, property: path, objectID: objectID)
  }

  private final func begin(_ watch: ObserverState, in context: ManagedObjectContext) -> Observation {
    context.observe(self, watch)
    return Observation(self, watch, in: context)
  }
}
