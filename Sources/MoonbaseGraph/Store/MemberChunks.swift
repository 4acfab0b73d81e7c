import MoonbaseModel

/// Many IDs, each once, in an order, as arrays of bounded size one after another.
///
/// A hash says which chunk an ID lies in. It names the chunk by a number that stays when others are put before the chunk.
struct MemberChunks: Sequence {
  static let greatestSize = 512
  /// Where chunks hold fewer on the average, they are filled up.
  private static let leastAverage = 64

  fileprivate struct Chunk {
    var ids: ContiguousArray<ManagedObjectID>
    let number: UInt32
  }

  private(set) var count = 0
  private var chunks: ContiguousArray<Chunk> = []
  /// The position of each chunk's first ID.
  private var starts: ContiguousArray<Int> = []
  /// Where in `chunks` each chunk stands, by number.
  private var places: ContiguousArray<Int> = []
  /// Numbers of chunks that are gone.
  private var freeNumbers: ContiguousArray<UInt32> = []
  /// The number of each ID's chunk.
  private(set) var homes: ChunkNumbers

  /// Takes IDs of which none is there twice.
  init(unique ids: ContiguousArray<ManagedObjectID>) {
    homes = ChunkNumbers(capacity: ids.count)
    for start in stride(from: 0, to: ids.count, by: Self.greatestSize) {
      addChunk(ContiguousArray(ids[start..<Swift.min(start + Self.greatestSize, ids.count)]), at: chunks.count)
    }
    count = ids.count
  }

  var underestimatedCount: Int { count }
  var sizes: [Int] { chunks.map(\.ids.count) }

  subscript(position: Int) -> ManagedObjectID {
    let (chunk, offset) = place(of: position)
    return chunks[chunk].ids[offset]
  }

  func contains(_ id: ManagedObjectID) -> Bool { homes[id] != nil }

  func index(of id: ManagedObjectID) -> Int? {
    guard let home = homes[id] else { return nil }
    let chunk = places[Int(home)]
    return chunks[chunk].ids.firstIndex(of: id).map { starts[chunk] + $0 }
  }

  // MARK: Changes

  /// Puts an ID at the end; false if it is there already.
  mutating func append(_ id: ManagedObjectID) -> Bool {
    let last = chunks.count - 1
    if last >= 0, chunks[last].ids.count < Self.greatestSize {
      // One look into the hash for what is nearly always new.
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

  /// Without an order to keep, the last one takes the place of the one that goes.
  mutating func remove(at position: Int, keepingOrder: Bool) {
    let gone = self[position]
    if keepingOrder || position == count - 1 {
      takeOut(position)
    } else {
      let last = takeOut(count - 1)
      let (chunk, offset) = place(of: position)
      chunks[chunk].ids[offset] = last
      homes.update(chunks[chunk].number, of: last)
    }
    homes.remove(gone)
    if chunks.count > 1, count < chunks.count * Self.leastAverage { self = Self(unique: ContiguousArray(self)) }
  }

  mutating func move(from old: Int, to new: Int) { putIn(takeOut(old), at: new) }

  mutating func replace(at position: Int, by new: ManagedObjectID) {
    let (chunk, offset) = place(of: position)
    homes.remove(chunks[chunk].ids[offset])
    chunks[chunk].ids[offset] = new
    homes.update(chunks[chunk].number, of: new)
  }

  /// Takes out an ID, whose home is to be changed by the caller.
  @discardableResult
  private mutating func takeOut(_ position: Int) -> ManagedObjectID {
    let (chunk, offset) = place(of: position)
    let id = chunks[chunk].ids.remove(at: offset)
    shift(behind: chunk, by: -1)
    count -= 1
    if chunks[chunk].ids.isEmpty { removeChunk(at: chunk) }
    return id
  }

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

  /// The chunk of a position and the place within it; behind the last ID it is the end of the last chunk.
  private func place(of position: Int) -> (chunk: Int, offset: Int) {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return (low, position - starts[low])
  }

  private mutating func shift(behind chunk: Int, by distance: Int) {
    for later in (chunk + 1)..<starts.endIndex { starts[later] += distance }
  }

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

  private mutating func renumber(from place: Int) {
    for later in place..<chunks.endIndex { places[Int(chunks[later].number)] = later }
  }

  // MARK: Walking

  func makeIterator() -> Iterator { Iterator(chunks) }

  struct Iterator: IteratorProtocol {
    private var current: ContiguousArray<ManagedObjectID>.Iterator
    private var later: ContiguousArray<Chunk>.SubSequence = []

    init(_ ids: ContiguousArray<ManagedObjectID>) { current = ids.makeIterator() }

    fileprivate init(_ chunks: ContiguousArray<Chunk>) {
      current = (chunks.first?.ids ?? []).makeIterator()
      later = chunks.dropFirst()
    }

    mutating func next() -> ManagedObjectID? {
      if let id = current.next() { return id }
      guard let chunk = later.popFirst() else { return nil }
      current = chunk.ids.makeIterator()
      return next()
    }
  }
}
