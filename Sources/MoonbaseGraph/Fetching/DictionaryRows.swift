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
  let plan: FetchPlan
  let columns: [GroupColumn]
  let condition: GroupCondition?
  /// The order of the rows, where the objects are not sorted in their place.
  private let order: RowOrder?
  /// The request as it was asked, whose window the rows are shown in.
  let request: FetchRequest
  /// What the groups are made by.
  private let keys: [CompiledExpression]
  private let memo = EvaluationMemo()
  /// The to-one relationships that the columns lead through: their rows are read for many objects at once.
  private let relationships: [String]
  /// Why the store was not asked for the columns, as a clause; nil where it was.
  private let columnsReason: String?
  /// What it was asked of the rows that are left out.
  private let choice: RowChoice
  /// Whether the context judges rows by `having`.
  let judgesRows: Bool
  /// Whether the context leaves out rows that came before.
  let leavesOutEqualRows: Bool

  /// Makes a request ready. With `isKept` rows are read in several calls, and are of one state all the same.
  package init(_ request: FetchRequest, in context: ManagedObjectContext, isKept: Bool = false) throws {
    context.settle()
    context.noteOpenRead()
    var objects = request
    objects.includesPendingChanges = false
    let (entity, model) = (try context.entity(request.entityName), context.model)
    self.request = request
    let wanted = try objects.checked(in: model)
    let shown = wanted.columns(of: entity)
    order = RowOrder(wanted, shown: shown)
    var checked = wanted
    if order != nil {
      // All rows are needed before the first is known.
      for path in [\FetchRequest.fetchLimit, \.fetchOffset] {
        (checked[keyPath: path], objects[keyPath: path]) = (0, 0)
      }
      (checked.sortDescriptors, objects.sortDescriptors) = ([], [])
    }
    let condition = try checked.havingPredicate.map { try GroupCondition($0, columns: shown) }
    let all = shown + (condition?.hiddenColumns ?? []) + (order?.hiddenColumns ?? [])
    names = shown.map(\.name)
    self.condition = condition
    let memo = memo
    let twin = ManagedObjectContext(twinOf: context)
    let paths = StoredPaths(
      context: twin, entity: entity, entities: entity.indexes(includingSubentities: request.includesSubentities))
    columns = try all.map { try GroupColumn($0, entity: entity, model: model, memo: memo, paths: paths) }
    var stored: QueryColumns?
    (stored, columnsReason) = try Self.stored(columns, groupedBy: checked.propertiesToGroupBy, paths: paths)
    let choice = RowChoice(of: checked, condition, columns: columns, shown: shown.count, in: &stored)
    self.choice = choice
    plan = try FetchPlan(objects, in: twin, columns: stored, isKept: isKept, readsObjects: true)
    let taken = plan.storeQuery?.1.columns
    judgesRows = condition != nil && taken?.condition == nil
    let isDistinct = taken.map { $0.isDistinct || choice.isDistinctAnyway } ?? false
    leavesOutEqualRows = request.returnsDistinctResults && !isDistinct
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
  func lines() throws -> [String] {
    var lines = try plan.lines()
    if let columnsReason { lines.append("the context computes the columns: \(columnsReason)") }
    let reason = plan.givesColumns ? choice.reason ?? plan.parts.first?.plan.choiceReason : nil
    let because = reason.map { ": \($0)" } ?? ""
    if judgesRows { lines.append("the context judges the rows by having" + because) }
    if order != nil { lines.append("the context sorts the rows by what they show of groups") }
    if leavesOutEqualRows { lines.append("the context leaves out rows that are there already" + because) }
    return lines
  }

  /// A row's values by their columns' names.
  package func dictionary(_ values: [Value]) -> [String: Value] {
    var result: [String: Value] = [:]
    for (name, value) in zip(names, values) where !value.isNull { result[name] = value }
    return result
  }

  /// Calls `body` for the values of each row.
  package func forEach(_ body: ([Value]) throws -> Void) throws {
    let walk = try DictionaryWalk(self)
    while try walk.step(body) {}
  }

  // MARK: Kinds of results

  /// Computes some of the rows, each when it is passed on, until it is told false; returns whether there may be more.
  typealias Steps = (_ pass: ([Value]) throws -> Bool) throws -> Bool

  /// The rows, with those of hidden columns, before any is left out.
  func steps() throws -> Steps {
    guard let order else { return try unsortedSteps() }
    return Self.steps {
      let rows = try order.sorted(allRows(), columns: columns.map(\.name))
      return (rows.count, { rows[$0] })
    }
  }

  /// All rows, those of groups that are left out later too.
  private func allRows() throws -> [[Value]] {
    let steps = try unsortedSteps()
    var rows: [[Value]] = []
    var memory = HostMemory()
    while try steps({ row in
      try memory.hold(row.reduce(64) { $0 + 24 + $1.weight })
      rows.append(row)
      return true
    }) {}
    return rows
  }

  private func unsortedSteps() throws -> Steps {
    if plan.givesColumns { return try stored() }
    if !keys.isEmpty { return Self.steps { try groups() } }
    let aggregates = columns.indices.filter { columns[$0].isAggregate }
    if aggregates.isEmpty { return try objects() }
    if aggregates.count == columns.count { return Self.steps { try whole() } }
    return Self.steps { try repeating(aggregates) }
  }

  /// Rows for which all objects have to be read before the first is known.
  private static func steps(_ read: @escaping () throws -> (count: Int, row: (Int) throws -> [Value])) -> Steps {
    var rows: (count: Int, row: (Int) throws -> [Value])?
    var place = 0
    return { pass in
      let (count, row) = try rows ?? read()
      rows = (count, row)
      let end = min(count, place + [Value].batchSize)
      while place < end {
        place += 1
        guard try pass(row(place - 1)) else { return false }
      }
      return place < count
    }
  }

  /// The rows that the store computes. It need not go further than the window, unless rows are left out.
  private func stored() throws -> Steps {
    let leavesOut = judgesRows || leavesOutEqualRows
    let end = plan.windowEnd
    let next = try plan.rowsOfValues(limit: leavesOut || end == .max ? 0 : end)
    return { pass in
      guard let rows = try next() else { return false }
      for row in rows {
        try HostWork.charge()
        var place = 0
        guard try pass(columns.map { try $0.value(of: row, from: &place) }) else { return false }
      }
      return true
    }
  }

  /// A row for each object.
  private func objects() throws -> Steps {
    let next = try plan.batches()
    return { pass in
      try plan.reading {
        guard let objects = try next() else { return false }
        return try forEach(objects) { object in try pass(columns.map { try $0.value(of: object) }) }
      }
    }
  }

  /// One row for all objects.
  private func whole() throws -> (count: Int, row: (Int) throws -> [Value]) {
    var group = Group(columns)
    var memory = HostMemory()
    try forEachObject { try group.add($0, columns: columns, memory: &memory) }
    let row = try group.row(columns)
    return (1, { _ in row })
  }

  /// A row for each group, in the order in which the first object of each came.
  private func groups() throws -> (count: Int, row: (Int) throws -> [Value]) {
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
    }
    let found = groups
    return (found.count, { try found[$0].row(columns) })
  }

  /// A row for each object, with the values of all objects together in each.
  private func repeating(_ aggregates: [Int]) throws -> (count: Int, row: (Int) throws -> [Value]) {
    let plain = columns.indices.filter { !columns[$0].isAggregate }
    let shared = aggregates.map { columns[$0] }
    var whole = Group(shared)
    var found: [Value] = []
    var memory = HostMemory()
    try forEachObject { object in
      try whole.add(object, columns: shared, memory: &memory)
      for column in plain {
        let value = try columns[column].value(of: object)
        try memory.hold(24 + value.weight)
        found.append(value)
      }
    }
    var common = [Value](repeating: .null, count: columns.count)
    for (column, value) in zip(aggregates, try whole.row(shared)) { common[column] = value }
    let (values, pattern) = (found, common)
    return (
      values.count / plain.count,
      { index in
        var row = pattern
        for (offset, column) in plain.enumerated() { row[column] = values[index * plain.count + offset] }
        return row
      }
    )
  }

  // MARK: Objects

  private func forEachObject(_ body: (ManagedObject) throws -> Void) throws {
    try plan.reading {
      let next = try plan.batches()
      while let objects = try next() {
        _ = try forEach(objects) {
          try body($0)
          return true
        }
      }
    }
  }

  private func forEach(_ objects: [ManagedObject], _ body: (ManagedObject) throws -> Bool) throws -> Bool {
    try plan.context.prefetch(relationships, of: objects)
    for object in objects {
      try HostWork.charge()
      guard try body(object) else { return false }
    }
    return true
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
