import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The phases of a migration: all objects are created, then connected, then validated.
///
/// A mapping runs in batches of objects, so that memory is bounded: a batch is saved and turned into faults before the
/// next one. The second phase starts with small batches, since objects with many destinations are heavy.
extension MigrationManager {
  /// The greatest number and weight in bytes of the objects in a batch.
  private static let greatestBatch = (count: 512, weight: 16 << 20)
  /// The number of objects in the first batch, when their weight is not known yet.
  private static let firstBatch = 16

  /// Runs all phases. `progress` may throw to end the migration, for example when the user cancels it.
  func run(_ progress: MigrationProgress) throws {
    for entry in plan.entries { try entry.policy.begin(entry.mapping, with: self) }
    for entry in plan.entries { try inMapping(entry) { try makeInstances(entry, progress) } }
    for entry in plan.entries { try inMapping(entry) { try makeRelationships(entry, progress) } }
    for entry in plan.entries {
      try inMapping(entry) { try entry.policy.performCustomValidation(forMapping: entry.mapping, manager: self) }
    }
    try saveBatch()
    try validate(progress)
    for entry in plan.entries { try inMapping(entry) { try entry.policy.end(entry.mapping, manager: self) } }
    try saveBatch()
  }

  /// Sets `currentEntityMapping` while `body` runs.
  private func inMapping(_ entry: CompiledMapping.Entry, _ body: () throws -> Void) throws {
    currentEntityMapping = entry.mapping
    defer { currentEntityMapping = nil }
    try body()
  }

  // MARK: The first phase

  /// Creates the destination objects of a mapping, in batches. Objects of subentities are not included: each entity has
  /// its own mapping.
  private func makeInstances(_ entry: CompiledMapping.Entry, _ progress: MigrationProgress) throws {
    try progress.step("instances of \(entry.mapping.name)")
    if let source = entry.source, entry.mapping.kind != .remove, !source.isAbstract {
      var request = FetchRequest(source.name)
      request.includesSubentities = false
      let found = try sourceContext.fetchedObjects(request)
      defer { found.close() }
      var count = 0
      var objects = found.makeIterator()
      while let object = objects.next() {
        try naming(object, in: entry) {
          try entry.policy.createDestinationInstances(forSource: object, in: entry.mapping, manager: self)
          try checkSource()
        }
        count += 1
        if count == Self.greatestBatch.count || destinationContext.objectWeight > Self.greatestBatch.weight {
          try progress.step("a batch")
          try saveBatch()
          progress.finish(count)
          count = 0
        }
      }
      if let error = sourceContext.drainAccessorErrors().first { throw error }
      try saveBatch()
      progress.finish(count)
    }
    try entry.policy.endInstanceCreation(forMapping: entry.mapping, manager: self)
  }

  /// Saves the objects of a batch and turns them into faults. The store then has the objects; later phases read them
  /// again.
  private func saveBatch() throws {
    try finish()
    try destinationContext.save()
    try destinationContext.refreshAllObjects()
  }

  /// Turns a batch's objects into faults, or all objects if a policy has read many more. In scripts, faults stay until
  /// Lua collects them, so not all objects are visited for each batch. `weight` is the weight of the context's objects
  /// before the batch.
  private func letGo(of objects: [ManagedObject], in context: ManagedObjectContext, weighingBefore weight: Int) throws {
    try context.turnIntoFaults(objects)
    if context.objectWeight - weight > Self.greatestWeightHeld { try context.refreshAllObjects() }
  }

  /// In bytes.
  private static let greatestWeightHeld = 1 << 20

  // MARK: The second phase

  /// Connects the destination objects of a mapping, in batches. Destination objects are found by the associations, in
  /// the order of entities and keys.
  private func makeRelationships(_ entry: CompiledMapping.Entry, _ progress: MigrationProgress) throws {
    try progress.step("relationships of \(entry.mapping.name)")
    var (last, count): (ManagedObjectID?, Int) = (nil, Self.firstBatch)
    while true {
      let ids = try madeObjects(by: entry.index, after: last, upTo: count)
      guard let next = ids.last else { break }
      last = next
      // A policy may have deleted some of the objects.
      let (sourceWeight, weight) = (sourceContext.objectWeight, destinationContext.objectWeight)
      let objects = try destinationContext.loadObjects(with: ids)
      let sources = try sourceContext.loadObjects(with: sourceIDs(of: ids, by: entry.index))
      for object in objects where !object.isDeleted {
        try naming(object, in: entry) {
          try entry.policy.createRelationships(forDestination: object, in: entry.mapping, manager: self)
          try checkSource()
        }
      }
      try progress.step("a batch")
      count = Self.nextBatch(
        after: count, weight: destinationContext.objectWeight + sourceContext.objectWeight - weight - sourceWeight)
      // A save needs no old objects.
      try letGo(of: sources, in: sourceContext, weighingBefore: sourceWeight)
      try finish()
      try destinationContext.save()
      try letGo(of: objects, in: destinationContext, weighingBefore: weight)
      progress.finish(ids.count)
    }
    try entry.policy.endRelationshipCreation(forMapping: entry.mapping, manager: self)
    try saveBatch()
  }

