package import MoonbaseModel
import MoonbasePlatform

/// Copies all rows of one store into another, empty store, in order. Rows keep their keys if the other store assigns
/// keys from 1.
///
/// All rows are written in one save, so the other store gets everything or nothing. A store that takes rows as they
/// come receives them in batches; for other stores all rows are held in memory.
package struct StoreCopy {
  private let model: ResolvedModel
  private let source: any PersistentStore
  private let destination: any PersistentStore
  private let number: StoreNumber
  /// By root entity, the difference between new and old keys, and the existing keys.
  private var roots: [EntityIndex: (offset: Int64, keys: Set<Int64>)] = [:]
  private var changes = StoreChanges()

  package init(of source: any PersistentStore, to destination: any PersistentStore, model: ResolvedModel) {
    (self.source, self.destination, self.model) = (source, destination, model)
    number = StoreNumber(destination.identifier)
  }

  /// Copies all rows, and the program's metadata.
  package mutating func run() throws {
    try requireEmptyDestination()
    let view = try source.beginReading(.view)
    defer { view.end() }
    let entities = source.entities.filter { !$0.isAbstract }
    let ids = try entities.map { try view.objectIDs(matching: query(for: $0)) }
    for (entity, ids) in zip(entities, ids) where !ids.isEmpty {
      guard destination.entities.contains(where: { $0.index == entity.index }) else {
        throw GraphError(
          .incompatibleSchema,
          message:
            "\(entity.name) has \(ids.count) object\(ids.count == 1 ? "" : "s") in \(source.name), and \(destination.name) does not hold it: "
            + "open that with a configuration that has it", entity: entity.name)
      }
      for id in ids { roots[entity.root, default: (0, [])].keys.insert(id.key) }
    }
    try reserveKeys()
    for (entity, ids) in zip(entities, ids) where !ids.isEmpty { try copyLinks(of: entity, ids, view) }
    var parts: [CopiedRows.Part] = []
    for (entity, ids) in zip(entities, ids) where !ids.isEmpty {
      parts.append((entity, ids, view.isConsistent ? try query(for: entity) : nil))
    }
    let metadata = try source.metadata().filter { !Self.isOwn($0.key) }
    try write(CopiedRows(model: model, number: number, roots: roots, view: view, parts: parts), metadata)
  }

  private func query(for entity: ResolvedEntity) throws -> StoreQuery {
    var query = StoreQuery(entity: entity, in: model, includesSubentities: false)
    query.leavesOutStrayRows = true
    return try source.plan(query).query
  }

  /// Throws if the destination has objects.
  private func requireEmptyDestination() throws {
    let view = try destination.beginReading(.view)
    defer { view.end() }
    for entity in destination.entities where !entity.isAbstract {
      let query = try destination.plan(StoreQuery(entity: entity, in: model, includesSubentities: false)).query
      let count = try view.count(matching: query)
      guard count == 0 else {
        throw GraphError(
          .invalidRequest,
          message:
            "\(destination.name) has \(count) object\(count == 1 ? "" : "s") of \(entity.name) already: name a new store",
          entity: entity.name)
      }
    }
  }

  /// Reserves keys in the destination, and determines the difference to the old ones.
  private mutating func reserveKeys() throws {
    for root in roots.keys.sorted() {
      guard let greatest = roots[root]?.keys.max() else { continue }
      let entity = model.entities[root]
      // Reserves keys up to the greatest one, so that each row keeps its key in a new store.
      let first = try destination.reserveKeys(for: entity, count: Int(greatest))
      guard first > 0, !first.addingReportingOverflow(greatest).overflow else {
        throw GraphError(
          .invalidStore, message: "\(destination.name): the keys of \(entity.name) run out", entity: entity.name)
      }
      roots[root]?.offset = first - 1
    }
  }

  /// Whether the store itself makes a metadata entry.
  private static func isOwn(_ key: String) -> Bool {
    key.hasPrefix("NSStore") || key.hasPrefix("_NS") || key == "NSPersistenceFrameworkVersion"
  }

  // MARK: Links

  private func copied(_ id: ManagedObjectID) -> ManagedObjectID? {
    CopiedRows.copied(id, roots, in: model, to: number)
  }

  /// Adds the links of an entity's objects to the changes.
  private mutating func copyLinks(of entity: ResolvedEntity, _ ids: IDList, _ view: any ReadSession) throws {
    let lists = entity.toManySlots.filter { !entity.properties[$0].isTransient && entity.properties[$0].hasLinks }
    for start in stride(from: 0, to: ids.count, by: RowPage.capacity) {
      let owners = Array(ids[start..<min(ids.count, start + RowPage.capacity)])
      for slot in lists {
        for (owner, members) in zip(owners, try view.destinations(of: owners, relationship: slot)) {
          try HostWork.charge(members.count)
          guard let owner = copied(owner) else { continue }
          let there = members.compactMap(copied)
          if let links = StoreChanges.Links(all: there, of: owner, entity.properties[slot], in: model) {
            changes.links.append(links)
          }
        }
      }
    }
  }

  // MARK: Writing

  /// Writes rows, links and metadata in one save.
  private mutating func write(_ rows: CopiedRows, _ metadata: [String: Value]) throws {
    let session = try destination.beginSave(author: nil)
    do {
      if let taker = destination as? any StreamingStore, try taker.acceptsStreamedRows(in: session) {
        try write(rows, asTheyComeIn: session)
      } else {
        try rows.forEachBatch { changes.inserted.append($0) }
        try GraphError.throwConflicts(session.write(changes))
      }
      if !metadata.isEmpty { try session.setMetadata(metadata) }
      try session.prepare()
      try session.commit()
    } catch {
      session.abort()
      throw error
    }
  }

  /// Writes rows while another thread reads the next ones.
  private mutating func write(_ rows: CopiedRows, asTheyComeIn session: any SaveSession) throws {
    let (queue, errand, failure) = (RowQueue(), AwaitedErrand(), Lock<(any Error)?>(nil))
    let thread = Thread {
      errand.run {
        do {
          try rows.forEachBatch { try queue.add($0) }
          queue.complete()
        } catch {
          failure.withLock { $0 = error }
          queue.breakOff()
        }
      }
    }
    thread.name = "Moonbase copy"
    thread.stackSize = 16 << 20
    thread.start()
    changes.following = queue
    let written = Result { try session.write(changes) }
    queue.breakOff()
    let ending = errand.wait()
    if let ending { throw ending }
    if let failure = failure.withLock({ $0 }), !(failure is BrokenHandover) { throw failure }
    try GraphError.throwConflicts(written.get())
  }
}

