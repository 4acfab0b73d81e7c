import MoonbaseModel

/// The one instance of each ID. Not retained: objects take themselves out when they go.
typealias IdentityMap = IDMap<Unmanaged<ManagedObject>>

extension IDMap where Element == Unmanaged<ManagedObject> {
  /// Puts an object under its ID; returns another one that was there.
  mutating func insert(_ object: ManagedObject) -> ManagedObject? {
    let old = update(.passUnretained(object), for: object.objectID)?.takeUnretainedValue()
    return old === object ? nil : old
  }

  /// Takes an object out, if it is the one that is kept by its ID.
  mutating func remove(_ object: ManagedObject) {
    let pointer = Unmanaged.passUnretained(object).toOpaque()
    remove(object.objectID) { $0.toOpaque() == pointer }
  }
}
