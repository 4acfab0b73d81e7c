import MoonbaseModel

/// Computes stored attributes anew whose inputs over relationships changed, from the changed objects back to their owners.
struct StoredPropagation {
  private struct Place: Hashable {
    var object: ObjectIdentifier
    var slot: Int
  }

  private let context: ManagedObjectContext
  private let inputs: StoredInputs
  private var seen: Set<Place> = []
  /// Derived attributes whose values may have changed; those before `next` are done.
  private var changes: [(object: ManagedObject, slot: Int)] = []
  private var next = 0

  init(_ context: ManagedObjectContext, _ inputs: StoredInputs) {
    self.context = context
    self.inputs = inputs
  }

  mutating func run(after changed: [ManagedObject]) throws {
    for object in changed {
      let isWhole = object.isInserted || object.isDeleted
      let slots = isWhole ? Array(object.entity.properties.indices) : object.changed.slots
      for slot in slots { try follow(object, slot, isKept: true) }
    }
    while next < changes.count {
      let change = changes[next]
      next += 1
      try follow(change.object, change.slot, isKept: false)
    }
  }

  /// Goes to whatever is computed from a property. `isKept` says that the object's own stored attributes are up to date.
  private mutating func follow(_ object: ManagedObject, _ slot: Int, isKept: Bool) throws {
    for dependent in inputs.dependents(of: object.entity.properties[slot]) {
      for owner in try owners(of: object, dependent) {
        if dependent.isStored, isKept, dependent.path.isEmpty { continue }
        guard seen.insert(Place(object: ObjectIdentifier(owner), slot: dependent.slot)).inserted else { continue }
        let mayHaveChanged = try dependent.isStored ? owner.keep(dependent.derived) : true
        if mayHaveChanged { changes.append((owner, dependent.slot)) }
      }
    }
  }

  /// The objects from which the path of an input leads to an object.
  private func owners(of object: ManagedObject, _ dependent: StoredInputs.Dependent) throws -> [ManagedObject] {
    var current = [object]
    for property in dependent.path.reversed() {
      guard let relationship = property.relationship else { return [] }
      let destination = context.model.entities[relationship.destination]
      current = try current.filter { $0.entity.isKind(of: destination) }.flatMap { object in
        guard let inverse = relationship.inverseSlot else { return try pointing(at: object, property) }
        let ids = try object.objectIDs(forRelationshipNamed: object.entity.properties[inverse].name)
        try context.loadRows(of: ids)
        return try ids.compactMap { try context.objectIfPresent(with: $0) }
      }
    }
    return current.filter { $0.entity.isKind(of: dependent.entity) && !$0.isDeleted }
  }

  /// Without an inverse the store is asked who points at an object.
  private func pointing(at object: ManagedObject, _ property: ResolvedProperty) throws -> [ManagedObject] {
    var request = FetchRequest(context.model.entities[property.declaringEntity].name)
    let isToMany = property.relationship?.isToMany == true
    request.predicate = .comparison(
      .init(
        .keyPath(property.name), .equal, .constant(.objectID(object.objectID)), modifier: isToMany ? .any : .direct))
    return try context.fetch(request)
  }
}

extension ManagedObjectContext {
  /// Stored attributes of other objects follow the changed ones.
  func keepStoredAttributes(after changed: [ManagedObject]) throws {
    let inputs = storedInputs ?? StoredInputs(model, domain)
    storedInputs = inputs
    guard !inputs.isEmpty else { return }
    var propagation = StoredPropagation(self, inputs)
    try propagation.run(after: changed.filter { try !isGone($0) })
  }
}

extension ManagedObject {
  /// Computes and writes a stored derived attribute; returns whether its value changed.
  @discardableResult
  final func keep(_ derived: DerivedAttribute) throws -> Bool {
    guard !isDeleted, context != nil else { return false }
    let slot = try slot(of: derived.name)
    let value = try blaming(slot, "get") { try derived.get(self) }
    if value.isNull, !entity.properties[slot].isOptional {
      var error = refused(slot, nil, "is required, and what computes it gave no value")
      error.code = .missingMandatoryProperty
      throw error
    }
    guard try !self.value(at: slot).isSame(as: value) else { return false }
    try setValue(value, at: slot)
    return true
  }
}
