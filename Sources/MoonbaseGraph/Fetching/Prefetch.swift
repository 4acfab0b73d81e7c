import MoonbaseModel
import MoonbasePlatform

/// Reads the destinations of relationships for many objects at once.
///
/// For objects that the caller retains, a to-many relationship is read together with the rows of its destinations, one
/// statement for up to 512 owners; the rows are kept beside the list until it is first used. All other rows go into the
/// row cache.
///
/// Made for one call of `prefetch`, on the context's thread.
struct Prefetch {
  /// The context of the objects.
  let context: ManagedObjectContext
  /// The objects at the beginning of all key paths, retained by the caller.
  let objects: [ManagedObject]
  /// The memory shared by the windows of a walk.
  var shared: PrefetchMemory

  /// Prefetches along key paths. Each path is followed step by step; the destinations of a step are the owners of the
  /// next one. Throws `.invalidRequest` for a key that is no relationship, and errors of the store.
  mutating func run(_ paths: [String]) throws {
    // Waits for a save in progress, which may be writing rows that are read with a list.
    if !paths.isEmpty { context.waitForPendingSave() }
    for path in paths {
      let keys = path.split(separator: ".")
      var owners = objects
      for (depth, key) in keys.enumerated() {
        if depth > 0 { owners = shared.new(owners, along: keys[...depth].joined(separator: ".")) }
        owners = try load(String(key), of: owners, areHeld: depth == 0, isLast: depth + 1 == keys.count)
      }
    }
  }

  /// The bytes per destination ID during a read: in a list, a set, and lists of missing rows.
  private static let idWeight = 64

  /// Loads one relationship and returns its destinations without duplicates. At the end of a path it returns none: only
  /// the rows are needed, and objects are created on access.
  ///
  /// With `areHeld`, the caller retains the owners, so that lists and rows may be kept in them. Throws for an unknown
  /// relationship.
  private mutating func load(
    _ key: String, of owners: [ManagedObject], areHeld: Bool, isLast: Bool
  ) throws -> [ManagedObject] {
    var memory = HostMemory()
    var ids: [ManagedObjectID] = []
    var next: [ManagedObject] = []
    for (_, group) in Dictionary(grouping: owners, by: { $0.entity.index }) {
      guard let entity = group.first?.entity else { continue }
      guard let property = entity.property(key), property.relationship != nil else {
        throw GraphError(
          .invalidRequest, message: "cannot prefetch \(key): \(entity.name) has no such relationship",
          entity: entity.name,
          property: key)
      }
      var others = group
      if case .toMany = property.kind {
        if areHeld {
          let read = try loadWithRows(property.slot, of: group)
          if !isLast { next += try read.flatMap { try $0.memberObjects(property.slot, keepingRows: true) } }
          // Lists that were loaded before have no rows yet.
          let known = Set(read)
          others = known.isEmpty ? group : group.filter { !known.contains($0) }
        } else {
          try loadLists(property.slot, of: group)
        }
      }
      for owner in others {
        try HostWork.charge()
        let destinations: [ManagedObjectID]
        do {
          destinations = try owner.objectIDs(forRelationshipNamed: key)
        } catch {
          // The damaged value throws when it is accessed; the destinations of further owners are still read.
          guard owner.isDamaged(property.slot) else { throw error }
          continue
        }
        try memory.hold(Self.idWeight &* destinations.count)
        ids += destinations
      }
    }
    try HostWork.charge(ids.count)
    if !areHeld { shared.noteWork(owners.count + ids.count) }
    var seen: Set<ManagedObjectID> = []
    let unique = ids.filter { seen.insert($0).inserted }
    if unique.count <= RowCache.usualCapacity {
      try context.loadRows(of: unique)
    } else {
      // The row cache would not hold that many: faults read their rows in batches, in this order.
      try context.readTogether(IDList(unique))
    }
    guard !isLast else { return [] }
    next += try context.objects(with: unique)
    var known: Set<ObjectIdentifier> = []
    return next.filter { known.insert(ObjectIdentifier($0)).inserted }
  }

