import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

extension HostTypes {
  /// Defines a method that returns a request with a further step, for requests or for relationships.
  ///
  /// Requests and to-many relationships have the same steps as methods. The body receives the request before the step.
  typealias StepDescription = (
    _ name: String, _ count: Int, _ body: @escaping (RequestBox, borrowing LuaCall, ScriptDomain) throws -> RequestBox
  ) -> Void

  /// Describes a request's steps, its results, batch changes and errors of misuse.
  func describeRequest() {
    describeSteps { [unowned self] name, count, body in
      request.method(name, upTo: count) { [unowned self] box, call in
        try call.return(body(box, call, openDomain()), as: request)
      }
    }
    describeResults()
    describeBatchChanges()
    describeMisuse()
  }

  /// Defines the steps, such as `where` and `sort`.
  ///
  /// A step returns a new request and leaves the old one unchanged: `local adults = people:where("age >= 18")`.
  func describeSteps(_ describe: StepDescription) {
    func step(
      _ name: String, upTo count: Int = .max,
      _ body: @escaping (RequestBox, borrowing LuaCall, ScriptDomain) throws -> RequestBox
    ) {
      describe(name, count, body)
    }
    /// Defines a step that changes the request by its argument.
    func change<Argument>(
      _ name: String, reading read: @escaping (borrowing LuaCall) throws -> Argument,
      _ body: @escaping (inout FetchRequest, Argument) -> Void
    ) {
      step(name, upTo: 1) { box, call, _ in
        let argument = try read(call)
        return try box.with(.change { body(&$0, argument) })
      }
    }
    /// Defines a step that adds texts to a list of the request.
    func texts(_ name: String, kind: RequestBox.Kind, _ body: @escaping (inout FetchRequest, [String]) -> Void) {
      step(name) { box, call, _ in
        let texts = try (0..<max(1, call.count)).map { try call.text($0) }
        if kind == .keys {
          try Self.checkOrder(of: texts, call, entity: box.context.model.entity(box.request.entityName))
        }
        let weight = texts.reduce(0) { $0 + 48 + $1.utf8.count }
        return try box.with(.change { body(&$0, texts) }, adding: texts.count, to: kind, weight: weight)
      }
    }
    step("where") { box, call, domain in
      let (condition, values) = try Self.predicate(call, domain: domain, in: try box.context)
      try Self.checkWords(try call.text(0), of: box.request.entityName, in: try box.context)
      try Self.checkDates(condition, values, call, of: box.request.entityName, in: try box.context)
      return try box.with(
        .condition(condition), adding: 1, to: .conditions, weight: condition.weight, naming: values)
    }
    texts("sort", kind: .keys) { request, keys in request.sortDescriptors += keys.map { SortDescriptor(text: $0) } }
    texts("prefetch", kind: .paths) { $0.relationshipKeyPathsForPrefetching += $1 }
    texts("group_by", kind: .groups) { $0.propertiesToGroupBy += $1 }
    change("limit", reading: Self.count) { $0.fetchLimit = $1 }
    change("offset", reading: Self.count) { $0.fetchOffset = $1 }
    change("batch", reading: Self.count) { $0.fetchBatchSize = $1 }
    change("subentities", reading: { try $0.boolean(0) }) { $0.includesSubentities = $1 }
    change("pending", reading: { try $0.boolean(0) }) { $0.includesPendingChanges = $1 }
    change("distinct", reading: { call in call.isNil(0) ? true : try call.boolean(0) }) {
      $0.returnsDistinctResults = $1
    }
    step("having") { box, call, domain in
      let (condition, values) = try Self.predicate(call, domain: domain, in: try box.context)
      return try box.with(.change { $0.havingPredicate = condition }, weight: condition.weight, naming: values)
    }
    step("save_every", upTo: 1) { box, call, _ in
      let count = try Self.count(call)
      guard count > 0 else { throw call.argumentError(0, problem: "a number of at least 1 is expected, got \(count)") }
      return try box.with(.saveEvery(count))
    }
  }

  /// Reports the use of a request as a list: calls, `pairs`, `#` and indexes raise an error that names the methods for
  /// its objects.
  private func describeMisuse() {
    let advice = "for object in request:each() do, or take the list that request:all() gives"
    for name in [LuaOperator.call, .pairs] {
      request.operator(name) { _ in
        throw ScriptError(.invalidRequest, message: "a fetch request has not been fetched yet: write \(advice)")
      }
    }
    request.operator(.text) { call in call.return(try call.object(0, as: RequestBox.self).text) }
    request.operator(.length) { _ in
      throw ScriptError(.invalidRequest, message: "a fetch request has no length: call its method count()")
    }
    request.missing { [unowned self, unowned request] _, key, _, call in
      guard case .integer = try call.value(0) else {
        throw ScriptError(
          .unknownName, message: "a fetch request has no '\(key)'\(self.advice(for: key, known: request.names))")
      }
      throw ScriptError(.invalidRequest, message: "a fetch request has no elements: write \(advice)")
    }
  }

