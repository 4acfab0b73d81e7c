import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Computes stored attributes again after their inputs changed.
///
/// For values computed in this context, the recorded reads show which must be computed again. For other values, whose
/// objects may not be in the context, declared inputs are followed from the changed objects back to the owners.
///
/// Made for each call of `keepStoredAttributes`. Ends when no value changes any more; a circular dependency is an
/// error.
struct StoredPropagation {
  /// Identified by object ID: an unchanged owner may be released, and its address reused by the next one.
  ///
  /// A stored attribute of an object.
  private struct Place: Hashable {
    /// The object.
    var object: ManagedObjectID
    /// The attribute.
    var slot: Slot
  }

  /// The context of the objects.
  private let context: ManagedObjectContext
  /// The declared inputs of all stored attributes.
  private let inputs: StoredInputs
  /// The attributes that were followed already.
  private var seen: Set<Place> = []
  /// Derived attributes whose values may have changed. Entries before `next` are processed.
  private var changes: [(object: ManagedObject, slot: Slot)] = []
  /// The index of the next entry of `changes`.
  private var next = 0
  /// Cached facts about an entity.
  private struct Known {
    /// The entity.
    let entity: EntityIndex
    /// The stored attributes and their functions.
    let behavior: EntityBehavior
    /// Whether any attribute depends on the entity's properties, other than stored attributes of the same object.
    let isFollowed: Bool
    /// The stored attributes on which other attributes depend.
    let leadingSlots: SlotSet
  }

  /// By entity index.
  private var known: [EntityIndex: Known] = [:]
  /// The most recently used facts.
  private var last: Known?
  /// The number of times that a value was computed again after an input changed.
  private var repetitions: [Place: Int] = [:]

  /// Nothing is computed yet.
  init(_ context: ManagedObjectContext, inputs: StoredInputs) {
    self.context = context
    self.inputs = inputs
  }

  /// Computes the stored attributes that depend on changed objects. Throws errors of computing and of the store.
  mutating func run(after changed: [ManagedObject]) throws {
    for object in changed {
      try HostWork.charge()
      let known = try known(object.entity)
      try keepOwn(of: object, known)
      guard known.isFollowed else { continue }
      let isWhole = object.isInserted || object.isDeleted
      let slots = isWhole ? Array(object.entity.properties.indices) : object.changed.slots
      for slot in slots { try follow(object, slot: slot, isKept: true) }
    }
    repeat {
      while next < changes.count {
        let change = changes[next]
        next += 1
        try follow(change.object, slot: change.slot, isKept: false)
      }
      try keepOutdated()
    } while next < changes.count
  }

  /// The most recent entity is found without a lookup.
  private mutating func known(_ entity: ResolvedEntity) throws -> Known {
    if let last, last.entity == entity.index { return last }
    let new = try known[entity.index] ?? find(entity)
    known[entity.index] = new
    last = new
    return new
  }

  /// Determines the facts about an entity. Done once per entity.
  private func find(_ entity: ResolvedEntity) throws -> Known {
    let behavior = try context.behavior(of: entity)
    let isFollowed = entity.properties.contains { property in
      inputs.dependents(of: property).contains { dependent in
        !dependent.path.isEmpty || entity.isKind(of: dependent.entity) && behavior.stored(dependent.slot) == nil
      }
    }
    let leading = behavior.storedSlots.filter { !inputs.dependents(of: entity.property(at: $0)).isEmpty }
    return Known(entity: entity.index, behavior: behavior, isFollowed: isFollowed, leadingSlots: SlotSet(leading))
  }

  /// Computes the values for which a recorded read changed. After an error the values stay outdated.
  private mutating func keepOutdated() throws {
    let outdated = context.derivations.stored.outdated
    context.derivations.stored.outdated = []
    do {
      for place in outdated { try keep(place) }
    } catch {
      context.derivations.stored.outdated += outdated
      throw error
    }
  }

  /// Computes one outdated value. Throws `.extensionFailure` for a value that never settles.
  private mutating func keep(_ place: StoredPlace) throws {
    guard place.object.context === context, try !context.isGone(place.object),
      let derived = try context.behavior(of: place.object.entity).stored(place.slot)
    else { return }
    try HostWork.charge()
    let key = Place(object: place.object.objectID, slot: place.slot)
    repetitions[key, default: 0] += 1
    guard repetitions[key, default: 0] <= Self.greatestRepetition else {
      throw place.object.failure(
        "needs itself, and never settles: \(way(backTo: place))",
        property: place.object.entity.property(at: place.slot).name)
    }
    if try place.object.keep(derived, in: place.slot) { changes.append((place.object, place.slot)) }
  }

  /// The number of repetitions after which a circular dependency is reported.
  private static let greatestRepetition = 100

  /// The chain of values that led from one computation of a value to the next, as text. For example "Person.a ->
  /// Person.b -> Person.a".
  private func way(backTo place: StoredPlace) -> String {
    let start = changes.lastIndex { $0.object === place.object && $0.slot == place.slot } ?? changes.startIndex
    func name(_ object: ManagedObject, _ slot: Slot) -> String {
      "\(object.entity.name).\(object.entity.property(at: slot).name)"
    }
    let names = changes[start...].map { name($0.object, $0.slot) }
    return ManagedObjectContext.way(names) + " -> " + name(place.object, place.slot)
  }

  /// Computes all stored attributes of a changed object. A changed value that others depend on is followed later.
  private mutating func keepOwn(of object: ManagedObject, _ known: Known) throws {
    for index in known.behavior.storedAttributes.indices {
      let (slot, derived) = known.behavior.storedAttributes[index]
      guard try object.keep(derived, in: slot, behavior: known.behavior) else { continue }
      if known.leadingSlots.contains(slot) { changes.append((object, slot)) }
    }
  }

  /// Processes the attributes that depend on a property. With `isKept`, the object's own stored attributes are already
  /// computed. Owners are found by following relationships backwards.
  private mutating func follow(_ object: ManagedObject, slot: Slot, isKept: Bool) throws {
    for dependent in inputs.dependents(of: object.entity.property(at: slot)) {
      for owner in try context.owners(of: [object], along: dependent.path)
      where owner.entity.isKind(of: dependent.entity) {
        let stored = try context.behavior(of: owner.entity).stored(dependent.slot)
        if stored != nil, isKept, dependent.path.isEmpty { continue }
        guard seen.insert(Place(object: owner.objectID, slot: dependent.slot)).inserted else { continue }
        if try stored.map({ try owner.keep($0, in: dependent.slot, following: true) }) ?? true {
          changes.append((owner, dependent.slot))
        }
      }
    }
  }
}
