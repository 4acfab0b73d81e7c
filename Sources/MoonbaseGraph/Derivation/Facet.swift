import MoonbaseModel

/// What of an object can be read, and so be what a derived value was computed from: the value in a slot, whether the object is
/// there at all, or what state it is in.
struct Facet: Hashable {
  /// Small numbers, so that a `SlotSet` of them needs no allocation.
  let number: Int

  init(number: Int) { self.number = number }

  /// The value in a slot, or the destinations.
  init(_ slot: Slot) { number = slot + 2 }

  /// Whether the object is there, and not deleted.
  static let presence = Facet(number: 0)
  /// Whether the object is new or changed, and how: any change of it changes this.
  static let state = Facet(number: 1)

  /// The slot; nil where it is none.
  var slot: Slot? { number < 2 ? nil : number - 2 }
}

/// A facet of one object, by ID: a derived value may outlive the instance that it read.
struct ObjectFacet: Hashable {
  let id: ManagedObjectID
  let facet: Facet
}

/// A facet of all objects of an entity and those that inherit it.
struct EntityFacet: Hashable {
  let entity: EntityIndex
  let facet: Facet

  init(_ facet: Facet, of entity: ResolvedEntity) {
    self.entity = facet.slot.map { entity.property(at: $0).id.entity } ?? entity.root
    self.facet = facet
  }
}
