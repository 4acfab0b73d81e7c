public import MoonbaseModel

/// IDs in order, without duplicates: the destinations of a to-many relationship.
///
/// A short list is one array. A long list that is searched or changed is divided into chunks, so that the cost of an
/// insertion or move depends on the size of one chunk.
@usableFromInline
package struct MemberList: Sequence, Sendable {
  /// The greatest number of IDs that are searched one by one.
  @inlinable static var few: Int { 64 }

  @usableFromInline var ids: ContiguousArray<ManagedObjectID> = []
  /// Replaces `ids` in a long list. An array of none or one, so that short lists reserve no room for it.
  @usableFromInline var many: ContiguousArray<MemberChunks> = []

  @inlinable
  package init() {}

  /// Makes a list of IDs that have no duplicates.
  @inlinable
  package init(unique ids: some Sequence<ManagedObjectID>) { self.ids = ContiguousArray(ids) }

  @inlinable package var count: Int { isSplit ? many[0].count : ids.count }
  @inlinable package var isEmpty: Bool { count == 0 }
  @inlinable package var underestimatedCount: Int { count }
  /// The number of IDs in each chunk; empty if the IDs lie in one array.
  var chunkSizes: [Int] { isSplit ? many[0].sizes : [] }

  @inlinable
  package subscript(position: Int) -> ManagedObjectID { isSplit ? many[0][position] : ids[position] }

  @inlinable
  package func makeIterator() -> MemberChunks.Iterator {
    isSplit ? many[0].makeIterator() : MemberChunks.Iterator(ids)
  }

  @inlinable
  package mutating func contains(_ id: ManagedObjectID) -> Bool {
    splitIfMany()
    return isSplit ? many[0].contains(id) : ids.contains(id)
  }

  @inlinable
  package mutating func index(of id: ManagedObjectID) -> Int? {
    splitIfMany()
    return isSplit ? many[0].index(of: id) : ids.firstIndex(of: id)
  }

  /// Appends an ID; returns false if the ID is already in the list.
  @inlinable
  @discardableResult
  package mutating func append(_ id: ManagedObjectID) -> Bool {
    splitIfMany()
    if isSplit { return many[0].append(id) }
    guard !ids.contains(id) else { return false }
    ids.append(id)
    return true
  }

  /// Removes an ID; returns its former position, or nil if it is not in the list. Unless the order is kept, the last ID
  /// moves into the gap.
  @inlinable
  @discardableResult
  package mutating func remove(_ id: ManagedObjectID, keepingOrder: Bool) -> Int? {
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

  package mutating func move(from old: Int, to new: Int) {
    splitIfMany()
    if isSplit { many[0].move(from: old, to: new) } else { ids.insert(ids.remove(at: old), at: new) }
  }

  /// Replaces one ID by another at the same position.
  package mutating func replace(_ old: ManagedObjectID, by new: ManagedObjectID) {
    guard let index = index(of: old) else { return }
    if isSplit { many[0].replace(at: index, by: new) } else { ids[index] = new }
  }

  // MARK: Chunks

  @inlinable var isSplit: Bool { !many.isEmpty }

  /// Divides a long list into chunks.
  @inlinable
  mutating func splitIfMany() {
    guard ids.count > Self.few else { return }
    many = [MemberChunks(unique: ids)]
    ids = []
  }

  /// Turns the chunks of a short list into one array. The threshold is half of that for dividing, against frequent
  /// changes.
  @usableFromInline
  mutating func joinIfFew() {
    guard many[0].count <= Self.few / 2 else { return }
    ids = ContiguousArray(many[0])
    many = []
  }
}