/// The rows of a store with the keys of the other store.
private struct CopiedRows: Sendable {
  typealias Roots = [EntityIndex: (offset: Int64, keys: Set<Int64>)]
  /// An entity and its objects. Without a query, rows are read by key, because a cursor would first read all of them.
  typealias Part = (entity: ResolvedEntity, ids: IDList, query: StoreQuery?)

  let model: ResolvedModel
  let number: StoreNumber
  let roots: Roots
  let view: any ReadSession
  let parts: [Part]

  /// The ID in the other store; nil for a missing object, as a row may still point at a deleted object.
  static func copied(
    _ id: ManagedObjectID, _ roots: Roots, in model: ResolvedModel, to number: StoreNumber
  ) -> ManagedObjectID? {
    guard let entity = model.entity(of: id), let root = roots[entity.root], root.keys.contains(id.key) else {
      return nil
    }
    return ManagedObjectID(store: number, entity: id.entitySymbol, key: id.key + root.offset)
  }

  /// Passes the rows with their new keys to `body` in batches.
  func forEachBatch(_ body: (RowBatch) throws -> Void) throws {
    for part in parts {
      guard let query = part.query else {
        for start in stride(from: 0, to: part.ids.count, by: RowPage.capacity) {
          let ids = Array(part.ids[start..<min(part.ids.count, start + RowPage.capacity)])
          try body(made(of: view.snapshots(of: ids).sorted { $0.id.key < $1.id.key }, part.entity))
        }
        continue
      }
      let cursor = try view.rows(matching: query)
      while case let batch = try cursor.next(upTo: RowPage.capacity), !batch.isEmpty {
        try body(made(of: batch, part.entity))
      }
    }
  }

  private func made(of batch: some Collection<Snapshot>, _ entity: ResolvedEntity) throws -> RowBatch {
    let rows = RowCollector(store: number, expecting: batch.count)
    for row in batch {
      try HostWork.charge()
      try append(row, of: entity, to: rows)
    }
    return rows.finish()
  }

  /// Appends the copy of a row with new keys.
  private func append(_ row: Snapshot, of entity: ResolvedEntity, to rows: RowCollector) throws {
    guard let id = Self.copied(row.id, roots, in: model, to: number) else { return }
    let page = rows.page(for: id.entitySymbol, slotCount: entity.properties.count)
    page.beginRow(key: id.key, version: 1)
    for slot in entity.properties.indices {
      switch row.cell(slot) {
      case .reference(let destination), .value(.objectID(let destination)):
        if let destination = Self.copied(destination, roots, in: model, to: number) {
          page.set(.objectID(destination), slot: slot)
        }
      case .value(.object(let token)):
        guard let load = token.load else { throw unreadable(row.id, entity, slot) }
        page.set(.data(try load()), slot: slot)
      case let cell: page.copy(cell, slot: slot)
      }
    }
    page.endRow()
  }

  /// The error for a value whose bytes cannot be read.
  private func unreadable(_ id: ManagedObjectID, _ entity: ResolvedEntity, _ slot: Slot) -> GraphError {
    let name = entity.properties[slot].name
    return GraphError(
      .storeFailure, message: "\(entity.name).\(name) of \(id) cannot be copied: its store gave no bytes of it",
      entity: entity.name, property: name, objectID: id)
  }
}
