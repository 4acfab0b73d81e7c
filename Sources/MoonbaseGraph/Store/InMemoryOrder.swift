import MoonbaseModel

/// The rows of one entity in an in-memory store by their keys: who reads a few does not look at all.
struct InMemoryOrder {
  /// The IDs in the order of their keys. Some may be gone; those before `start` all are.
  private(set) var ids: ContiguousArray<ManagedObjectID> = []
  private(set) var start = 0

  /// Takes in IDs that came. Keys are given in turn, so that they nearly always belong at the end.
  mutating func insert(_ coming: [ManagedObjectID]) {
    var coming = coming
    if zip(coming, coming.dropFirst()).contains(where: { $0.key > $1.key }) { coming.sort { $0.key < $1.key } }
    guard let first = coming.first else { return }
    let end = place(of: first)
    guard end < ids.count else { return ids += coming }
    // An ID that went may come back, and stands where it stood.
    let behind = Array(ids[end...])
    ids.removeSubrange(end...)
    start = min(start, end)
    var next = 0
    for id in coming {
      while next < behind.count, behind[next].key < id.key {
        ids.append(behind[next])
        next += 1
      }
      if next < behind.count, behind[next] == id { next += 1 }
      ids.append(id)
    }
    ids += behind[next...]
  }

  /// Forgets those that are gone where they are in the way; `count` are left.
  mutating func closeUp(leaving count: Int, isThere: (ManagedObjectID) -> Bool) {
    while start < ids.count, !isThere(ids[start]) { start += 1 }
    guard ids.count > 2 * count + 64 else { return }
    ids = ids.filter(isThere)
    start = 0
  }

  /// The first place whose key is not less than that of an ID.
  private func place(of id: ManagedObjectID) -> Int {
    var (low, high) = (0, ids.count)
    if let last = ids.last, last.key < id.key { return high }
    while low < high {
      let middle = (low + high) / 2
      if ids[middle].key < id.key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Goes over the rows of some entities of an in-memory store in the order of their keys, as they are when it begins.
struct InMemoryWalk: IteratorProtocol, Sequence {
  private struct Part {
    let rows: [ManagedObjectID: Snapshot]
    let ids: ContiguousArray<ManagedObjectID>
    var place: Int
    var next: Snapshot?

    mutating func advance() {
      next = nil
      while next == nil, place < ids.count {
        next = rows[ids[place]]
        place += 1
      }
    }
  }

  private var parts: [Part] = []

  init() {}

  mutating func add(_ rows: [ManagedObjectID: Snapshot], in order: InMemoryOrder) {
    var part = Part(rows: rows, ids: order.ids, place: order.start)
    part.advance()
    if part.next != nil { parts.append(part) }
  }

  mutating func next() -> Snapshot? {
    guard var least = parts.indices.first else { return nil }
    if parts.count > 1 {
      for index in parts.indices.dropFirst()
      where parts[index].next?.id.key ?? .max < parts[least].next?.id.key ?? .max { least = index }
    }
    let row = parts[least].next
    parts[least].advance()
    if parts[least].next == nil { parts.remove(at: least) }
    return row
  }
}
