import ArgumentParser
import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The command `moonbase sql`. `NamedQuery` translates the names of entities and attributes, and
/// the connection is read-only, so that no statement can change the store. Rows are printed as they
/// arrive.
struct SQLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql", abstract: "Prints what one SQL statement finds in a store, which is only read.",
    discussion: """
      moonbase sql people.sqlite 'SELECT name, age FROM Person WHERE department = 3'

      Entities are views by their names, with their subentities' rows: _pk, _entity where there are several, and a column for \
      each attribute and each to-one relationship (the destination's key). A many-to-many relationship is the view \
      "Entity.relationship" with source, destination and, where it is ordered, place. The file's own tables (ZPERSON) are \
      there too. Values are as they are stored: dates are seconds since 2001.

      In PostgreSQL the names need no quotes and have no case, a relationship is the view Entity_relationship, and dates are times.
      """)

  @Argument(
    help: ArgumentHelp(
      "The store; --store names it too, or the project, and the query stands alone then.", valueName: "store"))
  var first: String

  @Argument(help: ArgumentHelp("One statement that reads.", valueName: "query"))
  var second: String?

  @Option(name: StoreOption.store.parserName, help: StoreArgument.optionHelp, completion: .file())
  var named: [String] = []

  @OptionGroup var output: RowOptionGroup

  @OptionGroup var file: FileOptionGroup

  /// Rejects a store that is named twice or not at all.
  func validate() throws { try understood { _ = try place() } }

  /// The store and the statement from the arguments.
  private func place() throws -> StoreAndArgument {
    try StoreAndArgument(first, second, named: named, what: "query")
  }

  /// Runs the command under the limits for time and memory.
  func run() throws { try file.limits.run { _ in try ask() } }

  /// Runs the statement, and prints its rows.
  ///
  /// - Throws: The error of SQLite for an invalid statement.
  private func ask() throws {
    let store = try place().place
    if store.isOnServer { return try askServer(store) }
    try askFile(store.path)
  }

  /// Runs the statement on a server.
  private func askServer(_ store: NamedStore) throws {
    let (model, busyTimeout) = (try file.model(of: store), try file.settings().busyTimeout)
    try store.requireConfiguration(model.description, busyTimeout: busyTimeout)
    let rows = try StoredRows(place().other, of: store.description(busyTimeout: busyTimeout), model: model)
    if let lack = rows.lackOfViews {
      Terminal.complain("moonbase: \(store.name): the tables have their own names alone, without views: \(lack)")
    }
    try write(rows)
  }

  /// Runs the statement on a file.
  private func askFile(_ store: String) throws {
    try Project.requireStore(store)
    let url = URL(literalPath: store)
    let model = try resolvedModel(of: url)
    let place = try place(), busyTimeout = try file.settings().busyTimeout
    try place.place.requireConfiguration(model?.description, busyTimeout: busyTimeout)
    if model == nil {
      Terminal.complain("moonbase: \(SQLiteStore.withoutModel(store))")
    }
    try write(StoredRows(place.other, of: place.place.description(busyTimeout: busyTimeout), model: model))
  }

  /// Prints the rows of a result.
  private func write(_ rows: StoredRows) throws {
    let writer = RowPrinter(try output.form, columns: Self.unique(rows.columns))
    while let row = try rows.next() { try writer.write(row) }
    try writer.finish()
    for message in writer.losses.messages { Terminal.complain("moonbase: \(message)") }
  }

  /// The model for the views, or nil for a store without a model. The statement then uses the
  /// tables themselves.
  private func resolvedModel(of url: URL) throws -> ResolvedModel? {
    if let named = try file.namedModel() { return named }
    guard try SQLiteStore.modelCache(ofStoreAt: url, busyTimeout: file.settings().busyTimeout) != nil else {
      return nil
    }
    return try file.model(of: try place().place)
  }

  /// Several columns may have the same name, but the keys of a JSON object must be unique.
  ///
  /// Example: `name`, `name:1`.
  private static func unique(_ names: [String]) -> [String] {
    var counts: [String: Int] = [:]
    return names.map { name in
      let count = counts[name, default: 0]
      counts[name] = count + 1
      return count == 0 ? name : "\(name):\(count)"
    }
  }
}
