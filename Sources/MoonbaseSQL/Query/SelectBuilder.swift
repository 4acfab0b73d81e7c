package import MoonbaseGraph
package import MoonbaseModel

/// Puts the SELECT of a query together, whatever columns and window are asked for.
package struct SelectBuilder: Sendable {
  private let dialect: Dialect
  /// What picks the rows of the entities out of their table.
  private let entityCondition: String?
  private let condition: SQLFragment?
  private let order: SQLFragment?
  private let from: String

  /// Throws `Untranslatable` for what SQL cannot say.
  package init(_ query: StoreQuery, entityCondition: String?, layout: StoreLayout, store: StoreNumber, dialect: Dialect)
    throws
  {
    self.dialect = dialect
    self.entityCondition = entityCondition
    guard query.sortDescriptors.count <= dialect.greatestOrder else {
      throw Untranslatable("an order of more than \(dialect.greatestOrder) keys is too much for \(dialect.engine)")
    }
    let translator = try QueryTranslator(query, layout: layout, store: store, dialect: dialect)
    condition = try query.predicate.map { try translator.translate($0.folded(for: query.entity)) }
    let keys = try query.sortDescriptors.map { try translator.translate($0) }
    order = keys.isEmpty ? nil : keys.joined(", ")
    from = translator.root.from
  }

  /// `otherwise` is the order of a query that has none.
  package func select(_ columns: [String], for query: StoreQuery, otherwise: String? = nil) -> SQLFragment {
    var sql = SQLFragment("SELECT \(columns.joined(separator: ", ")) FROM \(from)")
    var conditions: [SQLFragment] = []
    if let entityCondition { conditions.append(SQLFragment(entityCondition)) }
    if let condition { conditions.append(entityCondition == nil ? condition : "(" + condition + ")") }
    if !conditions.isEmpty { sql = sql + " WHERE " + conditions.joined(" AND ") }
    if !query.sortDescriptors.isEmpty, let order {
      sql = sql + " ORDER BY " + order
    } else if let otherwise {
      sql = sql + " ORDER BY " + otherwise
    }
    sql = sql + dialect.window(limit: query.limit, offset: query.offset)
    return SQLFragment(dialect.statement(sql.text), values: sql.values)
  }
}
