public import MoonbaseModel
import MoonbasePlatform

public import enum MoonbaseModel.Predicate

/// Values that a store is asked for in the place of rows: attributes of each object, or functions over groups of objects.
///
/// The rows that a session gives for them (`ReadSession.values`) have a value for each column where others have one for each slot.
///
/// ```swift
/// var query = StoreQuery(entity: person, in: model)
/// query.columns = QueryColumns([.value(["department", "name"]), .objectCount, .function(.average, ["age"])])
/// query.columns?.groupKeys = [["department", "name"]]
/// ```
public struct QueryColumns: Sendable {
  /// A function over what the objects of a group have at the end of a key path. Missing values are left out.
  public enum Function: Sendable {
    /// How many there are.
    case count
    /// Their sum, exact where they are integers and fit; 0 of none.
    case sum
    /// Their mean; null of none.
    case average
    /// The least of them; null of none.
    case minimum
    /// The greatest of them; null of none.
    case maximum
  }

  /// One value of each row.
  public enum Column: Sendable {
    /// An attribute, at the end of a key path through to-one relationships. Of a group it is one of its keys.
    case value([String])
    /// How many objects there are.
    case objectCount
    /// A function over the objects of a group.
    case function(Function, [String])

    /// The key path that is read of each object.
    public var keyPath: [String]? {
      switch self {
      case .value(let keys), .function(_, let keys): keys
      case .objectCount: nil
      }
    }
  }

  /// The values of a row.
  public var columns: [Column]
  /// What the groups are made by, as key paths: one row for each group, in the order in which the first objects of the groups come.
  public var groupKeys: [[String]] = []

  /// Which groups are wanted: `0` in it is the value of the first column, `1` that of the second. Nil for all.
  public var condition: Predicate?
  /// Whether rows without groups that are equal come once, where the first of their objects would.
  public var isDistinct = false

  /// Values of each object; with functions alone one row for all of them.
  public init(_ columns: [Column]) { self.columns = columns }

  /// Whether a row is one of a group, or of all objects together.
  public var isGrouped: Bool {
    !groupKeys.isEmpty
      || columns.contains { column in
        if case .value = column { false } else { true }
      }
  }

  /// Whether some of the rows are left out.
  public var choosesRows: Bool { condition != nil || isDistinct }

  /// The same with all rows.
  public var withAllRows: Self {
    var columns = self
    (columns.condition, columns.isDistinct) = (nil, false)
    return columns
  }

  /// What is the same in all objects that make a row; empty where each makes one of its own, or all make one.
  package var rowKeys: [[String]] { isDistinct ? columns.compactMap(\.keyPath) : groupKeys }

  /// Why they cannot be computed of the rows of the objects alone, as a clause for a plan; nil where they can: then a session need not
  /// have `values` of its own.
  public var reasonAgainstRows: String? {
    let paths = groupKeys + columns.compactMap(\.keyPath)
    return paths.first { $0.count != 1 }.map { "\($0.joined(separator: ".")) leads to other rows" }
  }
}

/// Columns computed of rows, for stores that hold rows and nothing else.
final class ColumnsOfRows: RowCursor {
  private let columns: QueryColumns
  private let query: StoreQuery
  private let rows: any RowCursor
  /// The rows of the groups, once they were asked for.
  private let groups = Lock<RowList?>(nil)

  init(_ columns: QueryColumns, of query: StoreQuery, _ rows: any RowCursor) throws {
    (self.columns, self.query, self.rows) = (columns, query, rows)
    for keys in columns.groupKeys + columns.columns.compactMap(\.keyPath) { _ = try Self.slot(keys, of: query) }
  }

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

/// What the objects of a group have come to.
private struct ColumnGroup {
  private var count = 0
  /// Of a column that is no function, the value of the first object.
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
  /// The function of predicates; nil for those that no store is asked for.
  init?(_ function: PredicateFunction) {
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

/// Which key paths a store may read by itself.
struct StoredPaths {
  let context: ManagedObjectContext
  let entity: ResolvedEntity
  let entities: Range<EntityIndex>

  /// Why a path's values are none that a store has, as a clause; nil where they are.
  func reason(_ keys: [String]) throws -> String? {
    var (entity, entities) = (entity, entities)
    let path = keys.joined(separator: ".")
    for (place, key) in keys.enumerated() {
      guard let property = entity.property(key), !property.isTransient else {
        return "\(path) is not kept in the store"
      }
      for index in entities {
        guard try context.behavior(of: context.model.entities[index]).isStoredAsIs(property.slot) else {
          return "\(key) of \(context.model.entities[index].name) is computed by the context"
        }
      }
      let isLast = place == keys.count - 1
      switch property.kind {
      case .attribute where isLast: return nil
      case .toOne(let relationship) where !isLast:
        entity = context.model.destination(of: relationship)
        entities = entity.indexes(includingSubentities: true)
      case .attribute(let attribute)
      where attribute.type == .composite && attribute.element(at: keys[(place + 1)...]) != nil:
        return nil
      case .attribute: return "it looks into \(key), which is one value to the store"
      case .toOne: return "\(path) is an object"
      case .toMany: return "\(path) leads to several objects"
      }
    }
    return "it names no property"
  }
}
