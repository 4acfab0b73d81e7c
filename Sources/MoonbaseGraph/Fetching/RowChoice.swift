import MoonbaseModel

/// The store's part in omitting rows of a dictionary result: rows that `havingPredicate` rejects, and duplicates. Made
/// once for a request; a dictionary result then omits the remaining rows itself.
struct RowChoice {
  /// The reason why the store does not omit all of them, as a clause; nil if it does, or none are omitted.
  private(set) var reason: String?
  /// Whether rows are never equal, because they contain all group keys.
  private(set) var isDistinctAnyway = false

  /// Adds the selection of rows to the query's columns. `columns` has the visible columns first, then the hidden ones.
  /// Changes `stored`, unless the store cannot evaluate the condition; `shown` is the number of visible columns.
  init(
    of request: FetchRequest, _ condition: GroupCondition?, columns: [GroupColumn], shown: Int,
    in stored: inout QueryColumns?
  ) {
    guard var wanted = stored else { return }
    isDistinctAnyway =
      wanted.isGrouped && Set(wanted.groupKeys).isSubset(of: columns.prefix(shown).compactMap(\.plainKeyPath))
    if let condition {
      guard !wanted.groupKeys.isEmpty else {
        reason = "a store judges groups only"
        return
      }
      (wanted.condition, reason) = condition.placed(columns)
      guard reason == nil else { return }
    }
    if request.returnsDistinctResults, !isDistinctAnyway {
      reason = Self.reason(againstDistinct: wanted, columns, of: request)
      wanted.isDistinct = reason == nil
    }
    stored = wanted
  }

  /// The reason why a store does not remove duplicates, as a clause; nil if it can.
  private static func reason(
    againstDistinct wanted: QueryColumns, _ columns: [GroupColumn], of request: FetchRequest
  ) -> String? {
    if wanted.isGrouped { return "the columns do not show what makes the groups" }
    if !columns.allSatisfy(\.isPlain) { return "a column is shown in a type of its own" }
    // A store would first read all rows.
    return request.fetchLimit > 0 && request.sortDescriptors.isEmpty ? "it ends at the limit" : nil
  }
}

extension GroupColumn {
  /// The key path, if the column is the plain value of one. Nil for aggregates and computed columns.
  fileprivate var plainKeyPath: [String]? {
    guard isPlain, case .parts(let parts) = stored, case .value(let keys)? = parts.first else { return nil }
    return keys
  }
}
