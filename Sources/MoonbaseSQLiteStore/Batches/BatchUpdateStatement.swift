import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

import enum MoonbaseModel.Expression

/// A batch update in one statement, which contains constants and arithmetic. A value that only the graph or a function
/// of the request computes comes from a `BatchFunction`. For a whole table the update calls the function row by row.
/// Otherwise a common table expression calls it once for each row.
///
/// Four ways are tried, the fastest first: an update that is checked afterwards (`runSound`), an update that calls
/// functions row by row, the same on two threads, and an update with a table of the functions' results. Each gives the
/// same result as the graph, or throws `BatchRefusal`, or returns nil with nothing written.
struct BatchUpdateStatement: BatchStatement {
  /// A column and its new value.
  private struct Assignment {
    /// The attribute that is set.
    let slot: Slot
    /// Its column.
    let column: String
    /// The new value in SQL: a parameter, arithmetic, or a column of the functions' results.
    let value: SQLFragment
    /// The condition under which SQL computes the value as the graph would. Nil where the condition always holds.
    var soundness: SQLFragment?
    /// The condition for exactly those sound rows whose value changes. Nil where the values have to be compared.
    var soundDifference: SQLFragment?
    /// The function that computes the value; nil for values that SQL computes.
    var function: BatchFunction?

    /// The condition that the value of a row changes.
    var difference: SQLFragment { "t0.\(identifier(column)) IS NOT " + value }
  }

  /// The rows of the request.
  private let rows: BatchRows
  /// In the order of the slots.
  private let assignments: [Assignment]

  /// Returns nil for updates that SQL does not do exactly as the graph would.
  init?(_ rows: BatchRows, setting values: [Slot: StoreBatchRequest.NewValue]) throws {
    var assignments: [Assignment] = []
    for (slot, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let column = rows.column(slot, isWritten: true),
        let assignment = try Self.assignment(value, to: slot, column, of: rows, number: assignments.count)
      else { return nil }
      assignments.append(assignment)
    }
    (self.rows, self.assignments) = (rows, assignments)
  }

  /// The assignment of a value, as a constant, as arithmetic or by a function. Nil for other values.
  private static func assignment(
    _ new: StoreBatchRequest.NewValue, to slot: Slot, _ column: String, of rows: BatchRows, number: Int
  ) throws -> Assignment? {
    let layout = rows.kinds[0]
    if case .expression(.constant(let value)) = new {
      guard LargeValue.size(value) <= LargeValue.greatest, value.isExactInSQL else { return nil }
      return Assignment(slot: slot, column: column, value: SQLFragment("?", values: [value]))
    }
    if case .expression(let expression) = new,
      let arithmetic = BatchArithmetic(expression, slot: slot, of: layout)
    {
      guard arithmetic.inputSlots.allSatisfy({ rows.column($0, isWritten: false) != nil }) else { return nil }
      return Assignment(
        slot: slot, column: column, value: arithmetic.value, soundness: arithmetic.soundness,
        soundDifference: arithmetic.soundDifference)
    }
    guard let function = try BatchFunction(new, slot: slot, column: column, of: rows),
      function.inputSlots.allSatisfy({ rows.column($0, isWritten: false) != nil })
    else { return nil }
    return Assignment(slot: slot, column: column, value: SQLFragment("given.v\(number)"), function: function)
  }

  // MARK: Running

