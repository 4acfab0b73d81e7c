import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// A fetch request that a script builds, step by step. Each step is a new request that shares what is below it, so that a
/// thousand steps weigh as much as what each of them says.
final class RequestBox {
  /// What a step says.
  indirect enum Step {
    /// The first one.
    case start(FetchRequest)
    case condition(Predicate)
    case change((inout FetchRequest) -> Void)
    case saveEvery(Int)
  }

  private let contextBox: ContextBox
  /// The bytes that the step keeps, without those below it. They count as long as the step is there: a later one may keep it when
  /// no script does.
  private let weight: Int
  private let step: Step
  /// Objects that the step names and that were not saved yet, by their temporary IDs: once they are saved, they go by others.
  private let unsaved: [ManagedObjectID: ManagedObject]
  private var previous: RequestBox?
  /// How many there are of each kind.
  private let counts: SIMD4<Int32>
  /// The ordered relationship whose destinations are asked for: without `sort` they keep its order.
  private let list: ToManyBox?

  /// What a request may have many of.
  enum Kind: Int {
    case conditions, keys, paths, groups
  }

  /// How many of a kind a request takes: they are gone through, and put together, at each use.
  static let greatestCount: Int32 = 1000

  init(_ request: FetchRequest, context: ContextBox, naming values: [Value] = [], of list: ToManyBox? = nil) {
    contextBox = context
    self.list = list
    unsaved = RequestBox.unsaved(values, in: context)
    step = .start(request)
    counts = .zero
    weight = 512 + (request.predicate?.weight ?? 0) + 48 * unsaved.count
    weigh(weight)
  }

  private init(_ previous: RequestBox, step: Step, counts: SIMD4<Int32>, weight: Int, naming values: [Value]) {
    contextBox = previous.contextBox
    unsaved = RequestBox.unsaved(values, in: contextBox)
    self.previous = previous
    list = previous.list
    self.step = step
    self.counts = counts
    self.weight = 640 + weight + 48 * unsaved.count
    weigh(self.weight)
  }

  var context: ManagedObjectContext { get throws { try contextBox.live() } }

  /// Throws where the context is gone.
  func checkContext() throws { try contextBox.check() }

  /// Where the context is gone, what it counted is forgotten.
  private func weigh(_ bytes: Int) { try? contextBox.live().weigh(bytes) }

  private static func unsaved(_ values: [Value], in box: ContextBox) -> [ManagedObjectID: ManagedObject] {
    var unsaved: [ManagedObjectID: ManagedObject] = [:]
    for value in values {
      _ = value.replacingIDs { id in
        if id.isTemporaryID { unsaved[id] = (try? box.live())?.registeredObject(for: id) }
        return nil
      }
    }
    return unsaved
  }

  /// The request with one more step, which adds so many of a kind, keeps so many bytes and names values.
  func with(
    _ step: Step, adding count: Int = 0, to kind: Kind = .conditions, weight: Int = 0, naming values: [Value] = []
  ) throws -> RequestBox {
    var counts = counts
    counts[kind.rawValue] += Int32(clamping: count)
    guard counts[kind.rawValue] <= Self.greatestCount else {
      throw ScriptError(
        .invalidRequest,
        message: "a request takes at most \(Self.greatestCount) \(kind)"
          + (kind == .conditions ? "; to find one of many values, ask for key IN %@" : ""))
    }
    return RequestBox(self, step: step, counts: counts, weight: weight, naming: values)
  }

  // Many steps would go one inside of the other.
  deinit {
    weigh(-weight)
    var rest = previous.take()
    while isKnownUniquelyReferenced(&rest), let last = rest { rest = last.previous.take() }
  }

  private var boxes: ReversedCollection<[RequestBox]> {
    var boxes: [RequestBox] = []
    var box: RequestBox? = self
    while let last = box {
      boxes.append(last)
      box = last.previous
    }
    return boxes.reversed()
  }

  /// The request as all steps make it; several conditions mean AND.
  var request: FetchRequest {
    var request = FetchRequest("")
    var conditions: [Predicate] = []
    var unsaved: [ManagedObjectID: ManagedObject] = [:]
    for box in boxes {
      unsaved.merge(box.unsaved) { known, _ in known }
      switch box.step {
      case .start(let base):
        request = base
        conditions = base.predicate.map { [$0] } ?? []
      case .condition(let condition): conditions.append(condition)
      case .change(let change): change(&request)
      case .saveEvery: break
      }
    }
    if !conditions.isEmpty { request.predicate = Self.all(conditions) }
    guard !unsaved.isEmpty else { return request }
    request.predicate = request.predicate?.replacing { $0.naming(unsaved) }
    request.havingPredicate = request.havingPredicate?.replacing { $0.naming(unsaved) }
    return request
  }

  /// The request of objects. Throws for one of groups, which are no objects.
  func objectRequest(_ method: String) throws -> FetchRequest {
    let request = request
    if method != "each" { try refuseSaving(method) }
    guard request.propertiesToGroupBy.isEmpty, request.havingPredicate == nil else {
      let step = request.propertiesToGroupBy.isEmpty ? "having" : "group_by"
      throw ScriptError(
        .invalidRequest,
        message:
          "\(method) gives objects, and \(step) makes groups of them: call dictionaries { ... }, or leave \(step) out")
    }
    return request
  }

  /// The objects that match, those of an ordered relationship in its order.
  func objects(_ method: String) throws -> [ManagedObject] {
    let request = try objectRequest(method)
    return try objectsInOrder(request) ?? context.fetch(request)
  }

