import MoonbaseModel

/// The destinations of a to-many relationship, as they are at any time: reading it reads the relationship, changing it changes it, and
/// the inverse follows at once.
///
/// ```swift
/// let friends = try ann.mutableSetValue(forKey: "friends")
/// try friends.insert(bob)
/// try friends.formUnion(bob.objects(forKey: "friends"))
/// for friend in friends { print(friend["name"]) }     // a walk over those that are there when it begins
/// ```
///
/// Each change takes effect as a whole or, where it throws, not at all: for an object of another entity, context or store, and for one
/// that is deleted. What only reads cannot throw: a relationship that cannot be read counts as empty, and the error is kept in the
/// context's `pendingErrors`.
public struct MutableObjectSet<Element: ManagedObject>: Sequence {
  let members: Members

  /// The object whose relationship it is.
  public var owner: ManagedObject { members.owner }

  /// How many there are.
  public var count: Int { members.count }
  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }
  /// How many there are.
  public var underestimatedCount: Int { count }
  /// Whether an object is one of them.
  public func contains(_ object: Element) -> Bool { members.contains(object) }
  /// Those that are there now; what comes or goes during the walk does not matter to it.
  public func makeIterator() -> Array<Element>.Iterator { members.current(Element.self).makeIterator() }

  /// Whether all of these are among some objects.
  public func isSubset(of others: some Sequence<Element>) -> Bool {
    members.ids.isSubset(of: others.lazy.map(\.objectID))
  }
  /// Whether some objects are all among these.
  public func isSuperset(of others: some Sequence<Element>) -> Bool { others.allSatisfy(contains) }
  /// Whether some objects are none of these.
  public func isDisjoint(with others: some Sequence<Element>) -> Bool { !others.contains(where: contains) }

  /// Puts an object in. A relationship that was not read stays unread.
  public func insert(_ object: Element) throws { try members.change { try members.add([object]) } }

  /// Takes an object out. Returns whether it was there.
  @discardableResult
  public func remove(_ object: Element) throws -> Bool { try members.change { try members.remove([object]) } }

  /// Takes all out.
  public func removeAll() throws { try members.owner.setObjects([], forKey: members.key) }

  /// Puts some objects in.
  public func formUnion(_ others: some Sequence<Element>) throws {
    try members.change { try members.add(Array(others)) }
  }

  /// Takes some objects out.
  public func subtract(_ others: some Sequence<Element>) throws {
    try members.change { try members.remove(Array(others)) }
  }

  /// Takes out all that are not among some objects.
  public func formIntersection(_ others: some Sequence<Element>) throws {
    let staying = Set(others.map(\.objectID))
    try members.change { try members.remove(members.read(Element.self).filter { !staying.contains($0.objectID) }) }
  }

  /// Takes out those that are among some objects, and puts in the others of these.
  public func formSymmetricDifference(_ others: some Sequence<Element>) throws {
    let others = Set(others)
    try members.change {
      let going = try others.filter(members.has)
      try members.remove(Array(going))
      try members.add(Array(others.subtracting(going)))
    }
  }
}
