import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Compares the objects of an entity in two stores by the values of some attributes.
///
/// Of each object of the first store its ID, a hash of its entity and values, and its place are in memory. Hashes name
/// the candidates; values decide.
struct KeyComparison {
  private static let chunk = 500
  private let left: ManagedObjectContext
  private let right: ManagedObjectContext
  private let entity: String
  private let keys: [String]

  init(_ entity: String, from left: ManagedObjectContext, to right: ManagedObjectContext, keys: [String]) {
    (self.entity, self.left, self.right, self.keys) = (entity, left, right, keys)
  }

  /// The objects of both stores that are the same, at one place in both lists.
  typealias Pairs = (left: [ManagedObject], right: [ManagedObject])

  /// Hands over the objects that both stores have, in the order of the second, and returns those that one store alone
  /// has. Of objects with equal values the first ones are the same, the second ones, and so on.
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
      let former = try places.take(hash) { place in
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

  private func load(_ ids: [ManagedObjectID]) throws -> [ManagedObject] {
    let objects = try left.loadObjects(with: ids)
    guard objects.count == ids.count else { throw StoreDifference.changedMeanwhile }
    return objects
  }

  private func hash(of object: ManagedObject) throws -> Int {
    var hasher = Hasher()
    hasher.combine(object.objectID.entityName)
    for key in keys { hasher.combine(try object.value(forKey: key)) }
    return hasher.finalize()
  }

  private func isSame(_ one: ManagedObject, _ other: ManagedObject) throws -> Bool {
    guard one.objectID.entitySymbol == other.objectID.entitySymbol else { return false }
    return try keys.allSatisfy { try one.value(forKey: $0) == other.value(forKey: $0) }
  }
}

extension ManagedObjectContext {
  /// Reads objects in chunks. Their values are given up after each.
  func forEachChunk(of ids: IDList, _ count: Int, _ body: ([ManagedObject]) throws -> Void) throws {
    for start in stride(from: 0, to: ids.count, by: count) {
      let objects = try loadObjects(with: Array(ids[start..<min(ids.count, start + count)]))
      try body(objects)
      try turnIntoFaults(objects)
    }
  }
}

/// Places by hash, each of which is taken once.
private struct HashedPlaces {
  private struct Entry {
    let hash: Int
    let place: Int
  }

  private var entries: [Entry] = []
  /// By entry, itself or one behind it; entries between are taken. The last one stands behind all entries.
  private var untaken: [UInt32] = []

  init(capacity: Int) { entries.reserveCapacity(capacity) }

  /// Gives the next place a hash.
  mutating func append(_ hash: Int) { entries.append(Entry(hash: hash, place: entries.count)) }

  mutating func sort() {
    entries.sort { ($0.hash, $0.place) < ($1.hash, $1.place) }
    untaken = Array(0...UInt32(entries.count))
  }

  /// The places that are likely to be taken for some hashes, as far as there are any.
  mutating func candidates(_ hashes: [Int]) -> [Int] {
    var next: [Int: Int] = [:]
    return hashes.compactMap { hash in
      let entry = firstUntaken(next[hash] ?? start(of: hash))
      next[hash] = entry + 1
      return isEntry(entry, of: hash) ? entries[entry].place : nil
    }
  }

  /// Takes the first place of a hash for which `match` has a result.
  mutating func take<Result>(_ hash: Int, _ match: (Int) throws -> Result?) rethrows -> Result? {
    var entry = firstUntaken(start(of: hash))
    while isEntry(entry, of: hash) {
      if let result = try match(entries[entry].place) {
        untaken[entry] += 1
        return result
      }
      entry = firstUntaken(entry + 1)
    }
    return nil
  }

  /// The places that nothing took, in their order.
  var rest: [Int] {
    entries.indices.filter { untaken[$0] == $0 }.map { entries[$0].place }.sorted()
  }

  private func isEntry(_ entry: Int, of hash: Int) -> Bool { entry < entries.count && entries[entry].hash == hash }

  /// The first entry of a hash, or the place where it would stand.
  private func start(of hash: Int) -> Int { entries.partitioningIndex { $0.hash >= hash } }

  private mutating func firstUntaken(_ entry: Int) -> Int {
    var entry = min(entry, entries.count)
    while untaken[entry] != entry {
      // Passed entries are led further, so that a long row of taken entries is not walked along again.
      untaken[entry] = untaken[Int(untaken[entry])]
      entry = Int(untaken[entry])
    }
    return entry
  }
}