  /// Loads missing lists of owners, with the rows for the first use of a list. Returns the owners whose rows are kept.
  /// Lists are read for up to 512 owners at once; with a memory limit, the number adapts to the size of the rows.
  private func loadWithRows(_ slot: Slot, of owners: [ManagedObject]) throws -> [ManagedObject] {
    let missing = owners.filter { !$0.objectID.isTemporaryID && !$0.toManyState(slot).isLoaded }
    var room = RowRoom()
    for (_, group) in try context.source.byStore(missing.map(\.objectID)) {
      var rest = group[...]
      while !rest.isEmpty {
        let batch = Array(rest.prefix(room.ownerCount))
        rest = rest.dropFirst(batch.count)
        try HostWork.charge(batch.count)
        if room.isUsedUp {
          let lists = try context.source.destinations(of: batch, relationship: slot, in: context.view)
          for (id, list) in zip(batch, lists) { try load(list, .outdated, into: slot, of: id) }
          continue
        }
        let found = try context.source.destinationRows(of: batch, relationship: slot, in: context.view)
        context.source.refreshRows(found.rows)
        let bytes = found.rows.weight
        let weight = room.admit(bytes, of: batch.count) ? SharedWeight(bytes, in: context) : nil
        for (index, id) in batch.enumerated() {
          let ahead = RowsAhead(rows: found.rows(index), number: context.readAhead.number, weight: weight)
          try load(found.ids(index), weight == nil ? .outdated : ahead, into: slot, of: id)
        }
      }
    }
    return owners.filter { $0.relationships[slot]?.rowsAhead != nil }
  }

  /// Assigns a list and its rows to the owner.
  private func load(_ list: [ManagedObjectID], _ rows: RowsAhead, into slot: Slot, of id: ManagedObjectID) throws {
    guard let owner = context.registeredObject(for: id) else { return }
    let known = owner.toManyState(slot)
    try owner.load(list, into: known, slot: slot)
    known.keep(rows)
    owner.weighRelationships()
  }

  /// The share of a script's memory limit that the rows of destinations may take. Beyond it, lists read their rows when
  /// first used.
  private struct RowRoom {
    /// Whether a memory limit applies.
    private let isBounded = HostWork.greatestValue < .max
    /// The bytes that may still be kept.
    private var bytes = HostWork.greatestValue / 4
    /// The number of owners whose rows are read next; small at first, because the size of rows is not known yet.
    private(set) var ownerCount: Int

    /// Makes the room for one call, from the memory limit of the current run.
    init() { ownerCount = isBounded ? 1 : [Snapshot].batchSize }

    /// Whether rows are no longer kept.
    var isUsedUp: Bool { bytes <= 0 }

    /// Accounts for rows of `count` owners; returns whether the rows may be kept.
    mutating func admit(_ weight: Int, of count: Int) -> Bool {
      defer { bytes -= weight }
      if isBounded {
        let fitting = (bytes - weight) / max(1, weight / max(1, count))
        ownerCount = bytes <= weight ? [Snapshot].batchSize : max(1, min([Snapshot].batchSize, 8 * count, fitting))
      }
      return weight <= bytes
    }
  }

  /// Loads lists of owners further down the path, which are released after the prefetch: the context keeps the
  /// destination IDs. Nothing is kept in the owners themselves.
  private func loadLists(_ slot: Slot, of owners: [ManagedObject]) throws {
    let missing = owners.filter { !$0.objectID.isTemporaryID && !$0.toManyState(slot).isLoaded }
    for (_, group) in try context.source.byStore(missing.map(\.objectID)) {
      let lists = try context.source.destinations(of: group, relationship: slot, in: context.view)
      try HostWork.charge(lists.count)
      for (id, list) in zip(group, lists) {
        context.readAhead.prefetched.insert(list, for: PrefetchKey(id: id, slot: slot))
      }
    }
  }
}
