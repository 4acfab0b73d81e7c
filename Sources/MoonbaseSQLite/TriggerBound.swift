internal import MoonbaseCSQLite

/// How much the triggers of a file may still do within a transaction, in SQLite's own steps.
struct TriggerBound {
  /// What each row that is written adds.
  static let stepsPerRow = 1_000_000

  let limit: Int
  private var rest: Int
  /// Whether a statement runs that may fire triggers: what others do, however long, is no trigger's.
  var isWriting = false
  /// By table: the rows that statements about many of them are still to write.
  private var expectedRows: [String: Int] = [:]
  /// The table of the last row that was written, as SQLite names it.
  private var lastTable: (name: UnsafePointer<CChar>, key: String)?

  init(_ limit: Int) { (self.limit, rest) = (limit, limit) }

  mutating func allow(rows: Int) {
    let more = rows.multipliedReportingOverflow(by: Self.stepsPerRow)
    let sum = rest.addingReportingOverflow(more.overflow ? .max : more.partialValue)
    rest = sum.overflow ? .max : sum.partialValue
  }

  mutating func expect(rows: Int, of table: String) { expectedRows[table.lowercased(), default: 0] += rows }

  /// A row was written. So many as are expected add to the bound, each when it is its turn: what goes on without end at the first of a
  /// million rows ends as soon as at a single one.
  mutating func noteRow(of table: UnsafePointer<CChar>) {
    let key = lastTable.flatMap { $0.name == table ? $0.key : nil } ?? String(cString: table).lowercased()
    lastTable = (table, key)
    guard let expected = expectedRows[key], expected > 0 else { return }
    expectedRows[key] = expected - 1
    allow(rows: 1)
  }

  /// Counts steps, and says whether there were too many.
  mutating func isUsedUp(after steps: Int) -> Bool {
    if isWriting { rest -= steps }
    return isUsedUp
  }

  var isUsedUp: Bool { rest < 0 }
}

/// A statement was ended, because the triggers that it fired did more than they may. Its transaction is rolled back.
package struct TriggerOverrun: Error {
  /// The triggers of the file that the statement fires, one of which went on and on.
  package let triggers: [String]
  /// How many steps were allowed, what each row adds not counted.
  package let limit: Int
  package let sql: String
}

extension Connection {
  /// Bounds what triggers of the file do in the transaction that has begun: so many of SQLite's own steps, and a million more for each row
  /// that is written. What does more fails with `TriggerOverrun`. A file without triggers has no bound.
  package func boundTriggers(to limit: Int) throws {
    triggerBound = nil
    guard limit < .max else { return }
    let version = try schemaVersion()
    if knownTriggers?.version != version { knownTriggers = (version, try hasTriggers()) }
    if knownTriggers?.areThere == true { triggerBound = TriggerBound(limit) }
  }

  /// For a statement that has written many rows.
  package func allowTriggers(forRows count: Int) { triggerBound?.allow(rows: count) }

  /// For statements that are to write so many rows of a table.
  package func allowTriggers(forRows count: Int, of table: String) {
    guard triggerBound != nil else { return }
    triggerBound?.expect(rows: count, of: table)
    sqlite3_update_hook(
      handle,
      { context, _, _, table, _ in
        guard let context, let table else { return }
        Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().triggerBound?.noteRow(of: table)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func hasTriggers() throws -> Bool {
    try silently { try integer("SELECT 1 FROM main.sqlite_master WHERE type = 'trigger' LIMIT 1") != nil }
  }

  /// A statement that writes is stepped.
  func beginWriting() {
    guard triggerBound != nil else { return }
    triggerBound?.isWriting = true
    triggerBound?.allow(rows: 1)
  }

  func endWriting() {
    if triggerBound != nil { triggerBound?.isWriting = false }
  }

  /// Why a statement was ended, if that was why.
  func triggerOverrun(_ sql: String?) -> TriggerOverrun? {
    guard let bound = triggerBound, bound.isUsedUp, let sql else { return nil }
    triggerBound = nil
    return TriggerOverrun(triggers: (try? triggers(firedBy: sql)) ?? [], limit: bound.limit, sql: sql)
  }

  /// The triggers of the file that a statement fires, and those that these fire: SQLite names them where it explains its program.
  private func triggers(firedBy sql: String) throws -> [String] {
    try silently {
      let mark = "-- TRIGGER "
      let statement = try Statement(self, sql: "EXPLAIN \(sql)", isCached: false)
      defer { statement.reset() }
      var names: [String] = []
      while try statement.step() {
        let note = statement.text(5)
        guard statement.text(1) == "Init", note.hasPrefix(mark) else { continue }
        let name = String(note.dropFirst(mark.count))
        if !names.contains(name), try isOfFile(trigger: name) { names.append(name) }
      }
      return names
    }
  }

  private func isOfFile(trigger name: String) throws -> Bool {
    let statement = try statement("SELECT 1 FROM main.sqlite_master WHERE type = 'trigger' AND name = ? COLLATE NOCASE")
    defer { statement.reset() }
    statement.bind(name, at: 1)
    return try statement.step()
  }
}
