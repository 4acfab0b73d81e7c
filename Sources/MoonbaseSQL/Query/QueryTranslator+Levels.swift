import MoonbaseModel
import MoonbasePlatform

/// Comparisons of numbers for an engine that compares an integer and a floating-point number as floating-point numbers.
/// A constant becomes an equivalent constant of the column's type. Columns of both types are compared only where the
/// integers are narrow.
///
/// For example, PostgreSQL compares a 64-bit integer with a double as doubles, so 2^53 + 1 would equal 2^53. With `age
/// < 2.5` on an integer column the constant becomes the decimal 2.5, which compares exactly.
extension QueryTranslator {
  /// Throws `Untranslatable` for 64-bit integers beside doubles.
  func compareLevelled(_ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm) throws -> SQLFragment {
    if left.isSingle, let range = right.constant?.asDouble.flatMap(Single.range) {
      return Self.compare(left.fragment, by: comparator, to: range)
    }
    if right.isSingle, let range = left.constant?.asDouble.flatMap(Single.range) {
      return Self.compare(right.fragment, by: comparator.mirrored, to: range)
    }
    let isAlike = left.isIntegral && right.isIntegral || left.isFractional && right.isFractional
    let isExact = isAlike || left.isNarrow && right.isFractional || left.isFractional && right.isNarrow
    switch (left.constant, right.constant) {
    case (nil, let value?): return left.fragment + " \(comparator.sql) " + (try levelled(value, with: left))
    case (let value?, nil): return try levelled(value, with: right) + " \(comparator.sql) " + right.fragment
    case (nil, nil) where isExact: return left.fragment + " \(comparator.sql) " + right.fragment
    default:
      throw Untranslatable("\(dialect.engine) would round an integer that is compared with a floating-point number")
    }
  }

  /// Leaves out values that equal no number of the column's type. `age IN {1, 2.5}` on an integer column becomes a list
  /// of 1 alone. An empty rest is left to memory.
  func levelledList(_ left: SQLTerm, in values: [SQLTerm]) throws -> SQLFragment {
    let found: [Value] = values.compactMap { term in
      guard let value = term.constant else { return nil }
      if left.isIntegral {
        return value.wholeNumber ?? value.levelNumber.flatMap { Int64(exactly: $0) }.map { .int($0) }
      }
      return value.levelNumber.flatMap { number in value.isExactly(number) ? .double(number) : nil }
    }
    guard left.isIntegral || left.isFractional, !found.isEmpty else {
      throw Untranslatable("it lists numbers that none of the column is equal to")
    }
    return dialect.membership(left.fragment, in: found)
  }

  /// The constant in the column's type, as a parameter.
  private func levelled(_ value: Value, with column: SQLTerm) throws -> SQLFragment {
    if let number = column.isIntegral ? value.besideIntegers : column.isFractional ? value.besideDoubles : nil {
      return SQLFragment("?", values: [number])
    }
    throw Untranslatable("\(dialect.engine) would round a number that it compares")
  }
}

extension SQLTerm {
  /// Whether all values are integers.
  var isIntegral: Bool { isInteger || isWhole }
  /// Whether all values are floating-point numbers.
  var isFractional: Bool { isReal || isFloating || kind == .date }
}

extension Value {
  /// A number, or a date in seconds as its column stores it.
  fileprivate var levelNumber: Double? {
    if case .date(let date) = self { date.timeIntervalSinceReferenceDate } else { asDouble }
  }

  /// An integer, or a Boolean as an integer.
  fileprivate var wholeNumber: Value? {
    switch self {
    case .int: self
    case .bool(let truth): .int(truth ? 1 : 0)
    default: nil
    }
  }

  /// Whether a floating-point number equals this value exactly.
  fileprivate func isExactly(_ number: Double) -> Bool {
    if case .int(let whole) = self { Int64(exactly: number) == whole } else { true }
  }

  /// An equivalent value for a comparison with integers. Between two integers a half is equivalent. Beyond 64 bits a
  /// decimal of 30 digits stands for any greater number. Nil for NaN.
  fileprivate var besideIntegers: Value? {
    if let wholeNumber { return wholeNumber }
    guard let number = levelNumber, !number.isNaN else { return nil }
    if let whole = Int64(exactly: number) { return .int(whole) }
    guard let floor = Int64(exactly: number.rounded(.down)) else {
      return .decimal(Decimal(sign: number < 0 ? .minus : .plus, exponent: 30, significand: 1))
    }
    return .decimal(Decimal(floor) + Decimal(sign: .plus, exponent: -1, significand: 5))
  }

  /// The value as a floating-point number. Nil where that would be a different number.
  fileprivate var besideDoubles: Value? { levelNumber.flatMap { isExactly($0) && !$0.isNaN ? .double($0) : nil } }

  /// A number for comparison with decimals. A floating-point number counts as its shortest numeral. Throws
  /// `Untranslatable` for NaN and infinite numbers.
  var exactDecimal: Value {
    get throws {
      switch self {
      case .double(let number):
        guard let decimal = Decimal(literal: number.description) else {
          throw Untranslatable("it compares decimals with a number that is none")
        }
        return .decimal(decimal)
      default: return self
      }
    }
  }
}
