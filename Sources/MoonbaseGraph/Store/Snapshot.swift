public import MoonbaseModel

/// The values of one object as its store holds them: immutable, shared by all contexts.
///
/// Values lie by slot of the object's own entity. To-one relationships are `.objectID`; slots of to-many relationships and
/// transient attributes are `.null`; transformable attributes hold their stored bytes. Bytes that the store keeps in a file of
/// their own may be a token, which objects resolve; a store gets it back only in slots that did not change.
///
/// ```swift
/// let row = try store.snapshot(of: id)
/// print(row?.version ?? 0, row?.values[slot] ?? .null)
/// ```
public final class Snapshot: Sendable {
  /// The object.
  public let id: ManagedObjectID
  /// How often the row was saved: 1 after its insertion (`Z_OPT` in the SQLite store).
  public let version: Int64
  /// The values by slot.
  public let values: ContiguousArray<Value>
  /// The bytes that it keeps, by estimate.
  package let weight: Int

  /// Makes a snapshot; `values` must have one element for every property of the object's entity.
  public init(id: ManagedObjectID, version: Int64, values: ContiguousArray<Value>) {
    self.id = id
    self.version = version
    self.values = values
    weight = values.reduce(80 &+ 24 &* values.count) { $0 &+ $1.weight }
  }
}
