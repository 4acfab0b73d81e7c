import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression

/// A column of dictionary results made ready: functions over the objects of a group, values of its first one, or both combined. A
/// class, so that going over the columns for every object copies nothing.
final class GroupColumn {
  let name: String
  fileprivate let parts: [GroupPart]
  /// What is computed of the parts' values, which are keyed by their positions; nil where one part is the whole.
  private let combination: CompiledExpression?
  private let type: AttributeDescription?
  /// What a store is asked for in its place, or why not.
  let stored: StoredColumn

  var isAggregate: Bool { parts.contains(where: \.isAggregate) }
  /// Of how many values it is made.
  var partCount: Int { parts.count }
  /// Whether it is one value as it is computed.
  var isPlain: Bool { combination == nil && type == nil }

  /// What objects share is kept in the memo of the run.
  init(
    _ column: FetchColumn, entity: ResolvedEntity, model: ResolvedModel, memo: EvaluationMemo, paths: StoredPaths
  ) throws {
    name = column.name
    type = column.resultType.map { AttributeDescription(column.name, type: $0) }
    var expressions: [Expression] = []
    let rest = column.expression.replacing { part in
      if case .constant = part { return part }
      guard part.groupFunction != nil || !part.hasGroupFunction else { return nil }
      expressions.append(part)
      return .keyPath(.evaluatedObject, ["\(expressions.count - 1)"])
    }
    parts = try expressions.map { try GroupPart($0, entity: entity, model: model, memo: memo) }
    stored = try StoredColumn(expressions, paths: paths)
    combination = expressions.count == 1 && expressions[0] == column.expression ? nil : try CompiledExpression(rest)
  }

  /// The value for one object, of a column without functions over groups.
  func value(of object: ManagedObject) throws -> Value { try shaped(try parts.map { try $0.own(object) }) }

  /// The value of a row that a store computed, whose next values are those of the parts.
  func value(of row: Snapshot, from place: inout Int) throws -> Value {
    defer { place += parts.count }
    return try shaped((place..<place + parts.count).map { row.values[$0] })
  }

  /// The value that the parts' values make, in the column's type.
  fileprivate func shaped(_ values: [Value]) throws -> Value {
    let value = try combined(values)
    guard let type, !value.isNull else { return value }
    return Self.convert(value, to: type.type)
  }

  private func combined(_ values: [Value]) throws -> Value {
    guard let combination else { return values[0] }
    var row: [String: Value] = [:]
    for (index, value) in values.enumerated() { row["\(index)"] = value }
    return try combination.value(KeyedRow(row: row))
  }

  /// The type only shapes a number: an integer column cuts off what is behind the point.
  private static func convert(_ value: Value, to type: AttributeType) -> Value {
    switch (type, value) {
    case (.integer16, .double(let number)), (.integer32, .double(let number)), (.integer64, .double(let number)):
      Int64(exactly: number.rounded(.towardZero)).map(Value.int) ?? value
    case (.double, .int), (.float, .int), (.double, .decimal), (.float, .decimal):
      value.asDouble.map(Value.double) ?? value
    case (.decimal, .int(let number)): .decimal(Decimal(number))
    case (.decimal, .double(let number)) where number.isFinite: .decimal(Decimal(number))
    default: value
    }
  }
}

/// A column as stores compute it.
enum StoredColumn {
  /// The values that it is made of.
  case parts([QueryColumns.Column])
  /// Why the context computes it, as a clause.
  case refused(String)

  init(_ expressions: [Expression], paths: StoredPaths) throws {
    var parts: [QueryColumns.Column] = []
    for expression in expressions {
      var keys: [String]?
      if let group = expression.groupFunction {
        guard let path = group.keyPath else {
          parts.append(.objectCount)
          continue
        }
        guard let function = QueryColumns.Function(group.function) else {
          self = .refused("\(group.function.rawValue) is a function of the context")
          return
        }
        (keys, parts) = (path, parts + [.function(function, path)])
      } else if case .keyPath(.evaluatedObject, let path) = expression {
        (keys, parts) = (path, parts + [.value(path)])
      }
      if let reason = try keys.map(paths.reason) ?? "\(expression) is an expression of the context" {
        self = .refused(reason)
        return
      }
    }
    self = .parts(parts)
  }
}

