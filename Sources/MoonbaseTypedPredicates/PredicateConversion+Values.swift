import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

// Variables, constants, key paths, arithmetic.

extension PredicateExpressions.Variable: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart { try conversion.meaning(of: key) }
}

/// An expression whose value is captured by the predicate, and thus the same for all objects.
protocol CapturedPart {
  /// The captured value; nil if the value depends on an object.
  var captured: Any? { get }
}

extension PredicateExpressions.Value: CapturedPart {
  var captured: Any? { value }
}

extension PredicateExpressions.KeyPath: CapturedPart {
  var captured: Any? {
    guard let root = (root as? any CapturedPart)?.captured as? Root.Output else { return nil }
    return root[keyPath: keyPath]
  }
}

extension PredicateExpressions.Value: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    try conversion.constant(value, Output.self)
  }
}

extension PredicateConversion {
  fileprivate func constant(_ value: Any, _ type: Any.Type) throws -> ConvertedPart {
    guard let constant = Value.constant(value) else {
      throw refusal("\(value) is of the type \(type), of which no attribute has values")
    }
    return .value(.constant(constant), isOptional: constant.isNull)
  }
}

extension PredicateExpressions.NilLiteral: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .value(.constant(.null), isOptional: true)
  }
}

extension Value {
  /// Converts a captured value; nil for a type that cannot be compared with an attribute.
  static func constant(_ value: Any) -> Value? {
    switch value {
    case let value as any AttributeValue: return value.attributeValue
    case let character as Character: return .string(String(character))
    case let text as Substring: return .string(String(text))
    case let uri as URL: return .uri(uri)
    case let id as ManagedObjectID: return .objectID(id)
    case let raw as any RawRepresentable: return constant(raw.rawValue)
    case let list as any Collection: return constants(list).map(Value.list)
    default: return (value as? any OptionalConstant)?.constant
    }
  }

  private static func constants(_ list: some Collection) -> [Value]? {
    var result: [Value] = []
    for element in list {
      guard let value = constant(element) else { return nil }
      result.append(value)
    }
    return result
  }
}

/// An optional of any type.
private protocol OptionalConstant {
  var constant: Value? { get }
}

extension Optional: OptionalConstant {
  fileprivate var constant: Value? { map { Value.constant($0) } ?? .null }
}

extension PredicateExpressions.KeyPath: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    if let captured { return try conversion.constant(captured, Output.self) }
    let base = try conversion.part(root)
    guard case .value(let expression) = base.form else {
      throw conversion.refusal("a condition has no \(keyPath)")
    }
    if let kind { return try converted(kind, base, expression, conversion) }
    // A path of several steps that the class does not list is refused as a whole.
    if keyPath is Swift.KeyPath<Root.Output, ManagedObjectID> { return .value(expression, isOptional: base.isOptional) }
    let property = try ManagedObject.property(of: keyPath, Root.Output.self)
    var part = ConvertedPart.value(
      .keyPath(expression, [property.name]).flattened,
      isOptional: base.isOptional || Output.self is any OptionalType.Type)
    part.isToMany = property.isToMany
    return part
  }

  private func converted(
    _ kind: CommonKeyPathKind, _ base: ConvertedPart, _ expression: Expression,
    _ conversion: PredicateConversion
  ) throws -> ConvertedPart {
    let size: Expression
    switch (kind, base.isToMany, Root.Output.self is any StringProtocol.Type) {
    case (.collectionCount, true, _), (.collectionIsEmpty, true, _):
      size = Expression.keyPath(expression, ["@count"]).flattened
    case (.collectionCount, _, true), (.collectionIsEmpty, _, true): size = .function("length", [expression])
    default: throw conversion.refusal("\(keyPath) of \(Root.Output.self) has no counterpart in a fetch")
    }
    guard kind == .collectionIsEmpty else { return .value(size) }
    return .condition(.comparison(.init(size, .equal, .constant(.int(0)))))
  }
}

/// Marks optional types.
protocol OptionalType {}
extension Optional: OptionalType {}

extension Expression {
  /// Joins a path relative to another path into a single path.
  var flattened: Expression {
    if case .keyPath(.keyPath(let base, let first), let second) = self { .keyPath(base, first + second) } else { self }
  }
}

// MARK: - Arithmetic

extension PredicateExpressions.Arithmetic: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    let name: PredicateFunction =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw conversion.refusal("the operator \(op) has no counterpart in a fetch")
      }
    return try conversion.call(name, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    try conversion.call(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    try conversion.call(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    try conversion.call(.modulus, lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: ConvertiblePart {
  func converted(_ conversion: inout PredicateConversion) throws -> ConvertedPart {
    .value(.function(PredicateFunction.subtract.rawValue, [.constant(.int(0)), try conversion.value(wrapped)]))
  }
}

extension PredicateConversion {
  fileprivate mutating func call(_ function: PredicateFunction, _ left: Any, _ right: Any) throws -> ConvertedPart {
    .value(.function(function.rawValue, [try value(left), try value(right)]))
  }
}
