import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A batch deletion with its delete rules. Temporary tables collect the keys of all rows to delete, level by level of
/// the cascade. Then one statement runs for each table and relationship, however many rows there are.
///
/// Where a deny rule keeps some of the rows, the graph does the deletion instead.
///
/// The steps in a transaction: collect the keys of the named rows and of all rows that cascade rules reach, refuse
/// exceptions, write the history, delete pairs, set references to null, delete the rows. The result is that of the
/// graph's deletion, without loading objects.
struct BatchCascade: BatchStatement {
  /// The rows that the request names, with the store.
  private let rows: BatchRows
  /// The relationships of all entities that may be deleted, with their delete rules.
  private let ties: [DeletionTie]
  /// The tables with rows to delete.
  private let tables: [GoingTable]

  /// The layout of the store.
  private var layout: StoreLayout { rows.store.layout }

  /// Returns nil for deletions that SQL does not do exactly as the graph would. Follows the cascade rules over entities
  /// first, so that the tables are known before any row is read.
  init?(_ rows: BatchRows) {
    let layout = rows.store.layout
    var ties: [PropertyID: DeletionTie] = [:]
    var tables: [EntityIndex: GoingTable] = [:]
    var waiting = rows.kinds.map(\.entity.index)
    var seen = Set(waiting)
    while let index = waiting.popLast() {
      guard let entity = layout.entities[index] else { return nil }
      tables[entity.entity.root, default: GoingTable(root: entity.entity.root, table: entity.table)].kinds.append(
        entity)
      for property in entity.entity.properties where property.relationship != nil && !property.isTransient {
        let id = property.id
        guard let tie = ties[id] ?? DeletionTie(property, in: layout) else { return nil }
        ties[id] = tie
        guard tie.rule.deletesDestinations, let destination = property.relationship?.destination else { continue }
        waiting += layout.model.entities[destination].subtree.filter { seen.insert($0).inserted }
      }
    }
    guard !Self.isLed(to: tables, in: layout.model) else { return nil }
    self.rows = rows
    self.ties = ties.sorted { $0.key < $1.key }.map(\.value)
    let cascading = self.ties.filter { $0.rule.deletesDestinations }
    for root in tables.keys {
      var (reached, waiting) = (Set<EntityIndex>(), [root])
      while let next = waiting.popLast() {
        waiting += cascading.filter { $0.owner.root == next }.map(\.destination.root).filter {
          reached.insert($0).inserted
        }
      }
      tables[root]?.isCyclic = reached.contains(root)
      tables[root]?.kinds.sort { $0.number < $1.number }
    }
    self.tables = tables.values.sorted { $0.root < $1.root }
  }

  /// Whether a relationship without an inverse has one of the tables as its destination. Rows behind such a
  /// relationship would have to be searched in all tables.
  private static func isLed(to tables: [EntityIndex: GoingTable], in model: ResolvedModel) -> Bool {
    model.entities.contains { entity in
      entity.properties.contains { property in
        guard let relationship = property.relationship, relationship.inverseSlot == nil, !property.isTransient else {
          return false
        }
        return tables[model.destination(of: relationship).root] != nil
      }
    }
  }

  // MARK: Running