  /// Tries the ways in turn.
  func run(in session: Session, files: inout ExternalFiles) throws -> StoreBatchResult {
    if let result = try runSound(in: session) { return result }
    let counted = try countSound(in: session)
    defer { for assignment in assignments { assignment.function?.unregister(on: session.connection) } }
    for assignment in assignments { try assignment.function?.register(on: session.connection) }
    if let result = try runRowByRow(in: session) { return result }
    if isUnsound == nil, try isThere(SQLFragment("NOT (\(RowStatements.versionMayRise))"), in: session) {
      throw BatchRefusal()
    }
    let ids = rows.givesIDs ? try rows.ids(rows.select.keys(rows.query), in: session) : []
    var result = StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs())
    if rows.request.resultType == .count { result.count = try counted ?? rows.count(in: session) }
    if rows.request.resultType != .statusOnly, result.count == 0 {
      result.written = 0
      return result
    }
    let noted = try note(in: session)
    let written: Int
    if rows.givesIDs {
      let changed = try rows.ids(update, in: session)
      written = changed.count
      result.changes = SavedObjectIDs(updated: changed)
    } else {
      written = try rows.run(update, in: session)
      result.changes = changes(of: written)
    }
    result.written = written
    // A trigger of the file ignored a row.
    if let noted, noted != written { throw BatchRefusal() }
    return result
  }

  /// The changes to report for so many rows when the request returns no IDs.
  private func changes(of written: Int) -> SavedObjectIDs {
    written > 0 ? .anything(of: [rows.query.entity.name]) : SavedObjectIDs()
  }

  /// Updates first and looks for unsound rows afterwards, unless all rows changed, which is cheaper than a query
  /// before. For attributes that get constants or change by an integer. Returns nil, with nothing written, where a
  /// value must be known before, or where a condition selects rows, because the update may change which rows it
  /// selects.
  private func runSound(in session: Session) throws -> StoreBatchResult? {
    guard let soundDifference, let isUnsound, !rows.givesIDs, rows.select.isWhole(rows.query),
      try rows.history(in: session) == nil
    else { return nil }
    let count = try rows.count(in: session)
    let written = try rows.run(update(where: soundDifference), in: session)
    // A row that now has the greatest version counts as unsound too. The graph then does the whole update
    // instead.
    if written < count, try isThere(isUnsound, in: session) { throw BatchRefusal() }
    return StoreBatchResult(count: count, written: written, objectIDs: [], changes: changes(of: written))
  }

  /// Whether a row meets a condition.
  private func isThere(_ condition: SQLFragment, in session: Session) throws -> Bool {
    let exception = "SELECT 1 FROM \(rows.target)" + rows.condition(and: condition) + " LIMIT 1"
    return try session.running(exception, for: rows.query) { try $0.step() }
  }

  /// Throws `BatchRefusal` unless SQL can update all rows. The check comes first: if a function ended the update,
  /// SQLite would have to keep a statement journal. Returns the number of rows if the request asks for it, at almost no
  /// extra cost.
  private func countSound(in session: Session) throws -> Int? {
    guard let isUnsound else { return nil }
    guard rows.request.resultType == .count else {
      if try isThere(isUnsound, in: session) { throw BatchRefusal() }
      return nil
    }
    let question = "SELECT COUNT(*), COUNT(CASE WHEN " + isUnsound + " THEN 1 END) FROM \(rows.target)"
    return try session.running(question + rows.condition(), for: rows.query) { statement in
      guard try statement.step(), statement.integer(1) == 0 else { throw BatchRefusal() }
      return Int(statement.integer(0))
    }
  }

  /// Lets the update itself call the functions, which avoids a table of their results. Returns nil, with nothing
  /// written, where SQLite would not visit one row after the other.
  private func runRowByRow(in session: Session) throws -> StoreBatchResult? {
    guard let first = functions.first, !rows.givesIDs, rows.select.isWhole(rows.query),
      try rows.history(in: session) == nil
    else { return nil }
    if let result = try runOnTwoThreads(in: session) { return result }
    do {
      let written = try rows.run(updateRowByRow, in: session)
      return StoreBatchResult(
        count: first.function.count, written: written, objectIDs: [], changes: changes(of: written))
    } catch is BatchFunction.RowsAreCollected {
      for (_, function) in functions { try function.register(on: session.connection) }
      return nil
    }
  }

  /// Runs the update on two threads. This thread reads rows by another connection, in the state in which the update
  /// finds them, and calls the functions. The other thread writes their results. Returns nil, with nothing written,
  /// where that is not possible for all rows.
  private func runOnTwoThreads(in session: Session) throws -> StoreBatchResult? {
    guard functions.count == assignments.count, let piped = PipedFunctions(functions.map(\.function)),
      HostErrand.hasSeveralCores, session.connection.usesWriteAheadLog,
      try session.connection.integer("SELECT MAX(Z_PK) FROM \(identifier(rows.table))") ?? 0
        > rows.store.fewRows.withLock({ $0 }),
      let reader = try? StoreOpener.reader(rows.store.file, isReadOnly: false, options: rows.store.options)
    else { return nil }
    let pipe = piped.pipe
    try piped.register(on: session.connection)
    defer { piped.unregister(on: session.connection) }
    let write = PipedUpdate(rows: rows, sql: updateFromPipe(piped), session: session, pipe: pipe)
    let errand = AwaitedErrand()
    let thread = Thread {
      errand.run { write.run() }
      pipe.breakOff()
    }
    thread.start()
    // Until the other thread ends, the session belongs to it.
    let computed = Result {
      let sql = SQLFragment("SELECT \(piped.columns) FROM \(rows.target) ORDER BY t0.Z_PK")
      return try reader.running(sql, for: rows.query) { try piped.compute($0) }
    }
    if (try? computed.get()) != true { pipe.breakOff() }
    let ending = errand.wait()
    let isComputed = try computed.get()
    if let ending { throw ending }
    do {
      let written = try write.result.get()
      guard isComputed, write.tookAll else { throw BatchRefusal() }
      return StoreBatchResult(count: piped.count, written: written, objectIDs: [], changes: changes(of: written))
    } catch is RowPipe.Misfit {
      for (_, function) in functions { try function.register(on: session.connection) }
      return nil
    }
  }

  /// Writes the history of the rows to update. Returns their number, or nil where the file keeps no history.
  ///
  /// Each change names the columns whose values change.
  private func note(in session: Session) throws -> Int? {
    guard let writer = try rows.history(in: session) else { return nil }
    guard assignments.count <= ChangedBits.greatestCount else { throw BatchRefusal() }
    let bits = ChangedBits(slots: assignments.map(\.slot))
    try bits.register(on: session.connection, layout: rows.store.layout)
    var history = try BatchHistory(writer, contextName: rows.request.contextName)
    let changed = ChangedRows(
      with: given, source: source(where: difference), entity: rows.entityNumber,
      columns: bits.call(entity: rows.entityNumber, where: assignments.map(\.difference)))
    let count = try history.note(.update, of: changed) { try rows.run($0, in: session) }
    try history.finish()
    return count
  }

  // MARK: Statements

  /// The functions of the assignments, with the assignments' numbers.
  private var functions: [(number: Int, function: BatchFunction)] {
    assignments.enumerated().compactMap { number, assignment in assignment.function.map { (number, $0) } }
  }

  /// The common table expression with the functions' results.
  private var given: SQLFragment {
    if functions.isEmpty { return SQLFragment("") }
    let columns = functions.map { "\($0.function.value) AS v\($0.number)" }
    return "WITH given AS MATERIALIZED (" + rows.select.values(["t0.Z_PK AS key"] + columns, rows.query) + ") "
  }

  /// The ` WHERE` clause for the updated rows that meet another condition too.
  private func condition(and other: SQLFragment) -> SQLFragment {
    functions.isEmpty ? rows.condition(and: other) : " WHERE t0.Z_PK = given.key AND (" + other + ")"
  }

  /// The rows that meet a condition, as the SQL after `FROM`.
  private func source(where other: SQLFragment) -> SQLFragment {
    "\(rows.target)\(functions.isEmpty ? "" : ", given")" + condition(and: other)
  }

  /// The condition for rows whose values change.
  private var difference: SQLFragment { assignments.map(\.difference).joined(" OR ") }

  /// The condition for sound rows whose values change, where no values have to be compared. The update does not change
  /// which rows these are.
  private var soundDifference: SQLFragment? {
    var difference = assignments.count == 1 ? assignments[0].soundDifference : nil
    if assignments.allSatisfy({ $0.soundness == nil && $0.function == nil }) {
      difference = "(" + self.difference + ")"
    }
    return difference.map { $0 + " AND \(RowStatements.versionMayRise)" }
  }

  /// The condition for rows that the graph must update. Nil where all values come from functions: they check versions
  /// themselves if the update calls them.
  private var isUnsound: SQLFragment? {
    let soundness = assignments.compactMap(\.soundness)
    if soundness.isEmpty, !functions.isEmpty { return nil }
    return "(" + (soundness + [SQLFragment(RowStatements.versionMayRise)]).joined(" AND ") + ") IS NOT TRUE"
  }

  /// `|` instead of `OR`, so that each condition is evaluated. For example `UPDATE OR ABORT ZPERSON AS t0 SET ZAGE =
  /// MOONBASE_BATCH_3_GIVEN(), … WHERE MOONBASE_BATCH_3_DIFFERS(…)`.
  private var updateRowByRow: SQLFragment {
    let changes = assignments.map { assignment in
      "\(identifier(assignment.column)) = " + (assignment.function.map { SQLFragment($0.given) } ?? assignment.value)
    }
    let differences = assignments.map { assignment in
      assignment.function.map { SQLFragment($0.difference) } ?? assignment.difference.parenthesized
    }
    return "UPDATE OR ABORT \(rows.target) SET " + changes.joined(", ") + ", Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE "
      + differences.joined(" | ")
  }

  /// The update that takes the values from the pipe.
  private func updateFromPipe(_ piped: PipedFunctions) -> SQLFragment {
    let changes = assignments.enumerated().map { "\(identifier($1.column)) = \(piped.value($0))" }
    return SQLFragment(
      "UPDATE OR ABORT \(rows.target) SET \(changes.joined(separator: ", ")), "
        + "Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE \(piped.difference)")
  }

  /// The update of all rows whose values change.
  private var update: SQLFragment { update(where: difference) }

  /// The update of rows that meet a condition. Versions rise by 1, and null versions become 1.
  private func update(where condition: SQLFragment) -> SQLFragment {
    let changes = assignments.map { "\(identifier($0.column)) = " + $0.value }
    return given + "UPDATE OR ABORT \(rows.target) SET " + changes.joined(", ") + ", Z_OPT = COALESCE(Z_OPT, 0) + 1"
      + (functions.isEmpty ? "" : " FROM given") + self.condition(and: condition) + rows.returning
  }
}

