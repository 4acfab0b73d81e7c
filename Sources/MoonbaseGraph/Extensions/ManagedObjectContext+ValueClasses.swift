package import MoonbaseModel

/// Facts about attributes that exports and imports need beside the model.
extension ManagedObjectContext {
  /// The class of an attribute's values, as the model, a transformer or an extension names it.
  package func valueClass(of property: ResolvedProperty, in entity: ResolvedEntity) throws -> ValueClass? {
    try behavior(of: entity).valueClasses[property.slot]
  }

  /// The slots of derived attributes without a setter, to which nothing can be assigned.
  package func computedSlots(of entity: ResolvedEntity) throws -> Set<Slot> {
    let behavior = try behavior(of: entity)
    return Set(
      entity.allProperties.map(\.slot).filter { slot in
        switch behavior.kind(slot) {
        case .derived(let derived), .stored(let derived), .storedTransformable(let derived, _): derived.set == nil
        default: false
        }
      })
  }
}
