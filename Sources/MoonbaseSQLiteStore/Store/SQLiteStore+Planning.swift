public import MoonbaseGraph
package import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// Translation of queries into SQL.
extension SQLiteStore {
  /// Plans a query. Each part is prepared as a statement, because only SQLite knows its own limits. Nothing is read
  /// from tables. The result tells whether SQLite evaluates the whole query, or memory evaluates a part. Throws errors
  /// of SQLite that do not depend on the query.
  public func plan(_ query: StoreQuery) throws -> QueryPlan { try QueryPlanner(attempt).plan(query) }

  /// A refusal has the reason: a part without a translation, or a limit of SQLite.
  private func attempt(_ query: StoreQuery) throws -> QueryPlanner.Attempt {
    do {
      let select = try translated(query)
      // A query without conditions and order never exceeds SQLite's limits.
      if query.predicate == nil, query.sortDescriptors.isEmpty, query.columns == nil {
        return .statement(select.sql, select)
      }
      try read { session in
        if let functions = query.functions { try session.register(functions) }
        _ = try session.connection.statement(select.sql)
      }
      return .statement(select.sql, select)
    } catch let error as Untranslatable {
      return .refused(error.reason)
    } catch let error as GraphError {
      guard let cause = error.underlying as? SQLiteError, cause.isLimit else { throw error }
      return .refused("SQLite refuses it (\(cause.message))")
    }
  }

  /// Throws `Untranslatable`.
  private func translated(_ query: StoreQuery) throws -> PreparedSelect {
    observer.noteTranslation()
    let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
    let builder = try SelectBuilder(
      query, entityCondition: plan.select.condition(of: query), layout: layout, store: number, dialect: .sqlite)
    return PreparedSelect(builder, query: query, plan: plan, store: self)
  }

  /// The prepared statement of a query, from its plan if there is one. Plans are valid only for the store that made
  /// them. Throws for a query without a translation.
  package func select(_ query: StoreQuery) throws -> PreparedSelect {
    try QueryPlanner.prepared(query, by: self, translated)
  }
}

/// Lookups serve `find` by a unique value: the statement is translated once and run with many values.
extension SQLiteStore: LookupStore {
  /// A prepared lookup by equality with these values. Nil where SQLite cannot evaluate the whole query. `values` are
  /// the constants in the order in which the query contains them.
  package func lookup(_ query: StoreQuery, of values: [Value]) throws -> (any StoreLookup)? {
    guard case .statement(_, let prepared) = try attempt(query), let select = prepared as? PreparedSelect else {
      return nil
    }
    let sql = select.rows(query)
    // Limit and offset follow the values.
    guard sql.values.count == values.count + 2, zip(sql.values, values).allSatisfy({ $0.isSame(as: $1) }) else {
      return nil
    }
    return SQLiteLookup(sql: sql.text, plan: select.plan)
  }
}

/// The statement of a lookup.
///
/// Immutable; each call uses a session of the caller.
private final class SQLiteLookup: StoreLookup {
  /// The text, with parameters for values, limit and offset.
  private let sql: String
  /// Decodes the rows.
  private let plan: RowPlan

  init(sql: String, plan: RowPlan) { (self.sql, self.plan) = (sql, plan) }

  /// Empty for a session of another store.
  func snapshots(with values: [Value], limit: Int, in session: any ReadSession) throws -> [Snapshot] {
    guard let session = session as? SQLiteReadSession else { return [] }
    return try session.snapshots(sql, with: values + [.int(Int64(limit)), .int(0)], plan)
  }
}

/// A query in SQL, from which statements for other columns of its rows are made.
package final class PreparedSelect: OwnedQuery {
  let plan: RowPlan
  /// The statement that returns whole rows, or the columns that the query selects instead.
  let sql: String
  /// The store that prepared the query. Tables and entity numbers are those of that store.
  package let owner: ObjectIdentifier
  /// The parts of the statement.
  private let builder: SelectBuilder

  /// The text in `sql` is for preparing the statement as a test.
  init(_ builder: SelectBuilder, query: StoreQuery, plan: RowPlan, store: SQLiteStore) {
    (self.builder, self.plan, owner) = (builder, plan, ObjectIdentifier(store))
    let isOfRows = query.columns == nil
    sql = (isOfRows ? builder.select(plan.select.columns, for: query) : builder.selectValues(for: query)).text
  }

  /// The statement that returns the rows of a query.
  package func rows(_ query: StoreQuery) -> SQLFragment { builder.select(plan.select.columns, for: query) }

  /// The statement that returns the keys, in the order of the rows. Without an order SQLite would scan an index.
  func keys(_ query: StoreQuery) -> SQLFragment {
    builder.select(plan.keyColumns, for: query, otherwise: query.predicate == nil ? "t0.Z_PK" : nil)
  }

  /// A subquery of the keys alone.
  func keysAlone(_ query: StoreQuery) -> SQLFragment { values(["t0.Z_PK"], query) }

  /// A subquery of some columns. `columns` are SQL expressions of the table `t0`.
  func values(_ columns: [String], _ query: StoreQuery) -> SQLFragment { builder.select(columns, for: query) }

  /// The condition for the rows of the table `t0`. Nil where the condition needs a statement of its own. Used by batch
  /// requests, which put the condition into an UPDATE or DELETE.
  func condition(_ query: StoreQuery) -> SQLFragment? { builder.condition(for: query) }
  /// Whether the query selects all rows of the entity.
  func isWhole(_ query: StoreQuery) -> Bool { builder.isWhole(query) }

  /// The statement that gives columns in the place of rows, and how they lie in it. For queries with `columns`, such as
  /// aggregates.
  package func values(_ query: StoreQuery) -> SQLFragment { builder.selectValues(for: query) }
  /// The form of each selected column, for decoding.
  var forms: [ColumnSelect.Form] { builder.forms }

  /// The statement that counts the rows. Without the order of the query.
  func count(_ query: StoreQuery) -> SQLFragment { builder.select(["COUNT(*)"], for: query) }
}
