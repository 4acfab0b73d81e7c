/// Reads a value of the subject: by slot, or by key where the slot is negative.
///
/// Conditions and expressions over plain values need nothing else of a subject. They are evaluated without being generic over
/// it, which is several times faster where the compiler cannot see the subject's type.
typealias PlainReader = (_ slot: Slot, _ key: String) throws -> Value

extension ConditionNode {
  /// Whether the condition reads only values of the subject itself.
  var isPlain: Bool {
    switch self {
    case .constant, .integer: true
    case .comparison(let comparison): comparison.isPlain
    case .and(let parts), .or(let parts): parts.allSatisfy { $0.isPlain }
    case .not(let inner): inner.isPlain
    }
  }

  func truth(_ read: PlainReader) throws -> Truth {
    switch self {
    case .constant(let truth): return truth
    case .integer(let slot, let test, let number): return test.truth(try read(slot, ""), number: number)
    case .comparison(let comparison): return try comparison.truth(read)
    case .and(let parts): return try Truth.all(parts) { try $0.truth(read) }
    case .or(let parts): return try Truth.any(parts) { try $0.truth(read) }
    case .not(let inner): return try inner.truth(read).negated
    }
  }
}

extension ComparisonTest {
  /// An integer attribute's value beside a number, under the rules of a fetch.
  @inline(__always)
  func truth(_ value: Value, number: Int64) -> Truth {
    if case .int(let left) = value { return Truth(holds(left, number)) }
    return value.isNull ? .unknown : Truth(holds(Value.compare(value, .int(number))))
  }
}

extension ComparisonNode {
  func truth(_ read: PlainReader) throws -> Truth { try direct(left.value(read), right.value(read)) }
}

extension ValueNode {
  /// Whether this is a value of the subject itself, a constant, or a function of such.
  var isPlain: Bool {
    switch self {
    case .constant, .slot, .key: true
    // An index may be the name of a position, and its collection one of objects.
    case .call(let function, let arguments): function != .element && arguments.allSatisfy { $0.isPlain }
    case .aggregate(let elements): elements.allSatisfy { $0.isPlain }
    case .conditional(let condition, let then, let otherwise):
      condition.isPlain && then.isPlain && otherwise.isPlain
    case .subject, .path, .variable, .subquery, .assignment: false
    }
  }

  func value(_ read: PlainReader) throws -> Value {
    switch self {
    case .constant(let value): return value
    case .slot(let slot): return try read(slot, "")
    case .key(let key): return try read(-1, key)
    case .call(let function, let arguments):
      if arguments.count == 2, function.isArithmetic {
        let left = try arguments[0].value(read)
        let right = try arguments[1].value(read)
        return left.isNull || right.isNull ? .null : try Arithmetic.evaluate(function, left, right)
      }
      return try function.evaluate(try arguments.map { try $0.value(read) })
    case .aggregate(let elements): return .list(try elements.map { try $0.value(read) })
    case .conditional(let condition, let then, let otherwise):
      return try (condition.truth(read) == .yes ? then : otherwise).value(read)
    case .subject, .path, .variable, .subquery, .assignment: throw NotPlain()
    }
  }
}

extension PredicateFunction {
  /// Whether this is one of the operators of arithmetic.
  var isArithmetic: Bool {
    switch self {
    case .add, .subtract, .multiply, .divide, .modulus, .power: true
    default: false
    }
  }
}
