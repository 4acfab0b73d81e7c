import MoonbaseModel

/// The objects that may point at others by relationships that no delete rule clears (`UnclearedReferences`), so that a
/// deletion need not examine all objects.
///
/// Over-approximates; callers check each relationship.
struct UnclearedReferenceIndex {
  /// A relationship of an object.
  struct Lead: Hashable {
    let object: ManagedObject
    let slot: Slot
  }

  private struct Holder {
    weak var object: ManagedObject?
  }

  /// For each new object, the relationships without an inverse that were set to it. Their owners are changed objects,
  /// which the context retains at least as long.
  private var leads: [ManagedObject: Set<Lead>] = [:]
  /// Objects whose loose relationships were read, or that are in no store.
  private var holders: [ObjectIdentifier: Holder] = [:]
  private var greatestCount = Self.firstCount
  private static let firstCount = 64

  /// For each entity, the loose relationships; empty until the first use.
  private var watched: ContiguousArray<SlotSet> = []

  // MARK: New objects

  /// Records that a relationship without an inverse was set to a new object.
  mutating func note(_ slot: Slot, of object: ManagedObject, leadsTo new: ManagedObject) {
    leads[new, default: []].insert(Lead(object: object, slot: slot))
  }

  func leads(to new: ManagedObject) -> Set<Lead> { leads[new] ?? [] }

  /// Forgets a new object that left the context for good.
  mutating func forget(_ new: ManagedObject) { leads[new] = nil }

  /// Forgets saved objects, whose rows now show the relationships.
  mutating func forgetSaved(in context: ManagedObjectContext) {
    guard !leads.isEmpty else { return }
    leads = leads.filter { $0.key.context === context && $0.key.state.contains(.inserted) }
  }

  mutating func forgetNew() { leads = [:] }

  // MARK: Saved objects

  /// Records that an object has a destination in a loose relationship.
  mutating func noteHolder(_ object: ManagedObject) {
    holders[ObjectIdentifier(object)] = Holder(object: object)
    guard holders.count > greatestCount else { return }
    holders = holders.filter { $0.value.object != nil }
    greatestCount = max(Self.firstCount, 2 * holders.count)
  }

  /// The objects of a context that have destinations in loose relationships.
  func holders(in context: ManagedObjectContext) -> [ManagedObject] {
    holders.values.compactMap { $0.object?.context === context ? $0.object : nil }
  }

  /// The number of objects that a saved deletion examines. Tests measure the work by it.
  var holderCount: Int { holders.count }

  /// Whether no delete rule clears a relationship.
  @inline(__always)
  mutating func watches(_ slot: Slot, of entity: EntityIndex, in model: ResolvedModel) -> Bool {
    if watched.isEmpty { watched = Self.watched(in: model) }
    return watched[entity].contains(slot)
  }

  /// The loose relationships of each entity.
  private static func watched(in model: ResolvedModel) -> ContiguousArray<SlotSet> {
    ContiguousArray(
      model.entities.map { entity in
        var slots = SlotSet()
        for property in entity.properties {
          guard let relationship = property.relationship else { continue }
          if relationship.inverseSlot == nil || Self.isLoose(property, in: model) {
            slots.insert(property.slot)
          }
        }
        return slots
      })
  }

  /// Whether no delete rule clears a relationship. Persistent to-one relationships are not loose: the row keeps the
  /// value.
  static func isLoose(_ property: ResolvedProperty, in model: ResolvedModel) -> Bool {
    guard let relationship = property.relationship else { return false }
    if property.isTransient { return true }
    guard relationship.isToMany else { return false }
    guard let inverse = relationship.inverseSlot else { return true }
    return model.destination(of: relationship).properties[inverse].relationship?.description.deleteRule
      == .noAction
  }
}
