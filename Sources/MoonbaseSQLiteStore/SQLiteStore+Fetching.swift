public import MoonbaseGraph
public import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

extension SQLiteStore {
  /// How many rows one statement asks for by key.
  private static let chunk = 512
  /// The bytes that an ID takes in a list that grows.
  private static let idWeight = 24

  public func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
    let sql = try select(plan.select.columns, query: query, plan: plan)
    return try read(looksAtFile: true) { session in
      try step(sql, query: query, session: session) { statement in
        let rows = RowCollector(store: number)
        try collect(statement, plan: plan, into: rows)
        return rows.finish()
      }
    }
  }

  public func forEachBatch(matching query: StoreQuery, _ body: ([Snapshot]) throws -> Bool) throws {
    let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
    let sql = try select(plan.select.columns, query: query, plan: plan)
    let rest: [Snapshot] = try read(looksAtFile: true) { session in
      // A reader keeps writers of a file without a log away, and of some files it shows at the end only whether
      // they were written meanwhile: then all is read first.
      let isSteady = session.isSteady
      return try step(sql, query: query, session: session) { statement in
        while true {
          let rows = RowCollector(store: number)
          try collect(statement, plan: plan, into: rows, limit: isSteady ? [Snapshot].batchSize : .max)
          let batch = rows.finish()
          if !isSteady { return batch }
          // Nothing is handed out that would have to be read again.
          guard session.hasKnownTables() else { throw FileChanged() }
          guard !batch.isEmpty, try body(batch), batch.count == [Snapshot].batchSize else { return [] }
        }
      }
    }
    try rest.forEachBatch(body)
  }

  public func objectIDs(matching query: StoreQuery) throws -> [ManagedObjectID] {
    let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
    return try rows(of: query, plan: plan, columns: ["t0.Z_PK", "t0.Z_ENT"]) { try plan.id($0) }
  }

  public func count(matching query: StoreQuery) throws -> Int {
    if query.limit > 0 || query.offset > 0 { return try objectIDs(matching: query).count }
    let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
    var unsorted = query
    unsorted.sortDescriptors = []
    return try rows(of: unsorted, plan: plan, columns: ["COUNT(*)"]) { Int($0.integer(0)) }.first ?? 0
  }

  /// Reads rows, up to so many, of a statement.
  private func collect(_ statement: Statement, plan: RowPlan, into rows: RowCollector, limit: Int = .max) throws {
    var memory = HostMemory()
    var held = rows.weight
    while rows.count < limit, try statement.step() {
      try HostWork.charge()
      try plan.read(statement, into: rows)
      let weight = rows.weight
      try memory.hold(weight - held)
      held = weight
    }
  }

  private func rows<Element>(
    of query: StoreQuery, plan: RowPlan, columns: [String], _ decode: (Statement) throws -> Element
  ) throws -> [Element] {
    let sql = try select(columns, query: query, plan: plan)
    return try read(looksAtFile: true) { session in
      try step(sql, query: query, session: session) { statement in
        var result: [Element] = []
        var memory = HostMemory()
        while try statement.step() {
          try HostWork.charge()
          result.append(try decode(statement))
          try memory.hold(Self.idWeight)
        }
        return result
      }
    }
  }

  /// Gives `body` a statement that is ready for its first row.
  private func step<Result>(
    _ sql: SQLFragment, query: StoreQuery, session: Session, _ body: (Statement) throws -> Result
  ) throws -> Result {
    if let functions = query.functions { try session.register(functions) }
    let statement = try session.connection.statement(sql.text)
    for (index, value) in sql.values.enumerated() { SQLValue.bind(value, at: Int32(index + 1), to: statement) }
    defer { statement.reset() }
    return try body(statement)
  }

  private func select(_ columns: [String], query: StoreQuery, plan: RowPlan) throws -> SQLFragment {
    do {
      return try builder(query, plan: plan).select(columns)
    } catch let error as Untranslatable {
      throw select(of: query, refused: error.reason)
    }
  }

  // MARK: By key

  public func snapshot(of id: ManagedObjectID) throws -> Snapshot? {
    guard id.storeNumber == number.rawValue, let entity = layout.model.entity(of: id) else { return nil }
    let plan = try rowPlan(entity, includesSubentities: false)
    return try read { session in
      let statement = try session.connection.statement(plan.select.pointSelect)
      statement.bind(id.key, at: 1)
      defer { statement.reset() }
      return try statement.step() ? try plan.snapshot(statement) : nil
    }
  }

  public func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    try read { try snapshots(of: ids, in: $0) }
  }

  func snapshots(of ids: [ManagedObjectID], in session: Session) throws -> [Snapshot] {
    let rows = RowCollector(store: number)
    let known = ids.lazy.filter { $0.storeNumber == self.number.rawValue }
    for (root, group) in Dictionary(grouping: known, by: { self.layout.model.entity(of: $0)?.root ?? -1 })
    where root >= 0 {
      let isOfOneEntity = group.allSatisfy { $0.entitySymbol == group[0].entitySymbol }
      let single = isOfOneEntity ? layout.model.entity(of: group[0]) : nil
      let plan = try rowPlan(single ?? layout.model.entities[root], includesSubentities: single == nil)
      for start in stride(from: 0, to: group.count, by: Self.chunk) {
        let keys = group[start..<min(start + Self.chunk, group.count)].map(\.key)
        let statement = try session.connection.statement(
          plan.select.select(keyCount: keys.count.roundedUpToPowerOfTwo))
        for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
        defer { statement.reset() }
        try collect(statement, plan: plan, into: rows)
      }
    }
    return rows.finish()
  }

  // MARK: Destinations

  public func destinations(of id: ManagedObjectID, relationship slot: Slot) throws -> [ManagedObjectID] {
    try destinations(of: [id], relationship: slot)[0]
  }

  public func destinations(of ids: [ManagedObjectID], relationship slot: Slot) throws -> [[ManagedObjectID]] {
    let none = [[ManagedObjectID]](repeating: [], count: ids.count)
    guard let first = ids.first else { return none }
    let entity = try layout.layout(of: first)
    guard let query = try DestinationQuery(slot, of: entity, layout: layout, dialect: .sqlite) else { return none }
    let plan = try rowPlan(query.entity, includesSubentities: true)
    let places = Dictionary(ids.enumerated().map { ($1.key, $0) }) { first, _ in first }
    return try read { session in
      var result = none
      var memory = HostMemory()
      for start in stride(from: 0, to: ids.count, by: Self.chunk) {
        let keys = ids[start..<min(start + Self.chunk, ids.count)].map(\.key)
        let statement = try session.connection.statement(query.select(keyCount: keys.count.roundedUpToPowerOfTwo))
        for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(index + 1)) }
        defer { statement.reset() }
        while try statement.step() {
          try HostWork.charge()
          guard let place = places[statement.integer(2)] else { continue }
          result[place].append(try plan.id(statement))
          try memory.hold(Self.idWeight)
        }
      }
      return result
    }
  }
}

extension Int {
  /// So few shapes of a statement serve all lengths of a list: unbound parameters are NULL and match nothing.
  var roundedUpToPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
