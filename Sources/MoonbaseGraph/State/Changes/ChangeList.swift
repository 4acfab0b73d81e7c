import MoonbaseModel

/// The new, changed and deleted objects, each once, in the order of their first change.
///
/// An object knows its position, so that removing it is independent of the number of changes.
package struct ChangeList: Sequence, ExpressibleByArrayLiteral {
  private var entries: ContiguousArray<ManagedObject?> = []
  package private(set) var count = 0
  /// The index and the list of recent changes; nil while neither is in use.
  private var followers: ChangeIndexes?

  package init(arrayLiteral elements: ManagedObject...) {
    for object in elements { append(object) }
  }

  var isEmpty: Bool { count == 0 }

  /// Adds an object that is not in the list.
  mutating func append(_ object: ManagedObject) {
    object.changePosition = entries.count
    entries.append(object)
    count += 1
    note(object)
  }

  /// Restores an object at the position that it had before its removal.
  mutating func putBack(_ object: ManagedObject, at position: Int) {
    while entries.count <= position { entries.append(nil) }
    guard entries[position] == nil else { return append(object) }
    object.changePosition = position
    entries[position] = object
    count += 1
    note(object)
  }

  /// Removes an object. With `keepingPlaces`, all others keep their positions, so that the object can be put back.
  package mutating func remove(_ object: ManagedObject, keepingPlaces: Bool = false) {
    let position = object.changePosition
    guard position < entries.count, entries[position] === object else { return }
    entries[position] = nil
    count -= 1
    followers?.leave(object)
    while case .some(nil) = entries.last { entries.removeLast() }
    if isEmpty { forgetIndex() }
    if !keepingPlaces { closeUpIfSparse() }
  }

  /// Removes the objects that no longer wait for a save, and closes the gaps.
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

  /// Removes all objects.
  mutating func removeAll() {
    if followers?.recent != nil { followers?.recent = [] }
    forgetIndex()
    (entries, count) = ([], 0)
  }

  /// Closes the gaps if most positions are empty.
  mutating func closeUpIfSparse() {
    guard entries.count > 2 * count + 64 else { return }
    entries = entries.filter { $0 != nil }
    for (position, object) in entries.enumerated() { object?.changePosition = position }
  }

  /// Records that an object's values may have changed. Objects outside of the list are ignored.
  func note(_ object: ManagedObject) {
    if object.state.contains(.listed) { followers?.note(object) }
  }

  /// Drops the index, because it is unused or because computed values may have changed.
  mutating func forgetIndex() {
    // Without followers, changes need no further work.
    if followers?.recent == nil { followers = nil } else { followers?.index = nil }
  }

  /// Whether changes of listed objects are recorded for an index or for `recent`.
  var isFollowed: Bool { followers != nil }

  /// Finds changed objects by their values; nil until a lookup needs an index.
  var index: PendingIndex? { followers?.index }

  /// Starts to index changed objects by their values, if necessary.
  mutating func makeIndex() -> PendingIndex {
    let index = index ?? PendingIndex()
    makeFollowers().index = index
    return index
  }

  private mutating func makeFollowers() -> ChangeIndexes {
    if let followers { return followers }
    let new = ChangeIndexes()
    followers = new
    return new
  }

  /// The objects that were added or changed since the last `beginRecent`, in order of the list; all objects without
  /// one.
  var recent: [ManagedObject] {
    guard let recent = followers?.recent else { return Array(self) }
    return recent.sorted { $0.changePosition < $1.changePosition }
  }

  /// Starts to record the added and changed objects, from an empty list.
  mutating func beginRecent() { makeFollowers().recent = [] }

  /// Stops recording the added and changed objects.
  mutating func endRecent() {
    followers?.recent = nil
    if index == nil { followers = nil }
  }

  /// Passes each object to `body`, unretained.
  ///
  /// `body` must neither change the list nor release an object. Retaining each object would make a walk over many
  /// objects several times slower.
  @inline(__always)
  func forEachUnretained(_ body: (Unmanaged<ManagedObject>) throws -> Void) rethrows {
    try entries.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count, by: MemoryLayout<ManagedObject?>.stride) {
        guard let object = bytes.load(fromByteOffset: offset, as: UnsafeRawPointer?.self) else { continue }
        try body(.fromOpaque(object))
      }
    }
  }

  package func makeIterator() -> some IteratorProtocol<ManagedObject> { entries.lazy.compactMap(\.self).makeIterator() }
}

/// Records beside a list of changes, behind one reference, so that a change tests only this reference.
private final class ChangeIndexes {
  var index: PendingIndex?
  /// Objects that were added or changed; nil while they are not recorded.
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
