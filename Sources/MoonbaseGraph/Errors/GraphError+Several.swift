package import MoonbaseModel

extension GraphError {
  /// An object whose row in the store is not the one the context saw.
  package static func conflict(_ id: ManagedObjectID, expected: Int64, found: Int64?) -> GraphError {
    let state =
      found.map { "was saved by another context (version \($0), expected \(expected))" }
      ?? "was deleted by another context"
    return GraphError(
      .mergeConflict, message: "\(id) \(state): refresh it and try again", entity: id.entityName, objectID: id)
  }

  /// A relationship whose new destination has no row.
  package static func missing(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> GraphError {
    conflict(
      id, slot: slot, destination: destination,
      what: ": its destination \(destination) was deleted by another context: set it anew", in: model)
  }

  /// A deleted object at which another one points that its delete rules did not reach.
  package static func unreached(
    _ destination: ManagedObjectID, from id: ManagedObjectID, slot: Slot, in model: ResolvedModel
  ) -> GraphError {
    conflict(
      id, slot: slot, destination: destination,
      what: ", which is to be deleted: another context gave it \(destination): refresh it and try again", in: model)
  }

  /// An object that points at another one, which the save leads elsewhere or deletes.
  package static func unpaired(
    _ id: ManagedObjectID, slot: Slot, from other: ManagedObjectID, in model: ResolvedModel
  ) -> GraphError {
    conflict(
      id, slot: slot, destination: other,
      what: " leads to \(other) in the store, which is to lead elsewhere or to go: refresh \(id), or give it another "
        + "destination, and try again", in: model)
  }

  private static func conflict(
    _ id: ManagedObjectID, slot: Slot, destination: ManagedObjectID, what: String, in model: ResolvedModel
  ) -> GraphError {
    let name = model.entity(of: id)?.properties[slot].name
    return GraphError(
      .mergeConflict, message: "\(id.entityName).\(name ?? "") of \(id)\(what)", entity: id.entityName, property: name,
      objectID: id, value: .objectID(destination))
  }

  /// Throws the conflicts of a save as one error.
  package static func throwConflicts(_ conflicts: [GraphError]) throws {
    guard let first = conflicts.first else { return }
    if conflicts.count == 1 { throw first }
    throw GraphError(
      .mergeConflict, message: "\(conflicts.count) objects were changed by another context; nothing was saved",
      entity: first.entity, objectID: first.objectID, details: conflicts)
  }

  /// Throws one failure, which is one of the data, as it is and several as one `.multipleErrors`.
  static func throwFailures(_ failures: [GraphError], consequence: String) throws {
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first.ofOthers }
    throw GraphError(
      .multipleErrors, message: "\(failures.count) validation failures\(consequence)", entity: first.entity,
      details: failures)
  }
}
