package import MoonbaseGraph
package import MoonbaseModel

/// Puts the SELECT of a query together, whatever columns and window are asked for.
package struct SelectBuilder: Sendable {
  private let dialect: Dialect
  /// What picks the rows of the entities out of their table.
  private let entityCondition: String?
  private let condition: SQLFragment?
  private let order: SQLFragment?
  /// What is selected in the place of rows.
  private let values: ColumnSelect?
  private let from: String
  /// Whether rows of other tables are joined.
  private let isJoined: Bool

  /// Throws `Untranslatable` for what SQL cannot say.
  package init(_ query: StoreQuery, entityCondition: String?, layout: StoreLayout, store: StoreNumber, dialect: Dialect)
    throws
  {
    self.dialect = dialect
    self.entityCondition = entityCondition
    // The last term of an order is the key of the row.
    guard query.sortDescriptors.count < dialect.greatestOrder else {
      throw Untranslatable("an order of more than \(dialect.greatestOrder - 1) keys is too much for \(dialect.engine)")
    }
    let translator = try QueryTranslator(query, layout: layout, store: store, dialect: dialect)
    condition = try query.predicate.map { predicate in
      let predicate = try predicate.folded(for: query.entity)
      let exact = try translator.translate(predicate)
      // Who asks for one object or a few has their keys.
      guard !query.isNarrow, let places = layout.rTreeCondition(of: predicate, for: query) else { return exact }
      return exact.parenthesized + " AND " + places
    }
    values = try query.columns.map { try translator.translate($0) }
    var keys = try query.sortDescriptors.map { try translator.translate($0) }
    if let columns = query.columns, columns.isGrouped || columns.isDistinct {
      if let key = query.sortDescriptors.first(where: { !columns.rowKeys.contains($0.keyPath.keys) }) {
        let role = columns.isDistinct ? "none of the columns" : "no key of the groups"
        throw Untranslatable("the order goes by \(key.keyPath), which is \(role)")
      }
      // Groups come in the order of their first objects; where the order names all that makes a group, no two are equal.
      if columns.rowKeys.isEmpty {
        keys = []
      } else if !query.sortsGroupsApart(columns.rowKeys) {
        keys.append(SQLFragment(query.sortDescriptors.breakTiesAscending ? "MIN(t0.Z_PK)" : "MAX(t0.Z_PK) DESC"))
      }
    } else if !keys.isEmpty {
      keys.append(SQLFragment("t0.Z_PK" + (query.sortDescriptors.breakTiesAscending ? " ASC" : " DESC")))
    }
    order = keys.isEmpty ? nil : keys.joined(", ")
    (from, isJoined) = (translator.root.from, !translator.root.joins.isEmpty)
  }

  /// What picks the rows out of their table, called `t0`; nil where other tables or a window belong to it. All of them are picked by truth.
  package func condition(for query: StoreQuery) -> SQLFragment? {
    guard !isJoined, query.limit <= 0, query.offset <= 0 else { return nil }
    return conditions ?? SQLFragment(dialect.truth(true))
  }

  /// Whether all rows of the table are picked.
  package func isWhole(_ query: StoreQuery) -> Bool { conditions == nil && query.limit <= 0 && query.offset <= 0 }

  private var conditions: SQLFragment? {
    var conditions: [SQLFragment] = []
    if let entityCondition { conditions.append(SQLFragment(entityCondition)) }
    if let condition { conditions.append(entityCondition == nil ? condition : "(" + condition + ")") }
    return conditions.isEmpty ? nil : conditions.joined(" AND ")
  }

  /// `otherwise` is the order of a query that has none.
  package func select(_ columns: [String], for query: StoreQuery, otherwise: String? = nil) -> SQLFragment {
    let isOrdered = !query.sortDescriptors.isEmpty
    return select(
      SQLFragment(columns.joined(separator: ", ")), for: query,
      order: isOrdered ? order : otherwise.map { SQLFragment($0) })
  }

  /// How the values lie in the columns of `selectValues`.
  package var forms: [ColumnSelect.Form] { values?.forms ?? [] }

  /// The statement for the columns of a query that has some. Where a row is of one object its key comes behind them, for who has to say which
  /// row is damaged. `otherwise` is the order of values of single objects that have none.
  package func selectValues(for query: StoreQuery, otherwise: String? = nil) -> SQLFragment {
    let values = values ?? ColumnSelect()
    // Values of objects come in the order in which the objects would.
    let byKey = values.isGrouped ? nil : query.predicate == nil ? "t0.Z_PK" : otherwise
    let columns = values.columns.joined(", ")
    return select(
      values.isGrouped ? columns : columns + ", t0.Z_PK", for: query, values,
      order: order ?? byKey.map { SQLFragment($0) })
  }

  private func select(
    _ columns: SQLFragment, for query: StoreQuery, _ values: ColumnSelect = ColumnSelect(), order: SQLFragment?
  ) -> SQLFragment {
    var sql = "SELECT " + columns + " FROM \(from)"
    if let conditions { sql = sql + " WHERE " + conditions }
    if !values.groups.isEmpty { sql = sql + " GROUP BY " + values.groups.joined(", ") }
    if let condition = values.condition { sql = sql + " HAVING " + condition }
    if let order { sql = sql + " ORDER BY " + order }
    sql = sql + dialect.window(limit: query.limit, offset: query.offset)
    return SQLFragment(dialect.statement(sql.text), values: sql.values)
  }
}

extension StoreQuery {
  /// Whether no two groups are equal in the order.
  fileprivate func sortsGroupsApart(_ keys: [[String]]) -> Bool {
    let sorted = sortDescriptors.filter { $0.comparator == .compare }.map(\.keyPath.keys)
    return Set(keys).isSubset(of: sorted)
  }
}

extension String {
  /// The keys of a key path.
  fileprivate var keys: [String] { split(separator: ".").map(String.init) }
}
