import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
package import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// Checks a store without changing it, for `moonbase doctor`.
///
/// Rows are checked one by one without keeping them. Findings are reported immediately.
///
/// All checks run on one reading connection, in one state of the file where that does not block writers. The order
/// matters: damage of SQLite's structures ends the check, since further reads could be wrong. The findings describe
/// object, table and repair (`StoreFinding`); repairing is another step (`StoreRepair`). Confined to one thread.
package final class StoreCheck: StoreChecking {
  /// The most findings of SQLite's own check.
  private static let greatestIntegrityCount = 100

  /// The file to check.
  let file: StoreFile
  /// The model of the file.
  private let model: ResolvedModel
  /// Receives the findings.
  private let handOver: (StoreFinding) throws -> Void
  /// The folder of external values.
  private let folder: SupportFolder
  /// The connection and the way in which it reads.
  private let reading: ReadingConnection
  /// The tables and columns of the model in the file.
  package let layout: StoreLayout
  /// The features that the model requires and the file lacks.
  private let missingFeatures: [MissingFeature]
  /// The number of the store in object IDs.
  package let number: StoreNumber
  /// Decodes external values.
  private let external: ExternalData
  /// The connection of all checks.
  var connection: Connection { reading.connection }
  /// The existing value files.
  private lazy var files = Set(folder.names(olderThan: -3600))
  /// Whether a log may be missing: the file requires one, there is none, no key was ever assigned, and there are no
  /// rows.
  package private(set) var mayLackLog = false
  /// The number of rows checked.
  package private(set) var rowCount = 0 {
    didSet { if rowCount - toldCount >= Self.progressStep { tellProgress() } }
  }
  /// The rows between two calls of `progress`.
  private static let progressStep = 1000
  /// The rows that `progress` knows.
  private var toldCount = 0
  /// The rows of all tables, if they were counted.
  private var rowTotal = 0
  /// Receives the number of checked rows and of all rows. Without this closure, rows are not counted in advance.
  package var progress: ((_ done: Int, _ total: Int) -> Void)?

  /// Opens a store. Throws as opening does, also for a store of another version of the model.
  ///
  /// `tell` receives each finding on this thread; an error that it throws ends the check.
  package init(
    storeAt url: URL, model: ResolvedModel, busyTimeout: Duration? = nil,
    _ tell: @escaping (StoreFinding) throws -> Void
  ) throws {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    let (reading, contents) = try file.settled { () -> (ReadingConnection, StoreContents) in
      try file.requirePresent()
      let reading = try file.openForReading()
      try file.requireWhole(reading.connection)
      let entities = try StoreMetadata(reading.connection, path: file.path).held(of: model)
      let contents = try reading.connection.readingFacts(ofStoreAt: file.path) {
        try StoreContents(reading.connection, path: file.path, model: model, entities: entities)
      }
      guard let contents else { throw file.bareError }
      try contents.metadata.checkIdentifier(file.path)
      return (reading, contents)
    }
    (self.file, self.model, handOver, self.reading) = (file, model, tell, reading)
    layout = contents.layout
    missingFeatures = contents.missingFeatures
    number = StoreNumber(contents.metadata.identifier)
    // Derived attributes may need these functions.
    try PredicateFunctions.register(on: reading.connection)
    external = ExternalData(store: file, observer: StatementObserver())
    folder = external.folder
  }

  /// Runs all checks. If SQLite's own structures are damaged, the other checks are skipped, because reads would be
  /// unreliable.
  ///
  /// Throws `.storeBusy` if the file was written meanwhile without locks, the end of a script's run, and errors of
  /// `tell`.
  package func run() throws {
    do {
      // Reads all tables in one state, if that does not block writers.
      let holdsState = connection.usesWriteAheadLog
      if holdsState { try connection.beginReading() }
      defer { if holdsState { connection.endReading() } }
      try checkLog()
      guard try checkIntegrity() else { return }
      for feature in missingFeatures {
        try tell(StoreFinding(kind: .missing, place: feature.table ?? file.path, message: "\(feature)"))
      }
      try checkCounters()
      if progress != nil { rowTotal = try layout.entities.compactMap(\.self).reduce(0) { $0 + (try count(of: $1)) } }
      mayLackLog =
        try connection.usesWriteAheadLog && file.size("-wal") == nil
        && connection.integer("SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY") ?? 0 == 0 && !hasRows()
      for entity in layout.entities.compactMap(\.self) {
        if entity.entity.parent == nil { try checkNumbers(of: entity) }
        try checkRows(of: entity)
        try checkReferences(of: entity)
        try checkDerivations(of: entity)
      }
      tellProgress()
      for tree in layout.rTrees { try check(tree) }
      try checkOrder()
      try checkHistory()
      try checkOrphans()
    } catch {
      throw StoreFailure(path: file.path).translate(error)
    }
    guard reading.isSound(file) else {
      throw GraphError(.storeBusy, message: "\(file.path) was written while it was looked at: try again")
    }
  }

  /// Calls `progress`.
  private func tellProgress() {
    toldCount = rowCount
    progress?(rowCount, rowTotal)
  }

  /// The dialect of files.
  package var dialect: Dialect { .sqlite }

  /// The history's tables that the file has.
  package var historyTables: [(number: Int64, table: String)] {
    get throws { try HistorySchema.tablesThere(on: connection) }
  }

  /// Calls `body` with each row of a query.
  package func forEachRow(of sql: String, _ body: (StatementRow) throws -> Void) throws {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    while try statement.step() { try body(StatementRow(statement)) }
  }

  /// Reports a finding. A store that lacks a feature is not repaired.
  package func tell(_ finding: StoreFinding) throws {
    var finding = finding
    if !missingFeatures.isEmpty { finding.repair = .none }
    try handOver(finding)
  }

  /// Checks that SQLite reads all saved frames of the log. SQLite reads no frame after a damaged one. The log is read
  /// up to four times, because another process may be writing it.
  private func checkLog() throws {
    var loss = try WriteAheadLog(of: file)?.loss()
    // Another process may be writing the log.
    for _ in 0..<3 where loss != nil {
      try HostWork.pause(milliseconds: 20)
      let again = try WriteAheadLog(of: file)?.loss()
      if again == loss { break }
      loss = again
    }
    guard let loss else { return }
    let what =
      loss.isAll
      ? "its head is damaged, so that SQLite reads nothing of its \(loss.bytes) bytes (\(loss.frames) pages)"
      : "a page in it is damaged, so that SQLite does not read \(loss.frames) pages (\(loss.bytes) bytes) that were saved from there on"
    try tell(
      StoreFinding(
        kind: .log, place: "\(file.path)-wal",
        message:
          "\(what), and the next save writes over them: copy file and log before, and restore the store from a backup"))
  }

  /// Checks SQLite's own structures; returns whether they are intact. `PRAGMA integrity_check` reads every page and
  /// index.
  private func checkIntegrity() throws -> Bool {
    let statement = try connection.statement("PRAGMA integrity_check(\(Self.greatestIntegrityCount))")
    defer { statement.reset() }
    var isWhole = true
    while try statement.step() {
      let line = statement.text(0)
      if line == "ok" { continue }
      isWhole = false
      try tell(
        StoreFinding(
          kind: .integrity, place: file.path,
          message: "\(line): restore the file from a backup, or have SQLite's own shell recover it (.recover)"))
    }
    return isWhole
  }

  // MARK: Rows

  /// Checks the values of all rows of an entity.
  ///
  /// Each row is decoded as a fetch would decode it, then its values are checked by the model's rules. Values in files
  /// are not read, but their files must exist.
  private func checkRows(of layout: EntityLayout) throws {
    let kept = KeptColumns(layout)
    guard !kept.columns.isEmpty else { return rowCount += try count(of: layout) }
    let decoders = decoders(kept, layout)
    let columns = kept.columns.map { ", \(identifier($0))" }.joined()
    try forEachRow(
      of: "SELECT Z_PK\(columns) FROM \(identifier(layout.table)) WHERE Z_ENT = \(layout.number)"
    ) { row in
      try HostWork.charge(1 + kept.columns.count)
      rowCount += 1
      try checkValues(of: row, decoders, layout)
    }
  }

  /// The decoders of an entity's attributes and composites.
  private func decoders(_ kept: KeptColumns, _ layout: EntityLayout) -> [ValueDecoder<StatementRow>] {
    let derived = derivedSlots(of: layout)
    let attributes = kept.attributes.map { property, column, kind in
      ValueDecoder<StatementRow>(property) { row, page in
        let (statement, column) = (row.statement, Int32(column))
        if kind == .externalData, try self.isMissingFile(statement, column: column, of: property, in: layout) {
          return false
        }
        do {
          try ColumnDecoder.read(
            kind, of: statement, column: column, external: self.external, into: page, slot: property.slot)
          return true
        } catch is ColumnMismatch where derived.contains(property.slot) {
          // The check of derived values reports it too, and can repair it.
          return false
        }
      }
    }
    return attributes
      + kept.composites.map { property, composite in
        let decoder = CompositeDecoder(composite)
        return ValueDecoder(property) { row, page in
          page.set(try decoder.value(row.statement, external: self.external), slot: property.slot)
          return true
        }
      }
  }

  /// Reports a missing value file; returns whether it is missing. Reports the file by its path.
  private func isMissingFile(
    _ row: Statement, column: Int32, of property: ResolvedProperty, in layout: EntityLayout
  ) throws -> Bool {
    guard row.storage(column) == .blob, let name = ExternalData.fileName(row.data(column)), !files.contains(name) else {
      return false
    }
    try tell(
      StoreFinding(
        kind: .value, of: id(StatementRow(row), layout), in: layout.table,
        message: "\(property.name) names the file \(folder.path(name)), which is not there: restore it from a backup"))
    return true
  }

  // MARK: Files

  /// Reports value files that no row names. Only if no other store may use the folder.
  private func checkOrphans() throws {
    let candidates = files.filter { UUID(uuidString: $0) != nil }
    guard !candidates.isEmpty, !folder.isShared else { return }
    let named = try OrphanSweep.namedFiles(connection)
    let old = Set(folder.names(olderThan: OrphanSweep.leastAge))
    for name in candidates.sorted() where !named.contains(name) {
      try tell(
        StoreFinding(
          kind: .orphan, place: folder.path(name), message: "no row names this file of a value",
          // Another process may be about to save a row that names the file.
          repair: old.contains(name) ? .file : .none))
    }
  }
}

/// The current row of a statement.
package struct StatementRow: CheckedRow {
  /// The statement, which stands at the row.
  fileprivate let statement: Statement

  /// The row at which a statement stands.
  init(_ statement: Statement) { self.statement = statement }

  /// Whether a column is NULL.
  package func isNull(_ column: Int) -> Bool { statement.isNull(Int32(column)) }
  /// A column as SQLite converts it to an integer.
  package func integer(_ column: Int) -> Int64 { statement.integer(Int32(column)) }
  /// A column as SQLite converts it to a text.
  package func text(_ column: Int) -> String { statement.text(Int32(column)) }
}
