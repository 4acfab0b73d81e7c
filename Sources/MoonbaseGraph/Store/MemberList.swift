import MoonbaseModel

/// IDs, each once, in an order: the destinations of a to-many relationship.
///
/// Where an ID stands is only a hint once others were put before it. So an insertion in the middle moves memory and hashes
/// one ID, not all that come after it.
struct MemberList: RandomAccessCollection {
  /// Up to so many are found by looking at each.
  private static let few = 16

  private var ids: ContiguousArray<ManagedObjectID> = []
  /// Where each ID stood when it was put there; nil until one of many is asked for.
  private var hints: [ManagedObjectID: Int]?

  init() {}

  /// Takes IDs of which none is there twice.
  init(unique ids: some Sequence<ManagedObjectID>) { self.ids = ContiguousArray(ids) }

  var startIndex: Int { 0 }
  var endIndex: Int { ids.count }
  subscript(position: Int) -> ManagedObjectID { ids[position] }

  mutating func contains(_ id: ManagedObjectID) -> Bool {
    findManyByHash()
    return hints.map { $0[id] != nil } ?? ids.contains(id)
  }

  mutating func index(of id: ManagedObjectID) -> Int? {
    findManyByHash()
    guard let hints else { return ids.firstIndex(of: id) }
    guard let hint = hints[id] else { return nil }
    return hint < ids.count && ids[hint] == id ? hint : ids.firstIndex(of: id)
  }

  private mutating func findManyByHash() {
    guard hints == nil, ids.count > Self.few else { return }
    hints = Dictionary(zip(ids, ids.indices)) { first, _ in first }
  }

  /// Puts an ID at the end; false if it is there already.
  @discardableResult
  mutating func append(_ id: ManagedObjectID) -> Bool {
    guard !contains(id) else { return false }
    hints?[id] = ids.count
    ids.append(id)
    return true
  }

  /// Takes an ID out; returns where it was, nil if it was not there. Without an order to keep, the last one takes its place.
  @discardableResult
  mutating func remove(_ id: ManagedObjectID, keepingOrder: Bool) -> Int? {
    guard let index = index(of: id) else { return nil }
    hints?[id] = nil
    if keepingOrder {
      ids.remove(at: index)
    } else {
      let last = ids.removeLast()
      if index < ids.count { put(last, at: index) }
    }
    return index
  }

  mutating func move(from old: Int, to new: Int) {
    let id = ids.remove(at: old)
    ids.insert(id, at: new)
    hints?[id] = new
  }

  /// Puts another ID in the place of one.
  mutating func replace(_ old: ManagedObjectID, by new: ManagedObjectID) {
    guard let index = index(of: old) else { return }
    hints?[old] = nil
    put(new, at: index)
  }

  private mutating func put(_ id: ManagedObjectID, at index: Int) {
    ids[index] = id
    hints?[id] = index
  }
}
