#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The history of a save, collected before the rows change, and written at the end of the transaction.
  struct HistoryRecord {
    private struct Change {
      let kind: PersistentHistoryChange.ChangeType
      let entity: Int64
      let key: Int64
      var columns: Data?
      var tombstone: Data?
    }

    private let author: String?
    private let contextName: String?
    private var changes: [Change] = []

    /// The history of a save.
    init(_ changes: StoreChanges, author: String?, in store: PostgreSQLStore, on connection: PostgreSQLConnection)
      throws
    {
      (self.author, contextName) = (author, changes.contextName)
      let layout = store.layout
      for row in changes.inserted {
        self.changes.append(Change(kind: .insert, entity: try layout.layout(of: row.id).number, key: row.id.key))
      }
      var links = StoredLinks(store: store, connection: connection)
      let updates = try changes.updatedSlots(in: layout.model) { try links.contains($0, $1) }
      for (id, slots) in updates {
        let entity = try layout.layout(of: id)
        self.changes.append(
          Change(
            kind: .update, entity: entity.number, key: id.key, columns: ChangedColumns.bitmap(slots, of: entity)))
      }
      // Another context may have deleted the row.
      let rows = try store.snapshots(of: changes.deleted.map(\.id), connection)
      let byID = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
      for deletion in changes.deleted {
        guard let row = byID[deletion.id] else { continue }
        let entity = try layout.layout(of: deletion.id)
        self.changes.append(
          Change(
            kind: .delete, entity: entity.number, key: deletion.id.key, tombstone: try Self.tombstone(row, of: entity)))
      }
    }

    /// The history of a batch request, which changed the slots that are given by the keys of the rows.
    init(
      updated ids: [ManagedObjectID], _ slots: [Int64: Set<Slot>], _ request: StoreBatchRequest, author: String?,
      in store: PostgreSQLStore
    ) throws {
      (self.author, contextName) = (author, request.contextName)
      var bitmaps: [RowKind: Data] = [:]
      for id in ids {
        let entity = try store.layout.layout(of: id)
        let kind = RowKind(entity: entity.number, slots: slots[id.key] ?? [])
        let bitmap = bitmaps[kind] ?? ChangedColumns.bitmap(kind.slots, of: entity)
        bitmaps[kind] = bitmap
        changes.append(Change(kind: .update, entity: kind.entity, key: id.key, columns: bitmap))
      }
    }

    /// Rows of an entity with the same changed slots.
    private struct RowKind: Hashable {
      let entity: Int64
      let slots: Set<Slot>
    }

    private static func tombstone(_ row: Snapshot, of entity: EntityLayout) throws -> Data? {
      var values: [String: PropertyList] = [:]
      for property in entity.tombstone {
        if let value = PropertyList(metadataValue: row.values[property.slot]) { values[property.name] = value }
      }
      return values.isEmpty ? nil : PropertyList.dictionary(values).binaryData
    }

    func write(on connection: PostgreSQLConnection) throws {
      if changes.isEmpty { return }
      let count = Int64(changes.count)
      let transaction = try PostgreSQLStore.raise(SchemaWriter.transactions, by: 1, name: "the history", connection)
      let last = try PostgreSQLStore.raise(SchemaWriter.changes, by: count, name: "the history", connection)
      let process = ProcessInfo.processInfo.processName
      var parameters = Parameters()
      parameters.append(transaction)
      parameters.append(Date().timeIntervalSinceReferenceDate)
      for text in [author, contextName, process, process] {
        if let text { parameters.append(text) } else { parameters.appendNull(.text) }
      }
      try connection.query(
        "INSERT INTO ATRANSACTION (Z_PK, ZTIMESTAMP, ZAUTHOR, ZCONTEXTNAME, ZBUNDLEID, ZPROCESSID) "
          + "VALUES ($1, $2, $3, $4, $5, $6)", parameters)
      var keys = [ArrayParameter](repeating: ArrayParameter(.bigint, expecting: changes.count), count: 4)
      var data = [ArrayParameter](repeating: ArrayParameter(.bytea, expecting: changes.count), count: 2)
      for (place, change) in changes.enumerated() {
        keys[0].append(last - count + 1 + Int64(place))
        keys[1].append(Int64(change.kind.rawValue))
        keys[2].append(change.entity)
        keys[3].append(change.key)
        for (index, bytes) in [change.columns, change.tombstone].enumerated() {
          if let bytes { data[index].append(bytes) } else { data[index].appendNull(.bytea) }
        }
      }
      var rows = Parameters()
      rows.append(transaction)
      for array in keys + data { rows.append(array) }
      try connection.query(
        "INSERT INTO ACHANGE (ZTRANSACTIONID, Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS, ZTOMBSTONE) "
          + "SELECT $1, n.* FROM unnest($2, $3, $4, $5, $6, $7) AS n", rows)
    }
  }

  /// Tells which objects are destinations of others, with one query for each.
  private struct StoredLinks {
    let store: PostgreSQLStore
    let connection: PostgreSQLConnection
    private var known: [ManagedObjectID: [Slot: Set<ManagedObjectID>]] = [:]

    init(store: PostgreSQLStore, connection: PostgreSQLConnection) {
      (self.store, self.connection) = (store, connection)
    }

    mutating func contains(_ links: StoreChanges.Links, _ id: ManagedObjectID) throws -> Bool {
      if let found = known[links.owner]?[links.slot] { return found.contains(id) }
      let found = Set(try store.destinations(of: [links.owner], relationship: links.slot, connection)[0])
      known[links.owner, default: [:]][links.slot] = found
      return found.contains(id)
    }
  }
#endif
