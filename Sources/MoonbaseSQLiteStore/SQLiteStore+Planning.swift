public import MoonbaseGraph
package import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

extension SQLiteStore {
  /// A query that was put to SQLite.
  private enum Attempt {
    /// SQLite takes the statement.
    case statement(PreparedSelect)
    /// Why it cannot be said, or is too much.
    case refused(String)
  }

  /// What can be said in SQL, and in so few words that SQLite takes it: only SQLite knows its limits.
  ///
  /// What is left is looked for one by one only where the whole was refused.
  public func plan(_ query: StoreQuery) throws -> QueryPlan {
    guard let columns = query.columns else { return try plan(query, columns: nil) }
    switch try attempt(query) {
    case .statement(let select):
      return QueryPlan(query, accessPath: select.sql, columns: nil, choice: nil, prepared: select)
    case .refused(let reason):
      guard columns.omitsRows else { return try plan(query, columns: reason) }
      var all = query
      all.columns = columns.withAllRows
      switch try attempt(all) {
      case .statement(let select):
        return QueryPlan(query, accessPath: select.sql, columns: nil, choice: reason, prepared: select)
      case .refused(let reason): return try plan(query, columns: reason)
      }
    }
  }

  /// A plan for the rows of a query; `columns` is why these are not what is asked for.
  private func plan(_ whole: StoreQuery, columns: String?) throws -> QueryPlan {
    var query = whole
    query.columns = nil
    let reason: String
    switch try attempt(query) {
    case .statement(let select): return QueryPlan(whole, accessPath: select.sql, columns: columns, prepared: select)
    case .refused(let words): reason = words
    }
    var unsorted = query
    (unsorted.sortDescriptors, unsorted.limit, unsorted.offset) = ([], 0, 0)
    if !query.sortDescriptors.isEmpty, case .statement(let select) = try attempt(unsorted) {
      return QueryPlan(whole, accessPath: select.sql, order: reason, prepared: select)
    }
    return try plan(whole, asking: unsorted, wholeRefused: reason)
  }

  /// The conditions of which each can be said, as far as they can together.
  private func plan(_ query: StoreQuery, asking part: StoreQuery, wholeRefused whole: String) throws -> QueryPlan {
    let conditions = query.conditions
    var part = part
    var left: [Int: String] = [:]
    for (place, condition) in conditions.enumerated() {
      part.predicate = condition
      if case .refused(let reason) = try attempt(part) { left[place] = reason }
    }
    while true {
      let kept = conditions.indices.filter { left[$0] == nil }
      part.predicate = kept.isEmpty ? nil : .and(kept.map { conditions[$0] })
      switch try attempt(part) {
      case .statement(let select): return QueryPlan(query, accessPath: select.sql, leaving: left, prepared: select)
      case .refused(let reason):
        // Without conditions nothing is left that could be too much.
        if kept.isEmpty { throw select(of: query, refused: reason) }
        for place in kept.suffix((kept.count + 1) / 2) { left[place] = "with the others it is too much: \(reason)" }
      }
    }
  }

  private func attempt(_ query: StoreQuery) throws -> Attempt {
    do {
      let select = try translated(query)
      // Without conditions and order there is nothing that SQLite could refuse.
      if query.predicate == nil, query.sortDescriptors.isEmpty, query.columns == nil { return .statement(select) }
      try read { session in
        if let functions = query.functions { try session.register(functions) }
        _ = try session.connection.statement(select.sql)
      }
      return .statement(select)
    } catch let error as Untranslatable {
      return .refused(error.reason)
    } catch let error as GraphError {
      guard let cause = error.underlying as? SQLiteError, cause.isLimit else { throw error }
      return .refused("SQLite refuses it (\(cause.message))")
    }
  }

  private func translated(_ query: StoreQuery) throws -> PreparedSelect {
    observer.noteTranslation()
    let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
    let builder = try SelectBuilder(
      query, entityCondition: plan.select.entityCondition, layout: layout, store: number, dialect: .sqlite)
    return PreparedSelect(builder, query: query, plan: plan, store: self)
  }

