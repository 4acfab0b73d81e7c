import MoonbaseModel

/// A stored derived attribute of an object.
struct StoredPlace {
  let object: ManagedObject
  let slot: Slot
}
