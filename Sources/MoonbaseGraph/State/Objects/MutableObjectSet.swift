import MoonbaseModel

/// A live view of a to-many relationship: reads and changes apply to the relationship, with its inverse.
///
/// ```swift
/// let friends = try ann.mutableSetValue(forKey: "friends")
/// try friends.insert(bob)
/// try friends.formUnion(bob.objects(forKey: "friends"))
/// for friend in friends { print(friend["name"]) }     // a walk over those that are there when it begins
/// ```
///
/// Each change takes effect as a whole, or throws without effect: for an object of another entity, context or store,
/// and for a deleted object. Reads cannot throw: a relationship that cannot be read appears empty, and the context
/// keeps the error in `pendingErrors`.
public struct MutableObjectSet<Element: ManagedObject>: Sequence {
  let members: Members

  /// The object with the relationship.
  public var owner: ManagedObject { members.owner }

  /// The number of destinations.
  public var count: Int { members.count }
  /// Whether the relationship has no destinations.
  public var isEmpty: Bool { count == 0 }
  /// The number of destinations.
  public var underestimatedCount: Int { count }
  /// Whether an object is a destination.
  public func contains(_ object: Element) -> Bool { members.contains(object) }
  /// Iterates over the current destinations; changes during the iteration have no effect on it.
  public func makeIterator() -> Array<Element>.Iterator { members.current(Element.self).makeIterator() }

  /// Whether all destinations are among the given objects.
  public func isSubset(of others: some Sequence<Element>) -> Bool {
    members.ids.isSubset(of: others.lazy.map(\.objectID))
  }
  /// Whether all given objects are destinations.
  public func isSuperset(of others: some Sequence<Element>) -> Bool { others.allSatisfy(contains) }
  /// Whether none of the given objects is a destination.
  public func isDisjoint(with others: some Sequence<Element>) -> Bool { !others.contains(where: contains) }

  /// Adds an object. An unread relationship stays unread.
  public func insert(_ object: Element) throws { try members.change { try members.add([object]) } }

  /// Removes an object. Returns whether it was a destination.
  @discardableResult
  public func remove(_ object: Element) throws -> Bool { try members.change { try members.remove([object]) } }

  /// Removes all destinations.
  public func removeAll() throws { try members.owner.setObjects([], forKey: members.key) }

  /// Adds objects.
  public func formUnion(_ others: some Sequence<Element>) throws {
    try members.change { try members.add(Array(others)) }
  }

  /// Removes objects.
  public func subtract(_ others: some Sequence<Element>) throws {
    try members.change { try members.remove(Array(others)) }
  }

  /// Removes all destinations that are not among the given objects.
  public func formIntersection(_ others: some Sequence<Element>) throws {
    let staying = Set(others.map(\.objectID))
    try members.change { try members.remove(members.read(Element.self).filter { !staying.contains($0.objectID) }) }
  }

  /// Removes the given objects that are destinations, and adds the remaining ones.
  public func formSymmetricDifference(_ others: some Sequence<Element>) throws {
    let others = Set(others)
    try members.change {
      let going = try others.filter(members.has)
      try members.remove(Array(going))
      try members.add(Array(others.subtracting(going)))
    }
  }
}
