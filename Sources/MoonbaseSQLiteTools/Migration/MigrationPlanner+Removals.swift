import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLiteStore

/// Properties without a counterpart in the newer model. Values in them are losses.
extension MigrationPlanner {
  /// Adds the losses of an entity's removed properties; returns the changes for its step. A property is removed if no
  /// new property takes its values.
  mutating func remove(from migration: EntityMigration) throws -> [String] {
    let removed = migration.old.entity.properties.filter {
      !$0.isTransient && !migration.kept.contains($0.id) && !hasKeptCopy($0, in: migration)
    }
    let stays = map.entities
    for property in removed {
      let loss = try counter.loss(
        of: property, in: migration.old, because: reason(property, in: migration), staying: stays.map(\.old),
        loses: { entity, inverse in
          stays.allSatisfy { $0.old.entity.index != entity.entity.index || !$0.kept.contains(inverse.id) }
        },
        leads: { entity, inverse in leads(from: entity, inverse, to: migration) })
      if let loss { note(loss) }
    }
    return removed.map { "- \($0.name)" }
  }

  /// Whether a derived copy of the attribute stays as a plain attribute with the same values. For example, a stored
  /// copy of an attribute that becomes a plain attribute.
  private func hasKeptCopy(_ property: ResolvedProperty, in migration: EntityMigration) -> Bool {
    map.old.model.storedDerivations(of: migration.old.entity).contains { derivation in
      guard derivation.path.isEmpty, case .value(let slot, nil) = derivation.result, slot == property.slot else {
        return false
      }
      return migration.kept.contains(migration.old.entity.properties[derivation.slot].id)
    }
  }

  /// Whether a remaining relationship can have the migrated objects as destinations. A relationship that becomes to-one
  /// reports its own losses. Otherwise the destinations are lost although the inverse stays.
  private func leads(from entity: EntityLayout, _ relationship: ResolvedProperty, to migration: EntityMigration) -> Bool
  {
    map.entities.filter { $0.old.entity.index == entity.entity.index }.allSatisfy { stays in
      let now = stays.new.entity.properties.first { stays.origin(of: $0)?.property.id == relationship.id }
      guard let now = now?.relationship, now.isToMany else { return true }
      return map.new.model.entities[now.destination].subtree.contains(migration.new.entity.index)
    }
  }

  /// The reason for the loss of a property's values. The second half of the phrase.
  private func reason(_ property: ResolvedProperty, in migration: EntityMigration) -> String {
    if let slot = migration.new.entity.slot(property.name),
      migration.origin(of: migration.new.entity.properties[slot]) != nil
    {
      return migration.new.entity.properties[slot].isTransient ? "it is transient now" : "it is derived now"
    }
    return "the newer model has no such \(property.relationship == nil ? "attribute" : "relationship")"
  }
}
