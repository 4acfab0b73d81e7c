public import MoonbaseModel
import MoonbasePlatform

public import enum MoonbaseModel.Predicate

/// Values that a query returns in place of rows: attributes of each object, or functions over groups of objects.
///
/// Rows of values (`ReadSession.values`) have one value for each column, where other rows have one for each slot.
///
/// ```swift
/// var query = StoreQuery(entity: person, in: model)
/// query.columns = QueryColumns([.value(["department", "name"]), .objectCount, .function(.average, ["age"])])
/// query.columns?.groupKeys = [["department", "name"]]
/// ```
public struct QueryColumns: Sendable {
  /// A function over the values at the end of a key path for the objects of a group. Null values are skipped.
  public enum Function: Sendable {
    /// The number of values.
    case count
    /// The sum of the values, exact if all are integers and the sum fits; 0 without values.
    case sum
    /// The mean; null without values.
    case average
    /// The least value; null without values.
    case minimum
    /// The greatest value; null without values.
    case maximum
  }

  /// A column of the result.
  public enum Column: Sendable {
    /// An attribute, at the end of a key path through to-one relationships. In a grouped query it is one of the group
    /// keys.
    case value([String])
    /// The number of objects.
    case objectCount
    /// A function over the objects of a group.
    case function(Function, [String])

    /// The key path that is read from each object.
    public var keyPath: [String]? {
      switch self {
      case .value(let keys), .function(_, let keys): keys
      case .objectCount: nil
      }
    }
  }

  /// The columns of the result.
  public var columns: [Column]
  /// The key paths by which objects are grouped. Each group gives one row, in the order of the groups' first objects.
  public var groupKeys: [[String]] = []

  /// The condition for groups: `0` stands for the value of the first column, `1` for the second, and so on. Nil for all
  /// groups.
  public var condition: Predicate?
  /// Whether equal rows without groups appear once, at the place of the first.
  public var isDistinct = false

  /// Makes columns: a row for each object, or with functions alone one row for all objects.
  public init(_ columns: [Column]) { self.columns = columns }

  /// Whether a row describes a group, or all objects together.
  public var isGrouped: Bool {
    !groupKeys.isEmpty
      || columns.contains { column in
        if case .value = column { false } else { true }
      }
  }

  /// Whether the query omits some of the rows.
  public var omitsRows: Bool { condition != nil || isDistinct }

  /// A copy that omits no rows.
  public var withAllRows: Self {
    var columns = self
    (columns.condition, columns.isDistinct) = (nil, false)
    return columns
  }

  /// The key paths whose values are equal for all objects of a row; empty if each object has its own row, or all share
  /// one.
  package var rowKeys: [[String]] { isDistinct ? columns.compactMap(\.keyPath) : groupKeys }

  /// The reason why the columns cannot be computed from the objects' own rows, as a clause of a plan. Nil if they can:
  /// then a session need not implement `values`.
  public var reasonAgainstRows: String? {
    let paths = groupKeys + columns.compactMap(\.keyPath)
    return paths.first { $0.count != 1 }.map { "\($0.joined(separator: ".")) leads to other rows" }
  }
}

/// Computes columns from rows, for stores that return only rows.
final class ColumnsOfRows: RowCursor {
  private let columns: QueryColumns
  private let query: StoreQuery
  private let rows: any RowCursor
  /// The rows of the groups, after the first call.
  private let groups = Lock<RowList?>(nil)

  init(_ columns: QueryColumns, of query: StoreQuery, _ rows: any RowCursor) throws {
    (self.columns, self.query, self.rows) = (columns, query, rows)
    for keys in columns.groupKeys + columns.columns.compactMap(\.keyPath) { _ = try Self.slot(keys, of: query) }
  }

  /// The slot of a key path. Throws if its values are not in the objects' own rows.
  private static func slot(_ keys: [String], of query: StoreQuery) throws -> Slot {
    if keys.count == 1, let slot = query.entity.slot(keys[0]) { return slot }
    throw GraphError(
      .invalidRequest,
      message:
        "\(query.entity.name).\(keys.joined(separator: ".")) cannot be read of rows alone; ask for what the store's "
        + "`plan` takes over", entity: query.entity.name)
  }

