import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension LuaValueTypes {
  /// UUIDs: comparison, text, and `key()` for use as a table key.
  ///
  /// In Lua, two UUIDs with equal bytes are different table keys, because they are different
  /// objects.
  func describeUUID() {
    uuid.method("key", upTo: 0) { uuid, call in call.return(uuid.uuidString) }
    compare(uuid) { $0.uuidString < $1.uuidString }
    text(uuid) { $0.uuidString }
  }

  /// URIs: comparison, text, and `key()` for use as a table key.
  func describeURI() {
    uri.method("key", upTo: 0) { uri, call in call.return(uri.absoluteString) }
    compare(uri) { $0.absoluteString < $1.absoluteString }
    text(uri) { $0.absoluteString }
  }

  /// Object IDs: comparison, text, `key()`, the entity's name and whether the ID is temporary.
  func describeObjectID() {
    objectID.method("key", upTo: 0) { objectID, call in call.return(objectID.uriRepresentation) }
    objectID.property("entity") { objectID, call in call.return(objectID.entityName) }
    objectID.property("is_temporary") { objectID, call in call.return(objectID.isTemporaryID) }
    compare(objectID) { $0.uriRepresentation < $1.uriRepresentation }
    text(objectID) { $0.uriRepresentation }
  }

  /// Decimals: exact arithmetic with decimals, integers and numerals; comparison; text.
  ///
  /// Floats are refused as operands, because their digits are not exact.
  func describeDecimal() {
    decimal.method("key", upTo: 0) { decimal, call in call.return(decimal.description) }
    decimal.method("number", upTo: 0) { decimal, call in call.return(NSDecimalNumber(decimal: decimal).doubleValue) }
    compareDecimals()
    text(decimal) { $0.description }
    arithmetic(.add) { $0 + $1 }
    arithmetic(.subtract) { $0 - $1 }
    arithmetic(.multiply) { $0.product($1) }
    arithmetic(.divide) { left, right in
      guard right != 0 else { throw ModelError(.invalidValue, message: "a decimal is divided by zero") }
      return left.quotient(right)
    }
    arithmetic(.floorDivide) { left, right in try Self.divided(left, by: right).quotient }
    arithmetic(.modulo) { left, right in try Self.divided(left, by: right).rest }
    let type = decimal
    decimal.method("abs", upTo: 0) { [unowned type] decimal, call in
      try call.return(decimal.magnitude, as: type)
    }
    decimal.method("floor", upTo: 0) { [unowned type] decimal, call in
      try call.return(Self.divided(decimal, by: 1).quotient, as: type)
    }
    decimal.operator(.negate) { [unowned type] call in
      try call.return(-(try Self.decimal(call, at: 0, type)), as: type)
    }
  }

  /// Comparison accepts the operands of arithmetic: also integers, and numerals as text.
  private func compareDecimals() {
    equal(decimal)
    let type = decimal
    type.operator(.less) { [unowned type] call in
      call.return(try Self.decimal(call, at: 0, type) < Self.decimal(call, at: 1, type))
    }
    type.operator(.lessOrEqual) { [unowned type] call in
      call.return(try Self.decimal(call, at: 0, type) <= Self.decimal(call, at: 1, type))
    }
  }

  /// The quotient rounded down, as Lua's `//`, and the remainder, which has the sign of the divisor.
  private static func divided(_ left: Decimal, by right: Decimal) throws -> (quotient: Decimal, rest: Decimal) {
    guard right != 0 else { throw ModelError(.invalidValue, message: "a decimal is divided by zero") }
    var exact = left.quotient(right)
    var quotient = Decimal()
    NSDecimalRound(&quotient, &exact, 0, .down)
    var rest = left - quotient.product(right)
    // Some systems round towards zero, and the quotient itself is rounded to 38 digits.
    for _ in 0..<2 where !rest.isZero && (rest < 0) != (right < 0) {
      quotient -= 1
      rest += right
    }
    for _ in 0..<2 where rest.magnitude >= right.magnitude {
      quotient += 1
      rest -= right
    }
    guard rest.magnitude < right.magnitude, !quotient.isNaN else {
      throw ModelError(.invalidValue, message: "the quotient has more than 38 digits")
    }
    return (quotient, rest)
  }

  /// Defines an arithmetic operator. Throws `.invalidValue` for a result of more than 38 digits.
  private func arithmetic(_ name: LuaOperator, _ body: @escaping (Decimal, Decimal) throws -> Decimal) {
    let type = decimal
    decimal.operator(name) { [unowned type] call in
      let result = try body(try Self.decimal(call, at: 0, type), try Self.decimal(call, at: 1, type))
      guard !result.isNaN else { throw ModelError(.invalidValue, message: "the result is no decimal of 38 digits") }
      try call.return(result, as: type)
    }
  }

  /// An argument as a decimal: a decimal, an integer, or a numeral as text.
  static func decimal(_ call: borrowing LuaCall, at index: Int, _ type: LuaValueType<Decimal>) throws -> Decimal {
    if let decimal = call.valueIfPresent(index, of: type) { return decimal }
    switch try call.value(index) {
    case .integer(let number): return Decimal(number)
    case .number(let number):
      throw call.argumentError(
        index, problem: "a float has no exact digits, so write them as text, as in \"\(number)\"")
    case .string(let string):
      guard string.count <= Decimal.longestNumeral else {
        throw call.argumentError(index, problem: "a numeral of \(string.count) bytes is no decimal of 38 digits")
      }
      if let number = string.text.flatMap(Decimal.init(stored:)) { return number }
      throw call.argumentError(
        index, problem: "'\(string)' \(string.text.flatMap(Decimal.misfit) ?? "is no decimal")")
    default: throw call.typeError(index, expected: "decimal")
    }
  }
}
