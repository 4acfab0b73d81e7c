#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Writes the changes of a save in the transaction of its connection: deletions first, then updates, insertions and
  /// links, so that a unique value can pass from one row to another.
  struct SaveWriter {
    let changes: StoreChanges
    let store: PostgreSQLStore
    let connection: PostgreSQLConnection

    private var columns: [EntityIndex: RowColumns] = [:]
    private var conflicts: [SaveConflict] = []

    private var layout: StoreLayout { store.layout }

    /// The greatest number of rows, and of bytes, that one statement writes.
    private static let (chunk, chunkSize) = (4096, 4 << 20)

    init(_ changes: StoreChanges, in store: PostgreSQLStore, on connection: PostgreSQLConnection) {
      (self.changes, self.store, self.connection) = (changes, store, connection)
    }

    /// Writes all changes, or returns the conflicts that prevent the save.
    mutating func run() throws -> [SaveConflict] {
      let claims = UniqueClaims(changes, in: store)
      if claims.areEmpty { return try write(clearing: []) }
      try connection.execute("SAVEPOINT moonbase")
      do {
        return try write(clearing: [])
      } catch let error as PostgreSQLError where error.state == "23505" {
        // Where two rows exchange their values, the index reports a temporary conflict.
        try connection.execute("ROLLBACK TO SAVEPOINT moonbase")
        let taken = try claims.conflicts(on: connection)
        let others = conflicts
        if !taken.isEmpty { return others + taken }
        conflicts = []
        do {
          return try write(clearing: claims.passingRows)
        } catch let error as PostgreSQLError where error.state == "23505" {
          throw keyIsTaken(error)
        }
      }
    }

    private func keyIsTaken(_ error: PostgreSQLError) -> any Error {
      GraphError(
        .mergeConflict,
        message:
          "\(store.address): a row with this key is there already (\(error)); nothing was saved. If nobody else saved "
          + "meanwhile, the greatest key (Z_MAX) in Z_PRIMARYKEY is too small: set it to the greatest Z_PK",
        underlying: error)
    }

    private mutating func write(clearing passing: [UniqueClaims.Passing]) throws -> [SaveConflict] {
      let references = ReferenceCheck(changes, layout: layout, dialect: .postgreSQL) { [connection] sql, keys in
        var parameters = Parameters()
        switch keys {
        case .one(let key): parameters.append([key])
        case .list(let keys): parameters.append(keys)
        }
        let rows = try connection.query(sql, parameters)
        return (0..<rows.count).map { row in (0..<rows.columnCount).map { rows.integer(row, $0) } }
      }
      conflicts = try references.unreachedPairs()
      try delete()
      for rows in passing { try clear(rows) }
      try update()
      if !conflicts.isEmpty { return conflicts }
      try insert(changes.inserted)
      try insertFollowing()
      if !conflicts.isEmpty { return conflicts }
      try LinkWriter(layout: layout, connection: connection).write(changes.links)
      try holdDestinations()
      return try references.conflicts()
    }

    /// Locks the destinations of new references until the commit. Another save that deletes such a row waits, and then
    /// finds the reference.
    private func holdDestinations() throws {
      let ids = NewDestinations(changes, in: layout.model).ids
      for (root, ids) in Dictionary(grouping: ids, by: { layout.model.entity(of: $0)?.root ?? -1 }) where root >= 0 {
        let table = try layout.layout(layout.model.entities[root]).table
        var parameters = Parameters()
        parameters.append(ids.map(\.key).sorted())
        try connection.query(
          "SELECT 1 FROM \(identifier(table)) WHERE Z_PK = ANY($1) ORDER BY Z_PK FOR KEY SHARE", parameters)
      }
    }

    private mutating func columns(of entity: EntityLayout) throws -> RowColumns {
      if let known = columns[entity.entity.index] { return known }
      let new = try RowColumns(entity, store: layout)
      columns[entity.entity.index] = new
      return new
    }

    // MARK: Deletions

    private mutating func delete() throws {
      for (symbol, deletions) in changes.deleted.grouped(by: \.id.entitySymbol) {
        guard let entity = layout.model.entity(symbol) else { continue }
        let columns = try columns(of: layout.layout(entity))
        for checksVersion in [false, true] {
          let part = deletions.filter { ($0.expectedVersion != nil) == checksVersion }
          if part.isEmpty { continue }
          try HostWork.charge(part.count)
          var parameters = Parameters()
          parameters.append(part.map(\.id.key))
          if checksVersion { parameters.append(part.map { $0.expectedVersion ?? 0 }) }
          let gone = try keys(connection.query(columns.deletion(checksVersion: checksVersion), parameters))
          guard checksVersion else { continue }
          try note(part.filter { !gone.contains($0.id.key) }.map { ($0.id, $0.expectedVersion) }, columns)
        }
        try unlink(deletions.map(\.id.key), of: columns.layout)
      }
    }

    /// Pairs are deleted with their rows.
    private func unlink(_ ids: [Int64], of entity: EntityLayout) throws {
      var places: [(table: String, column: String)] = []
      for case .join(let join) in entity.slots {
        places.append((join.table, join.ownerColumn))
        if join.isReflexive { places.append((join.table, join.destinationColumn)) }
      }
      for join in layout.loosePairs(ofTable: entity.entity.root) { places.append((join.table, join.destinationColumn)) }
      for (table, column) in places {
        var parameters = Parameters()
        parameters.append(ids)
        try connection.query("DELETE FROM \(identifier(table)) WHERE \(identifier(column)) = ANY($1)", parameters)
      }
    }

    // MARK: Updates

    private mutating func clear(_ rows: UniqueClaims.Passing) throws {
      guard let sql = try columns(of: rows.entity).clearing(rows.slots) else { return }
      var parameters = Parameters()
      parameters.append(rows.keys)
      try connection.query(sql, parameters)
    }

    private mutating func update() throws {
      var batch: [StoreChanges.Update] = []
      var size = 0
      for change in changes.updated {
        if let last = batch.last, !last.isAlike(change) || batch.count == Self.chunk || size > Self.chunkSize {
          try update(batch)
          (batch, size) = ([], 0)
        }
        batch.append(change)
        size += try weight(of: change.snapshot)
      }
      try update(batch)
    }

    private mutating func update(_ batch: [StoreChanges.Update]) throws {
      guard let first = batch.first else { return }
      try HostWork.charge(batch.count)
      let columns = try columns(of: layout.layout(of: first.snapshot.id))
      let changed = columns.columns.filter { first.changedSlots.contains($0.slot) }
      let checksVersion = first.expectedVersion != nil
      var arrays = [ArrayParameter](
        repeating: ArrayParameter(.bigint, expecting: batch.count), count: checksVersion ? 3 : 2)
      arrays += changed.flatMap { $0.parts.map { ArrayParameter($0.type, expecting: batch.count) } }
      for change in batch {
        arrays[0].append(change.snapshot.id.key)
        arrays[1].append(change.snapshot.version)
        if let expected = change.expectedVersion { arrays[2].append(expected) }
        var place = checksVersion ? 3 : 2
        for column in changed {
          try columns.append(change.snapshot, column, to: &arrays, at: place)
          place += column.parts.count
        }
      }
      let found = try keys(
        connection.query(columns.update(changed, checksVersion: checksVersion), Parameters(arrays)))
      if found.count == batch.count { return }
      try note(
        batch.filter { !found.contains($0.snapshot.id.key) }.map { ($0.snapshot.id, $0.expectedVersion) }, columns)
    }

    // MARK: Insertions

    /// Inserts rows that arrive during the save. The rows arrive once, so that each part has a savepoint of its own
    /// where an index may refuse a row.
    private mutating func insertFollowing() throws {
      while let rows = try changes.following?.next() {
        var part = StoreChanges()
        part.inserted = rows
        let claims = UniqueClaims(part, in: store)
        if claims.areEmpty {
          try insert(rows)
          continue
        }
        try connection.execute("SAVEPOINT moonbase_part")
        do {
          try insert(rows)
          try connection.execute("RELEASE SAVEPOINT moonbase_part")
        } catch let error as PostgreSQLError where error.state == "23505" {
          try connection.execute("ROLLBACK TO SAVEPOINT moonbase_part")
          conflicts = try claims.conflicts(on: connection)
          if conflicts.isEmpty { throw keyIsTaken(error) }
          return
        }
      }
    }

    private mutating func insert(_ rows: RowBatch) throws {
      var batch: [Snapshot] = []
      var size = 0
      for row in rows {
        if let last = batch.last,
          last.id.entitySymbol != row.id.entitySymbol || batch.count == Self.chunk || size > Self.chunkSize
        {
          try insert(batch)
          (batch, size) = ([], 0)
        }
        batch.append(row)
        size += try weight(of: row)
      }
      try insert(batch)
    }

    /// The bytes of a row. Throws where a statement cannot hold the row.
    private func weight(of row: Snapshot) throws -> Int {
      let weight = row.weight
      if weight <= RowColumns.greatestSize { return weight }
      throw GraphError(
        .invalidValue,
        message: "\(row.id): its values have \(weight) bytes together, and PostgreSQL takes "
          + "\(RowColumns.greatestSize) of an object: keep large data in objects of their own", objectID: row.id)
    }

    /// Inserts rows of an entity. Many rows are copied, which costs another round trip and less for each row.
    private mutating func insert(_ batch: [Snapshot]) throws {
      guard let first = batch.first else { return }
      try HostWork.charge(batch.count)
      let columns = try columns(of: layout.layout(of: first.id))
      do {
        let written =
          batch.count < Self.leastCopy
          ? try connection.query(columns.insertion, Parameters(arrays(of: batch, columns))).affectedCount
          : try connection.copy(copyRows(of: batch, columns), into: columns.table, columns: columns.insertedNames)
        guard written == batch.count else { throw rowsAreMissing(batch.count - written, columns) }
      } catch let error as PostgreSQLError where error.state == "23505" && error.isOfKey {
        throw keyIsTaken(error)
      }
    }

    private func rowsAreMissing(_ count: Int, _ columns: RowColumns) -> GraphError {
      GraphError(
        .constraintConflict,
        message:
          "\(store.address): the database did not insert \(count) of the rows of \(columns.layout.entity.name): a trigger "
          + "or a rule of another program on \(columns.table) leaves them out; nothing was saved",
        entity: columns.layout.entity.name)
    }

    /// The least number of rows that are copied.
    private static let leastCopy = 64

    private func arrays(of batch: [Snapshot], _ columns: RowColumns) throws -> [ArrayParameter] {
      var arrays = [ArrayParameter](repeating: ArrayParameter(.bigint, expecting: batch.count), count: 3)
      arrays += columns.columns.flatMap { $0.parts.map { ArrayParameter($0.type, expecting: batch.count) } }
      for row in batch {
        arrays[0].append(row.id.key)
        arrays[1].append(columns.layout.number)
        arrays[2].append(row.version)
      }
      var place = 3
      for column in columns.columns {
        for row in batch { try columns.append(row, column, to: &arrays, at: place) }
        place += column.parts.count
      }
      return arrays
    }

    private func copyRows(of batch: [Snapshot], _ columns: RowColumns) throws -> CopyRows {
      let count = columns.insertedNames.count
      var rows = CopyRows()
      for row in batch {
        rows.beginRow(columnCount: count)
        rows.append(row.id.key)
        rows.append(columns.layout.number)
        rows.append(row.version)
        for column in columns.columns { try columns.append(row, column, to: &rows, at: 0) }
      }
      return rows
    }

    // MARK: Conflicts

    /// Notes why changes found no row: a save of another context came first.
    private mutating func note(_ ids: [(ManagedObjectID, expected: Int64?)], _ columns: RowColumns) throws {
      if ids.isEmpty { return }
      var parameters = Parameters()
      parameters.append(ids.map(\.0.key))
      let rows = try connection.query(columns.versions, parameters)
      let found = Dictionary((0..<rows.count).map { (rows.integer($0, 0), rows.integer($0, 1)) }) { first, _ in first }
      let snapshots = try store.snapshots(of: ids.map(\.0).filter { found[$0.key] != nil }, connection)
      let byID = Dictionary(snapshots.map { ($0.id, $0) }) { first, _ in first }
      for (id, expected) in ids {
        if let version = found[id.key], let expected {
          conflicts.append(SaveConflict(id, .changed(expected: expected, found: version), foundRow: byID[id]))
        } else {
          conflicts.append(SaveConflict(id, .deleted))
        }
      }
    }

    private func keys(_ rows: ResultRows) -> Set<Int64> { Set((0..<rows.count).map { rows.integer($0, 0) }) }
  }

  extension Parameters {
    fileprivate init(_ arrays: [ArrayParameter]) {
      self.init()
      for array in arrays { append(array) }
    }
  }

  extension StoreChanges.Update {
    /// Whether one statement can write both updates.
    fileprivate func isAlike(_ other: Self) -> Bool {
      snapshot.id.entitySymbol == other.snapshot.id.entitySymbol
        && (expectedVersion == nil) == (other.expectedVersion == nil) && changedSlots == other.changedSlots
    }
  }

  extension Array {
    /// Groups in the order of their first elements.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(Key, [Element])] {
      var order: [Key] = []
      let groups = Dictionary(grouping: self, by: key)
      var seen: Set<Key> = []
      for element in self where seen.insert(key(element)).inserted { order.append(key(element)) }
      return order.map { ($0, groups[$0] ?? []) }
    }
  }

  extension PostgreSQLError {
    /// Whether the constraint is a primary key. On Citus the number of the shard follows the name.
    fileprivate var isOfKey: Bool { constraint?.contains(#/_pkey(_[0-9]+)?$/#) == true }
  }
#endif