  /// The statement of a query: the one of its plan, where it has one.
  func select(_ query: StoreQuery) throws -> PreparedSelect {
    if let known = query.prepared as? PreparedSelect, known.owner == ObjectIdentifier(self) { return known }
    do {
      return try translated(query)
    } catch let error as Untranslatable {
      throw select(of: query, refused: error.reason)
    }
  }

  private func select(of query: StoreQuery, refused reason: String) -> GraphError {
    GraphError(
      .invalidRequest,
      message:
        "the store cannot evaluate this fetch of \(query.entity.name): \(reason); ask for what its `plan` takes over",
      entity: query.entity.name)
  }
}

extension SQLiteStore: LookupStore {
  package func lookup(_ query: StoreQuery, of values: [Value]) throws -> (any StoreLookup)? {
    guard case .statement(let select) = try attempt(query) else { return nil }
    let sql = select.rows(query)
    // Behind the values stand limit and offset.
    guard sql.values.count == values.count + 2, zip(sql.values, values).allSatisfy({ $0.isSame(as: $1) }) else {
      return nil
    }
    return SQLiteLookup(sql: sql.text, plan: select.plan)
  }
}

/// The statement of a lookup.
private final class SQLiteLookup: StoreLookup {
  private let sql: String
  private let plan: RowPlan

  init(sql: String, plan: RowPlan) { (self.sql, self.plan) = (sql, plan) }

  func snapshots(with values: [Value], limit: Int, in session: any ReadSession) throws -> [Snapshot] {
    guard let session = session as? SQLiteReadSession else { return [] }
    return try session.snapshots(sql, with: values + [.int(Int64(limit)), .int(0)], plan)
  }
}

/// A query in SQL, for whatever columns are asked of its rows.
final class PreparedSelect: PreparedQuery {
  let plan: RowPlan
  /// The statement that gives whole rows, or the columns that are asked for in their place.
  let sql: String
  /// The store that it was made by: tables and entity numbers are that one's.
  let owner: ObjectIdentifier
  private let builder: SelectBuilder

  init(_ builder: SelectBuilder, query: StoreQuery, plan: RowPlan, store: SQLiteStore) {
    (self.builder, self.plan, owner) = (builder, plan, ObjectIdentifier(store))
    let isOfRows = query.columns == nil
    sql = (isOfRows ? builder.select(plan.select.columns, for: query) : builder.selectValues(for: query)).text
  }

  /// The statement that gives the rows of a query.
  func rows(_ query: StoreQuery) -> SQLFragment { builder.select(plan.select.columns, for: query) }

  /// The statement that gives their keys, in the order in which it would give rows: were it free to, SQLite would go through an index.
  func keys(_ query: StoreQuery) -> SQLFragment {
    builder.select(plan.keyColumns, for: query, otherwise: query.predicate == nil ? "t0.Z_PK" : nil)
  }

  /// A statement that gives nothing but their keys, to stand within another one.
  func keysAlone(_ query: StoreQuery) -> SQLFragment { values(["t0.Z_PK"], query) }

  /// A statement that gives something of each row, to stand within another one.
  func values(_ columns: [String], _ query: StoreQuery) -> SQLFragment { builder.select(columns, for: query) }

  /// What picks them out of their table, called `t0`; nil where only a statement of its own can. Where the table is theirs it is not asked for.
  func condition(_ query: StoreQuery) -> SQLFragment? { builder.condition(for: query) }
  func isWhole(_ query: StoreQuery) -> Bool { builder.isWhole(query) }

  /// The statement that gives columns in the place of rows, and how they lie in it.
  func values(_ query: StoreQuery) -> SQLFragment { builder.selectValues(for: query) }
  var forms: [ColumnSelect.Form] { builder.forms }

  /// The statement that counts them.
  func count(_ query: StoreQuery) -> SQLFragment { builder.select(["COUNT(*)"], for: query) }
}
