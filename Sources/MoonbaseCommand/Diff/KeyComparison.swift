import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Compares the objects of an entity in two stores by the values of some attributes.
///
/// The comparison keeps the ID, the place and a hash for each object of the first store in memory. The hash is made of
/// the entity and the values. Equal hashes only give candidates, and the values decide.
struct KeyComparison {
  /// The number of objects that are read together.
  private static let chunk = 500
  /// The context of the first store.
  private let left: ManagedObjectContext
  /// The context of the second store.
  private let right: ManagedObjectContext
  /// The name of the entity, whose subentities are compared too.
  private let entity: String
  /// The attributes that identify an object.
  private let keys: [String]

  /// A comparison of an entity.
  init(_ entity: String, from left: ManagedObjectContext, to right: ManagedObjectContext, keys: [String]) {
    (self.entity, self.left, self.right, self.keys) = (entity, left, right, keys)
  }

  /// Objects that are the same in both stores. They have the same index in both lists.
  typealias Pairs = (left: [ManagedObject], right: [ManagedObject])

  /// Passes the objects that both stores have to `differ`, in the order of the second store, and returns the objects
  /// that only one store has. If several objects have equal values, they are paired in their order.
  func run(_ differ: (Pairs) throws -> Void) throws -> (came: IDList, went: IDList) {
    let ids = try left.fetchIDList(FetchRequest(entity))
    var (old, places) = (IDList(), HashedPlaces(capacity: ids.count))
    try left.forEachChunk(of: ids, Self.chunk) { objects in
      for object in objects {
        old.append(object.objectID)
        places.append(try hash(of: object))
      }
    }
    places.sort()
    var came = IDList()
    try right.forEachChunk(of: right.fetchIDList(FetchRequest(entity)), Self.chunk) { objects in
      try match(objects, old, &places, &came, differ)
    }
    var went = IDList()
    for place in places.rest { went.append(old[place]) }
    return (came, went)
  }

  /// Pairs a chunk of the second store's objects with objects of the first.
  private func match(
    _ objects: [ManagedObject], _ old: IDList, _ places: inout HashedPlaces, _ came: inout IDList,
    _ differ: (Pairs) throws -> Void
  ) throws {
    let hashes = try objects.map(hash)
    let candidates = places.candidates(hashes).map { old[$0] }
    let read = try load(candidates)
    var known = Dictionary(read.map { ($0.objectID, $0) }) { first, _ in first }
    var pairs: Pairs = ([], [])
    for (object, hash) in zip(objects, hashes) {
      let former = try places.claim(hash) { place in
        let id = old[place]
        if known[id] == nil { known[id] = try load([id])[0] }
        return try known[id].flatMap { try isSame($0, object) ? $0 : nil }
      }
      if let former {
        pairs.left.append(former)
        pairs.right.append(object)
      } else {
        came.append(object.objectID)
      }
    }
    try differ(pairs)
    try left.turnIntoFaults(Array(known.values))
  }

  /// The objects of the first store. Throws `.storeBusy` if some were deleted meanwhile.
  private func load(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    let objects = try left.loadObjects(with: ids)
    guard objects.count == ids.count else { throw StoreDifference.changedMeanwhile }
    return objects
  }

  /// The hash of an object's entity and values.
  private func hash(of object: ManagedObject) throws -> Int {
    var hasher = Hasher()
    hasher.combine(object.objectID.entityName)
    for key in keys { hasher.combine(try object.value(forKey: key)) }
    return hasher.finalize()
  }

  /// Whether two objects have the same entity and values.
  private func isSame(_ one: ManagedObject, _ other: ManagedObject) throws -> Bool {
    guard one.objectID.entitySymbol == other.objectID.entitySymbol else { return false }
    return try keys.allSatisfy { try one.value(forKey: $0) == other.value(forKey: $0) }
  }
}

extension ManagedObjectContext {
  /// Reads objects in chunks. The objects are turned into faults after each chunk.
  ///
  /// A chunk may be smaller if objects were deleted meanwhile.
  func forEachChunk(of ids: IDList, _ count: Int, _ body: ([ManagedObject]) throws -> Void) throws {
    for start in stride(from: 0, to: ids.count, by: count) {
      let objects = try loadObjects(with: Array(ids[start..<min(ids.count, start + count)]))
      try body(objects)
      try turnIntoFaults(objects)
    }
  }
}

/// Places of objects by hash. Each place can be taken once.
///
/// The places are sorted by hash, so that finding one takes logarithmic time.
private struct HashedPlaces {
  /// A place with its hash.
  private struct Entry {
    /// The hash of the object.
    let hash: Int
    /// The index of the object in the list.
    let place: Int
  }

  /// The entries, sorted after `sort`.
  private var entries: [Entry] = []
  /// For each entry, its own index or the index of a later entry. All entries before that index are taken. The last
  /// element stands for the end of the list.
  private var untaken: [UInt32] = []

  /// Places without entries.
  init(capacity: Int) { entries.reserveCapacity(capacity) }

  /// Adds a hash for the next place.
  mutating func append(_ hash: Int) { entries.append(Entry(hash: hash, place: entries.count)) }

  /// Prepares the search. No place may be added afterwards.
  mutating func sort() {
    entries.sort { ($0.hash, $0.place) < ($1.hash, $1.place) }
    untaken = Array(0...UInt32(entries.count))
  }

  /// The places that will probably be taken for the given hashes, if there are any.
  mutating func candidates(_ hashes: [Int]) -> [Int] {
    var next: [Int: Int] = [:]
    return hashes.compactMap { hash in
      let entry = firstUnclaimed(next[hash] ?? start(of: hash))
      next[hash] = entry + 1
      return isEntry(entry, of: hash) ? entries[entry].place : nil
    }
  }

  /// Takes the first place with a hash for which `match` returns a result.
  mutating func claim<Result>(_ hash: Int, _ match: (Int) throws -> Result?) rethrows -> Result? {
    var entry = firstUnclaimed(start(of: hash))
    while isEntry(entry, of: hash) {
      if let result = try match(entries[entry].place) {
        untaken[entry] += 1
        return result
      }
      entry = firstUnclaimed(entry + 1)
    }
    return nil
  }

  /// The places that were not taken, in ascending order.
  var rest: [Int] {
    entries.indices.filter { untaken[$0] == $0 }.map { entries[$0].place }.sorted()
  }

  /// Whether an index is an entry with a hash.
  private func isEntry(_ entry: Int, of hash: Int) -> Bool { entry < entries.count && entries[entry].hash == hash }

  /// The index of the first entry with a hash, or the index at which it would be inserted.
  private func start(of hash: Int) -> Int { entries.partitioningIndex { $0.hash >= hash } }

  /// The first entry from an index on that is not taken.
  private mutating func firstUnclaimed(_ entry: Int) -> Int {
    var entry = min(entry, entries.count)
    while untaken[entry] != entry {
      // Shorten the chain, so that a long run of taken entries is not traversed again.
      untaken[entry] = untaken[Int(untaken[entry])]
      entry = Int(untaken[entry])
    }
    return entry
  }
}
