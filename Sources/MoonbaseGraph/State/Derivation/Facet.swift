import MoonbaseModel

/// An aspect of an object that a getter can read: the value in a slot, the object's existence, or its change state.
struct Facet: Hashable {
  /// A small number, so that a `SlotSet` of facets needs no allocation.
  let number: Int

  init(number: Int) { self.number = number }

  /// The facet of an attribute's value or of a relationship's destinations.
  init(_ slot: Slot) { number = slot + 2 }

  /// Whether the object exists and is not deleted.
  static let presence = Facet(number: 0)
  /// The object's change state (new, changed); every change of the object affects this facet.
  static let state = Facet(number: 1)

  /// The slot; nil for `presence` and `state`.
  var slot: Slot? { number < 2 ? nil : number - 2 }
}

/// A facet of one object, by ID, because a derived value may outlive the instance that the getter read.
struct ObjectFacet: Hashable {
  let id: ManagedObjectID
  let facet: Facet
}

/// A facet of all objects of an entity and its subentities.
struct EntityFacet: Hashable {
  let entity: EntityIndex
  let facet: Facet

  init(_ facet: Facet, of entity: ResolvedEntity) {
    self.entity = facet.slot.map { entity.property(at: $0).id.entity } ?? entity.root
    self.facet = facet
  }
}
