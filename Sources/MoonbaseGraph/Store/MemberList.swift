import MoonbaseModel

/// IDs, each once, in an order: the destinations of a to-many relationship.
///
/// They lie in one array until many are searched or changed, and then in chunks: an insertion or a move in the middle costs
/// what one chunk holds, not what comes after it.
struct MemberList: Sequence {
  /// Up to so many are found by looking at each.
  private static let few = 64

  private var ids: ContiguousArray<ManagedObjectID> = []
  /// Takes the place of `ids` where there are many: none or one, in an array, so that a list of few has no room for it.
  private var many: ContiguousArray<MemberChunks> = []

  init() {}

  /// Takes IDs of which none is there twice.
  init(unique ids: some Sequence<ManagedObjectID>) { self.ids = ContiguousArray(ids) }

  var count: Int { isSplit ? many[0].count : ids.count }
  var isEmpty: Bool { count == 0 }
  var underestimatedCount: Int { count }
  /// How many IDs each chunk holds; nothing where the IDs lie in one array.
  var chunkSizes: [Int] { isSplit ? many[0].sizes : [] }

  subscript(position: Int) -> ManagedObjectID { isSplit ? many[0][position] : ids[position] }

  func makeIterator() -> MemberChunks.Iterator {
    isSplit ? many[0].makeIterator() : MemberChunks.Iterator(ids)
  }

  mutating func contains(_ id: ManagedObjectID) -> Bool {
    splitIfMany()
    return isSplit ? many[0].contains(id) : ids.contains(id)
  }

  mutating func index(of id: ManagedObjectID) -> Int? {
    splitIfMany()
    return isSplit ? many[0].index(of: id) : ids.firstIndex(of: id)
  }

  /// Puts an ID at the end; false if it is there already.
  @discardableResult
  mutating func append(_ id: ManagedObjectID) -> Bool {
    splitIfMany()
    if isSplit { return many[0].append(id) }
    guard !ids.contains(id) else { return false }
    ids.append(id)
    return true
  }

  /// Takes an ID out; returns where it was, nil if it was not there. Without an order to keep, the last one takes its place.
  @discardableResult
  mutating func remove(_ id: ManagedObjectID, keepingOrder: Bool) -> Int? {
    guard let index = index(of: id) else { return nil }
    if isSplit {
      many[0].remove(at: index, keepingOrder: keepingOrder)
      joinIfFew()
    } else if keepingOrder {
      ids.remove(at: index)
    } else {
      ids.swapAt(index, ids.count - 1)
      ids.removeLast()
    }
    return index
  }

  mutating func move(from old: Int, to new: Int) {
    splitIfMany()
    if isSplit { many[0].move(from: old, to: new) } else { ids.insert(ids.remove(at: old), at: new) }
  }

  /// Puts another ID in the place of one.
  mutating func replace(_ old: ManagedObjectID, by new: ManagedObjectID) {
    guard let index = index(of: old) else { return }
    if isSplit { many[0].replace(at: index, by: new) } else { ids[index] = new }
  }

  // MARK: Chunks

  private var isSplit: Bool { !many.isEmpty }

  private mutating func splitIfMany() {
    guard ids.count > Self.few else { return }
    many = [MemberChunks(unique: ids)]
    ids = []
  }

  private mutating func joinIfFew() {
    guard many[0].count <= Self.few / 2 else { return }
    ids = ContiguousArray(many[0])
    many = []
  }
}
