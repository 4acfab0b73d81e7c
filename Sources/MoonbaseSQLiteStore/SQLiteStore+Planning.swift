public import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

extension SQLiteStore {
  /// A query that was put to SQLite.
  private enum Attempt {
    /// SQLite takes the statement.
    case statement(String)
    /// Why it cannot be said, or is too much.
    case refused(String)
  }

  /// What can be said in SQL, and in so few words that SQLite takes it: only SQLite knows its limits.
  ///
  /// What is left is looked for one by one only where the whole was refused.
  public func plan(_ query: StoreQuery) throws -> QueryPlan {
    let reason: String
    switch try attempt(query) {
    case .statement(let sql): return QueryPlan(query, how: sql)
    case .refused(let words): reason = words
    }
    var unsorted = query
    (unsorted.sortDescriptors, unsorted.limit, unsorted.offset) = ([], 0, 0)
    if !query.sortDescriptors.isEmpty, case .statement(let sql) = try attempt(unsorted) {
      return QueryPlan(query, how: sql, order: reason)
    }
    return try plan(query, asking: unsorted, wholeRefused: reason)
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
      case .statement(let sql): return QueryPlan(query, how: sql, leaving: left)
      case .refused(let reason):
        // Without conditions nothing is left that could be too much.
        if kept.isEmpty { throw select(of: query, refused: reason) }
        for place in kept.suffix((kept.count + 1) / 2) { left[place] = "with the others it is too much: \(reason)" }
      }
    }
  }

  private func attempt(_ query: StoreQuery) throws -> Attempt {
    do {
      let plan = try rowPlan(query.entity, includesSubentities: query.includesSubentities)
      let sql = try builder(query, plan: plan).select(plan.select.columns)
      // Without conditions and order there is nothing that SQLite could refuse.
      if query.predicate == nil, query.sortDescriptors.isEmpty { return .statement(sql.text) }
      try read { session in
        if let functions = query.functions { try session.register(functions) }
        _ = try session.connection.statement(sql.text)
      }
      return .statement(sql.text)
    } catch let error as Untranslatable {
      return .refused(error.reason)
    } catch let error as GraphError {
      guard let cause = error.underlying as? SQLiteError, cause.isLimit else { throw error }
      return .refused("SQLite refuses it (\(cause.message))")
    }
  }

  func builder(_ query: StoreQuery, plan: RowPlan) throws -> SelectBuilder {
    try SelectBuilder(
      query, entityCondition: plan.select.entityCondition, layout: layout, store: number, dialect: .sqlite)
  }

  func select(of query: StoreQuery, refused reason: String) -> GraphError {
    GraphError(
      .invalidRequest,
      message:
        "the store cannot evaluate this fetch of \(query.entity.name): \(reason); ask for what its `plan` takes over",
      entity: query.entity.name)
  }
}
