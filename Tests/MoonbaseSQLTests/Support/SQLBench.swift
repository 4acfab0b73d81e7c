import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseTestSupport

@testable import MoonbaseSQLiteStore

/// A model with the layout of a new file, and its queries as SQL.
struct SQLBench {
  let model: ResolvedModel
  let layout: StoreLayout
  let dialect: Dialect
  let store = StoreNumber("A")

  init(_ dialect: Dialect = .sqlite, _ description: ManagedObjectModel = People.model()) throws {
    model = try description.resolved()
    self.dialect = dialect
    var builder = LayoutBuilder(model: model, entities: model.entities, file: nil, dialect: dialect)
    layout = try builder.build()
  }

  func entity(_ name: String) -> ResolvedEntity { model.entity(name)! }

  func query(_ entity: String, _ predicate: MoonbaseModel.Predicate? = nil) -> StoreQuery {
    var query = StoreQuery(entity: self.entity(entity), in: model)
    query.predicate = predicate
    return query
  }

  func select(_ columns: [String], _ query: StoreQuery) throws -> SQLFragment {
    try SelectBuilder(query, entityCondition: nil, layout: layout, store: store, dialect: dialect).select(
      columns, for: query)
  }

  /// The condition of a query for people, without the preceding SQL.
  func condition(_ format: String, _ arguments: Value...) throws -> SQLFragment {
    let predicate = try MoonbaseModel.Predicate(format: format, arguments: arguments)
    let sql = try select(["1"], query("Person", predicate))
    let start = sql.text.range(of: " WHERE ")!.upperBound
    return SQLFragment(String(sql.text[start...]), values: sql.values)
  }
}

extension Dialect {
  /// A dialect of PostgreSQL, so that a word of SQLite in the translation itself is found.
  static let postgreSQL = Dialect(
    engine: "PostgreSQL", placeholder: .numbered, truth: ("TRUE", "FALSE"),
    nullSafe: ("IS NOT DISTINCT FROM", "IS DISTINCT FROM"), keySets: .arrays, nullOrder: .written,
    collation: "\"C\"", noLimit: .absent, ignore: { " ON CONFLICT (\($0)) DO NOTHING" }, arithmetic: .checked,
    matching: .cannot, decimals: .exact, writing: .sets(parameters: 65_535), greatestColumnCount: 1600)
}
