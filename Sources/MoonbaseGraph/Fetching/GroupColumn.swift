import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression

/// A compiled column of dictionary results: functions over the objects of a group, values of its first object, or a
/// combination.
///
/// A class, so that iterating over columns for every object copies nothing.
///
/// Made for a dictionary request. For example, the column `max(age) - min(age)` has two parts, and a combination of
/// their values.
final class GroupColumn {
  /// The name in the rows.
  let name: String
  /// The functions and values that the column needs.
  fileprivate let parts: [GroupPart]
  /// The expression over the parts' values, which are keyed by index; nil if a single part is the whole column.
  private let combination: CompiledExpression?
  /// The type of the column, if the request states one.
  private let type: AttributeDescription?
  /// The column's form for a store, or the reason why there is none.
  let stored: StoredColumn

  /// Whether a part is a function over objects.
  var isAggregate: Bool { parts.contains(where: \.isAggregate) }
  /// The number of parts.
  var partCount: Int { parts.count }
  /// Whether the column is a single part without conversion.
  var isPlain: Bool { combination == nil && type == nil }

  /// Compiles a column. Results shared by objects are kept in `memo`.
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

  /// The value for one object, for a column without aggregate functions. Throws errors of evaluation.
  func value(of object: ManagedObject) throws -> Value { try shaped(try parts.map { try $0.own(object) }) }

  /// The value in a row that a store computed; the parts' values begin at `place`, which is advanced. Throws errors of
  /// the combination.
  func value(of row: Snapshot, from place: inout Int) throws -> Value {
    defer { place += parts.count }
    return try shaped((place..<place + parts.count).map { row.values[$0] })
  }

  /// Combines the parts' values and converts the result to the column's type. Null stays null.
  fileprivate func shaped(_ values: [Value]) throws -> Value {
    let value = try combined(values)
    guard let type, !value.isNull else { return value }
    return Self.convert(value, to: type.type)
  }

  /// The parts are the keys "0", "1" and so on.
  private func combined(_ values: [Value]) throws -> Value {
    guard let combination else { return values[0] }
    var row: [String: Value] = [:]
    for (index, value) in values.enumerated() { row["\(index)"] = value }
    return try combination.value(KeyedRow(row: row))
  }

  /// Converts a number to the column's type; an integer column truncates fractions. Values of any other type are
  /// unchanged.
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

/// The form of a column for stores.
///
/// Decided when the column is compiled.
enum StoredColumn {
  /// The columns of the parts.
  case parts([QueryColumns.Column])
  /// The reason why the context computes the column, as a clause.
  case refused(String)

  /// The reason of the first refused part counts.
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

/// A function over the objects of a group, or a value of the group's first object.
///
/// A class for the same reason as `GroupColumn`.
private final class GroupPart {
  /// Nil for a value.
  private let function: PredicateFunction?
  /// The expression evaluated for each object; nil for `@count` of the objects themselves.
  private let expression: CompiledExpression?
  /// Whether an object has several values that all count.
  private let isToMany: Bool
  /// Whether the values are decimals, whose sums stay decimals.
  private let isOfDecimals: Bool
  /// Results that objects share.
  private let memo: EvaluationMemo

  /// Whether the part is a function.
  var isAggregate: Bool { function != nil }

  /// Throws for unknown names.
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

  /// The state before the first object. Each group begins with it.
  var start: GroupState {
    GroupState(reduction: expression == nil ? nil : function.map { Reduction($0, ofDecimals: isOfDecimals) })
  }

  /// The value of a single object.
  func own(_ object: ManagedObject) throws -> Value { try expression?.value(object, memo: memo) ?? .null }

  /// Without a function only the first object counts.
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

  /// A count for `@count`, otherwise the result of the function.
  func value(of state: GroupState) throws -> Value {
    guard function != nil else { return state.first }
    return try state.reduction?.value ?? .int(Int64(state.count))
  }
}

/// The state of a part of a column for one group.
///
/// Small, because each group has one for each part.
private struct GroupState {
  /// The number of objects.
  var count = 0
  /// The value of the first object.
  var first = Value.null
  /// The function's values; nil for counts and plain values.
  var reduction: Reduction?

  /// The estimated bytes of the values that are kept.
  var weight: Int { first.weight &+ (reduction?.weight ?? 0) }
}

/// The accumulated values of a group; objects are not kept.
///
/// Takes objects one after the other.
struct Group {
  /// Each part of each column has a state.
  private var states: ContiguousArray<GroupState>

  /// An empty group.
  init(_ columns: [GroupColumn]) { states = ContiguousArray(columns.flatMap { $0.parts.map(\.start) }) }

  /// Adds an object; the memory of the values that are kept is charged to `memory`. Throws errors of evaluation and at
  /// a memory limit.
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

  /// The values of the columns. In the order of `columns`.
  func row(_ columns: [GroupColumn]) throws -> [Value] {
    var states = states[...]
    return try columns.map { column in
      try column.shaped(try column.parts.map { try $0.value(of: states.popFirst() ?? GroupState()) })
    }
  }
}

/// A row of a dictionary result as the subject of a predicate.
///
/// Only names are known; there are no slots and relationships.
struct KeyedRow: SlottedSubject {
  typealias Related = KeyedRow
  /// The values by name.
  let row: [String: Value]

  /// The row as a map.
  var predicateValue: Value { .map(row) }
  /// Never asked: rows have no slots.
  func predicateValue(slot: Slot) -> Value { .null }
  func predicateDestination(slot: Slot) -> KeyedRow? { nil }
  func predicateDestinations(slot: Slot) -> [KeyedRow] { [] }
  /// Null for an unknown name.
  func predicateAnswer(forKey key: String) -> PredicateAnswer<KeyedRow> { .value(row[key] ?? .null) }
}
