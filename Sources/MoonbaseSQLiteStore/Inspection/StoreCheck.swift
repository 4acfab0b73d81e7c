import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Checks a store without changing it, for `moonbase doctor`.
///
/// Rows are checked one by one without keeping them. Findings are reported immediately.
///
/// All checks run on one reading connection, in one state of the file where that does not block writers. The order
/// matters: damage of SQLite's structures ends the check, since further reads could be wrong. The findings describe
/// object, table and repair (`StoreFinding`); repairing is another step (`StoreRepair`). Confined to one thread.
package final class StoreCheck {
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
  let layout: StoreLayout
  /// The features that the model requires and the file lacks.
  private let missingFeatures: [MissingFeature]
  /// The number of the store in object IDs.
  let number: StoreNumber
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

  /// Reports a finding. A store that lacks a feature is not repaired.
  func tell(_ finding: StoreFinding) throws {
    var finding = finding
    if !missingFeatures.isEmpty { finding.repair = .none }
    try handOver(finding)
  }

  /// Whether any table of objects or links has rows.
  private func hasRows() throws -> Bool {
    try (layout.tables.map(\.name) + layout.joins.map(\.table)).contains { table in
      try connection.integer("SELECT 1 FROM \(identifier(table)) LIMIT 1") != nil
    }
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

  /// Finds rows whose entity does not belong to their table, or whose version is invalid or cannot increase. Once for
  /// each table, by two queries.
  private func checkNumbers(of root: EntityLayout) throws {
    let numbers = layout.subtree(of: root.entity).map { "\($0.number)" }.joined(separator: ", ")
    let table = identifier(root.table)
    let wrongEntity = "Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers)) OR TYPEOF(Z_PK) <> 'integer'"
    for (column, condition, what) in [
      ("Z_ENT", wrongEntity, "no entity of this table"),
      ("Z_OPT", "NOT (\(RowStatements.versionMayRise))", "no version, or none can follow it: set it to 1"),
    ] {
      let statement = try connection.statement("SELECT Z_PK, \(column) FROM \(table) t0 WHERE \(condition)")
      defer { statement.reset() }
      while try statement.step() {
        try tell(
          StoreFinding(
            kind: .row, place: "\(root.table) \(statement.text(0))",
            message: "\(column) is \(statement.isNull(1) ? "NULL" : statement.text(1)), which is \(what)"))
      }
    }
  }

  /// Checks the values of all rows of an entity.
  ///
  /// Each row is decoded as a fetch would decode it, then its values are checked by the model's rules. Values in files
  /// are not read, but their files must exist.
  private func checkRows(of layout: EntityLayout) throws {
    let entity = layout.entity
    let kept = KeptColumns(layout)
    guard !kept.attributes.isEmpty || !kept.composites.isEmpty else { return rowCount += try count(of: layout) }
    let derived = derivedSlots(of: layout)
    let columns = kept.columns.map { ", \(identifier($0))" }.joined()
    let statement = try connection.statement(
      "SELECT Z_PK\(columns) FROM \(identifier(layout.table)) WHERE Z_ENT = \(layout.number)")
    defer { statement.reset() }
    while try statement.step() {
      try HostWork.charge(1 + kept.columns.count)
      rowCount += 1
      let page = RowPageBuilder(number, entity: entity.symbol, slotCount: entity.properties.count, capacity: 1)
      page.beginRow(key: statement.integer(0), version: 1)
      var readable: [ResolvedProperty] = []
      for (property, column, kind) in kept.attributes {
        do {
          if kind == .externalData, try isMissingFile(statement, column: column, of: property, in: layout) { continue }
          try ColumnDecoder.read(
            kind, of: statement, column: column, external: external, into: page, slot: property.slot)
          readable.append(property)
        } catch let mismatch as ColumnMismatch {
          // The check of derived values reports it too, and can repair it.
          if derived.contains(property.slot) { continue }
          let advice = property.derivationAdvice.map { "; \($0)" } ?? ""
          try tell(
            StoreFinding(
              kind: .value, of: id(statement, layout), in: layout.table,
              message: "\(property.name) \(mismatch.description)\(advice)"))
        }
      }
      for (property, decoder) in kept.composites {
        do {
          page.set(try decoder.value(statement, external: external), slot: property.slot)
          readable.append(property)
        } catch {
          try tell(
            StoreFinding(
              kind: .value, of: id(statement, layout), in: layout.table,
              message: "\(error.name(of: property.name)) \(error.description)"))
        }
      }
      page.endRow()
      try checkRules(Snapshot(page.finish(), at: 0).values, of: readable, statement, layout)
    }
  }

  /// The number of rows of the entity itself.
  private func count(of layout: EntityLayout) throws -> Int {
    Int(try connection.integer("SELECT COUNT(*) FROM \(identifier(layout.table)) WHERE Z_ENT = \(layout.number)") ?? 0)
  }

  /// The ID of the object whose key is the first column of a row.
  func id(_ row: Statement, _ layout: EntityLayout) -> ManagedObjectID {
    ManagedObjectID(store: number, entity: layout.entity.symbol, key: row.integer(0))
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
        kind: .value, of: id(row, layout), in: layout.table,
        message: "\(property.name) names the file \(folder.path(name)), which is not there: restore it from a backup"))
    return true
  }

  /// Checks the values of a row against the model's rules. A missing required value is a finding too.
  private func checkRules(
    _ values: Snapshot.Values, of properties: [ResolvedProperty], _ row: Statement, _ layout: EntityLayout
  ) throws {
    for property in properties {
      let value = values[property.slot]
      // Values in files are not read for this check.
      if case .object = value { continue }
      var messages = try property.validate(value).map(\.message)
      if value.isNull, !property.isOptional { messages = ["is required and has no value"] }
      for message in messages {
        try tell(
          StoreFinding(kind: .rule, of: id(row, layout), in: layout.table, message: "\(property.name) \(message)"))
      }
    }
  }

  // MARK: Counters

  /// Checks the counters of all tables. Counters are the rows of `Z_PRIMARYKEY` for tables of objects and of the
  /// history.
  private func checkCounters() throws {
    for entity in layout.entities.compactMap(\.self) where entity.entity.parent == nil {
      try checkCounter(number: entity.number, name: entity.entity.name, table: entity.table)
    }
    for (number, table) in HistorySchema.countedTables
    where try !FileSchema.columns(of: table, on: connection).isEmpty {
      try checkCounter(number: number, name: table, table: table)
    }
  }

  /// Checks that a counter is not below the greatest key of its table. `Z_MAX` is the last key that was given out. A
  /// lower counter would give a key twice.
  private func checkCounter(number: Int64, name: String, table: String) throws {
    let row = "FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)"
    let given = try connection.integer("SELECT Z_MAX \(row) AND TYPEOF(Z_MAX) IN ('integer', 'real')")
    let hasRow = try connection.integer("SELECT 1 \(row)") != nil
    let greatest = try connection.integer("SELECT MAX(Z_PK) FROM \(identifier(table))") ?? 0
    guard greatest > given ?? 0 else {
      if let given, given > KeyReservation.greatestKey { try tellFullCounter(number, name, given, table, greatest) }
      return
    }
    try tell(
      StoreFinding(
        kind: .counter, place: "Z_PRIMARYKEY \(number) (\(name))",
        message:
          "Z_MAX is \(given.map(String.init) ?? (hasRow ? "no number" : "not there")), and \(table) has a row \(greatest): a new one could get its key",
        repair: hasRow ? .file : .none))
  }

  /// Reports a counter that cannot increase any more. Keys beyond `KeyReservation.greatestKey` are not given out.
  private func tellFullCounter(_ number: Int64, _ name: String, _ given: Int64, _ table: String, _ greatest: Int64)
    throws
  {
    let isOfRow = greatest > KeyReservation.greatestKey
    try tell(
      StoreFinding(
        kind: .counter, place: "Z_PRIMARYKEY \(number) (\(name))",
        message:
          "Z_MAX is \(given), which leaves no keys for new rows"
          + (isOfRow ? ": \(table) has a row \(greatest), which needs another key" : ""),
        repair: isOfRow ? .none : .file))
  }

  // MARK: References

  /// Checks all relationships of an entity. Once for each entity of the model.
  private func checkReferences(of layout: EntityLayout) throws {
    for (property, slot) in zip(layout.entity.properties, layout.slots) {
      switch slot {
      case .toOne(let place):
        try checkDestination(of: property, at: place, in: layout)
        try checkOtherSide(of: property, at: place, in: layout)
      case .join(let join) where property.declaringEntity == layout.entity.index:
        let inverse = property.relationship.flatMap { relationship in
          relationship.inverseSlot.map { model.entities[relationship.destination].property(at: $0) }
        }
        if let inverse, !isFirstSide(property, of: inverse) { continue }
        try checkPairs(of: property, in: join, of: layout)
      case .attribute, .composite, .none, .foreignKey, .join, .lost: break
      }
    }
  }

  /// Whether this side of a relationship comes first, so that data shared by both sides is checked once.
  private func isFirstSide(_ property: ResolvedProperty, of inverse: ResolvedProperty) -> Bool {
    property.id <= inverse.id
  }

  /// Reports to-one relationships whose destination is missing. The repair sets the reference to null, unless it is
  /// required.
  private func checkDestination(of property: ResolvedProperty, at place: ToOneLayout, in layout: EntityLayout) throws {
    guard let destination = self.layout.entities[place.destination] else { return }
    let (table, column) = (identifier(layout.table), identifier(place.column))
    let statement = try connection.statement(
      "SELECT t.Z_PK, t.\(column) FROM \(table) t WHERE t.Z_ENT = \(layout.number) AND t.\(column) IS NOT NULL "
        + "AND NOT EXISTS (SELECT 1 FROM \(identifier(destination.table)) d WHERE d.Z_PK = t.\(column))")
    defer { statement.reset() }
    while try statement.step() {
      try HostWork.charge()
      let id = id(statement, layout)
      try tell(
        StoreFinding(
          kind: .reference, of: id, in: layout.table,
          message: "\(property.name) leads to \(destination.entity.name)/\(statement.text(1)), which is not there"
            + (property.isOptional
              ? "" : "; it is required, so that --repair leaves it: give it another destination, or delete the object"),
          repair: property.isOptional ? .nullify(id, property: property.name) : .none))
    }
  }

  /// Checks that both rows of a one-to-one relationship agree, if both store it. Disagreeing rows are not repaired,
  /// since either may be right.
  private func checkOtherSide(of property: ResolvedProperty, at place: ToOneLayout, in layout: EntityLayout) throws {
    guard let relationship = property.relationship, let slot = relationship.inverseSlot,
      let destination = self.layout.entities[place.destination], case .toOne(let inverse) = destination.slots[slot],
      isFirstSide(property, of: destination.entity.property(at: slot))
    else { return }
    let (table, column) = (identifier(layout.table), identifier(place.column))
    let statement = try connection.statement(
      "SELECT t.Z_PK, d.Z_PK, d.\(identifier(inverse.column)) FROM \(table) t JOIN \(identifier(destination.table)) d "
        + "ON d.Z_PK = t.\(column) WHERE t.Z_ENT = \(layout.number) AND d.\(identifier(inverse.column)) IS NOT NULL "
        + "AND d.\(identifier(inverse.column)) <> t.Z_PK")
    defer { statement.reset() }
    while try statement.step() {
      try tell(
        StoreFinding(
          kind: .reference, of: id(statement, layout), in: layout.table,
          message: "\(property.name) leads to \(destination.entity.name)/\(statement.text(1)), whose "
            + "\(destination.entity.property(at: slot).name) leads to \(statement.text(2)): set one of them"))
    }
  }

  /// Reports links with a missing end. The repair deletes these pairs.
  private func checkPairs(of property: ResolvedProperty, in join: JoinLayout, of layout: EntityLayout) throws {
    guard let destination = self.layout.entities[join.destination] else { return }
    let (owner, other) = (identifier(join.ownerColumn), identifier(join.destinationColumn))
    let statement = try connection.statement(
      "SELECT \(owner), \(other) FROM \(identifier(join.table)) WHERE "
        + Self.condition(owner, layout.table) + " OR " + Self.condition(other, destination.table))
    defer { statement.reset() }
    while try statement.step() {
      try HostWork.charge()
      try tell(
        StoreFinding(
          kind: .reference, place: join.table,
          message: "\(layout.entity.name).\(property.name): the pair of \(statement.text(0)) and \(statement.text(1)) "
            + "names a row that is not there", repair: .file))
    }
  }

  /// The SQL condition that a key has no row in a table.
  static func condition(_ column: String, _ table: String) -> String {
    "NOT EXISTS (SELECT 1 FROM \(identifier(table)) x WHERE x.Z_PK = \(column))"
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

/// The columns of an entity that are read for the check, after the key.
///
/// The columns of attributes and of composites' elements. Relationships are checked by queries instead.
private struct KeptColumns {
  /// The columns, in the order of the result.
  private(set) var columns: [String] = []
  /// The attributes with their result columns.
  private(set) var attributes: [(property: ResolvedProperty, column: Int32, kind: ColumnKind)] = []
  /// The composites with decoders for their result columns.
  private(set) var composites: [(property: ResolvedProperty, decoder: CompositeDecoder)] = []

  /// Collects the columns of an entity.
  init(_ layout: EntityLayout) {
    for (property, slot) in zip(layout.entity.properties, layout.slots) {
      switch slot {
      case .attribute(let column, let kind): attributes.append((property, place(column), kind))
      case .composite(let composite):
        let places = composite.leaves.map { RowSelect.Place.attribute($0.kind, place($0.column)) }
        composites.append((property, CompositeDecoder(RowSelect.Composite(layout: composite, places: places))))
      case .none, .toOne, .foreignKey, .join, .lost: break
      }
    }
  }

  /// Adds a column and returns its place in the result, from 1.
  private mutating func place(_ column: String) -> Int32 {
    columns.append(column)
    return Int32(columns.count)
  }
}
