import MoonbaseModel

/// State of an object beside its values: cached values and states of relationships, with their weights.
///
/// An object that is only read has no record.
final class ObjectRecord {
  // As with the fields of objects, no access lasts while other code runs.

  /// Slots from 64 that may differ from the snapshot.
  @exclusivity(unchecked) var changedHigh: Set<Slot> = []
  /// Cached values from transformers and derived attributes.
  @exclusivity(unchecked) var caches: SlotMap<ManagedObject.Cached> = [:]
  /// Values assigned to delayed derived attributes, until will-save.
  @exclusivity(unchecked) var delayed: SlotMap<Value> = [:]
  /// The states of to-many relationships that were read or changed.
  @exclusivity(unchecked) var relationships: SlotMap<ToManyState> = [:]
  /// The faults whose rows are read together with this object's row.
  @exclusivity(unchecked) var batch: FaultBatch?
  /// The bytes of cached and delayed values, and of relationships, as last reported to the context.
  @exclusivity(unchecked) var computedWeight = 0
  @exclusivity(unchecked) var relationshipsWeight = 0

  /// Whether the record contains nothing.
  var isEmpty: Bool {
    changedHigh.isEmpty && caches.isEmpty && delayed.isEmpty && relationships.isEmpty && batch == nil
  }

  var weight: Int { computedWeight &+ relationshipsWeight }
}
