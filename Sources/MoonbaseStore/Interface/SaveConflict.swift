public import MoonbaseModel

/// A state of the store that a save did not expect: a row that another context changed, or a unique value that is
/// already taken.
///
/// A store that finds conflicts returns them and writes nothing. The context's own state is with its objects; if
/// another context saved the row, the conflict has the store's current row.
public struct SaveConflict: Sendable {
  /// The kind of conflict.
  public enum Kind: Sendable, Hashable {
    /// The row was saved by another context.
    case changed(expected: Int64, found: Int64)
    /// The row was deleted by another context.
    case deleted
    /// The relationship would point at an object whose row is gone.
    case destinationIsGone(relationship: String, ManagedObjectID)
    /// The object would be deleted, but another context gave it a destination that its delete rules did not reach.
    case destinationWasAdded(relationship: String, ManagedObjectID)
    /// The relationship of another row points at an object that the save deletes or links elsewhere.
    case destinationIsRemoved(relationship: String, ManagedObjectID)
    /// Another context linked the destination of the one-to-one relationship to another object.
    case destinationIsLinkedElsewhere(relationship: String, ManagedObjectID)
    /// Another object, if the store knows which, has the same values of unique properties.
    case sameValues(properties: [String], as: ManagedObjectID?)
  }

  /// The ID of the object whose row is concerned.
  public let objectID: ManagedObjectID
  /// The kind of conflict.
  public let kind: Kind
  /// The store's current row, if another context saved it (`.changed`).
  public let foundRow: Snapshot?

  /// Makes a conflict.
  public init(_ objectID: ManagedObjectID, _ kind: Kind, foundRow: Snapshot? = nil) {
    (self.objectID, self.kind, self.foundRow) = (objectID, kind, foundRow)
  }

  /// The ID of the other object in the conflict: refreshing its row shows the reason.
  package var otherID: ManagedObjectID? {
    switch kind {
    case .changed, .deleted: nil
    case .destinationIsGone(_, let id), .destinationWasAdded(_, let id), .destinationIsRemoved(_, let id),
      .destinationIsLinkedElsewhere(_, let id):
      id
    case .sameValues(_, let id): id
    }
  }
}

extension SaveConflict {
  /// A `destinationIsGone` conflict for a slot.
  package static func destinationIsGone(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationIsGone(relationship: name(slot, of: id, in: model), destination))
  }

  /// A `destinationWasAdded` conflict for a slot.
  package static func destinationWasAdded(
    _ destination: ManagedObjectID, to id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationWasAdded(relationship: name(slot, of: id, in: model), destination))
  }

  /// A `destinationIsRemoved` conflict for a slot.
  package static func destinationIsRemoved(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationIsRemoved(relationship: name(slot, of: id, in: model), destination))
  }

  /// A `destinationIsLinkedElsewhere` conflict for a slot.
  package static func destinationIsLinkedElsewhere(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationIsLinkedElsewhere(relationship: name(slot, of: id, in: model), destination))
  }

  private static func name(_ slot: Slot, of id: ManagedObjectID, in model: ResolvedModel) -> String {
    model.entity(of: id)?.properties[slot].name ?? "relationship \(slot)"
  }
}
