import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression

/// A column of dictionary results made ready: an aggregate over the objects of a group, or an expression of its first one.
struct GroupColumn {
  private enum Aggregate: String {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"

    /// The NSExpression name of the same function.
    init?(function: String) {
      switch function {
      case "count:": self = .count
      case "sum:": self = .sum
      case "average:": self = .average
      case "min:": self = .minimum
      case "max:": self = .maximum
      default: return nil
      }
    }
  }

  let name: String
  private let aggregate: Aggregate?
  /// What is computed for each object; nil for `@count` of the objects themselves.
  private let expression: CompiledExpression?
  private let type: AttributeDescription?

  var isAggregate: Bool { aggregate != nil }

  init(_ column: FetchColumn, entity: ResolvedEntity, model: ResolvedModel) throws {
    name = column.name
    type = column.resultType.map { AttributeDescription(column.name, $0) }
    let (aggregate, argument) = Self.split(column.expression)
    self.aggregate = aggregate
    expression = try argument.map { try CompiledExpression($0, entity: entity, in: model) }
  }

  private static func split(_ expression: Expression) -> (Aggregate?, Expression?) {
    switch expression {
    case .keyPath(.evaluatedObject, let path):
      guard let aggregate = path.first.flatMap(Aggregate.init(rawValue:)) else { return (nil, expression) }
      return (aggregate, path.count > 1 ? .keyPath(.evaluatedObject, Array(path.dropFirst())) : nil)
    case .function(let name, let arguments):
      guard let aggregate = Aggregate(function: name), arguments.count == 1,
        case .keyPath(.evaluatedObject, let path) = arguments[0], !path.contains(where: { $0.hasPrefix("@") })
      else { return (nil, expression) }
      return (aggregate, arguments[0])
    default: return (nil, expression)
    }
  }

  /// The value for a group, in the column's type.
  func value(of objects: [ManagedObject]) throws -> Value {
    let value = try rawValue(of: objects)
    guard let type, !value.isNull else { return value }
    return Self.convert(value, to: type.type)
  }

  private func rawValue(of objects: [ManagedObject]) throws -> Value {
    guard let aggregate else { return try objects.first.flatMap { try expression?.value($0) } ?? .null }
    guard let expression else { return .int(Int64(objects.count)) }
    let values = try objects.map { try expression.value($0) }.filter { !$0.isNull }
    switch aggregate {
    case .count: return .int(Int64(values.count))
    case .minimum: return values.min { Value.order($0, $1) == .ascending } ?? .null
    case .maximum: return values.max { Value.order($0, $1) == .ascending } ?? .null
    case .sum: return Self.sum(values)
    case .average: return values.isEmpty ? .null : .double(Self.double(Self.sum(values)) / Double(values.count))
    }
  }

  /// Integers stay integers as long as they fit.
  private static func sum(_ values: [Value]) -> Value {
    var total: Int64 = 0
    for value in values {
      guard case .int(let number) = value else { return .double(values.reduce(0) { $0 + double($1) }) }
      let (sum, overflow) = total.addingReportingOverflow(number)
      if overflow { return .double(values.reduce(0) { $0 + double($1) }) }
      total = sum
    }
    return .int(total)
  }

  private static func double(_ value: Value) -> Double {
    switch value {
    case .int(let number): Double(number)
    case .double(let number): number
    case .bool(let truth): truth ? 1 : 0
    case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
    case .date(let date): date.timeIntervalSinceReferenceDate
    default: 0
    }
  }

  /// The type only shapes a number: an integer column cuts off what is behind the point.
  private static func convert(_ value: Value, to type: AttributeType) -> Value {
    switch (type, value) {
    case (.integer16, .double(let number)), (.integer32, .double(let number)), (.integer64, .double(let number)):
      Int64(exactly: number.rounded(.towardZero)).map(Value.int) ?? value
    case (.double, .int), (.float, .int), (.double, .decimal), (.float, .decimal): .double(double(value))
    case (.decimal, .int(let number)): .decimal(Decimal(number))
    case (.decimal, .double(let number)): .decimal(Decimal(number))
    default: value
    }
  }
}