  /// The objects of a request in the order of the relationship; nil where it does not tell the order.
  func objectsInOrder(_ request: FetchRequest) throws -> [ManagedObject]? {
    guard let list, request.sortDescriptors.isEmpty else { return nil }
    var whole = request
    (whole.fetchLimit, whole.fetchOffset) = (0, 0)
    var found: [ManagedObjectID: ManagedObject] = [:]
    for object in try context.fetch(whole) { found[object.objectID] = object }
    let objects = try list.ids().compactMap { id in
      try HostWork.charge()
      return found[id]
    }
    let window = objects.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? window.prefix(request.fetchLimit) : window)
  }

  /// Only a walk can save on its way.
  func refuseSaving(_ method: String) throws {
    guard saveEvery != nil else { return }
    throw ScriptError(
      .invalidRequest,
      message: "\(method) saves nothing: save_every belongs to a walk, as in request:save_every(500):each()")
  }

  private static func all(_ conditions: [Predicate]) -> Predicate {
    if conditions.count == 1 { return conditions[0] }
    return .and(conditions.flatMap { if case .and(let parts) = $0 { parts } else { [$0] } })
  }

  /// What the request asks for, cut off where it becomes long; a list of many values in it is not shown.
  var text: String {
    var request = request
    var end = ""
    if let predicate = request.predicate, predicate.weight > Self.greatestWeightShown {
      request.predicate = nil
      end = " where …"
    }
    let text = "fetch request for \(request)"
    let start = String(text.unicodeScalars.prefix(Self.greatestText))
    return (start.utf8.count < text.utf8.count ? start + "…" : start) + end
  }

  private static let greatestText = 800
  private static let greatestWeightShown = 100_000

  /// After how many visited objects a walk saves.
  var saveEvery: Int? {
    boxes.compactMap { if case .saveEvery(let count) = $0.step { count } else { nil } }.last
  }
}

extension Expression {
  /// A constant with objects' IDs of now in place of their temporary ones.
  fileprivate func naming(_ objects: [ManagedObjectID: ManagedObject]) -> Expression? {
    guard case .constant(let value) = self else { return nil }
    return value.replacingIDs { objects[$0]?.objectID }.map(Expression.constant)
  }
}

extension HostTypes {
  /// How a method that returns a request of one step more is described: of a request, or of a relationship.
  typealias StepDescription = (
    _ name: String, _ count: Int, _ body: @escaping (RequestBox, borrowing LuaCall, ScriptDomain) throws -> RequestBox
  ) -> Void

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

  /// `where`, `sort` and their like.
  func describeSteps(_ describe: StepDescription) {
    func step(
      _ name: String, upTo count: Int = .max,
      _ body: @escaping (RequestBox, borrowing LuaCall, ScriptDomain) throws -> RequestBox
    ) {
      describe(name, count, body)
    }
    /// A step that changes the request by its arguments.
    func change<Argument>(
      _ name: String, reading read: @escaping (borrowing LuaCall) throws -> Argument,
      _ body: @escaping (inout FetchRequest, Argument) -> Void
    ) {
      step(name, upTo: 1) { box, call, _ in
        let argument = try read(call)
        return try box.with(.change { body(&$0, argument) })
      }
    }
    /// A step that adds texts to a list of the request.
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

  /// A request is no list: what would take it for one says how its objects are reached.
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

  /// The nearest name; for what other libraries call it, the one that it has here.
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

  /// The bytes that a walk over rows keeps, by estimate: a batch of rows.
  private static let weightOfRows = 64 << 10

  /// `sort("name", "desc")`, as other languages say it.
  private static func checkOrder(of keys: [String], _ call: borrowing LuaCall, entity: ResolvedEntity?) throws {
    for (index, key) in keys.enumerated().dropFirst() {
      guard let order = orders[key.lowercased()], entity?.property(key) == nil else { continue }
      throw call.argumentError(
        index, problem: "\"\(key)\" is no key: write \"\(order)\(keys[index - 1])\" for the order")
    }
  }

  private static let orders = ["desc": "-", "descending": "-", "asc": "", "ascending": ""]

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
      // What `for` closes when it is left, by `break` too.
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

  /// A request with the columns that a call names, if it names some.
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

  /// Refuses a word of the language that stands for a value and is the name of a property.
  private static func checkWords(_ text: String, of name: String, in context: ManagedObjectContext) throws {
    guard let entity = context.model.entity(name),
      let word = PredicateWords.property(in: text, of: entity, asOperand: true)
    else { return }
    throw ModelError(.invalidPredicate, message: PredicateWords.advice(word), entity: name, property: word)
  }

  /// A number that a script gives in the place of a date was not meant: `os.time()` counts from another year.
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

  /// The arguments of a call as a predicate: its text, and what stands for its placeholders, which is given too.
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

  private static func count(_ call: borrowing LuaCall) throws -> Int {
    let number = try call.integer(0)
    guard (0...Int64(Int32.max)).contains(number) else {
      throw call.argumentError(0, problem: "a number from 0 to \(Int32.max) is expected, got \(number)")
    }
    return Int(number)
  }

  /// `{ "kind", total = "@sum.age" }` as names and key paths.
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
      // It is kept as it is, checked, and made ready.
      try memory.hold(3 * column.weight)
      columns.append(column)
    }
    return columns
  }

  private static func column(_ key: LuaValue, _ value: LuaValue) throws -> FetchColumn {
    guard let path = value.textValue else {
      throw ScriptError(.invalidRequest, message: "dictionaries takes key paths as text, not \(value.typePhrase)")
    }
    let name = key.textValue ?? path
    try TextLimits.check(path: name)
    return FetchColumn(name, expression: try Expression(format: path))
  }
}
