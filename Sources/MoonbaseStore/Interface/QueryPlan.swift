public import MoonbaseModel

/// The plan of a query: the part that the store executes, the part left to the context, and a description of both.
///
/// A store may execute any subset of the conditions that must all hold (`StoreQuery.conditions`). It sorts, skips and
/// limits only if it executes all of them, because otherwise the context must first remove rows that do not match.
///
/// ```swift
/// func plan(_ query: StoreQuery) throws -> QueryPlan {
///   QueryPlan(query, accessPath: "a scan of \(query.entity.name)", leaving: [0: "this store compares no texts"])
/// }
/// ```
public struct QueryPlan: Sendable {
  /// A condition that the context evaluates.
  public struct Condition: Sendable {
    /// The condition.
    public var predicate: Predicate
    /// The reason why the store does not evaluate the condition, as a clause: `fullName is computed by the context`.
    public var reason: String
  }

  /// The store's part of the query: its conditions, and order and window if it executes everything.
  public let query: StoreQuery
  /// The way in which the store finds rows: an SQL statement, or the index or table that it scans.
  public let accessPath: String
  /// The conditions that the context evaluates for each row from the store.
  public let remainingConditions: [Condition]
  /// The sort descriptors that the context applies.
  public let remainingOrder: [SortDescriptor]
  /// The reason why the store cannot sort by these keys; nil if only the remaining conditions prevent it.
  public let orderReason: String?
  /// The reason why the context computes the query's columns; nil if the store does, or the query has no columns.
  public let columnsReason: String?
  /// The reason why the context omits rows of columns (`QueryColumns.condition`, `isDistinct`); nil if the store does,
  /// or none are omitted.
  public let omissionReason: String?
  private let window: (limit: Int, offset: Int)

  /// A plan in which the store leaves some conditions, the order, or nothing to the context.
  ///
  /// `reasons` has a clause for each condition that is left, by its index in the query's `conditions`. `order`,
  /// `columns` and `choice` are the reasons why the store cannot sort, compute the query's columns, or omit rows of
  /// columns; nil if it can. `prepared` is the store's compiled form of its part; sessions find it in the plan's query.
  public init(
    _ query: StoreQuery, accessPath: String, leaving reasons: [Int: String] = [:], order: String? = nil,
    columns: String? = "the store gives whole rows", choice: String? = "the store gives all of them",
    prepared: (any PreparedQuery)? = nil
  ) {
    self.accessPath = accessPath
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
    omissionReason = columnsReason == nil && query.columns?.omitsRows == true ? choice : nil
    if columnsReason != nil { taken.columns = nil }
    if omissionReason != nil { taken.columns = query.columns?.withAllRows }
    taken.prepared = prepared
    self.query = taken
  }

  /// A plan in which the store leaves all conditions and any order to the context. Columns are computed if the rows
  /// suffice.
  public init(_ query: StoreQuery, accessPath: String, leavingAll reason: String) {
    let all = query.conditions.indices.map { ($0, reason) }
    self.init(
      query, accessPath: accessPath, leaving: Dictionary(uniqueKeysWithValues: all), order: reason,
      columns: query.columns?.reasonAgainstRows)
  }

  /// Whether the store returns exactly the rows that match.
  public var isExact: Bool { remainingConditions.isEmpty }
  /// Whether the store executes the whole query: it returns the matching rows, sorted and within the window.
  public var isComplete: Bool { remainingConditions.isEmpty && remainingOrder.isEmpty }

  /// The parts of store and context, one line each.
  public var explanation: String { lines().joined(separator: "\n") }

  /// The lines of the explanation; `steps` are the steps of the store's engine.
  package func lines(steps: [String] = []) -> [String] {
    var lines = ["the store: \(accessPath)"] + steps.map { "  " + $0 }
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

  /// A window as text; nil for all rows.
  package static func words(_ window: (limit: Int, offset: Int)) -> String? {
    let parts = [("limit", window.limit), ("offset", window.offset)].filter { $0.1 > 0 }
    return parts.isEmpty ? nil : parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }
}

extension StoreQuery {
  /// The parts of the predicate that must all hold.
  public var conditions: [Predicate] {
    guard let predicate else { return [] }
    return if case .and(let all) = predicate, !all.isEmpty { all } else { [predicate] }
  }
}

extension SortDescriptor {
  /// `name`, or `-name` in descending order, with the comparator unless it compares bytes.
  fileprivate var text: String {
    (ascending ? "" : "-") + keyPath + (comparator == .compare ? "" : " (\(comparator.rawValue))")
  }
}
