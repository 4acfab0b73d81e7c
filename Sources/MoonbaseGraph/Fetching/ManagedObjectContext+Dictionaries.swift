public import MoonbaseModel
import MoonbasePlatform

/// What a request of any result type gives.
public enum FetchResult {
  /// Managed objects.
  case objects([ManagedObject])
  /// Object IDs.
  case objectIDs([ManagedObjectID])
  /// Values by column name.
  case dictionaries([[String: Value]])
  /// The number of matches.
  case count(Int)
}

extension ManagedObjectContext {
  /// Runs a request and returns what its `resultType` says.
  public func execute(_ request: FetchRequest) throws -> FetchResult {
    switch request.resultType {
    case .objects: .objects(try fetch(request))
    case .objectIDs: .objectIDs(try fetchIDs(request))
    case .dictionaries: .dictionaries(try fetchDictionaries(request))
    case .count: .count(try count(request))
    }
  }

  /// Values instead of objects: a dictionary for each group, or for each object where nothing is grouped or aggregated.
  ///
  /// The columns are the request's `propertiesToFetch`, or all attributes. `@count` of a key path skips missing values; `@sum`
  /// of nothing is 0; `@avg`, `@min` and `@max` of nothing are absent, as is every missing value. An aggregate beside plain
  /// columns that are not grouped repeats its value in all rows. `havingPredicate` sees the columns of a group, the keys that
  /// make the groups, and functions over the objects of one. Rows and values are those that are saved: no unsaved change counts.
  public func fetchDictionaries(_ request: FetchRequest) throws -> [[String: Value]] {
    let grouping = DictionaryGrouping(request, try DictionaryGrouping.plan(for: request, in: self))
    return try grouping.rows()
  }
}

/// Makes dictionaries of the objects that a fetch finds.
struct DictionaryGrouping {
  private let request: FetchRequest
  private let plan: FetchPlan

  init(_ request: FetchRequest, _ plan: FetchPlan) {
    self.request = request
    self.plan = plan
  }

  /// The fetch behind the dictionaries: in a context without unsaved changes, so that rows and values are those that are
  /// saved; and without a limit, for the limit is one of groups.
  static func plan(for request: FetchRequest, in context: ManagedObjectContext) throws -> FetchPlan {
    var objects = request
    objects.includesPendingChanges = false
    objects.fetchLimit = 0
    objects.fetchOffset = 0
    return try FetchPlan(objects, in: ManagedObjectContext(twinOf: context))
  }

  func rows() throws -> [[String: Value]] {
    let columns = plan.request.columns(of: plan.entity)
    let condition = try plan.request.havingPredicate.map { try GroupCondition($0, columns: columns) }
    let ready = try (columns + (condition?.hiddenColumns ?? [])).map {
      try GroupColumn($0, entity: plan.entity, model: plan.context.model)
    }
    var rows = try rows(try plan.objects(), ready)
    if let condition { rows = try condition.filter(rows) }
    if request.returnsDistinctResults {
      var seen: Set<[String: Value]> = []
      rows = try rows.filter { row in
        for value in row.values { try value.checkComparable() }
        return seen.insert(row).inserted
      }
    }
    let rest = rows.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }

  private func rows(_ objects: [ManagedObject], _ columns: [GroupColumn]) throws -> [[String: Value]] {
    if !request.propertiesToGroupBy.isEmpty { return try groups(of: objects).map { try row($0, columns) } }
    let aggregates = columns.filter(\.isAggregate)
    if !aggregates.isEmpty, aggregates.count == columns.count { return [try row(objects, columns)] }
    let plain = columns.filter { !$0.isAggregate }
    let whole = try row(objects, aggregates)
    return try objects.map { try row([$0], plain).merging(whole) { own, _ in own } }
  }

  /// Objects with equal values of the keys, in the order in which the first of each came.
  private func groups(of objects: [ManagedObject]) throws -> [[ManagedObject]] {
    let keys = try request.propertiesToGroupBy.map {
      try CompiledExpression(.keyPath($0), entity: plan.entity, in: plan.context.model)
    }
    var order: [[Value]] = []
    var members: [[Value]: [ManagedObject]] = [:]
    for object in objects {
      try HostWork.charge()
      let key = try keys.map { try $0.value(object) }
      for value in key { try value.checkComparable() }
      if members[key] == nil { order.append(key) }
      members[key, default: []].append(object)
    }
    return order.compactMap { members[$0] }
  }

  private func row(_ objects: [ManagedObject], _ columns: [GroupColumn]) throws -> [String: Value] {
    var result: [String: Value] = [:]
    try HostWork.charge(columns.count)
    for column in columns {
      let value = try column.value(of: objects)
      if !value.isNull { result[column.name] = value }
    }
    return result
  }
}
