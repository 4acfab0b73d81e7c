package import MoonbaseGraph
import MoonbaseModel

/// Divides a query between a store's engine and the context: what the engine takes, as one statement, and what is left, with reasons.
package struct QueryPlanner {
  /// A query that was put to the engine.
  package enum Attempt {
    /// The engine takes the statement: its text, and what the store needs to run it.
    case statement(String, any PreparedQuery)
    /// Why it cannot be said, or is too much.
    case refused(String)
  }

  private let attempt: (StoreQuery) throws -> Attempt

  /// `attempt` puts a query to the engine.
  package init(_ attempt: @escaping (StoreQuery) throws -> Attempt) { self.attempt = attempt }

  /// What the engine takes over.
  ///
  /// What is left is looked for one by one only where the whole was refused.
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

  /// A plan for the rows of a query; `columns` is why these are not what is asked for.
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
      case .statement(let sql, let select): return QueryPlan(query, accessPath: sql, leaving: left, prepared: select)
      case .refused(let reason):
        // Without conditions nothing is left that could be too much.
        if kept.isEmpty { throw Self.error(of: query, refused: reason) }
        for place in kept.suffix((kept.count + 1) / 2) { left[place] = "with the others it is too much: \(reason)" }
      }
    }
  }

  /// The error of a store that is asked for what it leaves to the context.
  package static func error(of query: StoreQuery, refused reason: String) -> GraphError {
    GraphError(
      .invalidRequest,
      message:
        "the store cannot evaluate this fetch of \(query.entity.name): \(reason); ask for what its `plan` takes over",
      entity: query.entity.name)
  }
}
