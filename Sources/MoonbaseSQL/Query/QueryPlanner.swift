package import MoonbaseGraph
import MoonbaseModel

/// Divides a query between a store's engine and the context: a statement for the engine, and the remaining conditions
/// with reasons.
///
/// Independent of the engine: the store passes a closure that translates and prepares a query, and receives a
/// `QueryPlan`. At most one statement per condition is tried, and refused parts become conditions in memory, each with
/// its reason (`explain`).
package struct QueryPlanner {
  /// The result of translating a query for the engine.
  package enum Attempt {
    /// The engine accepts the statement. The values are its text, and the prepared query for the store.
    case statement(String, any PreparedQuery)
    /// The engine refuses the query. The value is the reason.
    case refused(String)
  }

  /// Called repeatedly with parts of the query.
  private let attempt: (StoreQuery) throws -> Attempt

  /// Makes a planner. `attempt` translates and prepares a query. `Attempt.refused` is not an error; errors that the
  /// closure throws end the planning.
  package init(_ attempt: @escaping (StoreQuery) throws -> Attempt) { self.attempt = attempt }

  /// Plans a query.
  ///
  /// Conditions are tried individually only after the engine refused the whole query. The steps are: the whole query;
  /// the rows without the selected columns; the rows without the order; single conditions.
  package func plan(_ query: StoreQuery) throws -> QueryPlan {
    guard let columns = query.columns else { return try plan(query, columns: nil) }
    switch try attempt(query) {
    case .statement(let sql, let select):
      return QueryPlan(query, accessPath: sql, columns: nil, choice: nil, prepared: select)
    case .refused(let reason):
      guard columns.omitsRows else { return try plan(query, columns: reason) }
      var all = query
      all.columns = columns.withAllRows
      switch try attempt(all) {
      case .statement(let sql, let select):
        return QueryPlan(query, accessPath: sql, columns: nil, choice: reason, prepared: select)
      case .refused(let reason): return try plan(query, columns: reason)
      }
    }
  }

  /// A plan for the rows of a query. `columns` is the reason why the engine does not compute the selected columns.
  /// Order and limit are dropped together, since a limit without its order would select other rows.
  private func plan(_ whole: StoreQuery, columns: String?) throws -> QueryPlan {
    var query = whole
    query.columns = nil
    let reason: String
    switch try attempt(query) {
    case .statement(let sql, let select): return QueryPlan(whole, accessPath: sql, columns: columns, prepared: select)
    case .refused(let words): reason = words
    }
    var unsorted = query
    (unsorted.sortDescriptors, unsorted.limit, unsorted.offset) = ([], 0, 0)
    if !query.sortDescriptors.isEmpty, case .statement(let sql, let select) = try attempt(unsorted) {
      return QueryPlan(whole, accessPath: sql, order: reason, prepared: select)
    }
    return try plan(whole, asking: unsorted, wholeRefused: reason)
  }

  /// A plan with those conditions that the engine accepts, individually and together. Conditions that are accepted
  /// alone may be too much together; half of the rest is then left out until the engine accepts. Throws
  /// `.invalidRequest` if it accepts no condition at all.
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
      case .statement(let sql, let select): return QueryPlan(query, accessPath: sql, leaving: left, prepared: select)
      case .refused(let reason):
        // Without conditions there is nothing more to leave out.
        if kept.isEmpty { throw Self.error(of: query, refused: reason) }
        for place in kept.suffix((kept.count + 1) / 2) { left[place] = "with the others it is too much: \(reason)" }
      }
    }
  }

  /// The query as `owner` prepared the query for a plan, or translated now.
  ///
  /// Throws the error of `error(of:refused:)` for a query that the engine cannot evaluate.
  package static func prepared<Select: OwnedQuery>(
    _ query: StoreQuery, by owner: AnyObject, _ translate: (StoreQuery) throws -> Select
  ) throws -> Select {
    if let known = query.prepared as? Select, known.owner == ObjectIdentifier(owner) { return known }
    do {
      return try translate(query)
    } catch let error as Untranslatable {
      throw Self.error(of: query, refused: error.reason)
    }
  }

  /// The error for a query whose evaluation the store leaves to the context.
  package static func error(of query: StoreQuery, refused reason: String) -> GraphError {
    GraphError(
      .invalidRequest,
      message:
        "the store cannot evaluate this fetch of \(query.entity.name): \(reason); ask for what its `plan` takes over",
      entity: query.entity.name)
  }
}

/// A query that a store has translated. Tables and entity numbers are those of that store.
package protocol OwnedQuery: PreparedQuery {
  /// The store that prepared the query.
  var owner: ObjectIdentifier { get }
}
