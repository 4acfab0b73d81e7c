import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression

/// The expression of a batch update, evaluated for an object.
///
/// Arithmetic without a result on non-null operands (a division by zero, the root of a negative number) is an error.
/// SQL and predicates would give null, and the existing value would be lost silently.
struct BatchExpression {
  /// A part of the expression that may have no result.
  private struct Part {
    let text: String
    let value: CompiledExpression
    let operands: [CompiledExpression]
    /// The conditions under which the part is evaluated, each true if its value is 1.
    let conditions: [CompiledExpression]
  }

  private let whole: CompiledExpression
  /// The parts, inner ones first.
  private var parts: [Part] = []

  init(_ expression: Expression, entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    func compiled(_ expression: Expression) throws(ModelError) -> CompiledExpression {
      try CompiledExpression(expression, entity: entity, in: model)
    }
    var parts: [Part] = []
    /// Collects the parts that may have no result, with the conditions under which they are evaluated.
    func collect(_ expression: Expression, where conditions: [CompiledExpression]) throws(ModelError) {
      switch expression {
      case .function(let name, let operands):
        for operand in operands { try collect(operand, where: conditions) }
        guard let function = PredicateFunction(rawValue: name), function.isArithmetic else { return }
        parts.append(
          Part(
            text: "\(expression)", value: try compiled(expression), operands: try operands.map(compiled),
            conditions: conditions))
      case .conditional(let condition, let then, let otherwise):
        let (yes, no) = (Expression.constant(.int(1)), Expression.constant(.int(0)))
        try collect(then, where: conditions + [compiled(.conditional(condition, yes, no))])
        try collect(otherwise, where: conditions + [compiled(.conditional(condition, no, yes))])
      default: break
      }
    }
    whole = try compiled(expression)
    try collect(expression, where: [])
    self.parts = parts
  }

  /// Evaluates the expression. Throws `.invalidValue` if a part has no result.
  func value(_ object: ManagedObject) throws -> Value {
    let value = try whole.value(object)
    if value.isNull { try check(object) }
    return value
  }

  /// Throws `.invalidValue` for the first part without a result.
  private func check(_ object: ManagedObject) throws {
    for part in parts {
      guard try part.conditions.allSatisfy({ try $0.value(object) == .int(1) }), try part.value.value(object).isNull
      else { continue }
      let operands = try part.operands.map { try $0.value(object) }
      guard !operands.contains(.null) else { continue }
      throw ModelError(
        .invalidValue,
        message:
          "\(part.text) has no value of \(operands.map { $0.beginning ?? $0.typeDescription }.joined(separator: " and ")); "
          + "leave such objects out by the condition")
    }
  }
}

extension PredicateFunction {
  /// Whether the function computes a number from numbers and may have no result.
  fileprivate var isArithmetic: Bool {
    switch self {
    case .add, .subtract, .multiply, .divide, .modulus, .power, .squareRoot, .logarithm, .naturalLogarithm,
      .exponential:
      true
    default: false
    }
  }
}
