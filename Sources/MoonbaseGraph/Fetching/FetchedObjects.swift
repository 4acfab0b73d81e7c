public import MoonbaseModel
import MoonbasePlatform

/// What a fetch found: IDs, rows that are read some at a time as they are walked, and objects that are made when they are asked for
/// and go again when nobody holds them. So a walk over a million objects takes the memory of a few hundred.
///
/// ```swift
/// for person in try context.fetchedObjects(FetchRequest("Person", where: "age > 30")) {
///   total += try person.value(forKey: "age").int
/// }
/// ```
///
/// What it found stays as it was, whatever is changed, saved or deleted meanwhile: objects that went since are deleted objects or
/// faults that cannot fire, and `existingObject(at:)` gives nil for them. The batch size of the request is how many rows are read at
/// a time; without one, all rows are read at the fetch where the store can do all of it. It belongs to its context and to the
/// context's executor.
public final class FetchedObjects {
  private enum Found {
    case ids(CompactIDs)
    case rows([Snapshot])
  }

  // Who walks in a script must not keep the context: it has the script.
  private let reference: ContextReference
  private let holder: ManagedObjectContext?
  @exclusivity(unchecked) private var found: Found
  /// The number of the context's read-ahead for which the rows count.
  private let readAheadNumber: Int
  /// Objects that were not saved yet, by their temporary IDs: a save on the way gives them others.
  private var unsaved: [ManagedObjectID: ManagedObject] = [:]
  private let isRefreshing: Bool
  private let keyPaths: [String]
  private let greatestSize: Int
  /// How many rows are read next. A walk begins with few, for what they weigh is not known.
  private var nextSize: Int
  /// What is held now, and the places it has.
  @exclusivity(unchecked) private var window = 0..<0
  @exclusivity(unchecked) private var objects: ContiguousArray<ManagedObject?> = []

  private init(_ found: Found, plan: FetchPlan, holdsContext: Bool) {
    let request = plan.request
    reference = plan.context.reference
    holder = holdsContext ? plan.context : nil
    self.found = found
    readAheadNumber = plan.context.readAheadNumber
    isRefreshing = request.shouldRefreshRefetchedObjects
    keyPaths = request.relationshipKeyPathsForPrefetching
    greatestSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : [Snapshot].batchSize
    nextSize = request.fetchBatchSize > 0 ? greatestSize : Self.firstSize
  }

  convenience init(ids: [ManagedObjectID], plan: FetchPlan, holdsContext: Bool) {
    self.init(.ids(CompactIDs(ids)), plan: plan, holdsContext: holdsContext)
    for id in ids where id.isTemporaryID { unsaved[id] = plan.context.registeredObject(for: id) }
  }

  convenience init(rows: [Snapshot], plan: FetchPlan) { self.init(.rows(rows), plan: plan, holdsContext: true) }

  /// The context of the objects, which it keeps alive.
  public var managedObjectContext: ManagedObjectContext? { reference.context }

  /// How many objects were found.
  public var count: Int {
    switch found {
    case .ids(let ids): ids.count
    case .rows(let rows): rows.count
    }
  }

  /// The IDs of the objects, in their order; of new ones that were saved meanwhile the permanent ones.
  public var objectIDs: [ManagedObjectID] { ids(0..<count) }

  /// The bytes that it keeps, by estimate; what it read the context weighs.
  package var weight: Int {
    switch found {
    case .ids(let ids): 1024 + ids.weight + 48 * unsaved.count
    case .rows(let rows): rows.reduce(1024) { $0 + 24 + $1.weight }
    }
  }

  /// An object, with its values; nil where it was deleted since, or its row is gone.
  ///
  /// Reads the rows around it if they are not here. Throws what the store throws, and what a prefetch does.
  public func existingObject(at index: Int) throws -> ManagedObject? {
    if !window.contains(index) { try readWindow(with: index) }
    guard let object = objects[index - window.lowerBound], !object.isDeleted, object.managedObjectContext != nil else {
      return nil
    }
    return object
  }

  private func ids(_ range: Range<Int>) -> [ManagedObjectID] {
    switch found {
    case .ids(let ids): ids[range].map { unsaved[$0]?.objectID ?? $0 }
    case .rows(let rows): rows[range].map(\.id)
    }
  }
}

