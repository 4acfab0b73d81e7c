import MoonbaseModel
import MoonbasePlatform

/// A store as a context sees it, with its unsaved changes; child contexts read from it and save into it.
///
/// A child and its parent belong to one executor. Neither rows are read ahead nor saves are written on another thread.
///
/// Implements `PersistentStore` over a context, so that a child needs no code of its own for reading and saving. All
/// other requests go to the store of the parent.
final class ParentStore: PersistentStore, @unchecked Sendable {  // used only on the executor of parent and children
  /// The context whose state is read.
  let parent: ManagedObjectContext
  /// The rows and versions that children know, shared by all stores of the parent.
  let rows: ParentRows
  /// The store that the parent reads.
  fileprivate let base: any PersistentStore

  /// `rows` belongs to the coordinator of the children.
  init(_ base: any PersistentStore, of parent: ManagedObjectContext, rows: ParentRows) {
    (self.base, self.parent, self.rows) = (base, parent, rows)
  }

  /// The UUID of the store below, so that IDs agree.
  var identifier: String { base.identifier }
  var type: String { base.type }
  var url: URL? { base.url }
  var isReadOnly: Bool { base.isReadOnly }
  var writingAdvice: String { base.writingAdvice }
  /// The entities of the store below.
  var entities: [ResolvedEntity] { base.entities }

  /// The metadata of the store below.
  func metadata() throws -> [String: Value] { try base.metadata() }

  /// The parent evaluates conditions and orders that read only stored values, which are equal in both contexts. Throws
  /// for a condition over an unknown name.
  func plan(_ query: StoreQuery) throws -> QueryPlan {
    var reasons: [Int: String] = [:]
    for (place, condition) in query.conditions.enumerated() {
      try condition.forEachKeyPath { path in
        if let reason = try self.reason(path, of: query) { reasons[place] = reason }
      }
    }
    let order = try query.sortDescriptors.lazy.compactMap { key in
      try self.reason(key.keyPath.split(separator: ".").map(String.init), of: query)
    }
    return QueryPlan(
      query, accessPath: "what the parent context finds", leaving: reasons, order: Array(order).first,
      columns: query.columns?.reasonAgainstRows)
  }

  /// The reason why the child has to evaluate a key path itself, as a clause; nil if the parent can. For example
  /// "fullName of Person is computed by the context".
  private func reason(_ path: [String], of query: StoreQuery) throws -> String? {
    var (entity, indexes) = (query.entity, query.entities)
    for key in path where !key.hasPrefix("@") {
      guard let property = entity.property(key) else { return "\(key) is not of every \(entity.name)" }
      if property.isTransient { return "\(key) is not kept in the store" }
      guard let relationship = property.relationship else {
        for index in indexes {
          let entity = parent.model.entities[index]
          guard try parent.behavior(of: entity).isStoredAsIs(property.slot) else {
            return "\(key) of \(entity.name) is computed by the context"
          }
        }
        return nil
      }
      entity = parent.model.destination(of: relationship)
      indexes = entity.indexes(includingSubentities: true)
    }
    return nil
  }

  /// Gives new objects of the parent permanent IDs first, so that the child can refer to them.
  func beginReading(_ extent: ReadScope) throws -> any ReadSession {
    try rows.prepare()
    return ParentReadSession(self)
  }

  /// Keys come from the store below, so that parent and child never give the same one.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try base.reserveKeys(for: entity, count: count)
  }

  /// Throws within a hook or a rule of the parent.
  func beginSave(author: String?) throws -> any SaveSession { try ParentSaveSession(self) }
}

/// The parent's stores as its children see them.
final class ParentStores: FollowedStores, @unchecked Sendable {  // used only on the executor of parent and children
  /// The context whose children read the stores.
  let parent: ManagedObjectContext
  /// The rows as children see them.
  let rows: ParentRows

  /// Keeps the parent alive as long as children exist.
  init(_ parent: ManagedObjectContext) {
    (self.parent, rows) = (parent, ParentRows(parent))
  }

  deinit { rows.forgetAll() }

  /// A `ParentStore` for each store of the parent; existing instances are kept. The result has the order of `bases`.
  func stores(over bases: [any PersistentStore], known: [any PersistentStore]) -> [any PersistentStore] {
    bases.map { base in
      known.first { ($0 as? ParentStore)?.base === base } ?? ParentStore(base, of: parent, rows: rows)
    }
  }
}

/// Coordinators of child contexts.
extension PersistentStoreCoordinator {
  /// The rows that child contexts know of their parent; nil unless this is the coordinator of child contexts.
  var parentRows: ParentRows? { (parentStores as? ParentStores)?.rows }
}

/// Reads the parent's state at the time of each call.
///
/// A request of a child becomes a fetch in the parent, without keeping anything. There is no consistent view: the
/// parent may change between two calls.
private final class ParentReadSession: ReadSession, @unchecked Sendable {  // used only on its store's executor
  /// The store that is read.
  private let store: ParentStore
  /// The context that fetches.
  private var parent: ManagedObjectContext { store.parent }
  /// The number of the store, for selecting its objects.
  private let number: UInt32

  /// Nothing is read yet.
  init(_ store: ParentStore) {
    self.store = store
    number = StoreNumber(store.identifier).rawValue
  }

  /// False: the parent's state cannot be kept.
  var canBeHeldOpen: Bool { false }

  /// All rows at once.
  func rows(matching query: StoreQuery) throws -> any RowCursor { RowList(try snapshots(matching: query)) }

  /// Objects of the parent that match, with their unsaved values.
  func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    try parent.fetchNow(request(query)).compactMap { object in
      isHere(object.objectID) ? try store.rows.row(of: object.objectID) : nil
    }
  }

  /// All IDs at once.
  func ids(matching query: StoreQuery) throws -> any IDCursor {
    IDListCursor(IDList(try parent.fetchIDsNow(request(query)).lazy.filter(isHere)))
  }

  /// Unsaved changes of the parent count.
  func count(matching query: StoreQuery) throws -> Int {
    guard parent.source.hasSeveralStores else { return try parent.count(request(query)) }
    return try parent.fetchIDsNow(request(query)).lazy.filter(isHere).count
  }

  /// Whether an ID is of this store.
  private func isHere(_ id: ManagedObjectID) -> Bool { id.storeNumber == number }

  /// The query as a request of the parent.
  private func request(_ query: StoreQuery) -> FetchRequest {
    var request = FetchRequest(query.entity.name, where: query.predicate)
    request.includesSubentities = query.includesSubentities
    request.sortDescriptors = query.sortDescriptors
    (request.fetchLimit, request.fetchOffset) = (query.limit, query.offset)
    return request
  }

  /// Nil for a deleted object.
  func snapshot(of id: ManagedObjectID) throws -> Snapshot? { try store.rows.row(of: id) }

  /// Without missing rows.
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] { try store.rows.rows(of: ids) }

  /// Nothing is cached.
  func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try destinations(of: [id], relationship: slot)[0]
  }

  /// The lists have the order of `ids`.
  func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    try store.rows.destinations(of: ids, slot: slot)
  }

  /// Nothing has to be ended.
  func end() {}
}
