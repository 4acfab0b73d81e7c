package import MoonbaseGraph
package import MoonbaseModel

/// Puts the SELECT of a query together.
package struct SelectBuilder {
  /// SQLite 3.40 reads beyond its memory where more terms of an order go through a `LEFT JOIN`: it keeps a bit for each.
  private static let greatestOrder = 63

  private let query: StoreQuery
  /// What picks the rows of the entities out of their table.
  private let entityCondition: String?
  private let condition: SQLFragment?
  private let order: SQLFragment?
  private let from: String

  /// Throws `Untranslatable` for what SQL cannot say.
  package init(_ query: StoreQuery, entityCondition: String?, layout: StoreLayout, store: StoreNumber) throws {
    self.query = query
    self.entityCondition = entityCondition
    guard query.sortDescriptors.count <= Self.greatestOrder else { throw Untranslatable() }
    let translator = try QueryTranslator(query, layout: layout, store: store)
    condition = try query.predicate.map(translator.translate)
    let keys = try query.sortDescriptors.map { try translator.translate($0) }
    order = keys.isEmpty ? nil : keys.joined(", ")
    from = translator.root.from
  }

  package func select(_ columns: [String]) -> SQLFragment {
    var sql = SQLFragment("SELECT \(columns.joined(separator: ", ")) FROM \(from)")
    var conditions: [SQLFragment] = []
    if let entityCondition { conditions.append(SQLFragment(entityCondition)) }
    if let condition { conditions.append(entityCondition == nil ? condition : "(" + condition + ")") }
    if !conditions.isEmpty { sql = sql + " WHERE " + conditions.joined(" AND ") }
    if let order { sql = sql + " ORDER BY " + order }
    if query.limit > 0 || query.offset > 0 {
      let limit = query.limit > 0 ? Int64(query.limit) : -1
      sql = sql + SQLFragment(" LIMIT ? OFFSET ?", values: [.int(limit), .int(Int64(query.offset))])
    }
    return sql
  }
}
