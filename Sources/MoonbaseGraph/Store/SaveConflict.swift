public import MoonbaseModel

/// Something in a store that a save did not expect: what another context saved meanwhile, or a unique value that is taken.
///
/// Stores return conflicts, and write nothing then. What the context saw is with its objects; of a row that another context saved the
/// conflict has what the store holds now.
public struct SaveConflict: Sendable {
  /// What is in the way.
  public enum Kind: Sendable, Hashable {
    /// The row was saved by another context.
    case changed(expected: Int64, found: Int64)
    /// The row was deleted by another context.
    case deleted
    /// The relationship is to lead to an object whose row is gone.
    case destinationIsGone(relationship: String, ManagedObjectID)
    /// The object is to be deleted, and another context gave it a destination that its delete rules did not reach.
    case destinationCame(relationship: String, ManagedObjectID)
    /// The relationship of a row leads to an object that is to lead elsewhere, or to go.
    case destinationLeaves(relationship: String, ManagedObjectID)
    /// The destination of the one-to-one relationship got another partner by another context.
    case destinationLeadsElsewhere(relationship: String, ManagedObjectID)
    /// Another object has the same values of properties that are unique, where the store knows which.
    case sameValues(properties: [String], as: ManagedObjectID?)
  }

  /// The object whose row it is about.
  public let objectID: ManagedObjectID
  /// What is in the way.
  public let kind: Kind
  /// The row as the store has it, of one that another context saved (`.changed`).
  public let foundRow: Snapshot?

  /// Makes a conflict.
  public init(_ objectID: ManagedObjectID, _ kind: Kind, foundRow: Snapshot? = nil) {
    (self.objectID, self.kind, self.foundRow) = (objectID, kind, foundRow)
  }

  /// The object that it is about beside its own: who reads its row anew sees what is in the way.
  var otherID: ManagedObjectID? {
    switch kind {
    case .changed, .deleted: nil
    case .destinationIsGone(_, let id), .destinationCame(_, let id), .destinationLeaves(_, let id),
      .destinationLeadsElsewhere(_, let id):
      id
    case .sameValues(_, let id): id
    }
  }
}

extension SaveConflict {
  package static func destinationIsGone(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationIsGone(relationship: name(slot, of: id, in: model), destination))
  }

  package static func destinationCame(
    _ destination: ManagedObjectID, to id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationCame(relationship: name(slot, of: id, in: model), destination))
  }

  package static func destinationLeaves(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationLeaves(relationship: name(slot, of: id, in: model), destination))
  }

  package static func destinationLeadsElsewhere(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> Self {
    Self(id, .destinationLeadsElsewhere(relationship: name(slot, of: id, in: model), destination))
  }

  private static func name(_ slot: Slot, of id: ManagedObjectID, in model: ResolvedModel) -> String {
    model.entity(of: id)?.properties[slot].name ?? "relationship \(slot)"
  }
}
