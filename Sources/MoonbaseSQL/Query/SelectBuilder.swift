package import MoonbaseGraph
package import MoonbaseModel

/// Builds the SELECT statements of a query, for any columns and window.
///
/// Made once per query by the planner and kept with the plan. The translated condition and order are reused for
/// different columns: keys only, whole rows, counts.
package struct SelectBuilder: Sendable {
  private let dialect: Dialect
  /// The condition for rows of the query's entities. Nil for the whole table.
  private let entityCondition: String?
  /// The translated predicate; nil for all rows.
  private let condition: SQLFragment?
  /// The terms after ORDER BY, with the key of the row as the last one; nil without sort keys.
  private let order: SQLFragment?
  /// The selected columns of a query that returns values instead of rows.
  private let values: ColumnSelect?
  /// The table with its joins.
  private let from: String
  /// Whether rows of other tables are joined.
  private let isJoined: Bool

  /// Throws `Untranslatable` for parts that SQL cannot express. `entityCondition` is that of `RowSelect`. Rows with
  /// equal sort keys are ordered by key, so that pages of a result do not overlap.
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
      // A query for a few objects finds them by key or unique value.
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
      // Groups are sorted by their first objects, unless the sort keys distinguish all groups.
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

  /// The condition for the rows of the table `t0`. Nil where the query joins other tables or has a window. A true
  /// condition stands for all rows. Used by updates and deletions of batch requests, whose statements have no joins.
  package func condition(for query: StoreQuery) -> SQLFragment? {
    guard !isJoined, query.limit <= 0, query.offset <= 0 else { return nil }
    return conditions ?? SQLFragment(dialect.truth(true))
  }

  /// Whether the query selects all rows of the table. A query for the whole table needs neither index nor order.
  package func isWhole(_ query: StoreQuery) -> Bool { conditions == nil && query.limit <= 0 && query.offset <= 0 }

  /// The entity's condition and the query's condition; nil for the whole table.
  private var conditions: SQLFragment? {
    var conditions: [SQLFragment] = []
    if let entityCondition { conditions.append(SQLFragment(entityCondition)) }
    if let condition { conditions.append(entityCondition == nil ? condition : "(" + condition + ")") }
    return conditions.isEmpty ? nil : conditions.joined(" AND ")
  }

  /// A statement for these columns. `otherwise` is the order of a query without an order. The text has the engine's
  /// placeholders.
  package func select(_ columns: [String], for query: StoreQuery, otherwise: String? = nil) -> SQLFragment {
    let isOrdered = !query.sortDescriptors.isEmpty
    return select(
      SQLFragment(columns.joined(separator: ", ")), for: query,
      order: isOrdered ? order : otherwise.map { SQLFragment($0) })
  }

  /// The forms of the columns of `selectValues`.
  package var forms: [ColumnSelect.Form] { values?.forms ?? [] }

  /// The statement for the selected columns of a query. If a result row stands for one object, its key follows the
  /// columns, so that errors can name the row. `otherwise` is the order of such rows in a query without an order.
  package func selectValues(for query: StoreQuery, otherwise: String? = nil) -> SQLFragment {
    let values = values ?? ColumnSelect()
    // Values of objects come in the order of the objects.
    let byKey = values.isGrouped ? nil : query.predicate == nil ? "t0.Z_PK" : otherwise
    let columns = values.columns.joined(", ")
    return select(
      values.isGrouped ? columns : columns + ", t0.Z_PK", for: query, values,
      order: order ?? byKey.map { SQLFragment($0) })
  }

  /// SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY and the window, as far as the query has them.
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
  /// Whether the sort keys distinguish all groups. Comparisons that ignore case do not.
  fileprivate func sortsGroupsApart(_ keys: [[String]]) -> Bool {
    let sorted = sortDescriptors.filter { $0.comparator == .compare }.map(\.keyPath.keys)
    return Set(keys).isSubset(of: sorted)
  }
}

extension String {
  /// The keys of a key path.
  fileprivate var keys: [String] { split(separator: ".").map(String.init) }
}
