import MoonbaseModel

/// A to-many relationship of an object, as the basis of its mutable collections.
struct Members {
  let owner: ManagedObject
  let slot: Slot
  let key: String

  init(_ owner: ManagedObject, key: String, isOrdered: Bool) throws {
    (self.owner, self.key, slot) = (owner, key, try owner.toManySlot(key))
    guard owner.context != nil else { throw owner.detachedError }
    if isOrdered, owner.entity.properties[slot].relationship?.isOrdered != true {
      throw owner.refused(
        slot, value: nil,
        reason: "it is not ordered, so that its objects have no positions: ask for mutableSetValue(forKey:)",
        as: .invalidRequest)
    }
  }

  // MARK: Reading

  /// The IDs of the destinations.
  var ids: Set<ManagedObjectID> { owner.keepingErrors(or: []) { Set(try owner.memberIDs(slot)) } }
  /// The number of destinations.
  var count: Int { owner.keepingErrors(or: 0) { try owner.memberCount(slot) } }

  /// Whether an object is a destination; false after an error, which the context keeps.
  func contains(_ object: ManagedObject) -> Bool { owner.keepingErrors(or: false) { try has(object) } }

  /// Whether an object is a destination.
  func has(_ object: ManagedObject) throws -> Bool { try owner.hasMember(object.objectID, slot: slot) }

  /// The position of an object; nil if it is no destination, or after an error.
  func index(of object: ManagedObject) -> Int? {
    owner.keepingErrors(or: nil) { try owner.memberIndex(of: object.objectID, slot: slot) }
  }

  /// The destinations; empty after an error, which the context keeps.
  func current<Element: ManagedObject>(_ type: Element.Type) -> [Element] {
    owner.keepingErrors(or: []) { try read(type) }
  }

  /// The destinations. Throws if one of them is of another class.
  func read<Element: ManagedObject>(_ type: Element.Type) throws -> [Element] {
    try owner.objects(forKey: key).map { object in try element(object) }
  }

  /// The destination at a position; nil if there is none, or after an error.
  func element<Element: ManagedObject>(at position: Int) -> Element? {
    owner.keepingErrors(or: nil) {
      guard let id = try owner.memberID(at: position, slot: slot) else { return nil }
      return try element(owner.destinationObject(id, slot: slot))
    }
  }

  /// The destination at a position. Throws if the position does not exist.
  func object<Element: ManagedObject>(at position: Int) throws -> Element {
    guard let id = try owner.memberID(at: position, slot: slot) else { throw try noPosition(position) }
    return try element(owner.destinationObject(id, slot: slot))
  }

  private func element<Element: ManagedObject>(_ object: ManagedObject) throws -> Element {
    guard let context = owner.context else { throw owner.detachedError }
    return try context.typed(object)
  }

  // MARK: Changing

  /// Runs `body` as one change: an error undoes all of it.
  @discardableResult
  func change<Result>(_ body: () throws -> Result) throws -> Result {
    guard let context = owner.context else { throw owner.detachedError }
    return try context.changingTogether(body)
  }

  /// Adds objects.
  func add(_ objects: [ManagedObject]) throws {
    for object in objects {
      try owner.checkContext(object)
      try owner.addMember(object.objectID, slot: slot)
    }
  }

  /// Returns whether any of the objects was a destination.
  @discardableResult
  func remove(_ objects: [ManagedObject]) throws -> Bool {
    var wasAny = false
    for object in objects {
      try owner.checkContext(object)
      wasAny = try has(object) || wasAny
      try owner.removeMember(object.objectID, slot: slot)
    }
    return wasAny
  }

  /// Throws if a position does not exist.
  func check(_ position: Int, upTo last: Int) throws {
    guard position >= 0, position <= last else { throw try noPosition(position) }
  }

  private func noPosition(_ position: Int) throws -> GraphError {
    let count = try owner.memberCount(slot)
    return owner.refused(
      slot, value: nil, reason: "there is no position \(position) among its \(count) object\(count == 1 ? "" : "s")",
      as: .invalidRequest)
  }
}

extension TypedObject where Self: ManagedObject {
  /// A to-many relationship as a mutable collection.
  public func mutableSet<Element: ManagedObject>(_ relationship: ToMany<Self, Element>) throws -> MutableObjectSet<
    Element
  > {
    MutableObjectSet(members: try Members(self, key: relationship.relationshipName, isOrdered: false))
  }

  /// An ordered relationship as a mutable collection. Throws if the relationship is not ordered.
  public func mutableOrderedSet<Element: ManagedObject>(
    _ relationship: ToMany<Self, Element>
  ) throws -> MutableOrderedObjectSet<Element> {
    MutableOrderedObjectSet(members: try Members(self, key: relationship.relationshipName, isOrdered: true))
  }
}