  /// The number of objects in the next batch, by the weight of the previous one. At least 1 object. The number is
  /// quadrupled for light batches and halved for heavy ones.
  static func nextBatch(after count: Int, weight: Int) -> Int {
    if weight > greatestBatch.weight { return max(1, count / 2) }
    return weight < greatestBatch.weight / 4 ? min(greatestBatch.count, count * 4) : count
  }

  /// Throws if old objects were changed, because the changes would be lost with the next batch. The error has the code
  /// `.readOnlyStore`.
  private func checkSource() throws {
    guard sourceContext.hasChanges else { return }
    throw GraphError(
      .readOnlyStore,
      message:
        "an old object was made, changed or deleted: old objects and their context are only read, change the new ones")
  }

  // MARK: The third phase

  /// The greatest number of invalid objects that an error lists.
  private static let greatestFailureCount = 20

  /// Validates all new objects. Throws an error with the first failures. Objects are read one after the other. Missing
  /// required values are accepted if the caller allowed them.
  private func validate(_ progress: MigrationProgress) throws {
    var failures: [GraphError] = []
    for root in destinationModel.entities where root.parent == nil {
      try progress.step("validation of \(root.name)")
      var count = 0
      for object in try destinationContext.fetchedObjects(FetchRequest(root.name)) {
        count += 1
        do { try object.validateAsNew() } catch let error as GraphError where !error.code.endsRun {
          if allowsMissingValues, error.isOfMissingValuesAlone { continue }
          failures.append(Self.named(error, object, "\(object.entity.name), row \(object.objectID.key)"))
          if failures.count == Self.greatestFailureCount { throw Self.refusal(failures) }
        }
      }
      if let error = destinationContext.drainAccessorErrors().first { throw error }
      progress.finish(count)
    }
    if !failures.isEmpty { throw Self.refusal(failures) }
  }

  /// A single failure is thrown as it is, several as `.multipleErrors`.
  private static func refusal(_ failures: [GraphError]) -> GraphError {
    guard failures.count > 1, let first = failures.first else { return failures[0] }
    let count = failures.count < greatestFailureCount ? "\(failures.count)" : "\(failures.count) or more"
    return GraphError(
      .multipleErrors, message: "\(count) objects break rules of the newer model", entity: first.entity,
      property: first.property, objectID: first.objectID, details: failures)
  }

  // MARK: Errors

  /// Runs `body`, adding mapping, entity and row to its errors. Errors that end the run, such as exceeded limits, stay
  /// unchanged.
  private func naming(_ object: ManagedObject, in entry: CompiledMapping.Entry, _ body: () throws -> Void) throws {
    do { try body() } catch let error where !(error is CancellationError) {
      if let known = error as? any CodedError, [.interrupted, .limitExceeded].contains(known.code) { throw error }
      let place = "\(entry.mapping.name), row \(object.objectID.key) of \(object.entity.name)"
      throw Self.named(error, object, place)
    }
  }

  /// A `GraphError` with the place in front of its message.
  private static func named(_ error: any Error, _ object: ManagedObject, _ place: String) -> GraphError {
    let known = error as? GraphError
    return GraphError(
      known?.code ?? (error as? any CodedError)?.code ?? .extensionFailure,
      message: "\(place): \(known?.message ?? "\(error)")", entity: known?.entity ?? object.entity.name,
      property: known?.property, objectID: object.objectID, value: known?.value, details: known?.details ?? [],
      underlying: error)
  }
}

/// The kinds of an object's failures.
extension GraphError {
  /// Whether missing values are the only failures of an object.
  fileprivate var isOfMissingValuesAlone: Bool {
    details.isEmpty ? code == .missingMandatoryProperty : details.allSatisfy(\.isOfMissingValuesAlone)
  }
}
