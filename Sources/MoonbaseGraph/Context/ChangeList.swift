/// New, changed and deleted objects, each once, in the order they became so.
///
/// An object knows its place, so that taking it out looks at no other.
struct ChangeList: Sequence, ExpressibleByArrayLiteral {
  private var entries: ContiguousArray<ManagedObject?> = []
  private(set) var count = 0

  init(arrayLiteral elements: ManagedObject...) {
    for object in elements { append(object) }
  }

  var isEmpty: Bool { count == 0 }

  /// Takes in an object that is not in the list.
  mutating func append(_ object: ManagedObject) {
    object.changePosition = entries.count
    entries.append(object)
    count += 1
  }

  /// Takes an object out that is in the list.
  mutating func remove(_ object: ManagedObject) {
    let position = object.changePosition
    guard position < entries.count, entries[position] === object else { return }
    entries[position] = nil
    count -= 1
    if entries.count > 2 * count + 64 { removeAll { _ in false } }
  }

  /// Takes objects out; the places of the others close up.
  mutating func removeAll(where isGone: (ManagedObject) throws -> Bool) rethrows {
    let rest = try filter { try !isGone($0) }
    self = []
    for object in rest { append(object) }
  }

  func makeIterator() -> some IteratorProtocol<ManagedObject> { entries.lazy.compactMap(\.self).makeIterator() }
}
