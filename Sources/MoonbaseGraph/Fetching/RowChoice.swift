import MoonbaseModel

/// What a store is asked of the rows of a dictionary result that are left out: those that `having` does not want, and equal ones.
struct RowChoice {
  /// Why the store is not asked for all of it, as a clause; nil where it is, or nothing is left out.
  private(set) var reason: String?
  /// Whether no two rows can be equal, because they show what makes the groups.
  private(set) var isDistinctAnyway = false

  /// Adds what a store is asked to the columns that it is asked for. The columns are those that are shown, and then hidden ones.
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

  private static func reason(
    againstDistinct wanted: QueryColumns, _ columns: [GroupColumn], of request: FetchRequest
  ) -> String? {
    if wanted.isGrouped { return "the columns do not show what makes the groups" }
    if !columns.allSatisfy(\.isPlain) { return "a column is shown in a type of its own" }
    // A store would go through all rows first.
    return request.fetchLimit > 0 && request.sortDescriptors.isEmpty ? "it ends at the limit" : nil
  }
}

extension GroupColumn {
  /// The key path whose value it is, and nothing else.
  fileprivate var plainKeyPath: [String]? {
    guard isPlain, case .parts(let parts) = stored, case .value(let keys)? = parts.first else { return nil }
    return keys
  }
}
