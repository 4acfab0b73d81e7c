import MoonbaseModel

/// Who may lead to objects by relationships that nothing else takes away when these go (`LooseEnds`), so that a deletion need not look
/// at all objects.
///
/// It says more than is so: who is named here is asked.
struct LooseLeads {
  /// A relationship of an object.
  struct Lead: Hashable {
    let object: ManagedObject
    let slot: Slot
  }

  private struct Holder {
    weak var object: ManagedObject?
  }

  /// By new object: the relationships without an inverse that were made to lead to it. What leads there is changed, and kept by the
  /// context as long as this is.
  private var leads: [ManagedObject: Set<Lead>] = [:]
  /// Objects with loose relationships that were read, or that no store has.
  private var holders: [ObjectIdentifier: Holder] = [:]
  private var greatestCount = Self.firstCount
  private static let firstCount = 64

  /// By entity, once somebody asked: the relationships that it is about.
  private var watched: ContiguousArray<SlotSet> = []

  // MARK: New objects

  mutating func note(_ slot: Slot, of object: ManagedObject, leadsTo new: ManagedObject) {
    leads[new, default: []].insert(Lead(object: object, slot: slot))
  }

  func leads(to new: ManagedObject) -> Set<Lead> { leads[new] ?? [] }

  /// One that left, and comes back no more.
  mutating func forget(_ new: ManagedObject) { leads[new] = nil }

  /// Those that were saved are found by their rows.
  mutating func forgetSaved(in context: ManagedObjectContext) {
    guard !leads.isEmpty else { return }
    leads = leads.filter { $0.key.context === context && $0.key.state.contains(.inserted) }
  }

  mutating func forgetNew() { leads = [:] }

  // MARK: Saved objects

  /// An object has something in a relationship that is loose.
  mutating func noteHolder(_ object: ManagedObject) {
    holders[ObjectIdentifier(object)] = Holder(object: object)
    guard holders.count > greatestCount else { return }
    holders = holders.filter { $0.value.object != nil }
    greatestCount = max(Self.firstCount, 2 * holders.count)
  }

  /// The objects of a context that have something in loose relationships.
  func holders(in context: ManagedObjectContext) -> [ManagedObject] {
    holders.values.compactMap { $0.object?.context === context ? $0.object : nil }
  }

  /// How many objects a deletion that was saved looks at. Tests count the work by it.
  var holderCount: Int { holders.count }

  /// Whether nothing else takes away where a relationship leads to.
  @inline(__always)
  mutating func watches(_ slot: Slot, of entity: EntityIndex, in model: ResolvedModel) -> Bool {
    if watched.isEmpty { watched = Self.watched(in: model) }
    return watched[entity].contains(slot)
  }

  private static func watched(in model: ResolvedModel) -> ContiguousArray<SlotSet> {
    ContiguousArray(
      model.entities.map { entity in
        var slots = SlotSet()
        for property in entity.properties {
          guard let relationship = property.relationship else { continue }
          if relationship.inverseSlot == nil || LooseEnds.isLoose(property, in: model) { slots.insert(property.slot) }
        }
        return slots
      })
  }
}

extension ManagedObjectContext {
  /// A relationship of an object leads to another one, from now on or since it was read.
  @inline(__always)
  func noteLead(_ slot: Slot, of object: ManagedObject, to id: ManagedObjectID) {
    if looseLeads.watches(slot, of: object.entity.index, in: model) { noteLooseLead(slot, of: object, to: id) }
  }

  @inline(never)
  private func noteLooseLead(_ slot: Slot, of object: ManagedObject, to id: ManagedObjectID) {
    let property = object.entity.properties[slot]
    if property.isTransient { looseLeads.noteHolder(object) }
    guard property.relationship?.inverseSlot == nil, let new = registeredObject(for: id), new.isInserted else { return }
    looseLeads.note(slot, of: object, leadsTo: new)
  }

  /// A to-many relationship of an object is about to have members.
  func noteList(_ slot: Slot, of object: ManagedObject) {
    if looseLeads.watches(slot, of: object.entity.index, in: model) { looseLeads.noteHolder(object) }
  }
}
