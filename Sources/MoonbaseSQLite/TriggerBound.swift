/// How much the triggers of a file may still do within a transaction, in SQLite's own steps.
struct TriggerBound {
  /// What each row that is written adds.
  static let stepsPerRow = 1_000_000

  let limit: Int
  private var rest: Int
  /// Whether a statement runs that may fire triggers: what others do, however long, is no trigger's.
  var isWriting = false

  init(_ limit: Int) { (self.limit, rest) = (limit, limit) }

  mutating func allow(rows: Int) {
    let more = rows.multipliedReportingOverflow(by: Self.stepsPerRow)
    let sum = rest.addingReportingOverflow(more.overflow ? .max : more.partialValue)
    rest = sum.overflow ? .max : sum.partialValue
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

  /// For a statement that writes many rows.
  package func allowTriggers(forRows count: Int) { triggerBound?.allow(rows: count) }

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
