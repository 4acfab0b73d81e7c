import MoonbaseModel

/// A derived attribute of an object that is being computed, and what its getter has read so far.
struct Computation {
  /// What was read of another object, and in which version of its row.
  struct Reading {
    let entity: ResolvedEntity
    var version: Int64?
    var facets = SlotSet()
  }

  /// More objects are not noted one by one.
  private static let greatestCount = 1024

  let object: ManagedObject
  let slot: Slot
  /// The context's count of changes when it began.
  let changeCount: UInt64
  /// Facets of the object itself that were read.
  private(set) var own = SlotSet()
  /// What was read of others.
  private(set) var others: [ManagedObjectID: Reading] = [:]
  /// What was read of others where they are many: facets of any object of an entity.
  private(set) var entities: Set<EntityFacet> = []
  /// Whether anything was asked that no facet tells, such as a fetch: the value holds until anything changes.
  var isOpen = false
  /// Whether something changed after it was read: the value does not hold any more.
  var isOutdated = false

  var name: String { "\(object.entity.name).\(object.entity.property(at: slot).name)" }

  init(of object: ManagedObject, slot: Slot, changeCount: UInt64) {
    self.object = object
    self.slot = slot
    self.changeCount = changeCount
  }

  mutating func note(_ facet: Facet, of other: ManagedObject) {
    if other === object {
      own.insert(facet.number)
    } else {
      note(facet, of: other.objectID, entity: other.entity, version: other.rowVersion)
    }
  }

  mutating func note(_ facet: Facet, of id: ManagedObjectID, entity: ResolvedEntity, version: Int64?) {
    if isOpen { return }
    guard entities.isEmpty else { return _ = entities.insert(EntityFacet(facet, of: entity)) }
    others[id, default: Reading(entity: entity, version: version)].facets.insert(facet.number)
    if others.count > Self.greatestCount { summarize() }
  }

  mutating func noteVersion(_ version: Int64, of id: ManagedObjectID) {
    if !others.isEmpty, let reading = others[id], reading.version == nil { others[id]?.version = version }
  }

  /// Notes facets of an object all at once.
  mutating func note(_ facets: SlotSet, of other: ManagedObject) {
    if other === object { return own.formUnion(facets) }
    for number in facets.slots { note(Facet(number: number), of: other) }
  }

  /// Notes of which entities the others are, and no longer each.
  mutating func summarize() {
    for reading in others.values {
      for number in reading.facets.slots { entities.insert(EntityFacet(Facet(number: number), of: reading.entity)) }
    }
    others = [:]
  }

  /// Takes over what one had read that failed within this one: who catches the error goes by it.
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

  /// Whether it has read a facet of an object.
  func hasRead(_ place: ObjectFacet, entity: ResolvedEntity?) -> Bool {
    if place.id == object.objectID { return own.contains(place.facet.number) }
    if others[place.id]?.facets.contains(place.facet.number) == true { return true }
    guard let entity, !entities.isEmpty else { return false }
    return entities.contains(EntityFacet(place.facet, of: entity))
  }
}
