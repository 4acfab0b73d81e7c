package import MoonbaseModel

/// The properties of attributes that files need beside the model.
extension ManagedObjectContext {
  /// The class of an attribute's values, which the model, a transformer or an extension says.
  package func valueClass(of property: ResolvedProperty, in entity: ResolvedEntity) throws -> ValueClass? {
    try behavior(of: entity).valueClasses[property.slot]
  }

  /// The properties that an extension computes and nothing can be assigned to.
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