  /// Throws `BatchRefusal` where the graph has to do the deletion; the caller then rolls back.
  func run(in session: Session, files: inout ExternalFiles) throws -> StoreBatchResult {
    let others = ties.filter { $0.forgotten != nil }.compactMap { layout.entities[$0.destination.root]?.table }
    for name in Set(tables.map(\.table) + ties.compactMap(\.pairTable) + others) {
      try rows.refuseTriggers(of: name, on: session.connection)
    }
    for statement in tables.flatMap(\.preparation) { try session.connection.execute(statement) }
    let ids = rows.givesIDs ? try rows.ids(rows.select.keys(rows.query), in: session) : []
    let (named, all) = try collect(in: session)
    defer { for table in tables { try? session.connection.execute("DELETE FROM \(table.name)") } }
    guard named > 0 else { return StoreBatchResult(objectIDs: [], changes: SavedObjectIDs()) }
    try refuseExceptions(in: session)
    try note(in: session)
    let deleted = rows.givesIDs ? try tables.flatMap { try self.ids(of: $0, in: session) } : []
    for table in tables { try forgetFiles(of: table, in: session, &files) }
    for unpairing in ties.compactMap(\.unpairing) { try rows.run(unpairing, in: session) }
    var forgetting: [ManagedObjectID] = []
    for (update, exception) in updates {
      if try session.running(exception, for: rows.query, { try $0.step() }) { throw BatchRefusal() }
      let sql = update + (rows.givesIDs ? " RETURNING Z_PK, Z_ENT" : "")
      forgetting += try self.ids(sql, in: session)
    }
    for table in tables {
      let count = try rows.run(
        SQLFragment("DELETE FROM \(identifier(table.table)) WHERE Z_PK IN (\(table.keys))"), in: session)
      guard count == all[table.root] ?? 0 else { throw BatchRefusal() }
    }
    session.orderEnds.forgetAll()
    guard rows.givesIDs else {
      return StoreBatchResult(count: named, objectIDs: [], changes: .anything(of: touchedEntities))
    }
    return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(updated: forgetting, deleted: deleted))
  }

  /// Collects the keys of the rows to delete. Returns the number of rows that the request names, and of all rows by
  /// table.
  ///
  /// Each level reads the destinations of the level before; a key is collected once, so cycles end.
  private func collect(in session: Session) throws -> (named: Int, all: [EntityIndex: Int]) {
    let root = rows.query.entity.root
    let named = try rows.run(
      "INSERT INTO \(GoingTable.name(root)) SELECT Z_PK, 0 FROM (" + rows.select.keysAlone(rows.query) + ")",
      in: session)
    var all = [root: named]
    var (last, level): (Set<EntityIndex>, Int64) = (named > 0 ? [root] : [], 0)
    while !last.isEmpty {
      try HostWork.charge()
      var next: Set<EntityIndex> = []
      for tie in ties where tie.rule.deletesDestinations && last.contains(tie.owner.root) {
        let count = try rows.run(
          SQLFragment(
            "INSERT OR IGNORE INTO \(GoingTable.name(tie.destination.root)) SELECT Z_PK, ? FROM (",
            values: [.int(level + 1)])
            + tie.destinations(of: tie.owners(level: level)) + ")", in: session)
        guard count > 0 else { continue }
        all[tie.destination.root, default: 0] += count
        next.insert(tie.destination.root)
      }
      (last, level) = (next, level + 1)
    }
    return (named, all)
  }

  /// Throws `BatchRefusal` where the graph has to do the deletion: for rows that a deny rule keeps, for pairs of keys
  /// that are set on one side only, and for rows of an unknown entity.
  private func refuseExceptions(in session: Session) throws {
    for tie in ties {
      if let lopsided = tie.lopsided { try refuse(lopsided, in: session) }
      guard tie.rule.refusesDeletion else { continue }
      let staying =
        tables.contains { $0.root == tie.destination.root }
        ? " WHERE Z_PK NOT IN (SELECT key FROM \(GoingTable.name(tie.destination.root)))" : ""
      try refuse("SELECT 1 FROM (" + tie.destinations(of: tie.owners()) + ")\(staying) LIMIT 1", in: session)
    }
    for table in tables where layout.model.entities[table.root].hasSubentities {
      let numbers = layout.subtree(of: layout.model.entities[table.root]).map { "\($0.number)" }.joined(separator: ", ")
      let name = identifier(table.table)
      try refuse(
        SQLFragment(
          "SELECT 1 FROM \(name) WHERE Z_PK IN (\(table.keys)) AND (Z_ENT IN (\(numbers))) IS NOT TRUE LIMIT 1"),
        in: session)
    }
  }

  /// Throws `BatchRefusal` if a query has a row.
  private func refuse(_ sql: SQLFragment, in session: Session) throws {
    if try session.running(sql, for: rows.query, { try $0.step() }) { throw BatchRefusal() }
  }

  // MARK: Rows that stay

  /// The remaining rows of one table that refer to deleted rows: a condition over `t0` for each relationship. Rows of a
  /// table may refer to deleted rows by several relationships.
  private struct Leading {
    /// Each condition is true for rows that refer to a deleted row by the relationship.
    var conditions: [(tie: DeletionTie, condition: SQLFragment)]

    /// The condition for rows that refer to any deleted row.
    var any: SQLFragment { conditions.map(\.condition).joined(" OR ") }
  }

  /// The conditions of all relationships, grouped by the table of the destination.
  private func leading(_ condition: (DeletionTie) -> SQLFragment?) -> [(root: EntityIndex, rows: Leading)] {
    var found: [EntityIndex: Leading] = [:]
    for tie in ties {
      guard let condition = condition(tie) else { continue }
      found[tie.destination.root, default: Leading(conditions: [])].conditions.append((tie, condition))
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The ` WHERE` clause for the remaining rows.
  private func staying(_ leading: Leading, in root: EntityIndex) -> SQLFragment {
    let condition = " WHERE (" + leading.any + ")"
    guard tables.contains(where: { $0.root == root }) else { return condition }
    return condition + " AND t0.Z_PK NOT IN (SELECT key FROM \(GoingTable.name(root)))"
  }

  /// The quoted table of a root entity.
  private func table(_ root: EntityIndex) -> String { identifier(layout.entities[root]?.table ?? "") }

  /// For each table whose rows lose a reference to a deleted row, the update and a query for rows whose version cannot
  /// rise. An update raises a row's version only once.
  private var updates: [(update: SQLFragment, exception: SQLFragment)] {
    leading { tie in tie.forgotten.map(tie.leads) }.map { root, leading in
      let isAlone = leading.conditions.count == 1
      var sets: [SQLFragment] = []
      for (tie, condition) in leading.conditions {
        guard let back = tie.forgotten else { continue }
        for column in [back.column, back.entityColumn, back.orderColumn].compactMap({ $0 }) {
          let name = identifier(column)
          let value = isAlone ? SQLFragment("NULL") : "CASE WHEN " + condition + " THEN NULL ELSE t0.\(name) END"
          sets.append("\(name) = " + value)
        }
      }
      let staying = staying(leading, in: root)
      return (
        "UPDATE OR ABORT \(table(root)) AS t0 SET " + sets.joined(", ") + ", Z_OPT = COALESCE(Z_OPT, 0) + 1" + staying,
        "SELECT 1 FROM \(table(root)) AS t0" + staying + " AND NOT (\(RowStatements.versionMayRise)) LIMIT 1"
      )
    }
  }

  // MARK: History, files and IDs

  /// Writes the history, before the rows change: updates of remaining rows, then deletions with tombstones.
  private func note(in session: Session) throws {
    guard let writer = try rows.history(in: session) else { return }
    var history = try BatchHistory(writer, contextName: rows.request.contextName)
    for (root, leading) in leading({ tie in tie.forgotten.map(tie.leads) ?? tie.losesMember }) {
      let bits = ChangedBits(slots: leading.conditions.compactMap(\.tie.inverse?.property.slot))
      guard bits.slots.count <= ChangedBits.greatestCount else { throw BatchRefusal() }
      try bits.register(on: session.connection, layout: layout)
      let entity = layout.entityNumber(ofTable: root)
      let changed = ChangedRows(
        source: "\(table(root)) AS t0" + staying(leading, in: root), entity: entity,
        columns: bits.call(entity: entity, where: leading.conditions.map(\.condition)))
      _ = try history.note(.update, of: changed) { try rows.run($0, in: session) }
    }
    for table in tables {
      let entity = layout.entityNumber(ofTable: table.root)
      let going = ChangedRows(
        source: SQLFragment("\(identifier(table.table)) AS t0 WHERE t0.Z_PK IN (\(table.keys))"), entity: entity,
        tombstone: table.kinds.tombstone(entity: entity))
      _ = try history.note(.deletion, of: going) { try rows.run($0, in: session) }
    }
    try history.finish()
  }

  /// Notes the external files of deleted values. The column of such a value is 38 bytes long.
  private func forgetFiles(of table: GoingTable, in session: Session, _ files: inout ExternalFiles) throws {
    var columns: Set<String> = []
    for case .attribute(let column, .externalData) in table.kinds.flatMap(\.slots) { columns.insert(column) }
    for column in columns.sorted().map(identifier) {
      let sql = SQLFragment(
        "SELECT \(column) FROM \(identifier(table.table)) WHERE Z_PK IN (\(table.keys)) AND length(\(column)) = 38")
      try session.running(sql, for: rows.query) { statement in
        while try statement.step() { rows.store.externalData.forget(statement.data(0), files: &files) }
      }
    }
  }

  /// The IDs of the rows to delete in a table.
  private func ids(of table: GoingTable, in session: Session) throws -> [ManagedObjectID] {
    try ids(
      SQLFragment("SELECT Z_PK, Z_ENT FROM \(identifier(table.table)) WHERE Z_PK IN (\(table.keys))"), in: session,
      else: layout.firstConcrete(ofTable: layout.model.entities[table.root]))
  }

  /// The IDs whose keys and entity numbers a statement returns. `stranger` is the entity of rows with an unknown
  /// number; without it they are left out.
  private func ids(
    _ sql: SQLFragment, in session: Session, else stranger: ResolvedEntity? = nil
  ) throws -> [ManagedObjectID] {
    var memory = HostMemory()
    return try session.running(sql, for: rows.query) { statement in
      var ids: [ManagedObjectID] = []
      while try statement.step() {
        try memory.hold(64)
        guard let entity = layout.entity(number: statement.integer(1))?.entity ?? stranger else { continue }
        ids.append(
          ManagedObjectID(
            store: StoreNumber(rows.store.identifier), entity: entity.symbol, key: statement.integer(0)))
      }
      return ids
    }
  }

  /// The names of the entities of the deleted rows and of the destinations of their relationships. For changes without
  /// IDs, which concern whole entities.
  private var touchedEntities: [String] {
    let model = layout.model
    return tables.map { model.entities[$0.root].name } + ties.map { model.entities[$0.destination.root].name }
  }
}
