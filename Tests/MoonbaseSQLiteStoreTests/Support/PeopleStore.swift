import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport

/// A store of the people model in a folder of its own, with helpers to write rows.
struct PeopleStore {
  let folder: TemporaryFolder
  let model: ResolvedModel
  let store: SQLiteStore

  init(_ description: ManagedObjectModel = People.model(), options: SQLiteStoreOptions = SQLiteStoreOptions()) throws {
    folder = try TemporaryFolder()
    model = try description.resolved()
    store = try SQLiteStore(url: folder.file(), model: model, options: options)
  }

  func entity(_ name: String) -> ResolvedEntity { model.entity(name)! }

  func query(_ entity: String, _ predicate: MoonbaseModel.Predicate? = nil, subentities: Bool = true) -> StoreQuery {
    var query = StoreQuery(entity: self.entity(entity), in: model, includesSubentities: subentities)
    query.predicate = predicate
    return query
  }

  /// A new row with these values and defaults for the rest.
  func row(_ entity: String, _ values: [String: Value] = [:]) throws -> Snapshot {
    let resolved = self.entity(entity)
    let key = try store.reserveKeys(for: resolved, count: 1)
    let id = ManagedObjectID(store: StoreNumber(store.identifier), entity: resolved.symbol, key: key)
    return snapshot(id, version: 1, resolved.initialValues, values)
  }

  func snapshot(
    _ id: ManagedObjectID, version: Int64, _ base: ContiguousArray<Value>, _ values: [String: Value]
  ) -> Snapshot {
    var all = base
    for (name, value) in values { all[entity(id.entityName).slot(name)!] = value }
    return Snapshot(id: id, version: version, values: all)
  }

  /// Saves new rows and returns their IDs.
  @discardableResult
  func insert(_ rows: Snapshot...) throws -> [ManagedObjectID] {
    var changes = StoreChanges()
    changes.inserted = RowBatch(rows)
    try store.save(changes)
    return rows.map(\.id)
  }

  /// An update of a row as the store has it.
  func update(_ id: ManagedObjectID, _ values: [String: Value]) throws -> StoreChanges.Update {
    let old = try store.snapshot(of: id)!
    let slots = values.keys.map { entity(id.entityName).slot($0)! }.sorted()
    return StoreChanges.Update(
      snapshot: snapshot(id, version: old.version + 1, ContiguousArray(old.values), values), changedSlots: slots,
      expectedVersion: old.version)
  }

  func save(_ body: (inout StoreChanges) throws -> Void) throws {
    var changes = StoreChanges()
    try body(&changes)
    try store.save(changes)
  }

  /// A value as the file has it, read from its external file if necessary.
  func value(_ id: ManagedObjectID, _ name: String) throws -> Value? {
    let value = try store.snapshot(of: id).map { $0.values[entity(id.entityName).slot(name)!] }
    if case .object(let token)? = value, let load = token.load { return .data(try load()) }
    return value
  }

  /// The statements that run during `body`.
  func statements(_ body: () throws -> Void) throws -> [String] {
    let log = Lock<[String]>([])
    store.statements.listen { sql in log.withLock { $0.append(sql) } }
    defer { store.statements.listen(nil) }
    try body()
    return log.withLock { $0 }
  }
}

extension PeopleStore {
  /// People with bosses. The table has two entities, so the entity of a boss has its own column (`Z1_BOSS`).
  static let bosses = ManagedObjectModel {
    EntityDescription("P") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toOne("boss", destination: "P", inverse: "team")
      RelationshipDescription.toMany("team", destination: "P", inverse: "boss")
    }
    EntityDescription("S", parent: "P") {}
  }
}