extension FetchedObjects: RandomAccessCollection {
  /// The first place.
  public var startIndex: Int { 0 }
  /// One past the last place.
  public var endIndex: Int { count }

  /// An object. One that was deleted since is a deleted object or a fault whose values cannot be read; so is one whose row could not
  /// be read, and the context keeps the error among its pending ones.
  public subscript(index: Int) -> ManagedObject {
    precondition(index >= 0 && index < count, "\(count) objects were found: there is none at \(index)")
    do {
      if !window.contains(index) { try readWindow(with: index) }
      if let object = objects[index - window.lowerBound] { return object }
    } catch {
      holder?.keep(error)
    }
    guard let holder else { preconditionFailure("a walk of a script asks for existing objects") }
    return unsavedObject(at: index) ?? holder.fault(ids(index..<index + 1)[0])
  }

  private func unsavedObject(at index: Int) -> ManagedObject? {
    guard case .ids(let ids) = found else { return nil }
    return unsaved[ids[index..<index + 1][0]]
  }
}

// MARK: - Windows

extension FetchedObjects {
  private static let firstSize = 8
  /// The bytes that the objects of a window are to weigh at most, if they weigh what those before them did.
  private static let greatestWeight = 4 << 20
  /// What reading a window costs, were it that all its rows are gone.
  private static let units = 100

  private func readWindow(with index: Int) throws {
    guard let context = reference.context else {
      throw GraphError(.objectNotFound, message: "the context of what was fetched is gone: keep it while you walk")
    }
    try HostWork.charge(Self.units)
    let range = rangeToRead(with: index)
    // Those before are let go first.
    (window, objects) = (0..<0, [])
    if case .rows = found, context.readAheadNumber != readAheadNumber { found = .ids(CompactIDs(objectIDs)) }
    let held = try read(range, in: context)
    let present = held.compactMap { $0 }
    if !keyPaths.isEmpty { try context.prefetch(keyPaths, of: present) }
    (window, objects) = (range, held)
    let weight = present.reduce(0) { $0 + $1.weight } / Swift.max(1, present.count)
    nextSize = Swift.max(1, Swift.min(greatestSize, 8 * range.count, Self.greatestWeight / Swift.max(1, weight)))
  }

  /// Forwards from a place, or backwards where the walk goes so. A leap begins with few again.
  private func rangeToRead(with index: Int) -> Range<Int> {
    if index == window.lowerBound - 1 { return Swift.max(0, index + 1 - nextSize)..<index + 1 }
    if index != window.upperBound { nextSize = Swift.min(greatestSize, Self.firstSize) }
    return index..<Swift.min(count, index + nextSize)
  }

  private func read(_ range: Range<Int>, in context: ManagedObjectContext) throws -> ContiguousArray<ManagedObject?> {
    if case .rows(let rows) = found {
      return ContiguousArray(try context.objects(for: Array(rows[range]), refreshing: isRefreshing))
    }
    let ids = ids(range)
    let loaded = try context.loadObjects(with: ids)
    if loaded.count == ids.count { return ContiguousArray(loaded) }
    return withExtendedLifetime(loaded) {
      ContiguousArray(ids.map { context.registeredObject(for: $0).flatMap { $0.needsRow ? nil : $0 } })
    }
  }
}

extension ManagedObjectContext {
  /// What a request finds, to be read as it is walked: IDs now, rows and objects on access.
  ///
  /// Throws as `fetch` does.
  public func fetchedObjects(_ request: FetchRequest) throws -> FetchedObjects {
    try FetchPlan(request, in: self).results()
  }

  /// The same for a walk that does not keep the context, and asks for existing objects only.
  package func walk(_ request: FetchRequest) throws -> FetchedObjects {
    let plan = try FetchPlan(request, in: self)
    return FetchedObjects(ids: try plan.objectIDs(), plan: plan, holdsContext: false)
  }

  /// The object of an ID, made as a fault if it is not registered, whatever is wrong with its entity: then its values cannot be read.
  func fault(_ id: ManagedObjectID) -> ManagedObject {
    if let known = registeredObject(for: id) { return known }
    let entity = model.entity(of: id) ?? model.entities[0]
    let type = coordinator.objectClass(of: entity)
    let table = table(of: id.kind, entity: entity)
    return type.init(ManagedObject.Place(table: table, key: id.key, state: .fault))
  }
}