  /// The nearest name; for names of other libraries, the corresponding name here. Compared without case.
  private func advice(for name: String, known: [String]) -> String {
    let others = [
      "orderby": "sort", "order_by": "sort", "order": "sort", "filter": "where", "list": "all", "get": "all",
      "one": "first",
      "select": "dictionaries", "columns": "dictionaries", "update": "batch_update", "delete": "batch_delete",
      "remove": "batch_delete", "group": "group_by", "groupby": "group_by",
      "len": "count", "size": "count", "take": "limit", "skip": "offset", "include": "prefetch", "iterate": "each",
    ]
    return others[name.lowercased()].map { "; did you mean \($0)?" } ?? suggestion(for: name, among: known)
  }

  /// The estimated bytes of a batch of rows, which a walk over rows keeps.
  private static let weightOfRows = 64 << 10

  /// Refuses `sort("name", "desc")`, the form of other languages.
  private static func checkOrder(of keys: [String], _ call: borrowing LuaCall, entity: ResolvedEntity?) throws {
    for (index, key) in keys.enumerated().dropFirst() {
      guard let order = orders[key.lowercased()], entity?.property(key) == nil else { continue }
      throw call.argumentError(
        index, problem: "\"\(key)\" is no key: write \"\(order)\(keys[index - 1])\" for the order")
    }
  }

  /// Words for an order in other languages, with the prefix of a sort key here.
  private static let orders = ["desc": "-", "descending": "-", "asc": "", "ascending": ""]

  /// Describes the methods that fetch: `all`, `first`, `ids`, `count`, `each`, `dictionaries`, `rows`, `recompute`,
  /// `follow` and `explain`.
  private func describeResults() {
    request.method("all", upTo: 0) { [unowned self] box, call in
      try call.return(.table(try openDomain().list(of: box.objects("all"))))
    }
    request.method("first", upTo: 0) { [unowned self] box, call in
      var request = try box.objectRequest("first")
      request.fetchLimit = 1
      let found = try box.objectsInOrder(request) ?? box.context.fetch(request)
      try call.return(try found.first.map { try openDomain().handle($0) } ?? .nil)
    }
    request.method("ids", upTo: 0) { [unowned self] box, call in
      let domain = try openDomain()
      let request = try box.objectRequest("ids")
      let ids = try box.objectsInOrder(request)?.map(\.objectID) ?? box.context.fetchIDs(request)
      try call.return(.table(try domain.state.list(ids.map { try domain.luaValue(from: .objectID($0)) })))
    }
    request.method("count", upTo: 0) { box, call in call.return(try box.context.count(box.objectRequest("count"))) }
    request.method("each", upTo: 0) { [unowned self] box, call in
      let domain = try openDomain()
      let walk = try ObjectWalk(box, domain: domain)
      try call.return(
        try domain.state.function(weight: walk.weight) { [unowned self] call in
          guard let object = try walk.next() else { return call.returnNil() }
          try call.return(object, as: type(of: object.entity))
        })
      // `for` closes its fourth value at its end, also after `break`.
      call.returnNil()
      call.returnNil()
      try call.return(walk, as: self.walk)
    }
    request.method("dictionaries", upTo: 1) { [unowned self] box, call in
      let domain = try openDomain()
      try box.refuseSaving("dictionaries")
      var memory = HostMemory()
      let result = try DictionaryRows(Self.request(box, columns: call, memory: &memory), in: box.context)
      var rows = try domain.state.rows(result.names)
      try result.forEach { try rows.append(try $0.map { try domain.luaValue(from: $0) }) }
      try call.return(.table(rows.list))
    }
    request.method("rows", upTo: 1) { [unowned self] box, call in
      let domain = try openDomain()
      try box.refuseSaving("rows")
      var memory = HostMemory()
      let next = try box.context.dictionaryBatches(Self.request(box, columns: call, memory: &memory))
      var batch: ArraySlice<[String: Value]> = []
      try call.return(
        try domain.state.function(weight: Self.weightOfRows) { [unowned self] call in
          if batch.isEmpty { batch = try next()?[...] ?? [] }
          guard let row = batch.popFirst() else { return call.returnNil() }
          let domain = try openDomain()
          try call.return(.table(domain.state.table(row.mapValues { try domain.luaValue(from: $0) })))
        })
    }
    request.method("recompute", upTo: 1) { [unowned self] box, call in
      let name = call.isNil(0) ? nil : try call.text(0)
      try recompute(box.objectRequest("recompute"), name, in: box.context, call: &call)
    }
    request.method("follow", upTo: 1) { [unowned self] box, call in try follow(box, call: &call) }
    request.method("explain", upTo: 1) { box, call in
      var memory = HostMemory()
      var request = try Self.request(box, columns: call, memory: &memory)
      let isOfObjects = call.isNil(0) && request.propertiesToGroupBy.isEmpty && request.havingPredicate == nil
      if !isOfObjects { request.resultType = .dictionaries }
      call.return(try box.context.explain(request))
    }
  }

