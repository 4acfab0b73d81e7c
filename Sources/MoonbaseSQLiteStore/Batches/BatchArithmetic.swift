import MoonbaseModel
import MoonbaseSQL

import enum MoonbaseModel.Expression

/// An expression over columns of a row that SQL computes exactly as the graph would: integer and double constants,
/// attributes of these types, and the four arithmetic operators.
///
/// SQL and the graph agree: integers divide as integers, integers beyond 64 bits become doubles, and a null operand
/// makes the result null. A division by zero is null in SQL too, and counts as unsound.
///
/// For `age + 1` on a 16-bit attribute: the value is `(t0.ZAGE + ?)`, and sound rows hold an integer in `ZAGE` whose
/// sum has 16 bits. An update first makes sure that all rows are sound; a damaged row is left to the graph, which names
/// it.
struct BatchArithmetic {
  /// The new value of the attribute, for a row `t0`.
  let value: SQLFragment
  /// The condition under which the columns hold values of their attributes and the result is a value of the attribute
  /// that is set. Nil where the condition always holds.
  let soundness: SQLFragment?
  /// The condition for exactly those sound rows whose value changes. Nil where the values have to be compared.
  let soundDifference: SQLFragment?
  /// The attributes that the expression reads.
  let inputSlots: Set<Slot>

  /// Returns nil for any other expression. A single attribute or constant is an expression too, but without any
  /// attribute there is no arithmetic.
  init?(_ expression: Expression, slot: Slot, of layout: EntityLayout) {
    guard let type = layout.entity.properties[slot].attribute?.type else { return nil }
    var terms = Terms(layout: layout)
    guard let term = terms.term(expression), !terms.inputs.isEmpty else { return nil }
    var conditions = terms.inputs.sorted { $0.key < $1.key }.map(\.value)
    var soundDifference: SQLFragment?
    switch (type, term.isInteger) {
    case (.integer16, true), (.integer32, true), (.integer64, true):
      guard let range = Terms.range(of: type) else { return nil }
      // An attribute of the same width is sound as it is.
      if case .keyPath = expression, range == term.range { break }
      let fits = term.sql + " BETWEEN \(range.lowerBound) AND \(range.upperBound)"
      if Self.isShift(expression), let input = terms.inputs[slot] { soundDifference = input + " AND " + fits }
      conditions.append("(" + fits + ") IS NOT FALSE")
      // A sum that overflows is a double, and out of the range. An expression over such a sum may be in range again.
      if terms.mayHideOverflow { conditions.append("typeof(" + term.sql + ") <> 'real'") }
    case (.double, true):
      // Beyond 2^53 not every integer is a double.
      guard !terms.mayOverflow, term.magnitude <= 0x1p53 else { return nil }
    case (.double, false): break
    default: return nil
    }
    if terms.mayBeUndefined {
      let inputs = terms.inputColumns.sorted { $0.key < $1.key }.map { " OR " + $0.value + " IS NULL" }
      conditions.append(inputs.reduce("(" + term.sql + " IS NOT NULL", +) + ")")
    }
    value = term.sql
    soundness = conditions.isEmpty ? nil : conditions.joined(" AND ")
    inputSlots = Set(terms.inputs.keys)
    self.soundDifference = soundDifference
  }

  /// Whether the expression adds a nonzero integer to one attribute, or subtracts it. For example `age + 1`, whose
  /// result always differs from the attribute.
  private static func isShift(_ expression: Expression) -> Bool {
    guard case .function(let name, let arguments) = expression, arguments.count == 2,
      [PredicateFunction.add.rawValue, PredicateFunction.subtract.rawValue].contains(name),
      case .keyPath = arguments[0], case .constant(.int(let number)) = arguments[1]
    else { return false }
    return number != 0
  }
}

/// The parts of an expression, and the conditions that its columns must meet.
///
/// Collected while an expression is translated from its leaves up.
private struct Terms {
  /// A part of the expression.
  struct Term {
    /// The part in SQL.
    var sql: SQLFragment
    /// Whether the values are integers; otherwise they are doubles.
    var isInteger: Bool
    /// The upper bound of an integer's absolute value.
    var magnitude: Double
    /// The range of the attribute, where the term is an attribute.
    var range: ClosedRange<Int64>?
    /// Whether the term is a constant other than zero.
    var isNonzero = false
    /// Whether the result may exceed 64 bits.
    var mayOverflow = false
  }

