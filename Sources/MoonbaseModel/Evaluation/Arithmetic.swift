import MoonbasePlatform

/// The arithmetic operators. Integers stay integers, divide as in SQL and become floating-point numbers on overflow of
/// 64 bits. Division by zero and other undefined results are null. A date plus or minus a number is a date.
///
/// For example, `7 / 2` is 3, `7.0 / 2` is 3.5, and `1 / 0` is null.
enum Arithmetic {
  /// The value of an operator. Throws `.evaluation` for operands that are no numbers.
  static func evaluate(_ operation: PredicateFunction, _ left: Value, _ right: Value) throws(ModelError) -> Value {
    if case .date(let date) = left { return try evaluate(operation, date: date, other: right) }
    if case .date(let date) = right, operation == .add { return try evaluate(operation, date: date, other: left) }
    guard let left = left.asNumber else { throw operation.refusal(of: left) }
    guard let right = right.asNumber else { throw operation.refusal(of: right) }
    switch (left, right) {
    case (.int(let left), .int(let right)): return integers(operation, left, right)
    case (.decimal(let left), .decimal(let right)): return decimals(operation, left, right)
    case (.decimal(let left), .int(let right)): return decimals(operation, left, Decimal(right))
    case (.int(let left), .decimal(let right)): return decimals(operation, Decimal(left), right)
    default: return doubles(operation, left.asDouble ?? .nan, right.asDouble ?? .nan)
    }
  }

  /// Adds seconds to a date, or gives the seconds between two dates.
  private static func evaluate(
    _ operation: PredicateFunction, date: Date, other: Value
  ) throws(ModelError) -> Value {
    if case .date(let other) = other, operation == .subtract { return .double(date.timeIntervalSince(other)) }
    guard operation == .add || operation == .subtract, let seconds = other.asDouble else {
      throw operation.refusal(of: other)
    }
    return .date(date.addingTimeInterval(operation == .add ? seconds : -seconds))
  }

  /// Arithmetic of integers. An overflow gives the result as a double, a division by zero null.
  private static func integers(_ operation: PredicateFunction, _ left: Int64, _ right: Int64) -> Value {
    let (result, overflow) =
      switch operation {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply: left.multipliedReportingOverflow(by: right)
      case .divide where right != 0: left.dividedReportingOverflow(by: right)
      case .modulus where right != 0: left.remainderReportingOverflow(dividingBy: right)
      default: (Int64(0), true)
      }
    return overflow ? doubles(operation, Double(left), Double(right)) : .int(result)
  }

  /// Arithmetic of doubles.
  private static func doubles(_ operation: PredicateFunction, _ left: Double, _ right: Double) -> Value {
    switch operation {
    case .add: .number(left + right)
    case .subtract: .number(left - right)
    case .multiply: .number(left * right)
    case .divide: right == 0 ? .null : .number(left / right)
    case .modulus: right == 0 ? .null : .number(left.truncatingRemainder(dividingBy: right))
    default: .number(pow(left, right))
    }
  }

  /// Arithmetic of decimals. A division by zero gives null.
  private static func decimals(_ operation: PredicateFunction, _ left: Decimal, _ right: Decimal) -> Value {
    let result: Decimal
    switch operation {
    case .add: result = left + right
    case .subtract: result = left - right
    case .multiply: result = left.product(right)
    case .divide where right != 0: result = left.quotient(right)
    case .divide: return .null
    default:
      return doubles(operation, Value.decimal(left).asDouble ?? .nan, Value.decimal(right).asDouble ?? .nan)
    }
    return result.isNaN ? .null : .decimal(result)
  }
}

extension Value {
  /// A computed number. NaN becomes null, because SQLite has no NaN and no store could keep it.
  static func number(_ number: Double) -> Value { number.isNaN ? .null : .double(number) }
}