/// A function over the objects of a group, or a value of its first one.
private final class GroupPart {
  private let function: PredicateFunction?
  /// What is computed for each object; nil for `@count` of the objects themselves.
  private let expression: CompiledExpression?
  /// Whether an object gives several values, all of which count.
  private let isToMany: Bool
  private let isOfDecimals: Bool
  private let memo: EvaluationMemo

  var isAggregate: Bool { function != nil }

  init(_ expression: Expression, entity: ResolvedEntity, model: ResolvedModel, memo: EvaluationMemo) throws {
    self.memo = memo
    guard let group = expression.groupFunction else {
      function = nil
      (isToMany, isOfDecimals) = (false, false)
      self.expression = try CompiledExpression(expression, entity: entity, in: model)
      return
    }
    function = group.function
    self.expression = try group.keyPath.map {
      try CompiledExpression(.keyPath(.evaluatedObject, $0), entity: entity, in: model)
    }
    isToMany = try group.keyPath.map { try model.isToMany($0, from: entity) } ?? false
    isOfDecimals = try group.keyPath.map { try model.isOfDecimals($0, from: entity) } ?? false
  }

  /// Before the first object came.
  var start: GroupState {
    GroupState(reduction: expression == nil ? nil : function.map { Reduction($0, ofDecimals: isOfDecimals) })
  }

  func own(_ object: ManagedObject) throws -> Value { try expression?.value(object, memo: memo) ?? .null }

  func add(_ object: ManagedObject, to state: inout GroupState) throws {
    state.count += 1
    guard function != nil else {
      if state.count == 1 { state.first = try own(object) }
      return
    }
    guard let expression else { return }
    try HostWork.charge()
    let value = try expression.value(object, memo: memo)
    if isToMany, case .list(let several) = value {
      for element in several { try state.reduction?.add(element) }
    } else {
      try state.reduction?.add(value)
    }
  }

  func value(of state: GroupState) throws -> Value {
    guard function != nil else { return state.first }
    return try state.reduction?.value ?? .int(Int64(state.count))
  }
}

/// What the objects of a group have come to in a part of a column.
private struct GroupState {
  var count = 0
  var first = Value.null
  var reduction: Reduction?

  /// The bytes of the values that are kept, by estimate.
  var weight: Int { first.weight &+ (reduction?.weight ?? 0) }
}

/// The objects of a group, of which only what the columns need is kept.
struct Group {
  private var states: ContiguousArray<GroupState>

  init(_ columns: [GroupColumn]) { states = ContiguousArray(columns.flatMap { $0.parts.map(\.start) }) }

  /// Takes an object in; what is kept of it counts in `memory`.
  mutating func add(_ object: ManagedObject, columns: [GroupColumn], memory: inout HostMemory) throws {
    var place = 0
    for column in columns {
      for part in column.parts {
        let former = states[place].weight
        try part.add(object, to: &states[place])
        let growth = states[place].weight &- former
        if growth > 0 { try memory.hold(growth) } else { memory.release(-growth) }
        place += 1
      }
    }
  }

  /// The values of the columns.
  func row(_ columns: [GroupColumn]) throws -> [Value] {
    var states = states[...]
    return try columns.map { column in
      try column.shaped(try column.parts.map { try $0.value(of: states.popFirst() ?? GroupState()) })
    }
  }
}

/// A row of a dictionary result as a subject.
struct KeyedRow: SlottedSubject {
  typealias Related = KeyedRow
  let row: [String: Value]

  var predicateValue: Value { .map(row) }
  func predicateValue(slot: Slot) -> Value { .null }
  func predicateDestination(slot: Slot) -> KeyedRow? { nil }
  func predicateDestinations(slot: Slot) -> [KeyedRow] { [] }
  func predicateAnswer(forKey key: String) -> PredicateAnswer<KeyedRow> { .value(row[key] ?? .null) }
}