  /// The entity of the rows, for its columns.
  let layout: EntityLayout
  /// The conditions under which the columns hold values of their attributes, by slot.
  var inputs: [Slot: SQLFragment] = [:]
  /// Whether any sum or product of integers may exceed 64 bits.
  var mayOverflow = false
  /// Whether an operand may have exceeded 64 bits, so that the result does not show the overflow.
  var mayHideOverflow = false
  /// Whether the result may be null although no operand is: a division by zero, or infinity minus infinity.
  var mayBeUndefined = false
  /// The columns that the expression reads.
  var inputColumns: [Slot: SQLFragment] = [:]

  /// Nil for attributes that are no integers.
  static func range(of type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    // SQLite keeps the least integer of 64 bits as a double where it is computed from doubles.
    case .integer64: (Int64.min + 1)...Int64.max
    default: nil
    }
  }

  /// The term of an expression; nil for an expression that SQL would compute differently.
  mutating func term(_ expression: Expression) -> Term? {
    switch expression {
    case .constant(.int(let number)):
      return Term(
        sql: SQLFragment("?", values: [.int(number)]), isInteger: true, magnitude: Double(number).magnitude,
        isNonzero: number != 0)
    case .constant(.double(let number)) where number.isFinite:
      return Term(
        sql: SQLFragment("?", values: [.double(number)]), isInteger: false, magnitude: .infinity,
        isNonzero: number != 0)
    case .keyPath(.evaluatedObject, let keys) where keys.count == 1: return column(keys[0])
    case .function(let name, let arguments) where arguments.count == 2:
      guard let function = PredicateFunction(rawValue: name), let left = term(arguments[0]),
        let right = term(arguments[1])
      else { return nil }
      return term(function, left, right)
    default: return nil
    }
  }

  /// The term of an operation, with a bound of its absolute value: an integer that may exceed 2^62 counts as large.
  private mutating func term(_ function: PredicateFunction, _ left: Term, _ right: Term) -> Term? {
    let sign: String
    let magnitude: Double
    switch function {
    case .add: (sign, magnitude) = ("+", left.magnitude + right.magnitude)
    case .subtract: (sign, magnitude) = ("-", left.magnitude + right.magnitude)
    case .multiply: (sign, magnitude) = ("*", left.magnitude * right.magnitude)
    case .divide: (sign, magnitude) = ("/", left.magnitude)
    default: return nil
    }
    let isInteger = left.isInteger && right.isInteger
    let isLarge = isInteger && !(magnitude < 0x1p62)
    if left.mayOverflow || right.mayOverflow { mayHideOverflow = true }
    if isLarge { mayOverflow = true }
    let isDefined = function == .divide ? right.isNonzero : isInteger || left.isNonzero || right.isNonzero
    if !isDefined { mayBeUndefined = true }
    return Term(
      sql: "(" + left.sql + " \(sign) " + right.sql + ")", isInteger: isInteger,
      magnitude: isInteger ? magnitude : .infinity, mayOverflow: isLarge)
  }

  /// The term of an attribute, whose condition is noted. Nil for attributes of other types, and without a column.
  private mutating func column(_ key: String) -> Term? {
    guard let property = layout.entity.property(key), let type = property.attribute?.type,
      case .attribute(let name, _) = layout.slots[property.slot]
    else { return nil }
    let column = SQLFragment("t0.\(identifier(name))")
    inputColumns[property.slot] = column
    if type == .double {
      inputs[property.slot] = "(" + column + " + 0.0) IS " + column
      return Term(sql: column, isInteger: false, magnitude: .infinity)
    }
    guard let range = Self.range(of: type) else { return nil }
    // `| 0` changes every value that is not an integer. For 64 bits no check of the range is needed.
    inputs[property.slot] = "(" + column + " | 0) IS " + column
    if type != .integer64 {
      inputs[property.slot]? =
        "(" + column + " | 0) IS " + column + " AND ("
        + column + " BETWEEN \(range.lowerBound) AND \(range.upperBound)) IS NOT FALSE"
    }
    return Term(sql: column, isInteger: true, magnitude: -Double(range.lowerBound), range: range)
  }
}
