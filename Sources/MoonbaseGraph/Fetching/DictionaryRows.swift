package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Expression

/// The rows of a dictionary result, one after the other.
///
/// Values that are stored as they are the store gives, and it groups them. Where the context computes, the objects behind them come some
/// at a time, in a context of their own without unsaved changes, so that rows and values are those that are saved, and go again: of a
/// group only what its columns need is kept.
package struct DictionaryRows {
  /// The columns' names: a row has a value for each, null where there is none.
  package let names: [String]
  private let plan: FetchPlan
  private let columns: [GroupColumn]
  private let condition: GroupCondition?
  /// What the groups are made by.
  private let keys: [CompiledExpression]
  private let memo = EvaluationMemo()
  /// The to-one relationships that the columns lead through: their rows are read for many objects at once.
  private let relationships: [String]
  /// Why the store was not asked for the columns, as a clause; nil where it was.
  private let columnsReason: String?

  private var request: FetchRequest { plan.request }

  /// Makes a request ready.
  package init(_ request: FetchRequest, in context: ManagedObjectContext) throws {
    context.settle()
    context.noteOpenRead()
    var objects = request
    objects.includesPendingChanges = false
    let (entity, model) = (try context.entity(request.entityName), context.model)
    let checked = try objects.checked(in: model)
    let shown = checked.columns(of: entity)
    let condition = try checked.havingPredicate.map { try GroupCondition($0, columns: shown) }
    let all = shown + (condition?.hiddenColumns ?? [])
    names = shown.map(\.name)
    self.condition = condition
    let memo = memo
    let twin = ManagedObjectContext(twinOf: context)
    let paths = StoredPaths(
      context: twin, entity: entity, entities: entity.indexes(includingSubentities: request.includesSubentities))
    columns = try all.map { try GroupColumn($0, entity: entity, model: model, memo: memo, paths: paths) }
    let stored: QueryColumns?
    (stored, columnsReason) = try Self.stored(columns, groupedBy: checked.propertiesToGroupBy, paths: paths)
    plan = try FetchPlan(objects, in: twin, columns: stored)
    keys = try checked.propertiesToGroupBy.map {
      try CompiledExpression(.keyPath($0), entity: entity, in: model)
    }
    relationships = Self.relationships(
      of: all.map(\.expression) + request.propertiesToGroupBy.map { .keyPath($0) }, from: entity, in: model)
  }

  /// What a store is asked for, or why it is asked for objects.
  private static func stored(
    _ columns: [GroupColumn], groupedBy keys: [String], paths: StoredPaths
  ) throws -> (QueryColumns?, String?) {
    var wanted = QueryColumns([])
    for column in columns {
      switch column.stored {
      case .parts(let parts): wanted.columns += parts
      case .refused(let reason): return (nil, reason)
      }
    }
    wanted.groupKeys = keys.map { $0.split(separator: ".").map(String.init) }
    for keys in wanted.groupKeys { if let reason = try paths.reason(keys) { return (nil, reason) } }
    guard wanted.isGrouped else { return (wanted, nil) }
    for case .value(let keys) in wanted.columns where !wanted.groupKeys.contains(keys) {
      return (nil, "\(keys.joined(separator: ".")) is a value of single objects beside functions over all")
    }
    return (wanted, nil)
  }

  /// How the rows are made, in lines for a person.
  var explanation: String {
    var lines = plan.lines
    if let columnsReason { lines.append("the context computes the columns: \(columnsReason)") }
    if condition != nil { lines.append("the context judges the rows by having") }
    if request.returnsDistinctResults { lines.append("the context leaves out rows that are there already") }
    return lines.joined(separator: "\n")
  }

  /// A row's values by their columns' names.
  package func dictionary(_ values: [Value]) -> [String: Value] {
    var result: [String: Value] = [:]
    for (name, value) in zip(names, values) where !value.isNull { result[name] = value }
    return result
  }

  /// Calls `body` for the values of each row.
  package func forEach(_ body: ([Value]) throws -> Void) throws {
    defer { plan.view.end() }
    var window = RowWindow(request)
    let allNames = columns.map(\.name)
    func pass(_ row: [Value]) throws -> Bool {
      try HostWork.charge(row.count)
      if let condition, try !condition.holds(allNames, values: row) { return true }
      let shown = row.count == names.count ? row : Array(row.prefix(names.count))
      if try window.admits(shown) { try body(shown) }
      return !window.isClosed
    }
    if window.isClosed { return }
    if plan.givesColumns { return try stored(pass) }
    if !keys.isEmpty { return try groups(pass) }
    let aggregates = columns.indices.filter { columns[$0].isAggregate }
    if aggregates.isEmpty { return try objects(pass) }
    if aggregates.count == columns.count { return try whole(pass) }
    try repeating(aggregates, pass)
  }

  // MARK: Kinds of results

  /// The rows that the store computes. It need not go further than the window, unless rows are left out.
  private func stored(_ pass: ([Value]) throws -> Bool) throws {
    let leavesOut = condition != nil || request.returnsDistinctResults
    let end = plan.windowEnd
    try plan.forEachRowOfValues(limit: leavesOut || end == .max ? 0 : end) { row in
      var place = 0
      return try pass(try columns.map { try $0.value(of: row, from: &place) })
    }
  }

  /// A row for each object.
  private func objects(_ pass: ([Value]) throws -> Bool) throws {
    try forEachObject { object in try pass(try columns.map { try $0.value(of: object) }) }
  }

  /// One row for all objects.
  private func whole(_ pass: ([Value]) throws -> Bool) throws {
    var group = Group(columns)
    var memory = HostMemory()
    try forEachObject { object in
      try group.add(object, columns: columns, memory: &memory)
      return true
    }
    _ = try pass(try group.row(columns))
  }

  /// A row for each group, in the order in which the first object of each came.
  private func groups(_ pass: ([Value]) throws -> Bool) throws {
    var groups: [Group] = []
    var places: [[Value]: Int] = [:]
    var memory = HostMemory()
    try forEachObject { object in
      let key = try keys.map { try $0.value(object, memo: memo) }
      for value in key { try value.checkComparable() }
      if let place = places[key] {
        try groups[place].add(object, columns: columns, memory: &memory)
      } else {
        try memory.hold(128 + 192 * columns.count + key.reduce(0) { $0 + 32 + $1.weight })
        places[key] = groups.count
        groups.append(Group(columns))
        try groups[groups.count - 1].add(object, columns: columns, memory: &memory)
      }
      return true
    }
    places = [:]
    for group in groups { guard try pass(try group.row(columns)) else { return } }
  }

  /// A row for each object, with the values of all objects together in each.
  private func repeating(_ aggregates: [Int], _ pass: ([Value]) throws -> Bool) throws {
    let plain = columns.indices.filter { !columns[$0].isAggregate }
    let shared = aggregates.map { columns[$0] }
    var whole = Group(shared)
    var values: [Value] = []
    var memory = HostMemory()
    try forEachObject { object in
      try whole.add(object, columns: shared, memory: &memory)
      for column in plain {
        let value = try columns[column].value(of: object)
        try memory.hold(24 + value.weight)
        values.append(value)
      }
      return true
    }
    var row = [Value](repeating: .null, count: columns.count)
    for (column, value) in zip(aggregates, try whole.row(shared)) { row[column] = value }
    for start in stride(from: 0, to: values.count, by: plain.count) {
      for (offset, column) in plain.enumerated() { row[column] = values[start + offset] }
      guard try pass(row) else { return }
    }
  }

  // MARK: Objects

  private func forEachObject(_ body: (ManagedObject) throws -> Bool) throws {
    try plan.forEachBatch { objects in
      try plan.context.prefetch(relationships, of: objects)
      for object in objects {
        try HostWork.charge()
        guard try body(object) else { return false }
      }
      return true
    }
  }

  private static func relationships(
    of expressions: [Expression], from entity: ResolvedEntity, in model: ResolvedModel
  ) -> [String] {
    var found: Set<String> = []
    for expression in expressions {
      _ = expression.replacing { part in
        if case .keyPath(.evaluatedObject, let keys) = part {
          let way = toOneKeys(keys.drop { $0.hasPrefix("@") }, from: entity, in: model)
          if !way.isEmpty { found.insert(way.joined(separator: ".")) }
        }
        return nil
      }
    }
    return found.sorted()
  }

  /// The keys of a path whose objects have to be there to read its end.
  private static func toOneKeys(
    _ keys: ArraySlice<String>, from start: ResolvedEntity, in model: ResolvedModel
  ) -> [String] {
    var entity = start
    var result: [String] = []
    for key in keys.dropLast() {
      guard case .toOne(let relationship)? = entity.property(key)?.kind else { break }
      result.append(key)
      entity = model.destination(of: relationship)
    }
    return result
  }
}

/// Which rows of a result are shown: without those that came before, from an offset on, up to a limit.
private struct RowWindow: ~Copyable {
  private let isDistinct: Bool
  private var skipped: Int
  private var left: Int
  private var seen: Set<[Value]> = []
  private var memory = HostMemory()

  init(_ request: FetchRequest) {
    isDistinct = request.returnsDistinctResults
    skipped = request.fetchOffset
    left = request.fetchLimit > 0 ? request.fetchLimit : .max
  }

  /// Whether no further row is shown.
  var isClosed: Bool { left == 0 }

  mutating func admits(_ row: [Value]) throws -> Bool {
    if isDistinct {
      for value in row { try value.checkComparable() }
      guard seen.insert(row).inserted else { return false }
      try memory.hold(row.reduce(48) { $0 + 24 + $1.weight })
    }
    if skipped > 0 {
      skipped -= 1
      return false
    }
    guard left > 0 else { return false }
    left -= 1
    return true
  }
}
