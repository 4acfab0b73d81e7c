import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Walks the objects that matched when it began, a batch of rows at a time; skips those that are gone since.
final class ObjectWalk {
  private let box: RequestBox
  private unowned let domain: ScriptDomain
  private let ids: CompactIDs
  /// The objects that were not saved yet, by their temporary IDs: a save on the way gives them others.
  private var unsaved: [ManagedObjectID: ManagedObject] = [:]
  private let batchSize: Int
  /// How many rows are read next. A walk begins with few, for what they weigh is not known.
  private var nextCount: Int
  private let saveEvery: Int?
  private let prefetched: [String]
  private var position = 0
  private var batch: ArraySlice<ManagedObject> = []
  private var visited: [ManagedObject] = []

  init(_ box: RequestBox, domain: ScriptDomain) throws {
    self.box = box
    self.domain = domain
    let request = try box.objectRequest("each")
    let context = try box.context
    let found = try context.fetchIDs(request)
    ids = CompactIDs(found)
    for id in found where id.isTemporaryID { unsaved[id] = context.registeredObject(for: id) }
    batchSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : 512
    nextCount = request.fetchBatchSize > 0 ? batchSize : 8
    saveEvery = box.saveEvery
    prefetched = request.relationshipKeyPathsForPrefetching
  }

  /// The bytes that it keeps; what it visits is weighed by the context.
  var weight: Int { 1024 + ids.weight + 48 * unsaved.count }

  func next() throws -> ManagedObject? {
    if let saveEvery, visited.count >= saveEvery { try saveVisited() }
    while true {
      guard let object = try nextOfBatch() else {
        if saveEvery != nil { try saveVisited() }
        return nil
      }
      if object.isDeleted || object.managedObjectContext == nil { continue }
      if saveEvery != nil { visited.append(object) }
      return object
    }
  }

  private func nextOfBatch() throws -> ManagedObject? {
    while true {
      if let object = batch.popFirst() { return object }
      guard position < ids.count else { return nil }
      try HostWork.charge(Self.batchUnits)
      try readBatch()
    }
  }

  /// What reading a batch costs, were it that all its rows are gone.
  private static let batchUnits = 100

  /// The bytes that the objects of a batch are to weigh at most, if they weigh what those before them did.
  private static let batchWeight = 4 << 20

  private func readBatch() throws {
    let end = min(ids.count, position + nextCount)
    let context = try box.context
    // Those before are let go first.
    batch = []
    let current = ids[position..<end].map { unsaved.removeValue(forKey: $0)?.objectID ?? $0 }
    let objects = try context.loadObjects(with: current)
    try context.prefetch(prefetched, of: objects)
    batch = objects[...]
    position = end
    let weight = objects.reduce(0) { $0 + $1.weight } / max(1, objects.count)
    nextCount = max(1, min(batchSize, 8 * nextCount, Self.batchWeight / max(1, weight)))
  }

  /// Saves and turns what was visited into faults, so that memory stays flat.
  private func saveVisited() throws {
    let context = try box.context
    try context.save()
    // No result of a loop could hand it over: it is told at the end of the program.
    _ = domain.didSaveError(of: context)
    // What a did_save hook changed waits for the next save.
    for object in visited where object.managedObjectContext != nil && !object.awaitsSave {
      try context.turnIntoFault(object)
    }
    visited = []
  }
}