  /// A request with the columns that a call names, if any.
  ///
  /// Columns are `{ "kind", total = "@sum.age" }`. Their memory is charged to `memory` while the call runs.
  private static func request(
    _ box: RequestBox, columns call: borrowing LuaCall, memory: inout HostMemory
  ) throws -> FetchRequest {
    var request = box.request
    guard !call.isNil(0) else { return request }
    if let path = try call.value(0).textValue {
      throw call.argumentError(0, problem: "a table of key paths is expected, as in { \"\(path)\" }, got string")
    }
    request.propertiesToFetch = try columns(try call.table(0), memory: &memory)
    return request
  }

  /// Refuses a keyword that stands for a value and is also the name of a property. For example `TRUE` or `SELF`. The
  /// check concerns unquoted words only.
  private static func checkWords(_ text: String, of name: String, in context: ManagedObjectContext) throws {
    guard let entity = context.model.entity(name),
      let word = PredicateWords.property(in: text, of: entity, asOperand: true)
    else { return }
    throw ModelError(.invalidPredicate, message: PredicateWords.advice(word), entity: name, property: word)
  }

  /// Refuses a number in place of a date, because `os.time()` has another epoch. Throws an argument error that names
  /// the attribute and the number's argument.
  private static func checkDates(
    _ predicate: Predicate, _ arguments: [Value], _ call: borrowing LuaCall, of name: String,
    in context: ManagedObjectContext
  ) throws {
    guard arguments.contains(where: { !$0.numbers.isEmpty }), let entity = context.model.entity(name) else { return }
    for (path, values) in predicate.valuesByPath {
      guard context.model.attribute(at: path, from: entity)?.type == .date else { continue }
      let index = arguments.firstIndex { argument in argument.numbers.contains { values.contains($0) } }
      guard let index else { continue }
      throw call.argumentError(
        index + 1,
        problem:
          "\(name).\(path.joined(separator: ".")) is a date: give a date, such as moonbase.date.unix(SECONDS), got a number"
      )
    }
  }

  /// The arguments of a call as a predicate: its text, and the values of its placeholders, which are also returned.
  ///
  /// A predicate with SQL wildcards in LIKE (`%`) is reported once per domain, because LIKE uses `*` and `?` as in Core
  /// Data.
  private static func predicate(
    _ call: borrowing LuaCall, domain: ScriptDomain, in context: ManagedObjectContext
  ) throws -> (Predicate, [Value]) {
    let arguments = try (1..<max(1, call.count)).map { index in
      let argument = try call.value(index)
      try domain.checkContext(of: argument, is: context)
      do { return try domain.graphValue(from: argument) } catch let error as ScriptError {
        throw call.argumentError(index, problem: error.message)
      }
    }
    guard case .string = try call.value(0) else {
      throw call.argumentError(
        0, problem: "a predicate is expected, as in \"name = %@\" with a value for each %@, got \(call.typeName(0))")
    }
    let predicate = try Predicate(format: try call.text(0), arguments: arguments)
    if !domain.hasToldOfPattern, let pattern = predicate.sqlPattern {
      domain.hasToldOfPattern = true
      domain.state.complain("\(domain.state.blamedPlace)\(PredicateWords.advice(pattern: pattern))")
    }
    return (predicate, arguments)
  }

  /// A number from 0 to 2^31 - 1, as for limits.
  private static func count(_ call: borrowing LuaCall) throws -> Int {
    let number = try call.integer(0)
    guard (0...Int64(Int32.max)).contains(number) else {
      throw call.argumentError(0, problem: "a number from 0 to \(Int32.max) is expected, got \(number)")
    }
    return Int(number)
  }

  /// `{ "kind", total = "@sum.age" }` as names and key paths. A text without a key is its own name.
  private static func columns(_ table: LuaTable, memory: inout HostMemory) throws -> [FetchColumn] {
    let pairs = try table.pairs
    guard pairs.count <= RequestBox.greatestCount else {
      throw ScriptError(
        .invalidRequest,
        message: "dictionaries takes at most \(RequestBox.greatestCount) columns, and these are \(pairs.count)")
    }
    var columns: [FetchColumn] = []
    for (key, value) in pairs {
      let column = try column(key, value)
      // A column is kept, checked and compiled, so it is charged three times.
      try memory.hold(3 * column.weight)
      columns.append(column)
    }
    return columns
  }

  /// Throws `.invalidRequest` for a path that is no text, and errors of parsing.
  private static func column(_ key: LuaValue, _ value: LuaValue) throws -> FetchColumn {
    guard let path = value.textValue else {
      throw ScriptError(.invalidRequest, message: "dictionaries takes key paths as text, not \(value.typePhrase)")
    }
    let name = key.textValue ?? path
    try TextLimits.check(path: name)
    return FetchColumn(name, expression: try Expression(format: path))
  }
}
