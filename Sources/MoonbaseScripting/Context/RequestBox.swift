import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// A fetch request that a script builds, step by step; each step is a new one.
final class RequestBox {
  var request: FetchRequest
  var saveEvery: Int?
  private var conditionCount = 0
  private let home: ContextBox

  init(_ request: FetchRequest, _ context: ContextBox) {
    self.request = request
    home = context
  }

  var context: ManagedObjectContext { get throws { try home.live() } }

  func with(_ change: (RequestBox) throws -> Void) rethrows -> RequestBox {
    let copy = RequestBox(request, home)
    copy.saveEvery = saveEvery
    copy.conditionCount = conditionCount
    try change(copy)
    return copy
  }

  /// Adds a condition; several mean AND.
  func add(_ predicate: Predicate) {
    conditionCount += 1
    switch request.predicate {
    case nil: request.predicate = predicate
    case .and(let conditions): request.predicate = .and(conditions + [predicate])
    case let other?: request.predicate = .and([other, predicate])
    }
  }

  /// How many of a kind a request takes: conditions of `where`, keys, paths. Each step copies those before it.
  static let greatestCount = 1000

  func checkCounts(after step: String) throws {
    let counts = [
      conditionCount, request.sortDescriptors.count, request.relationshipKeyPathsForPrefetching.count,
      request.propertiesToGroupBy.count,
    ]
    guard counts.contains(where: { $0 > Self.greatestCount }) else { return }
    throw ScriptError(
      .invalidRequest,
      "\(step): a request takes at most \(Self.greatestCount) of these; to find one of many values, ask for key IN %@")
  }
}

extension HostTypes {
  func describeRequest() {
    step("where") { box, call, domain in box.add(try Self.predicate(call, domain, try box.context)) }
    step("sort") { box, call, _ in
      for index in 0..<call.count { box.request.sortDescriptors.append(SortDescriptor(text: try call.text(index))) }
    }
    step("limit") { box, call, _ in box.request.fetchLimit = try Self.count(call, 0) }
    step("offset") { box, call, _ in box.request.fetchOffset = try Self.count(call, 0) }
    step("batch") { box, call, _ in box.request.fetchBatchSize = try Self.count(call, 0) }
    step("prefetch") { box, call, _ in
      for index in 0..<call.count { box.request.relationshipKeyPathsForPrefetching.append(try call.text(index)) }
    }
    step("subentities") { box, call, _ in box.request.includesSubentities = try call.boolean(0) }
    step("pending") { box, call, _ in box.request.includesPendingChanges = try call.boolean(0) }
    step("group_by") { box, call, _ in
      for index in 0..<call.count { box.request.propertiesToGroupBy.append(try call.text(index)) }
    }
    step("having") { box, call, domain in
      box.request.havingPredicate = try Self.predicate(call, domain, try box.context)
    }
    step("distinct") { box, call, _ in box.request.returnsDistinctResults = call.isNil(0) ? true : try call.boolean(0) }
    step("save_every") { box, call, _ in box.saveEvery = max(1, try Self.count(call, 0)) }
    describeResults()
    describeMisuse()
  }

  /// A request is no list: what would take it for one says how its objects are reached.
  private func describeMisuse() {
    let advice = "for object in request:each() do, or take the list that request:all() gives"
    for name in [LuaOperator.call, .pairs] {
      request.operator(name) { _ in
        throw ScriptError(.invalidRequest, "a fetch request has not been fetched yet: write \(advice)")
      }
    }
    request.operator(.length) { _ in
      throw ScriptError(.invalidRequest, "a fetch request has no length: call its method count()")
    }
    request.missing { [unowned request] _, key, _, call in
      guard case .integer = try call.value(0) else {
        throw ScriptError(
          .invalidRequest, "fetch request has no '\(key)'\(suggestion(for: key, among: request.names))")
      }
      throw ScriptError(.invalidRequest, "a fetch request has no elements: write \(advice)")
    }
  }

  /// A method that returns a changed copy of the request.
  private func step(
    _ name: String, _ change: @escaping (RequestBox, borrowing LuaCall, ScriptDomain) throws -> Void
  ) {
    request.method(name) { [unowned self] box, call in
      let domain = try home()
      let copy = box.with { _ in }
      try change(copy, call, domain)
      try copy.checkCounts(after: name)
      try call.return(copy, as: request)
    }
  }

  private func describeResults() {
    request.method("all") { [unowned self] box, call in
      let domain = try home()
      let objects = try box.context.fetch(box.request).map { try domain.handle($0) }
      try call.return(.table(try domain.state.list(objects)))
    }
    request.method("first") { [unowned self] box, call in
      var request = box.request
      request.fetchLimit = 1
      try call.return(try box.context.fetch(request).first.map { try home().handle($0) } ?? .nil)
    }
    request.method("ids") { [unowned self] box, call in
      let domain = try home()
      let ids = try box.context.fetchIDs(box.request).map { try domain.lua(.objectID($0)) }
      try call.return(.table(try domain.state.list(ids)))
    }
    request.method("count") { box, call in call.return(try box.context.count(box.request)) }
    request.method("each") { [unowned self] box, call in
      let walk = try ObjectWalk(box)
      let domain = try home()
      try call.return(
        try domain.state.function { [unowned domain] call in
          try call.return(try walk.next().map { try domain.handle($0) } ?? .nil)
        })
    }
    request.method("dictionaries") { [unowned self] box, call in
      let domain = try home()
      var request = box.request
      if !call.isNil(0) { request.propertiesToFetch = try Self.columns(try call.table(0)) }
      let rows = try box.context.fetchDictionaries(request)
      let tables = try rows.map { row in LuaValue.table(try domain.state.table(row.mapValues { try domain.lua($0) })) }
      try call.return(.table(try domain.state.list(tables)))
    }
  }

  /// The arguments of a call as a predicate: its text, and what stands for its placeholders.
  private static func predicate(
    _ call: borrowing LuaCall, _ domain: ScriptDomain, _ context: ManagedObjectContext
  ) throws -> Predicate {
    let arguments = try (1..<max(1, call.count)).map { index in
      let argument = try call.value(index)
      try domain.checkContext(of: argument, is: context)
      do { return try domain.value(argument) } catch let error as ScriptError {
        throw call.argumentError(index, error.message)
      }
    }
    return try Predicate(format: try call.text(0), arguments: arguments)
  }

  static func count(_ call: borrowing LuaCall, _ index: Int) throws -> Int {
    let number = try call.integer(index)
    guard (0...Int64(Int32.max)).contains(number) else { throw call.argumentError(index, "a count is expected") }
    return Int(number)
  }

  /// `{ "kind", total = "@sum.age" }` as names and key paths.
  private static func columns(_ table: LuaTable) throws -> [FetchColumn] {
    try table.pairs.map { key, value in
      guard let path = value.textValue else {
        throw ScriptError(.invalidRequest, "dictionaries takes key paths as text, not a \(value.typeName)")
      }
      return FetchColumn(key.textValue ?? path, try Expression(format: path))
    }
  }
}