/// The statement that another thread runs, and its outcome. Owns the session while the thread runs.
private final class PipedUpdate: @unchecked Sendable {  // read only after the thread has ended
  /// The rows of the request.
  private let rows: BatchRows
  /// The update.
  private let sql: SQLFragment
  /// The session of the transaction.
  private let session: Session
  /// The queue with the values.
  private let pipe: RowPipe
  /// The number of written rows, or the error.
  private(set) var result: Result<Int, any Error> = .failure(RowPipe.Misfit())
  /// Whether the update reached the last row of the pipe.
  private(set) var tookAll = false

  /// Made before the thread starts.
  init(rows: BatchRows, sql: SQLFragment, session: Session, pipe: RowPipe) {
    (self.rows, self.sql, self.session, self.pipe) = (rows, sql, session, pipe)
  }

  /// Runs the update on the calling thread.
  func run() {
    result = Result { try rows.run(sql, in: session) }
    tookAll = (try? result.get()) != nil && (try? pipe.isAtEnd()) == true
  }
}

extension BatchRows {
  /// The column that stores an attribute of all entities as the value itself. Nil where there is none. Attributes of
  /// uniqueness constraints are not written by statements, since conflicts need objects.
  fileprivate func column(_ slot: Slot, isWritten: Bool) -> String? {
    var column: String?
    for kind in kinds {
      guard case .attribute(let name, let form) = kind.slots[slot], column == nil || column == name,
        kind.entity.properties[slot].attribute?.type != .transformable
      else { return nil }
      switch form {
      case .externalData, .decimal: return nil
      default: column = name
      }
      if isWritten, kind.entity.uniquenessConstraints.contains(where: { $0.contains(slot) }) { return nil }
    }
    return column
  }
}

extension Value {
  /// Whether equality in SQL is equality of values.
  fileprivate var isExactInSQL: Bool {
    switch self {
    // SQL has one zero, the graph has two.
    case .double(let number): number.isFinite && number != 0
    case .list, .map, .object, .objectID, .decimal: false
    default: true
    }
  }
}
