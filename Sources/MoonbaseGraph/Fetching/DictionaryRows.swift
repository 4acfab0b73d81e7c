package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Expression

/// The rows of a dictionary result.
///
/// If possible, the store reads and groups the values. Otherwise objects are read in batches, in a separate context
/// without unsaved changes, so that only saved rows and values count. The objects are released after each batch; a
/// group keeps only the values that its columns need.
///
/// Made for a request with the result type of dictionaries, and used once. Depending on the columns, the store computes
/// the rows, or the context computes them from objects:
///
/// ```text
/// columns        group by    rows
/// name, age      -           one for each object
/// average(age)   -           a single one
/// city, count    city        one for each city
/// ```
package struct DictionaryRows {
  /// The names of the columns. Each row has a value for each, possibly null.
  package let names: [String]
  /// The fetch of objects, or of the store's columns.
  let plan: FetchPlan
  /// The columns with hidden ones behind.
  let columns: [GroupColumn]
  /// The compiled `havingPredicate`.
  let condition: GroupCondition?
  /// The order of the rows, if the rows rather than the objects are sorted.
  private let order: RowOrder?
  /// The original request, whose limit and offset apply to the rows.
  let request: FetchRequest
  /// The expressions by which objects are grouped.
  private let keys: [CompiledExpression]
  /// Results that objects share within the fetch.
  private let memo = EvaluationMemo()
  /// The to-one relationships in the columns' key paths, whose rows are prefetched.
  private let relationships: [String]
  /// The reason why the store does not compute the columns, as a clause; nil if it does.
  private let columnsReason: String?
  /// The part of the row selection that the store executes.
  private let choice: RowChoice
  /// Whether the context evaluates `havingPredicate`.
  let judgesRows: Bool
  /// Whether the context removes duplicate rows.
  let leavesOutEqualRows: Bool

  /// Prepares a request. With `isKept`, rows are read in several calls that all see one state. Throws `.invalidRequest`
  /// and the errors of unknown names and of predicates.
  package init(_ request: FetchRequest, in context: ManagedObjectContext, isKept: Bool = false) throws {
    context.waitForPendingSave()
    context.recordUntrackedRead()
    var objects = request
    objects.includesPendingChanges = false
    let (entity, model) = (try context.entity(request.entityName), context.model)
    self.request = request
    let wanted = try context.checked(objects)
    let shown = wanted.columns(of: entity)
    order = RowOrder(wanted, shown: shown)
    var checked = wanted
    if order != nil {
      // All rows are needed to determine the first.
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

  /// The columns for a store's query, or the reason why the context computes them from objects. A store can compute
  /// functions over objects, grouped or not, and values of group keys. Throws for unknown names.
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

  /// A description of the execution, in lines for display. The lines of the fetch come first.
  func lines() throws -> [String] {
    var lines = try plan.lines()
    if let columnsReason { lines.append("the context computes the columns: \(columnsReason)") }
    let reason = plan.givesColumns ? choice.reason ?? plan.parts.first?.plan.omissionReason : nil
    let because = reason.map { ": \($0)" } ?? ""
    if judgesRows { lines.append("the context judges the rows by having" + because) }
    if order != nil { lines.append("the context sorts the rows by what they show of groups") }
    if leavesOutEqualRows { lines.append("the context leaves out rows that are there already" + because) }
    return lines
  }

  /// The values of a row by column name; nulls are left out. A later column of the same name wins.
  package func dictionary(_ values: [Value]) -> [String: Value] {
    var result: [String: Value] = [:]
    for (name, value) in zip(names, values) where !value.isNull { result[name] = value }
    return result
  }

  /// Calls `body` with the values of each row. Ends the view when all rows are read or an error is thrown.
  package func forEach(_ body: ([Value]) throws -> Void) throws {
    let walk = try DictionaryWalk(self)
    while try walk.step(body) {}
  }

  // MARK: Kinds of results

  /// Computes the next rows and passes each to the closure until it returns false; returns whether more rows may
  /// follow.
  typealias Steps = (_ pass: ([Value]) throws -> Bool) throws -> Bool

  /// The rows including hidden columns, before any are left out. Each call of the closure computes some rows.
  func steps() throws -> Steps {
    guard let order else { return try unsortedSteps() }
    return Self.steps {
      let rows = try order.sorted(allRows(), columns: columns.map(\.name))
      return (rows.count, { rows[$0] })
    }
  }

  /// All rows, including groups that are left out later. The memory of the rows is charged.
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

  /// The rows in the order of the objects, computed in the simplest way that the columns allow. See the type for the
  /// kinds.
  private func unsortedSteps() throws -> Steps {
    if plan.givesColumns { return try stored() }
    if !keys.isEmpty { return Self.steps { try groups() } }
    let aggregates = columns.indices.filter { columns[$0].isAggregate }
    if aggregates.isEmpty { return try objects() }
    if aggregates.count == columns.count { return Self.steps { try whole() } }
    return Self.steps { try repeating(aggregates) }
  }

  /// Steps through rows that are computed together when the first is requested. `read` is called once.
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

  /// The rows that the store computes: limited to the window, unless rows are left out. Values are converted by the
  /// columns.
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

  /// Steps through rows of which each describes one object. Objects are released after each batch.
  private func objects() throws -> Steps {
    let next = try plan.batches()
    return { pass in
      try plan.reading {
        guard let objects = try next() else { return false }
        return try forEach(objects) { object in try pass(columns.map { try $0.value(of: object) }) }
      }
    }
  }

  /// Computes the single row for all objects. An empty result also gives a row.
  private func whole() throws -> (count: Int, row: (Int) throws -> [Value]) {
    var group = Group(columns)
    var memory = HostMemory()
    try forEachObject { try group.add($0, columns: columns, memory: &memory) }
    let row = try group.row(columns)
    return (1, { _ in row })
  }

  /// Computes a row for each group, in the order of the groups' first objects. Keys are compared as values; null is a
  /// key too. Throws for values that cannot be compared.
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

  /// Computes a row for each object, with aggregates over all objects. Values of objects are kept until all aggregates
  /// are known.
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

  /// Calls `body` for each object of the fetch, batch by batch. Reads in the view of the fetch.
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

  /// Prefetches relationships of the batch first. Returns false if `body` did.
  private func forEach(_ objects: [ManagedObject], _ body: (ManagedObject) throws -> Bool) throws -> Bool {
    try plan.context.prefetch(relationships, of: objects)
    for object in objects {
      try HostWork.charge()
      guard try body(object) else { return false }
    }
    return true
  }

  /// The to-one relationships in the key paths of expressions, as key paths for prefetching. Parts behind a to-many
  /// relationship are not prefetched.
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

  /// The to-one relationships of a key path, through which its end is read. For example `department.company` of
  /// `department.company.name`.
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
