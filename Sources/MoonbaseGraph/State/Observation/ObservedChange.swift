public import MoonbaseModel

/// The change of an object's property that an observer is notified of.
public struct ObservedChange {
  /// The object.
  public let object: ManagedObject
  /// The name of the property.
  public let key: String
  /// The IDs of added destinations of a to-many relationship, in no particular order.
  public let inserted: [ManagedObjectID]
  /// The IDs of removed destinations of a to-many relationship, in no particular order.
  public let removed: [ManagedObjectID]

  private let values: (old: Value, new: Value)?

  /// Makes the change of a value.
  init(_ object: ManagedObject, slot: Slot, old: Value, new: Value) {
    (self.object, key, values) = (object, object.entity.property(at: slot).name, (old, new))
    (inserted, removed) = ([], [])
  }

  /// Makes the change of a to-many relationship: added and removed destinations, or another order.
  init(_ object: ManagedObject, slot: Slot, inserted: [ManagedObjectID], removed: [ManagedObjectID]) {
    (self.object, key, values) = (object, object.entity.property(at: slot).name, nil)
    (self.inserted, self.removed) = (inserted, removed)
  }

  /// The current value, as from `value(forKey:)`. The list of a to-many relationship is made on access.
  public var new: Value { values?.new ?? object[key] }

  /// The value at the previous notification. For a to-many relationship it is computed from the current, added and
  /// removed destinations, and has no particular order.
  public var old: Value {
    if let values { return values.old }
    let came = Set(inserted)
    let stayed = (new.list ?? []).filter { element in element.objectID.map { !came.contains($0) } ?? true }
    return .list(stayed + removed.map(Value.objectID))
  }
}

/// The change of an object that an observer of the whole object is notified of.
public struct ObjectChange {
  /// The object.
  public let object: ManagedObject
  /// The names of the properties that changed or may have changed: all properties if the row was refreshed.
  public let keys: Set<String>
  /// Whether the object is marked for deletion, or removed.
  public let isDeleted: Bool
}

/// An observation of an object. It ends when it is cancelled or released.
///
/// It retains the object, but the object does not retain its observations. It is confined to the object's context.
public final class Observation {
  /// The observed object.
  public let object: ManagedObject
  private let watch: ObserverState
  private let context: ContextReference

  init(_ object: ManagedObject, _ watch: ObserverState, in context: ManagedObjectContext) {
    (self.object, self.watch, self.context) = (object, watch, context.reference)
  }

  /// Ends the observation: its closure is not called any more. Releasing the token also ends it.
  public func cancel() { context.context?.stopObserving(object, watch) }

  deinit { cancel() }
}
