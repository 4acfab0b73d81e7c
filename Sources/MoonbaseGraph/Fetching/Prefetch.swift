import MoonbaseModel
import MoonbasePlatform

/// Reads the destinations of relationships for many objects at once.
///
/// A to-many relationship of objects that are held is read with the rows of its destinations, in one statement for 512 owners; the
/// rows wait beside the list for the first walk over it. Other rows go into the row cache.
struct Prefetch {
  let context: ManagedObjectContext
  let objects: [ManagedObject]
  /// What the windows of a walk share.
  var shared: PrefetchMemory

  mutating func run(_ paths: [String]) throws {
    // Rows that are read with a list may be those that are being written.
    if !paths.isEmpty { context.settle() }
    for path in paths {
      let keys = path.split(separator: ".")
      var owners = objects
      for (depth, key) in keys.enumerated() {
        if depth > 0 { owners = shared.new(owners, along: keys[...depth].joined(separator: ".")) }
        owners = try load(String(key), of: owners, areHeld: depth == 0, isLast: depth + 1 == keys.count)
      }
    }
  }

  /// The bytes that the ID of a destination takes while its row is read: in a list, in a set, and in lists of those missing.
  private static let idWeight = 64

  /// Loads one relationship. Returns its destinations, each once, unless the path ends: then the rows are enough, and who asks for the
  /// objects makes them.
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
          // Lists that were here had no rows read with them.
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
          // Who asks for a damaged value gets the error; those of others are read.
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
      // More than the row cache keeps would be read for nothing: faults read theirs some at a time, in this order.
      try context.readTogether(IDList(unique))
    }
    guard !isLast else { return [] }
    next += try context.objects(with: unique)
    var known: Set<ObjectIdentifier> = []
    return next.filter { known.insert(ObjectIdentifier($0)).inserted }
  }

  /// Reads lists that are not here into their owners, and the rows for the first walk over them. Returns the owners
  /// whose rows wait.
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
        let weight = room.take(bytes, of: batch.count) ? SharedWeight(bytes, in: context) : nil
        for (index, id) in batch.enumerated() {
          let ahead = RowsAhead(rows: found.rows(index), number: context.readAheadNumber, weight: weight)
          try load(found.ids(index), weight == nil ? .outdated : ahead, into: slot, of: id)
        }
      }
    }
    return owners.filter { $0.relationships[slot]?.rowsAhead != nil }
  }

  private func load(_ list: [ManagedObjectID], _ rows: RowsAhead, into slot: Slot, of id: ManagedObjectID) throws {
    guard let owner = context.registeredObject(for: id) else { return }
    let known = owner.toManyState(slot)
    try owner.load(list, into: known, slot: slot)
    known.keep(rows)
    owner.weighRelationships()
  }

  /// Of the memory of a script the rows of destinations may take a part. Lists whose rows are more read theirs at the first walk.
  private struct RowRoom {
    private let isBounded = HostWork.greatestValue < .max
    private var bytes = HostWork.greatestValue / 4
    /// For how many owners rows are read next. What they weigh is not known before some are read.
    private(set) var ownerCount: Int

    init() { ownerCount = isBounded ? 1 : [Snapshot].batchSize }

    var isUsedUp: Bool { bytes <= 0 }

    /// Rows of so many owners were read. Whether they may be kept.
    mutating func take(_ weight: Int, of count: Int) -> Bool {
      defer { bytes -= weight }
      if isBounded {
        let fitting = (bytes - weight) / max(1, weight / max(1, count))
        ownerCount = bytes <= weight ? [Snapshot].batchSize : max(1, min([Snapshot].batchSize, 8 * count, fitting))
      }
      return weight <= bytes
    }
  }

  /// Owners further down the path are let go when the prefetch is done: the IDs of their destinations wait in the context.
  private func loadLists(_ slot: Slot, of owners: [ManagedObject]) throws {
    let missing = owners.filter { !$0.objectID.isTemporaryID && !$0.toManyState(slot).isLoaded }
    for (_, group) in try context.source.byStore(missing.map(\.objectID)) {
      let lists = try context.source.destinations(of: group, relationship: slot, in: context.view)
      try HostWork.charge(lists.count)
      for (id, list) in zip(group, lists) {
        context.prefetched.insert(list, for: PrefetchKey(id: id, slot: slot))
      }
    }
  }
}

/// IDs whose rows are wanted, of more than the row cache keeps: the first fault of a stretch reads the whole stretch.
struct WantedRows {
  private let ids: IDList
  /// By ID, the stretch that it is in.
  private var stretches = IDMap<Int32>()
  /// Of each stretch, whether it was not read yet.
  private var isWanted: [Bool]

  /// The bytes that an ID takes.
  private static let idWeight = 72

  init(_ ids: IDList) {
    self.ids = ids
    isWanted = Array(repeating: true, count: (ids.count + [Snapshot].batchSize - 1) / [Snapshot].batchSize)
    stretches.reserveCapacity(ids.count)
    for (index, id) in ids.enumerated() { stretches[id] = Int32(index / [Snapshot].batchSize) }
  }

  var weight: Int { Self.idWeight * ids.count }

  /// The IDs of the stretch around one. A stretch is read once: rows that are gone from the row cache again are read one by one.
  mutating func take(around id: ManagedObjectID) -> [ManagedObjectID]? {
    guard let stretch = stretches[id].map(Int.init), isWanted[stretch] else { return nil }
    isWanted[stretch] = false
    let start = stretch * [Snapshot].batchSize
    return Array(ids[start..<min(start + [Snapshot].batchSize, ids.count)])
  }
}

extension ManagedObjectContext {
  /// The rows of these are wanted soon: faults among them read theirs together.
  func readTogether(_ ids: IDList) throws {
    let wanted = WantedRows(ids)
    try HostMemory.require(wanted.weight)
    forgetWantedRows()
    weigh(wanted.weight)
    wantedRows = wanted
  }

  func forgetWantedRows() {
    guard let wanted = wantedRows else { return }
    weigh(-wanted.weight)
    wantedRows = nil
  }

  /// A fault is about to read its row: those that are wanted with it are read too.
  func readWantedRows(around id: ManagedObjectID) throws {
    if let ids = wantedRows?.take(around: id) { try loadRows(of: ids) }
  }
}
