import MoonbaseModel

/// Conflicts of a plan.
extension SavePlan {
  /// Throws the conflicts as one error, with the colliding values. New objects are described by `nameOfNewObject`,
  /// because their IDs will change.
  func throwConflicts() throws {
    guard !conflicts.isEmpty else { return }
    // By the permanent IDs of the plan, which the objects no longer have when the error is shown.
    let new = Dictionary(
      uniqueKeysWithValues: rows.filter { $0.object.objectID.isTemporaryID }.map { ($0.id, $0.object) })
    func name(_ id: ManagedObjectID) -> String {
      new[id].map { context.hostSettings.nameOfNewObject?($0) ?? "\($0.objectID)" } ?? "\(id)"
    }
    try GraphError.throwConflicts(conflicts) { conflict in
      guard case .sameValues(let properties, _) = conflict.kind else {
        return conflict.error.telling(MergeConflict.differences(conflict, in: context))
      }
      let object = new[conflict.objectID] ?? context.registeredObject(for: conflict.objectID)
      let values = object.map { object in properties.compactMap { object.entity.slot($0).flatMap(object.current) } }
      var error = conflict.error(values: values ?? [], name: name)
      if let object = new[conflict.objectID] { error.objectID = object.objectID }
      return error
    }
  }
}

extension GraphError {
  /// A copy whose message shows the conflicting values. Also sets `property` and `value` to the first difference.
  func telling(_ differences: [MergeConflict.Difference]) -> GraphError {
    guard let first = differences.first else { return self }
    var error = self
    let words = differences.map {
      "\($0.property) is \($0.object.beginningOfText) here and \($0.stored.beginningOfText) there"
    }
    error.message += " (\(words.joined(separator: ", ")))"
    (error.property, error.value) = (first.property, first.object)
    return error
  }
}
