import MoonbaseModel

/// The destinations of an ordered relationship, as they are at any time.
///
/// ```swift
/// let chapters = try book.mutableOrderedSetValue(forKey: "chapters")
/// try chapters.append(preface)
/// try chapters.move(from: chapters.count - 1, to: 0)
/// ```
///
/// Positions count from 0. To move or insert one costs what a chunk of the list holds, and not what comes behind it. It throws, and reads, as
/// `MutableObjectSet` does; also for a position that there is not.
public struct MutableOrderedObjectSet<Element: ManagedObject>: Sequence {
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
  /// Those that are there now, in their order; what comes, goes or moves during the walk does not matter to it.
  public func makeIterator() -> Array<Element>.Iterator { members.current(Element.self).makeIterator() }

  /// The object at a position; nil where there is none.
  public subscript(position: Int) -> Element? { members.element(at: position) }
  /// The position of an object; nil where it is not there.
  public func firstIndex(of object: Element) -> Int? { members.index(of: object) }
  /// The first object; nil where there is none.
  public var first: Element? { self[0] }
  /// The last object; nil where there is none.
  public var last: Element? { self[count - 1] }

  /// Puts an object at the end; one that is there stays where it is.
  public func append(_ object: Element) throws { try members.change { try members.add([object]) } }

  /// Puts some objects at the end, in their order; those that are there stay where they are.
  public func append(contentsOf others: some Sequence<Element>) throws {
    try members.change { try members.add(Array(others)) }
  }

  /// Puts an object at a position; one that is there moves, and the position is one of the list without it.
  public func insert(_ object: Element, at position: Int) throws {
    try members.owner.checkContext(object)
    let id = object.objectID
    try members.check(position, upTo: members.owner.memberCount(members.slot) - (members.has(object) ? 1 : 0))
    try members.change { try members.owner.insertMember(id, at: position, slot: members.slot) }
  }

  /// Moves an object to another position.
  public func move(from old: Int, to new: Int) throws {
    let last = try members.owner.memberCount(members.slot) - 1
    try members.check(old, upTo: last)
    try members.check(new, upTo: last)
    try members.owner.moveMember(from: old, to: new, slot: members.slot)
  }

  /// Lets two objects change places.
  public func swapAt(_ one: Int, _ other: Int) throws {
    let (low, high) = (Swift.min(one, other), Swift.max(one, other))
    try members.change {
      try move(from: low, to: high)
      if high - low > 1 { try move(from: high - 1, to: low) }
    }
  }

  /// Takes an object out. Returns whether it was there.
  @discardableResult
  public func remove(_ object: Element) throws -> Bool { try members.change { try members.remove([object]) } }

  /// Takes out the object at a position, and returns it.
  @discardableResult
  public func remove(at position: Int) throws -> Element {
    try members.check(position, upTo: members.owner.memberCount(members.slot) - 1)
    let gone: Element = try members.object(at: position)
    try members.change { try members.remove([gone]) }
    return gone
  }

  /// Puts an object in the place of another one.
  public func replace(at position: Int, with object: Element) throws {
    try members.change {
      let old: Element = try members.object(at: position)
      guard old !== object else { return }
      try members.remove([old])
      try insert(object, at: Swift.min(position, members.owner.memberCount(members.slot)))
    }
  }

  /// Takes all out.
  public func removeAll() throws { try members.owner.setObjects([], forKey: members.key) }

  /// Puts all in another order.
  public func sort(by areInOrder: (Element, Element) throws -> Bool) throws {
    try members.owner.setObjects(members.read(Element.self).sorted(by: areInOrder), forKey: members.key)
  }
}
