import MoonbaseModel

/// A derived attribute together with its slot's inputs, behind one reference.
///
/// `DerivedAttribute` is a structure with ten references, too costly to copy at each read.
package final class DerivedSlot {
  let attribute: DerivedAttribute
  /// The inputs as facet numbers, where all inputs are simple attributes of the same object; else nil.
  ///
  /// They are recorded before the getter runs, and a script's function receives their cells.
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

  /// The derived slot with its own facets; called once all slots of the entity are known.
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
  /// The slot kind with the facets of its derived attribute.
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