  func next(upTo count: Int) throws -> RowBatch {
    guard columns.isGrouped else { return try plain(rows.next(upTo: count)) }
    return try groups.withLock { groups in
      let list = try groups ?? RowList(grouped())
      groups = list
      return list.next(upTo: count)
    }
  }

  /// A row of values for each object.
  private func plain(_ rows: RowBatch) throws -> RowBatch {
    let slots = try columns.columns.compactMap(\.keyPath).map { try Self.slot($0, of: query) }
    let result = RowCollector(store: StoreNumber(rawValue: 0), expecting: rows.count)
    for row in rows {
      let page = result.page(for: query.entity.symbol, slotCount: slots.count)
      page.beginRow(key: 0, version: 0)
      for (place, slot) in slots.enumerated() { page.copy(row.cell(slot), slot: place) }
      page.endRow()
    }
    return result.finish()
  }

  /// A row of values for each group.
  private func grouped() throws -> [Snapshot] {
    let keySlots = try columns.groupKeys.map { try Self.slot($0, of: query) }
    let slots = try columns.columns.map { column in try column.keyPath.map { try Self.slot($0, of: query) } }
    let empty = ColumnGroup(columns, of: query.entity, slots: slots)
    var groups: [ColumnGroup] = keySlots.isEmpty ? [empty] : []
    var places: [[Value]: Int] = [:]
    var memory = HostMemory()
    while case let page = try rows.next(upTo: RowPage.capacity), !page.isEmpty {
      for row in page {
        try HostWork.charge()
        let key = keySlots.map { row.values[$0] }
        if !key.isEmpty, places[key] == nil {
          try memory.hold(128 + 192 * slots.count + key.reduce(0) { $0 + 32 + $1.weight })
          places[key] = groups.count
          groups.append(empty)
        }
        try groups[places[key] ?? 0].add(row, slots: slots)
      }
    }
    let result = RowCollector(store: StoreNumber(rawValue: 0), expecting: groups.count)
    let rest = groups.dropFirst(query.offset)
    for group in query.limit > 0 ? rest.prefix(query.limit) : rest {
      let page = result.page(for: query.entity.symbol, slotCount: slots.count)
      page.beginRow(key: 0, version: 0)
      for (place, value) in try group.values.enumerated() { page.set(value, slot: place) }
      page.endRow()
    }
    return Array(result.finish())
  }
}

/// The accumulated values of one group.
private struct ColumnGroup {
  private var count = 0
  /// For each column its accumulator, and the value of the group's first object for a column that is no function.
  private var states: [(reduction: Reduction?, first: Value)]
  private let isCount: [Bool]

  init(_ columns: QueryColumns, of entity: ResolvedEntity, slots: [Slot?]) {
    states = zip(columns.columns, slots).map { column, slot in
      guard case .function(let function, _) = column else { return (nil, .null) }
      let type = slot.flatMap { entity.property(at: $0).attribute?.type }
      return (Reduction(function.ofPredicates, ofDecimals: type == .decimal), .null)
    }
    isCount = columns.columns.map { $0.keyPath == nil }
  }

  /// Adds the row of an object to the group.
  mutating func add(_ row: Snapshot, slots: [Slot?]) throws {
    count += 1
    for (place, slot) in slots.enumerated() {
      guard let slot else { continue }
      if states[place].reduction == nil {
        if count == 1 { states[place].first = row.values[slot] }
      } else {
        try states[place].reduction?.add(row.values[slot])
      }
    }
  }

  var values: [Value] {
    get throws {
      try states.enumerated().map { place, state in
        isCount[place] ? .int(Int64(count)) : try state.reduction?.value ?? state.first
      }
    }
  }
}

extension QueryColumns.Function {
  /// The column function for a predicate function; nil if stores do not compute it.
  package init?(_ function: PredicateFunction) {
    switch function {
    case .count: self = .count
    case .sum: self = .sum
    case .average: self = .average
    case .min: self = .minimum
    case .max: self = .maximum
    default: return nil
    }
  }

  fileprivate var ofPredicates: PredicateFunction {
    switch self {
    case .count: .count
    case .sum: .sum
    case .average: .average
    case .minimum: .min
    case .maximum: .max
    }
  }
}
