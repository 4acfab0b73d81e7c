import MoonbaseModel

/// A derived attribute in a slot of an entity's objects. An attribute is a value of ten references: what reads one value takes this, which
/// is one.
final class DerivedSlot {
  let attribute: DerivedAttribute
  /// What the value is computed from, by the numbers of facets, where that is known before: attributes of the same object to which
  /// nothing special happens. They are noted at once, and a script's function is given their cells.
  let ownFacets: SlotSet?

  init(_ attribute: DerivedAttribute, ownFacets: SlotSet? = nil) {
    (self.attribute, self.ownFacets) = (attribute, ownFacets)
  }

  var name: String { attribute.name }
  var inputs: [String]? { attribute.inputs }
  var ownInputs: [String]? { attribute.ownInputs }
  var shadow: String? { attribute.shadow }
  var get: (ManagedObject) throws -> Value { attribute.get }
  var set: ((Value, ManagedObject) throws -> Void)? { attribute.set }
  var shadowValue: ((Value, ManagedObject) throws -> Value)? { attribute.shadowValue }
  var writePolicy: DerivedAttribute.WritePolicy { attribute.writePolicy }

  /// The same with what is known of its inputs once all slots of the entity are.
  func resolved(_ entity: ResolvedEntity, simpleSlots: SlotSet) -> DerivedSlot {
    guard let slots = ownInputs?.map({ entity.slot($0) }), !slots.isEmpty else { return self }
    var facets = SlotSet()
    for slot in slots {
      guard let slot, simpleSlots.contains(slot) else { return self }
      facets.insert(Facet(slot).number)
    }
    return DerivedSlot(attribute, ownFacets: facets)
  }
}

extension EntityBehavior.SlotKind {
  /// The same with what is known of the inputs of derived attributes.
  func resolved(_ entity: ResolvedEntity, simpleSlots: SlotSet) -> Self {
    switch self {
    case .derived(let derived): .derived(derived.resolved(entity, simpleSlots: simpleSlots))
    case .stored(let derived): .stored(derived.resolved(entity, simpleSlots: simpleSlots))
    case .storedTransformable(let derived, let transformer):
      .storedTransformable(derived.resolved(entity, simpleSlots: simpleSlots), transformer)
    default: self
    }
  }
}
