package import MoonbaseModel

/// Rows that can be deleted by one statement.
extension [EntityLayout] {
  /// Whether the deletion of rows of these entities changes no other row: all references are columns of the rows
  /// themselves, no delete rule changes other rows, and no other relationship refers to the rows.
  ///
  /// - Parameters:
  ///   - root: The root entity of the rows' table.
  ///   - model: The model of the store.
  package func areLeaves(ofTable root: EntityIndex, in model: ResolvedModel) -> Bool {
    let isApart = allSatisfy { kind in
      kind.slots.enumerated().allSatisfy { slot, place in
        switch place {
        case .composite, .none, .attribute: true
        case .toOne: kind.entity.properties[slot].isReferenceAlone(in: model)
        case .foreignKey, .join, .lost: false
        }
      }
    }
    return isApart
      && model.entities.allSatisfy { entity in
        entity.properties.allSatisfy { property in
          guard let relationship = property.relationship, relationship.inverseSlot == nil, !property.isTransient else {
            return true
          }
          return model.destination(of: relationship).root != root
        }
      }
  }

  /// The names of the destinations of these entities' relationships. Lists of these objects lose members.
  package func namesOfDestinations(in model: ResolvedModel) -> [String] {
    flatMap { kind in
      kind.entity.properties.compactMap { $0.relationship.map { model.destination(of: $0).name } }
    }
  }
}

extension ResolvedProperty {
  /// Whether a to-one relationship is a column of its rows and nothing else.
  fileprivate func isReferenceAlone(in model: ResolvedModel) -> Bool {
    guard let relationship, [.nullify, .noAction].contains(relationship.description.deleteRule) else { return false }
    // In a one-to-one relationship the destination has a key column too.
    guard let inverse = relationship.inverseSlot else { return true }
    return model.destination(of: relationship).properties[inverse].relationship?.isToMany == true
  }
}
