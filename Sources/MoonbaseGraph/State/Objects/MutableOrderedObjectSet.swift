import MoonbaseModel

/// A live view of an ordered relationship: reads and changes apply to the relationship, with its inverse.
///
/// ```swift
/// let chapters = try book.mutableOrderedSetValue(forKey: "chapters")
/// try chapters.append(preface)
/// try chapters.move(from: chapters.count - 1, to: 0)
/// ```
///
/// Positions start at 0. The cost of a move or insertion is independent of the number of destinations behind it. Errors
/// behave as in `MutableObjectSet`; a position that does not exist is an error, too.
public struct MutableOrderedObjectSet<Element: ManagedObject>: Sequence {
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
  /// Iterates over the current destinations in order; changes during the iteration have no effect on it.
  public func makeIterator() -> Array<Element>.Iterator { members.current(Element.self).makeIterator() }

  /// The destination at a position; nil beyond the last position.
  public subscript(position: Int) -> Element? { members.element(at: position) }
  /// The position of an object; nil if it is no destination.
  public func firstIndex(of object: Element) -> Int? { members.index(of: object) }
  /// The first destination; nil if there is none.
  public var first: Element? { self[0] }
  /// The last destination; nil if there is none.
  public var last: Element? { self[count - 1] }

  /// Appends an object; an existing destination keeps its position.
  public func append(_ object: Element) throws { try members.change { try members.add([object]) } }

  /// Appends objects in order; existing destinations keep their positions.
  public func append(contentsOf others: some Sequence<Element>) throws {
    try members.change { try members.add(Array(others)) }
  }

  /// Inserts an object at a position, which refers to the list without the object. An existing destination moves.
  public func insert(_ object: Element, at position: Int) throws {
    try members.owner.checkContext(object)
    let id = object.objectID
    try members.check(position, upTo: members.owner.memberCount(members.slot) - (members.has(object) ? 1 : 0))
    try members.change { try members.owner.insertMember(id, at: position, slot: members.slot) }
  }

  /// Moves a destination to another position.
  public func move(from old: Int, to new: Int) throws {
    let last = try members.owner.memberCount(members.slot) - 1
    try members.check(old, upTo: last)
    try members.check(new, upTo: last)
    try members.owner.moveMember(from: old, to: new, slot: members.slot)
  }

  /// Exchanges the positions of two destinations.
  public func swapAt(_ one: Int, _ other: Int) throws {
    let (low, high) = (Swift.min(one, other), Swift.max(one, other))
    try members.change {
      try move(from: low, to: high)
      if high - low > 1 { try move(from: high - 1, to: low) }
    }
  }

  /// Removes an object. Returns whether it was a destination.
  @discardableResult
  public func remove(_ object: Element) throws -> Bool { try members.change { try members.remove([object]) } }

  /// Removes and returns the destination at a position.
  @discardableResult
  public func remove(at position: Int) throws -> Element {
    try members.check(position, upTo: members.owner.memberCount(members.slot) - 1)
    let gone: Element = try members.object(at: position)
    try members.change { try members.remove([gone]) }
    return gone
  }

  /// Replaces the destination at a position by an object.
  public func replace(at position: Int, with object: Element) throws {
    try members.change {
      let old: Element = try members.object(at: position)
      guard old !== object else { return }
      try members.remove([old])
      try insert(object, at: Swift.min(position, members.owner.memberCount(members.slot)))
    }
  }

  /// Removes all destinations.
  public func removeAll() throws { try members.owner.setObjects([], forKey: members.key) }

  /// Sorts the destinations.
  public func sort(by areInOrder: (Element, Element) throws -> Bool) throws {
    try members.owner.setObjects(members.read(Element.self).sorted(by: areInOrder), forKey: members.key)
  }
}
