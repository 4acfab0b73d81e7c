import MoonbaseModel

/// What an object has beside its values: computed ones, relationships of which something is known, and what they weigh. An
/// object that is only read has none.
final class ObjectRecord {
  // As with the fields of objects: no access lasts while other code runs.

  /// Slots from 64 on that may differ from the snapshot.
  @exclusivity(unchecked) var changedHigh: Set<Slot> = []
  /// Values that transformers and derived attributes gave.
  @exclusivity(unchecked) var caches: SlotMap<ManagedObject.Cached> = [:]
  /// Values assigned to delayed derived attributes, until will-save.
  @exclusivity(unchecked) var delayed: SlotMap<Value> = [:]
  /// To-many relationships of which something is known.
  @exclusivity(unchecked) var relationships: SlotMap<ToManyState> = [:]
  /// The faults that read their rows together with this one.
  @exclusivity(unchecked) var batch: FaultBatch?
  /// The bytes of computed values and of relationships, as the context was told.
  @exclusivity(unchecked) var computedWeight = 0
  @exclusivity(unchecked) var relationshipsWeight = 0

  /// Whether there is nothing in it that an object needs.
  var isEmpty: Bool {
    changedHigh.isEmpty && caches.isEmpty && delayed.isEmpty && relationships.isEmpty && batch == nil
  }

  var weight: Int { computedWeight &+ relationshipsWeight }
}
