internal import MoonbaseCSQLite

/// The remaining work allowed to the triggers of a file within a transaction, in SQLite's steps.
///
/// A file from elsewhere may contain triggers that run for hours. The connection has a bound only in a transaction of
/// such a file; the progress handler counts the steps.
struct TriggerBound {
  /// The steps added by each written row.
  static let stepsPerRow = 1_000_000

  /// The steps allowed before the first row.
  let limit: Int
  /// The steps that are left; negative when used up.
  private var rest: Int
  /// Whether the running statement may fire triggers. Steps of other statements are not counted.
  var isWriting = false
  /// The rows that statements over many rows will still write, by table.
  private var expectedRows: [String: Int] = [:]
  /// The table of the last written row, as named by SQLite.
  private var lastTable: (name: UnsafePointer<CChar>, key: String)?

  /// A bound with this many steps.
  init(_ limit: Int) { (self.limit, rest) = (limit, limit) }

  /// Adds the steps of some rows, without overflow.
  mutating func allow(rows: Int) {
    let more = rows.multipliedReportingOverflow(by: Self.stepsPerRow)
    let sum = rest.addingReportingOverflow(more.overflow ? .max : more.partialValue)
    rest = sum.overflow ? .max : sum.partialValue
  }

  /// Announces rows of a table. Names of tables are compared without case.
  mutating func expect(rows: Int, of table: String) { expectedRows[table.lowercased(), default: 0] += rows }

  /// Notes a written row. Each expected row extends the limit when it is written, so that an endless trigger at the
  /// first of a million rows ends as soon as at a single row.
  mutating func noteRow(of table: UnsafePointer<CChar>) {
    let key = lastTable.flatMap { $0.name == table ? $0.key : nil } ?? String(cString: table).lowercased()
    lastTable = (table, key)
    guard let expected = expectedRows[key], expected > 0 else { return }
    expectedRows[key] = expected - 1
    allow(rows: 1)
  }

  /// Counts steps and returns whether the limit is exceeded.
  mutating func isUsedUp(after steps: Int) -> Bool {
    if isWriting { rest -= steps }
    return isUsedUp
  }

  /// Whether the limit is exceeded.
  var isUsedUp: Bool { rest < 0 }
}

/// A statement was ended, because its triggers exceeded their limit. Its transaction is rolled back.
///
/// The store reports it as an error that names the triggers.
package struct TriggerOverrun: Error {
  /// The triggers of the file that the statement fires.
  package let triggers: [String]
  /// The limit in steps, without the steps for written rows.
  package let limit: Int
  /// The statement.
  package let sql: String
}

extension Connection {
  /// Limits the work of the file's triggers in the current transaction: this many SQLite steps, and a million more for
  /// each written row. Exceeding it fails with `TriggerOverrun`. A file without triggers has no limit.
  package func boundTriggers(to limit: Int) throws {
    triggerBound = nil
    guard limit < .max else { return }
    let version = try schemaVersion()
    if knownTriggers?.version != version { knownTriggers = (version, try hasTriggers()) }
    if knownTriggers?.areThere == true { triggerBound = TriggerBound(limit) }
  }

  /// Extends the limit for a statement that has written many rows.
  package func allowTriggers(forRows count: Int) { triggerBound?.allow(rows: count) }

  /// Extends the limit for statements that will write many rows of a table.
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

  /// Whether the file has any trigger. Not counted as a statement.
  private func hasTriggers() throws -> Bool {
    try silently { try integer("SELECT 1 FROM main.sqlite_master WHERE type = 'trigger' LIMIT 1") != nil }
  }

  /// Called when a statement that writes is stepped.
  func beginWriting() {
    guard triggerBound != nil else { return }
    triggerBound?.isWriting = true
    triggerBound?.allow(rows: 1)
  }

  /// Called after a step of a statement that writes.
  func endWriting() {
    if triggerBound != nil { triggerBound?.isWriting = false }
  }

  /// The error of a statement that was ended for its triggers; nil otherwise. Ends the bound, so that the error is
  /// reported once.
  func triggerOverrun(_ sql: String?) -> TriggerOverrun? {
    guard let bound = triggerBound, bound.isUsedUp, let sql else { return nil }
    triggerBound = nil
    return TriggerOverrun(triggers: (try? triggers(firedBy: sql)) ?? [], limit: bound.limit, sql: sql)
  }

  /// The triggers that a statement fires directly and indirectly, which SQLite names when explaining the statement.
  /// Each name once, in the order of the explanation.
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

  /// Whether a trigger belongs to the main database and not to a temporary schema.
  private func isOfFile(trigger name: String) throws -> Bool {
    let statement = try statement("SELECT 1 FROM main.sqlite_master WHERE type = 'trigger' AND name = ? COLLATE NOCASE")
    defer { statement.reset() }
    statement.bind(name, at: 1)
    return try statement.step()
  }
}
