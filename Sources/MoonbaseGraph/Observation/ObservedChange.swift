public import MoonbaseModel

/// What an observer is told of a property of an object.
public struct ObservedChange {
  /// The object.
  public let object: ManagedObject
  /// The property's name.
  public let key: String
  /// The IDs of destinations that a to-many relationship has now and had not before; in no order.
  public let inserted: [ManagedObjectID]
  /// The IDs of destinations that a to-many relationship had and has no longer; in no order.
  public let removed: [ManagedObjectID]

  private let values: (old: Value, new: Value)?

  /// A value is another one.
  init(_ object: ManagedObject, slot: Slot, old: Value, new: Value) {
    (self.object, key, values) = (object, object.entity.property(at: slot).name, (old, new))
    (inserted, removed) = ([], [])
  }

  /// Destinations came or went, or stand in another order.
  init(_ object: ManagedObject, slot: Slot, inserted: [ManagedObjectID], removed: [ManagedObjectID]) {
    (self.object, key, values) = (object, object.entity.property(at: slot).name, nil)
    (self.inserted, self.removed) = (inserted, removed)
  }

  /// The value now, as `value(forKey:)` gives it. The list of a to-many relationship is made when this is asked for.
  public var new: Value { values?.new ?? object[key] }

  /// The value of which the observer was told before. Of a to-many relationship it is made of what is there now and of what came and
  /// went, and tells no order.
  public var old: Value {
    if let values { return values.old }
    let came = Set(inserted)
    let stayed = (new.list ?? []).filter { element in element.objectID.map { !came.contains($0) } ?? true }
    return .list(stayed + removed.map(Value.objectID))
  }
}

/// What an observer of a whole object is told.
public struct ObjectChange {
  /// The object.
  public let object: ManagedObject
  /// The names of properties that changed, or may have: where the row was read anew it is all of them.
  public let keys: Set<String>
  /// Whether the object is marked for deletion, or gone.
  public let isDeleted: Bool
}

/// An observation of an object, which goes on as long as this is kept.
///
/// It keeps the object, and the object no observation. It belongs to the object's context, as the object does.
public final class Observation {
  /// The object that is observed.
  public let object: ManagedObject
  private let watch: Watch
  private let context: ContextReference

  init(_ object: ManagedObject, _ watch: Watch, in context: ManagedObjectContext) {
    (self.object, self.watch, self.context) = (object, watch, context.reference)
  }

  /// Ends the observation: its closure is not called any more. Where the token goes, that happens by itself.
  public func cancel() { context.context?.stopObserving(object, watch) }

  deinit { cancel() }
}
