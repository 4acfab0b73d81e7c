import MoonbaseModel

/// New, changed and deleted objects, each once, in the order they became so.
///
/// An object knows its place, so that taking it out looks at no other.
struct ChangeList: Sequence, ExpressibleByArrayLiteral {
  private var entries: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0
  /// Who looks at changed objects again and again; nil as long as nobody does.
  private var followers: ChangeFollowers?

  init(arrayLiteral elements: ManagedObject...) {
    for object in elements { append(object) }
  }

  var isEmpty: Bool { count == 0 }

  /// Takes in an object that is not in the list.
  mutating func append(_ object: ManagedObject) {
    object.changePosition = entries.count
    entries.append(object)
    count += 1
    note(object)
  }

  /// Takes an object in that was in the list before, in the place that it had.
  mutating func putBack(_ object: ManagedObject, at position: Int) {
    while entries.count <= position { entries.append(nil) }
    guard entries[position] == nil else { return append(object) }
    object.changePosition = position
    entries[position] = object
    count += 1
    note(object)
  }

  /// Takes an object out that is in the list. With `keepingPlaces` the others stay where they are, so that it can be put back.
  mutating func remove(_ object: ManagedObject, keepingPlaces: Bool = false) {
    let position = object.changePosition
    guard position < entries.count, entries[position] === object else { return }
    entries[position] = nil
    count -= 1
    followers?.leave(object)
    while case .some(nil) = entries.last { entries.removeLast() }
    if isEmpty { forgetIndex() }
    if !keepingPlaces { closeUpIfSparse() }
  }

  /// Takes out the objects that do not wait to be saved any more, and closes up.
  mutating func removeSaved() {
    if let followers {
      for object in self where !object.awaitsSave { followers.leave(object) }
    }
    var rest: ContiguousArray<ManagedObject?> = []
    for case let object? in entries where object.awaitsSave {
      object.changePosition = rest.count
      rest.append(object)
    }
    (entries, count) = (rest, rest.count)
    if isEmpty { forgetIndex() }
  }

  /// Takes out all objects.
  mutating func removeAll() {
    if followers?.recent != nil { followers?.recent = [] }
    forgetIndex()
    (entries, count) = ([], 0)
  }

  /// Closes up where most places are empty.
  mutating func closeUpIfSparse() {
    guard entries.count > 2 * count + 64 else { return }
    entries = entries.filter { $0 != nil }
    for (position, object) in entries.enumerated() { object?.changePosition = position }
  }

  /// An object's values may have changed. One that is not in the list does not concern it, and is not kept.
  func note(_ object: ManagedObject) {
    if object.state.contains(.listed) { followers?.note(object) }
  }

  /// Nobody looks for one among many, or values that are computed may be others.
  mutating func forgetIndex() {
    // Once nobody follows, changes are quick again.
    if followers?.recent == nil { followers = nil } else { followers?.index = nil }
  }

  /// Whether somebody wants to know which objects change.
  var isFollowed: Bool { followers != nil }

  /// Finds changed objects by their values; nil as long as nobody looked for one among many.
  var index: PendingIndex? { followers?.index }

  mutating func makeIndex() -> PendingIndex {
    let index = index ?? PendingIndex()
    makeFollowers().index = index
    return index
  }

  private mutating func makeFollowers() -> ChangeFollowers {
    if let followers { return followers }
    let new = ChangeFollowers()
    followers = new
    return new
  }

  /// The objects that came or changed since `beginRecent` was called last, in their order; all where it was not.
  var recent: [ManagedObject] {
    guard let recent = followers?.recent else { return Array(self) }
    return recent.sorted { $0.changePosition < $1.changePosition }
  }

  /// From now on it is noted who comes or changes, once more from the beginning.
  mutating func beginRecent() { makeFollowers().recent = [] }

  /// Nobody wants to know any more.
  mutating func endRecent() {
    followers?.recent = nil
    if index == nil { followers = nil }
  }

  /// Hands each object to `body`, which changes no list and lets no object go. None is retained, for that alone would make each
  /// walk over many objects several times as long.
  @inline(__always)
  func forEachUnretained(_ body: (Unmanaged<ManagedObject>) throws -> Void) rethrows {
    try entries.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count, by: MemoryLayout<ManagedObject?>.stride) {
        guard let object = bytes.load(fromByteOffset: offset, as: UnsafeRawPointer?.self) else { continue }
        try body(.fromOpaque(object))
      }
    }
  }

  func makeIterator() -> some IteratorProtocol<ManagedObject> { entries.lazy.compactMap(\.self).makeIterator() }
}

/// What is kept beside a list of changes. One reference, so that a change looks whether anybody follows at one place.
private final class ChangeFollowers {
  var index: PendingIndex?
  /// Objects that came or changed; nil where nobody wants to know.
  var recent: Set<ManagedObject>?

  func note(_ object: ManagedObject) {
    index?.note(object)
    recent?.insert(object)
  }

  func leave(_ object: ManagedObject) {
    index?.leave(object)
    recent?.remove(object)
  }
}

extension ManagedObjectContext {
  /// Among fewer changes each is looked at.
  private static let fewChanges = 16

  /// The changed objects of some entities among which those that match a predicate are. Others may be among them.
  func changedObjects(
    matching predicate: Predicate?, of entity: ResolvedEntity, entities: Range<EntityIndex>
  ) throws -> [ManagedObject] {
    if changedObjects.count > Self.fewChanges, let predicate,
      let condition = try indexedCondition(predicate, of: entity, entities: entities, inRows: false)
    {
      return try changedObjects.makeIndex().objects(condition, in: self)
    }
    return changedObjects.filter { entities.contains($0.entity.index) }
  }

  /// What a predicate says that properties of some entities are equal to, as far as it is stored so; nil for nothing. Rows have no
  /// transient values, objects do, and those computed from their own values too.
  func indexedCondition(
    _ predicate: Predicate, of entity: ResolvedEntity, entities: Range<EntityIndex>, inRows: Bool
  ) throws -> IndexedCondition? {
    try IndexedCondition(predicate, entity: entity, entities: entities) { slot in
      if inRows, entity.property(at: slot).isTransient { return false }
      return try entities.allSatisfy { index in
        let behavior = try behavior(of: model.entities[index])
        return behavior.isStoredAsIs(slot) || !inRows && behavior.isOfOwnValues(slot)
      }
    }
  }
}
