import MoonbaseModel

/// The running computation of a derived attribute, with all facets that its getter has read so far.
struct Computation {
  /// The facets read of another object, and the version of its row.
  struct Reading {
    let entity: ResolvedEntity
    var version: Int64?
    var facets = SlotSet()
  }

  /// The limit of objects listed one by one; above it, facets are listed by entity.
  private static let greatestCount = 1024

  let object: ManagedObject
  let slot: Slot
  /// The context's count of changes at the beginning.
  let changeCount: UInt64
  /// The facets of the object itself that were read.
  private(set) var own = SlotSet()
  /// The facets of other objects that were read.
  private(set) var others: [ManagedObjectID: Reading] = [:]
  /// The facets read of any object of an entity, used above the limit of single objects.
  private(set) var entities: Set<EntityFacet> = []
  /// Whether the getter read something that no facet covers, such as the result of a fetch.
  ///
  /// The value is then valid until anything in the context changes.
  var isOpen = false
  /// Whether a facet changed after the getter read it, so that the value is not kept.
  var isOutdated = false

  /// The entity and attribute, for messages.
  var name: String { "\(object.entity.name).\(object.entity.property(at: slot).name)" }

  init(of object: ManagedObject, slot: Slot, changeCount: UInt64) {
    self.object = object
    self.slot = slot
    self.changeCount = changeCount
  }

  /// Records a facet of an object.
  mutating func note(_ facet: Facet, of other: ManagedObject) {
    if other === object {
      own.insert(facet.number)
    } else {
      note(facet, of: other.objectID, entity: other.entity, version: other.rowVersion)
    }
  }

  /// Records a facet of an object that may not be in memory.
  mutating func note(_ facet: Facet, of id: ManagedObjectID, entity: ResolvedEntity, version: Int64?) {
    if isOpen { return }
    guard entities.isEmpty else { return _ = entities.insert(EntityFacet(facet, of: entity)) }
    others[id, default: Reading(entity: entity, version: version)].facets.insert(facet.number)
    if others.count > Self.greatestCount { summarize() }
  }

  /// Sets the version of an object that was recorded without one.
  mutating func noteVersion(_ version: Int64, of id: ManagedObjectID) {
    if !others.isEmpty, let reading = others[id], reading.version == nil { others[id]?.version = version }
  }

  /// Records several facets of an object.
  mutating func note(_ facets: SlotSet, of other: ManagedObject) {
    if other === object { return own.formUnion(facets) }
    for number in facets.slots { note(Facet(number: number), of: other) }
  }

  /// Replaces the records of single objects by records of their entities.
  mutating func summarize() {
    for reading in others.values {
      for number in reading.facets.slots { entities.insert(EntityFacet(Facet(number: number), of: reading.entity)) }
    }
    others = [:]
  }

  /// Adds the facets that a failed inner computation had read: a getter that catches the error depends on them.
  mutating func note(readingsOf failed: Computation) {
    note(failed.own, of: failed.object)
    for (id, reading) in failed.others {
      for number in reading.facets.slots {
        let facet = Facet(number: number)
        if id == object.objectID {
          note(facet, of: object)
        } else {
          note(facet, of: id, entity: reading.entity, version: reading.version)
        }
      }
    }
    if !failed.entities.isEmpty {
      summarize()
      entities.formUnion(failed.entities)
    }
    isOpen = isOpen || failed.isOpen
    isOutdated = isOutdated || failed.isOutdated
  }

  /// Whether the getter has read a facet of an object.
  func hasRead(_ place: ObjectFacet, entity: ResolvedEntity?) -> Bool {
    if place.id == object.objectID { return own.contains(place.facet.number) }
    if others[place.id]?.facets.contains(place.facet.number) == true { return true }
    guard let entity, !entities.isEmpty else { return false }
    return entities.contains(EntityFacet(place.facet, of: entity))
  }
}
