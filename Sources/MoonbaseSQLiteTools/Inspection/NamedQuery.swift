import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// A read-only SQL query in which entities and attributes can be used by their names in the model.
///
/// An entity is a temporary view that includes the rows of subentities. The view has `_pk`, `_entity` if there are
/// several entities, and a column for each attribute and to-one relationship, which holds the destination's key. A
/// many-to-many relationship is the view `Entity.relationship` with `source`, `destination` and, if it is ordered,
/// `place`. Values are as stored: dates are seconds since
/// 2001. The tables of the file are also available, and no view hides a table of the same name.
///
/// For example, `SELECT name, age FROM Person WHERE age > 30`. Owns a reading connection for its life. Rows are read
/// one by one, in one state of the file unless the file was written without locks.
package final class NamedQuery {
  /// The names of the result's columns.
  package let columns: [String]
  /// The names of the views for the model.
  package let names: [String]

  /// The file of the store.
  private let file: StoreFile
  /// The connection with its views.
  private let reading: ReadingConnection
  /// The prepared query.
  private let statement: Statement

  /// Prepares one statement. Without a model only the tables of the file are available. With `entity`, only the view of
  /// that entity is made, otherwise the views of all.
  ///
  /// Throws as opening a store does, and `.invalidRequest` for invalid SQL, unknown names, and statements that would
  /// write.
  package init(
    _ sql: String, ofStoreAt url: URL, model: ResolvedModel?, entity: String? = nil, busyTimeout: Duration? = nil
  ) throws {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    self.file = file
    let reading = try file.settled {
      try file.requirePresent()
      let reading = try file.openForReading()
      try file.requireWhole(reading.connection)
      return reading
    }
    self.reading = reading
    let connection = reading.connection
    do {
      let views = try model.map { try Self.views(of: $0, entity, on: connection, path: file.path) } ?? []
      try connection.execute("PRAGMA temp_store = MEMORY")
      for view in views { try connection.execute("CREATE TEMP VIEW \(Self.quoted(view.name)) AS \(view.select)") }
      names = views.map(\.name)
    } catch {
      throw StoreFailure(path: file.path).translate(error)
    }
    connection.refuseOtherFiles()
    statement = try Self.prepared(sql, on: connection, names: names)
    columns = (0..<statement.columnCount).map(statement.columnName)
  }

  /// The next row; nil at the end.
  ///
  /// Throws `.storeFailure` at the end if the file was written meanwhile without a lock: the rows may be of two states.
  /// Values are as SQLite stores them; no transformer runs.
  package func next() throws -> [Value]? {
    do {
      if try statement.step() { return (0..<statement.columnCount).map(value) }
    } catch let error as SQLiteError where error.code.primary == .error {
      throw Self.mistake(error, names: names)
    } catch {
      throw StoreFailure(path: file.path).translate(error)
    }
    guard reading.isSound(file) else {
      throw GraphError(
        .storeFailure,
        message: "\(file.path) was written while it was read: what was read may be of two states, ask again")
    }
    return nil
  }

  /// A column of the current row as a value.
  private func value(_ column: Int32) -> Value {
    switch statement.storage(column) {
    case .null: .null
    case .integer: .int(statement.integer(column))
    case .real: .double(statement.double(column))
    // Text that is not valid UTF-8 is returned as bytes.
    case .text:
      statement.storedText(column).map { .string(String(decoding: $0, as: UTF8.self)) } ?? .data(statement.data(column))
    case .blob: .data(statement.data(column))
    }
  }

  // MARK: The statement

  /// Prepares the statement. Throws if it would write.
  private static func prepared(_ sql: String, on connection: Connection, names: [String]) throws -> Statement {
    let statement: Statement
    do { statement = try connection.statement(sql) } catch let error as SQLiteError {
      // R-trees are filled by triggers, which only a writing statement runs.
      throw error.message.contains("unsafe use of virtual table") ? wouldWrite(sql) : mistake(error, names: names)
    }
    guard statement.isReadOnly else { throw wouldWrite(sql) }
    return statement
  }

  /// The error of a statement that is not read-only.
  private static func wouldWrite(_ sql: String) -> GraphError {
    GraphError(.invalidRequest, message: "the store is only read, and the statement would write: \(sql)")
  }

  /// The error for invalid SQL, with a suggestion for an unknown name.
  private static func mistake(_ error: SQLiteError, names: [String]) -> GraphError {
    let table = error.message.hasPrefix("no such table: ") ? String(error.message.dropFirst(15)) : nil
    let isOther = error.message.hasPrefix("too many attached databases")
    let hint = isOther ? ": only the store itself is read" : table.map { suggestion(for: $0, among: names) } ?? ""
    let message = error.message.replacing("run several with executeScript", with: "ask them one after the other")
    return GraphError(.invalidRequest, message: "the query: \(message)\(hint)", underlying: error)
  }

  // MARK: Views

  /// The views of one entity, or of all entities in the store.
  private static func views(
    of model: ResolvedModel, _ name: String?, on connection: Connection, path: String
  ) throws -> [NamedViews.View] {
    let entities = try StoreMetadata(connection, path: path).held(of: model)
    guard
      let contents = try connection.readingFacts(
        ofStoreAt: path, { try StoreContents(connection, path: path, model: model, entities: entities) })
    else { return [] }
    let taken = try namesInUse(connection)
    return NamedViews(contents.layout, form: .stored(qualifier: "main.")).views(of: name)
      .filter { !taken.contains($0.name.uppercased()) && !$0.name.lowercased().hasPrefix("sqlite_") }
  }

  /// Tables and views of the file, which a view must not hide.
  private static func namesInUse(_ connection: Connection) throws -> Set<String> {
    let statement = try connection.statement("SELECT name FROM main.sqlite_master")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.text(0).uppercased()) }
    return names
  }

  /// A name in double quotes, for names with a dot.
  private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
}
