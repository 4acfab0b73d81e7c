import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The rows that a batch request selects. In statements about the rows, `t0` is their table.
///
/// A value for the time of a batch request. All statements of a batch build their conditions from it, so that
/// selection, history and change agree.
struct BatchRows {
  /// The request, with its query and result type.
  let request: StoreBatchRequest
  /// The store that executes the request.
  let store: SQLiteStore
  /// The prepared query of the request.
  let select: PreparedSelect
  /// The entities that the rows may have.
  let kinds: [EntityLayout]
  /// The table of the rows; subentities share it.
  let table: String

  /// Returns nil where the file lacks the table.
  init?(_ request: StoreBatchRequest, in store: SQLiteStore) throws {
    let query = request.query
    (self.request, self.store) = (request, store)
    select = try store.select(query)
    var kinds: [EntityLayout] = []
    for index in query.entity.indexes(includingSubentities: query.includesSubentities) {
      let entity = store.layout.model.entities[index]
      guard !entity.isAbstract else { continue }
      guard let layout = store.layout.entities[index] else { return nil }
      kinds.append(layout)
    }
    guard let first = kinds.first else { return nil }
    (self.kinds, table) = (kinds, first.table)
  }

  /// The query that selects the rows.
  var query: StoreQuery { request.query }

  /// Whether the request returns object IDs. Otherwise the keys of the rows are never read.
  var givesIDs: Bool { request.resultType == .objectIDs }

  // MARK: In SQL

  /// The table, as an `UPDATE` or `DELETE` names it.
  var target: String { "\(identifier(table)) AS t0" }

  /// The condition that selects the rows. Nil for the whole table.
  var condition: SQLFragment? {
    select.condition(query) ?? "t0.Z_PK IN (" + select.keysAlone(query) + ")"
  }

  /// The ` WHERE` clause for the rows that meet another condition too.
  func condition(and other: SQLFragment? = nil) -> SQLFragment {
    let conditions = [select.isWhole(query) ? nil : condition, other].compactMap { $0 }
    return conditions.isEmpty ? SQLFragment("") : " WHERE " + conditions.map(\.parenthesized).joined(" AND ")
  }

  /// The ` RETURNING` clause that `ids` reads, if the request returns object IDs.
  var returning: String { givesIDs ? " RETURNING \(select.plan.isSingle ? "Z_PK" : "Z_PK, Z_ENT")" : "" }

  /// The expression for a row's entity number.
  var entityNumber: String {
    select.plan.isSingle ? "\(kinds[0].number)" : store.layout.entityNumber(ofTable: query.entity.root)
  }

  // MARK: Asking

  /// The IDs that a statement returns.
  func ids(_ sql: SQLFragment, in session: Session) throws -> [ManagedObjectID] {
    let found = try session.running(sql, for: query) { try select.plan.collectIDs($0, upTo: .max).ids }
    var memory = HostMemory()
    try memory.hold(found.count &* 64)
    return Array(found)
  }

  /// Runs a statement and returns the number of rows that it wrote.
  @discardableResult
  func run(_ sql: SQLFragment, in session: Session) throws -> Int {
    try session.running(sql, for: query) { try $0.run() }
    return session.connection.changes
  }

  /// The number of the rows.
  func count(in session: Session) throws -> Int {
    try session.running("SELECT COUNT(*) FROM (" + select.keysAlone(query) + ")", for: query) { statement in
      try statement.step() ? Int(statement.integer(0)) : 0
    }
  }

  /// Throws `BatchRefusal` for a table with triggers other than those of derived attributes and R-trees: their effects
  /// are not known.
  func refuseTriggers(of table: String, on connection: Connection) throws {
    let trees = store.layout.rTrees.flatMap(\.triggerNames).map { "'\($0)'" }.joined(separator: ", ")
    let statement = try connection.statement(
      "SELECT name GLOB 'Z_DA_*' OR name IN (\(trees)) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"
    )
    statement.bind(table, at: 1)
    defer { statement.reset() }
    var mayFire = false
    while try statement.step() {
      guard statement.integer(0) == 1 else { throw BatchRefusal() }
      mayFire = true
    }
    guard mayFire, let count = try connection.integer("SELECT COUNT(*) FROM \(identifier(table))") else { return }
    connection.allowTriggers(forRows: Int(count), of: table)
  }

  /// The writer of the file's history; nil where the file keeps none.
  func history(in session: Session) throws -> HistoryWriter? {
    try session.historyForm(path: store.file.path).map {
      HistoryWriter(
        layout: store.layout, connection: session.connection, path: store.file.path,
        author: request.author ?? store.options.transactionAuthor, form: $0)
    }
  }
}

/// Entity numbers of rows, as SQL.
extension StoreLayout {
  /// The expression for the entity number of a row `t0`. A row with an unknown number counts as of the table's first
  /// entity.
  func entityNumber(ofTable root: EntityIndex) -> String {
    let table = model.entities[root]
    guard table.hasSubentities else { return "\(number(root))" }
    let numbers = subtree(of: table).map { "\($0.number)" }.joined(separator: ", ")
    let first = firstConcrete(ofTable: table).map { number($0.index) } ?? 0
    return "CASE WHEN t0.Z_ENT IN (\(numbers)) THEN t0.Z_ENT ELSE \(first) END"
  }
}
