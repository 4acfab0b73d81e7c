import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression

/// A column of dictionary results made ready: functions over the objects of a group, values of its first one, or both combined.
struct GroupColumn {
  let name: String
  private let parts: [GroupPart]
  /// What is computed of the parts' values, which are keyed by their positions; nil where one part is the whole.
  private let combination: CompiledExpression?
  private let type: AttributeDescription?

  var isAggregate: Bool { parts.contains(where: \.isAggregate) }

  init(_ column: FetchColumn, entity: ResolvedEntity, model: ResolvedModel) throws {
    name = column.name
    type = column.resultType.map { AttributeDescription(column.name, $0) }
    var expressions: [Expression] = []
    let rest = column.expression.replacing { part in
      if case .constant = part { return part }
      guard part.groupFunction != nil || !part.hasGroupFunction else { return nil }
      expressions.append(part)
      return .keyPath(.evaluatedObject, ["\(expressions.count - 1)"])
    }
    parts = try expressions.map { try GroupPart($0, entity: entity, model: model) }
    combination = expressions.count == 1 && expressions[0] == column.expression ? nil : try CompiledExpression(rest)
  }

  /// The value for a group, in the column's type.
  func value(of objects: [ManagedObject]) throws -> Value {
    let value = try rawValue(of: objects)
    guard let type, !value.isNull else { return value }
    return Self.convert(value, to: type.type)
  }

  private func rawValue(of objects: [ManagedObject]) throws -> Value {
    guard let combination else { return try parts[0].value(of: objects) }
    var row: [String: Value] = [:]
    for (index, part) in parts.enumerated() { row["\(index)"] = try part.value(of: objects) }
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

/// A function over the objects of a group, or a value of its first one.
private struct GroupPart {
  private let function: PredicateFunction?
  /// What is computed for each object; nil for `@count` of the objects themselves.
  private let expression: CompiledExpression?
  /// Whether an object gives several values, all of which count.
  private let isToMany: Bool

  var isAggregate: Bool { function != nil }

  init(_ expression: Expression, entity: ResolvedEntity, model: ResolvedModel) throws {
    guard let group = expression.groupFunction else {
      function = nil
      isToMany = false
      self.expression = try CompiledExpression(expression, entity: entity, in: model)
      return
    }
    function = group.function
    self.expression = try group.keyPath.map {
      try CompiledExpression(.keyPath(.evaluatedObject, $0), entity: entity, in: model)
    }
    isToMany = try group.keyPath.map { try model.isToMany($0, from: entity) } ?? false
  }

  func value(of objects: [ManagedObject]) throws -> Value {
    guard let function else { return try objects.first.flatMap { try expression?.value($0) } ?? .null }
    guard let expression else { return .int(Int64(objects.count)) }
    var values: [Value] = []
    for object in objects {
      try HostWork.charge()
      let value = try expression.value(object)
      if isToMany, case .list(let several) = value { values += several } else { values.append(value) }
    }
    return try function.evaluate([.list(values)])
  }
}

/// A row of a dictionary result as a subject.
struct KeyedRow: SlottedSubject {
  typealias Related = KeyedRow
  let row: [String: Value]

  var predicateValue: Value { .map(row) }
  func predicateValue(slot: Int) -> Value { .null }
  func predicateDestination(slot: Int) -> KeyedRow? { nil }
  func predicateDestinations(slot: Int) -> [KeyedRow] { [] }
  func predicateAnswer(forKey key: String) -> PredicateAnswer<KeyedRow> { .value(row[key] ?? .null) }
}
