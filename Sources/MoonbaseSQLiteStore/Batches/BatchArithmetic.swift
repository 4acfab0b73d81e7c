import MoonbaseModel
import MoonbaseSQL

import enum MoonbaseModel.Expression

/// An expression over columns of a row that SQL computes as the graph would: integers and doubles, their attributes, and the four signs.
///
/// In both, integers divide as integers and become doubles beyond 64 bits, and nothing is what comes of nothing. A division by zero gives nothing
/// in SQL too, and is not sound.
struct BatchArithmetic {
  /// What the attribute is to be, of a row `t0`.
  let value: SQLFragment
  /// What is true where the columns hold values of their attributes, and the result is one of the attribute that is set; nil where it
  /// always is.
  let soundness: SQLFragment?
  /// What is true of exactly the sound rows that get another value; nil where the values have to be compared.
  let soundDifference: SQLFragment?
  let inputSlots: Set<Slot>

  /// Nil for any other expression.
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
      // A sum that is too large is a double, and out of the range; what is made of such a sum may be in it.
      if terms.mayHideOverflow { conditions.append("typeof(" + term.sql + ") <> 'real'") }
    case (.double, true):
      // Beyond it not every integer is a double.
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

  /// Whether it is an integer more or less than one attribute.
  private static func isShift(_ expression: Expression) -> Bool {
    guard case .function(let name, let arguments) = expression, arguments.count == 2,
      [PredicateFunction.add.rawValue, PredicateFunction.subtract.rawValue].contains(name),
      case .keyPath = arguments[0], case .constant(.int(let number)) = arguments[1]
    else { return false }
    return number != 0
  }
}

/// The parts of an expression, and what must hold of the columns that they name.
private struct Terms {
  struct Term {
    var sql: SQLFragment
    var isInteger: Bool
    /// An integer is not greater than this.
    var magnitude: Double
    /// The values of an attribute.
    var range: ClosedRange<Int64>?
    /// Whether it is a constant, and not zero.
    var isNonzero = false
    /// Whether it may be too much for 64 bits.
    var mayOverflow = false
  }

  let layout: EntityLayout
  var inputs: [Slot: SQLFragment] = [:]
  /// Whether a sum or product of integers may be too much for 64 bits.
  var mayOverflow = false
  /// Whether that may have happened to a part.
  var mayHideOverflow = false
  /// Whether something may be divided by zero, or give nothing as infinity less infinity does.
  var mayBeUndefined = false
  /// The columns that are named.
  var inputColumns: [Slot: SQLFragment] = [:]

  static func range(of type: AttributeType) -> ClosedRange<Int64>? {
    switch type {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    // SQLite keeps the very least integer as a double where it comes of doubles.
    case .integer64: (Int64.min + 1)...Int64.max
    default: nil
    }
  }

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
    // What is no whole number is another one then; an integer of 64 bits is one without a look at its range.
    inputs[property.slot] = "(" + column + " | 0) IS " + column
    if type != .integer64 {
      inputs[property.slot]? =
        "(" + column + " | 0) IS " + column + " AND ("
        + column + " BETWEEN \(range.lowerBound) AND \(range.upperBound)) IS NOT FALSE"
    }
    return Term(sql: column, isInteger: true, magnitude: -Double(range.lowerBound), range: range)
  }
}
