package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Expression

/// The rows of a dictionary result, one after the other.
///
/// The objects behind them come some at a time, in a context of their own without unsaved changes, so that rows and values are
/// those that are saved, and go again: of a group only what its columns need is kept.
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

  private var request: FetchRequest { plan.request }

  /// Makes a request ready.
  package init(_ request: FetchRequest, in context: ManagedObjectContext) throws {
    context.settle()
    context.noteOpenRead()
    var objects = request
    objects.includesPendingChanges = false
    plan = try FetchPlan(objects, in: ManagedObjectContext(twinOf: context))
    let (entity, model) = (plan.entity, context.model)
    let shown = plan.request.columns(of: entity)
    let condition = try plan.request.havingPredicate.map { try GroupCondition($0, columns: shown) }
    let all = shown + (condition?.hiddenColumns ?? [])
    names = shown.map(\.name)
    self.condition = condition
    let memo = memo
    columns = try all.map { try GroupColumn($0, entity: entity, model: model, memo: memo) }
    keys = try plan.request.propertiesToGroupBy.map {
      try CompiledExpression(.keyPath($0), entity: entity, in: model)
    }
    relationships = Self.relationships(
      of: all.map(\.expression) + request.propertiesToGroupBy.map { .keyPath($0) }, from: entity, in: model)
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
    if !keys.isEmpty { return try groups(pass) }
    let aggregates = columns.indices.filter { columns[$0].isAggregate }
    if aggregates.isEmpty { return try objects(pass) }
    if aggregates.count == columns.count { return try whole(pass) }
    try repeating(aggregates, pass)
  }

  // MARK: Kinds of results

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
