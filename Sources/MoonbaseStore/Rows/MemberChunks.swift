public import MoonbaseModel

/// Many IDs in order, without duplicates, as a sequence of arrays of bounded size.
///
/// A hash gives the chunk of each ID. Chunks are named by numbers, which stay the same when chunks are inserted before
/// them.
@usableFromInline
package struct MemberChunks: Sequence, Sendable {
  static let greatestSize = 512
  /// The least average number of IDs in a chunk; below it, the chunks are merged.
  private static let leastAverage = 64

  /// Consecutive IDs, with the number of the chunk.
  @usableFromInline
  struct Chunk: Sendable {
    @usableFromInline var ids: ContiguousArray<ManagedObjectID>
    @usableFromInline let number: UInt32
  }

  @usableFromInline private(set) var count = 0
  @usableFromInline var chunks: ContiguousArray<Chunk> = []
  /// For each chunk, the position of its first ID.
  private var starts: ContiguousArray<Int> = []
  /// For each chunk number, the index in `chunks`.
  private var places: ContiguousArray<Int> = []
  /// The numbers of removed chunks, for reuse.
  private var freeNumbers: ContiguousArray<UInt32> = []
  /// For each ID, the number of its chunk.
  private(set) var homes: ChunkNumbers

  /// Makes the chunks of IDs that have no duplicates.
  @usableFromInline
  init(unique ids: ContiguousArray<ManagedObjectID>) {
    homes = ChunkNumbers(capacity: ids.count)
    for start in stride(from: 0, to: ids.count, by: Self.greatestSize) {
      addChunk(ContiguousArray(ids[start..<Swift.min(start + Self.greatestSize, ids.count)]), at: chunks.count)
    }
    count = ids.count
  }

  @inlinable package var underestimatedCount: Int { count }
  var sizes: [Int] { chunks.map(\.ids.count) }

  @usableFromInline
  subscript(position: Int) -> ManagedObjectID {
    let (chunk, offset) = place(of: position)
    return chunks[chunk].ids[offset]
  }

  @usableFromInline
  func contains(_ id: ManagedObjectID) -> Bool { homes[id] != nil }

  @usableFromInline
  func index(of id: ManagedObjectID) -> Int? {
    guard let home = homes[id] else { return nil }
    let chunk = places[Int(home)]
    return chunks[chunk].ids.firstIndex(of: id).map { starts[chunk] + $0 }
  }

  // MARK: Changes

  /// Appends an ID; returns false if the ID is already in the list.
  @usableFromInline
  mutating func append(_ id: ManagedObjectID) -> Bool {
    let last = chunks.count - 1
    if last >= 0, chunks[last].ids.count < Self.greatestSize {
      // A single hash look-up suffices for an ID that is new, as nearly all are.
      if let known = homes.update(chunks[last].number, of: id) {
        homes.update(known, of: id)
        return false
      }
      chunks[last].ids.append(id)
    } else {
      guard homes[id] == nil else { return false }
      addChunk([id], at: chunks.count)
    }
    count += 1
    return true
  }

  /// Removes the ID at a position. Unless the order is kept, the last ID moves into the gap.
  @usableFromInline
  mutating func remove(at position: Int, keepingOrder: Bool) {
    let gone = self[position]
    if keepingOrder || position == count - 1 {
      removeID(position)
    } else {
      let last = removeID(count - 1)
      let (chunk, offset) = place(of: position)
      chunks[chunk].ids[offset] = last
      homes.update(chunks[chunk].number, of: last)
    }
    homes.remove(gone)
    if chunks.count > 1, count < chunks.count * Self.leastAverage { self = Self(unique: ContiguousArray(self)) }
  }

  mutating func move(from old: Int, to new: Int) { putIn(removeID(old), at: new) }

  mutating func replace(at position: Int, by new: ManagedObjectID) {
    let (chunk, offset) = place(of: position)
    homes.remove(chunks[chunk].ids[offset])
    chunks[chunk].ids[offset] = new
    homes.update(chunks[chunk].number, of: new)
  }

  /// Removes an ID from its chunk; the caller updates `homes`.
  @discardableResult
  private mutating func removeID(_ position: Int) -> ManagedObjectID {
    let (chunk, offset) = place(of: position)
    let id = chunks[chunk].ids.remove(at: offset)
    shift(behind: chunk, by: -1)
    count -= 1
    if chunks[chunk].ids.isEmpty { removeChunk(at: chunk) }
    return id
  }

  /// Inserts an ID into the chunk of a position, and splits the chunk if it is full.
  private mutating func putIn(_ id: ManagedObjectID, at position: Int) {
    if chunks.isEmpty { addChunk([], at: 0) }
    let (chunk, offset) = place(of: position)
    chunks[chunk].ids.insert(id, at: offset)
    homes.update(chunks[chunk].number, of: id)
    shift(behind: chunk, by: 1)
    count += 1
    if chunks[chunk].ids.count > Self.greatestSize { split(chunk) }
  }

  // MARK: Chunks

  /// The chunk of a position, and the offset in the chunk. The position after the last ID is the end of the last chunk.
  private func place(of position: Int) -> (chunk: Int, offset: Int) {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return (low, position - starts[low])
  }

  /// Moves the starts of all later chunks.
  private mutating func shift(behind chunk: Int, by distance: Int) {
    for later in (chunk + 1)..<starts.endIndex { starts[later] += distance }
  }

  /// Divides a chunk into two.
  private mutating func split(_ chunk: Int) {
    let half = chunks[chunk].ids.count / 2
    let upper = ContiguousArray(chunks[chunk].ids[half...])
    chunks[chunk].ids.removeSubrange(half...)
    addChunk(upper, at: chunk + 1)
  }

  private mutating func addChunk(_ ids: ContiguousArray<ManagedObjectID>, at place: Int) {
    let number = freeNumbers.popLast() ?? UInt32(places.count)
    if Int(number) == places.count { places.append(place) }
    let start = place > 0 ? starts[place - 1] + chunks[place - 1].ids.count : 0
    chunks.insert(Chunk(ids: ids, number: number), at: place)
    starts.insert(start, at: place)
    for id in ids { homes.update(number, of: id) }
    renumber(from: place)
  }

  private mutating func removeChunk(at place: Int) {
    freeNumbers.append(chunks.remove(at: place).number)
    starts.remove(at: place)
    renumber(from: place)
  }

  /// Updates the index of all chunks from a place on.
  private mutating func renumber(from place: Int) {
    for later in place..<chunks.endIndex { places[Int(chunks[later].number)] = later }
  }

  // MARK: Walking

  @inlinable
  package func makeIterator() -> Iterator { Iterator(chunks) }

  @usableFromInline
  package struct Iterator: IteratorProtocol {
    @usableFromInline var current: ContiguousArray<ManagedObjectID>.Iterator
    @usableFromInline var later: ContiguousArray<Chunk>.SubSequence = []

    @inlinable init(_ ids: ContiguousArray<ManagedObjectID>) { current = ids.makeIterator() }

    @inlinable
    init(_ chunks: ContiguousArray<Chunk>) {
      current = (chunks.first?.ids ?? []).makeIterator()
      later = chunks.dropFirst()
    }

    @inlinable
    package mutating func next() -> ManagedObjectID? {
      current.next() ?? nextOfLater()
    }

    /// The first ID of the next chunk.
    @usableFromInline
    mutating func nextOfLater() -> ManagedObjectID? {
      guard let chunk = later.popFirst() else { return nil }
      current = chunk.ids.makeIterator()
      return next()
    }
  }
}
