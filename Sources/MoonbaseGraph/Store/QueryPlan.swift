public import MoonbaseModel

/// How a query is answered: what the store takes over, what it leaves to the context, and both in words.
///
/// A store takes over any of the conditions that all have to hold (`StoreQuery.conditions`). It sorts, skips and counts only where it
/// does everything: the order and window of rows of which some do not match are the context's.
///
/// ```swift
/// func plan(_ query: StoreQuery) throws -> QueryPlan {
///   QueryPlan(query, how: "a scan of \(query.entity.name)", leaving: [0: "this store compares no texts"])
/// }
/// ```
public struct QueryPlan: Sendable {
  /// A condition that the context judges.
  public struct Condition: Sendable {
    /// The condition.
    public var predicate: Predicate
    /// Why the store leaves it, as a clause: `fullName is computed by the context`.
    public var reason: String
  }

  /// What the store is asked for: the conditions that it takes over, with order and window where it does everything.
  public let query: StoreQuery
  /// How the store finds its rows: an SQL statement, the index or table that it goes through.
  public let how: String
  /// What the context judges of each row that the store finds.
  public let remainingConditions: [Condition]
  /// The order that the context brings the rows into.
  public let remainingOrder: [SortDescriptor]
  /// Why the store cannot sort by these keys; nil where it could, but for the conditions that remain.
  public let orderReason: String?
  /// Why the context computes the columns that are asked for in the place of rows; nil where the store does, or nobody asks.
  public let columnsReason: String?
  private let window: (limit: Int, offset: Int)

  /// A plan for a query by which the store leaves some of its conditions, or the order, or nothing.
  ///
  /// `reasons` has a clause for each condition that is left, by its place among the query's `conditions`; `order` is why the store
  /// cannot sort, and `columns` why it does not compute the query's columns: nil where it does. `prepared` is what the store made of what it takes over; its sessions find it in the plan's query.
  public init(
    _ query: StoreQuery, how: String, leaving reasons: [Int: String] = [:], order: String? = nil,
    columns: String? = "the store gives whole rows", prepared: (any PreparedQuery)? = nil
  ) {
    self.how = how
    orderReason = query.sortDescriptors.isEmpty ? nil : order
    window = (query.limit, query.offset)
    var taken = query
    if reasons.isEmpty {
      remainingConditions = []
    } else {
      let conditions = query.conditions
      remainingConditions = conditions.enumerated().compactMap { place, condition in
        reasons[place].map { Condition(predicate: condition, reason: $0) }
      }
      let kept = conditions.enumerated().filter { reasons[$0.offset] == nil }.map(\.element)
      taken.predicate = kept.count > 1 ? .and(kept) : kept.first
    }
    let isSorted = remainingConditions.isEmpty && orderReason == nil
    remainingOrder = isSorted ? [] : query.sortDescriptors
    if !isSorted { (taken.sortDescriptors, taken.limit, taken.offset) = ([], 0, 0) }
    columnsReason = query.columns == nil ? nil : isSorted ? columns : "only it knows which rows match, in their order"
    if columnsReason != nil { taken.columns = nil }
    taken.prepared = prepared
    self.query = taken
  }

  /// A plan by which the store leaves all conditions and any order. Columns it computes as far as rows are enough for them.
  public init(_ query: StoreQuery, how: String, leavingAll reason: String) {
    let all = query.conditions.indices.map { ($0, reason) }
    self.init(
      query, how: how, leaving: Dictionary(uniqueKeysWithValues: all), order: reason,
      columns: query.columns?.reasonAgainstRows)
  }

  /// Whether the store finds exactly the rows that match.
  public var isExact: Bool { remainingConditions.isEmpty }
  /// Whether the store does everything: it finds the rows that match, sorted and within their window.
  public var isComplete: Bool { remainingConditions.isEmpty && remainingOrder.isEmpty }

  /// What the store does and what is left, a line for each.
  public var explanation: String { lines().joined(separator: "\n") }

  /// `steps` are those of the store's engine.
  func lines(steps: [String] = []) -> [String] {
    var lines = ["the store: \(how)"] + steps.map { "  " + $0 }
    for condition in remainingConditions {
      lines.append("the context judges \(condition.predicate): \(condition.reason)")
    }
    if !remainingOrder.isEmpty {
      let reason = orderReason ?? "only it knows which rows match"
      lines.append("the context sorts by \(remainingOrder.map(\.text).joined(separator: ", ")): \(reason)")
    }
    if let columnsReason { lines.append("the context computes the columns: \(columnsReason)") }
    if !isComplete, let words = Self.words(window) { lines.append("the context applies \(words)") }
    return lines
  }

  /// A window in words; nil for all rows.
  static func words(_ window: (limit: Int, offset: Int)) -> String? {
    let parts = [("limit", window.limit), ("offset", window.offset)].filter { $0.1 > 0 }
    return parts.isEmpty ? nil : parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }
}

extension StoreQuery {
  /// The parts of the predicate, all of which have to hold.
  public var conditions: [Predicate] {
    guard let predicate else { return [] }
    return if case .and(let all) = predicate, !all.isEmpty { all } else { [predicate] }
  }
}

extension SortDescriptor {
  /// `name`, or `-name` where it descends, with what compares its texts where that is not their bytes.
  fileprivate var text: String {
    (ascending ? "" : "-") + keyPath + (comparator == .compare ? "" : " (\(comparator.rawValue))")
  }
}
