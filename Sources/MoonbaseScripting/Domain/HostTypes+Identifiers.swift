import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension HostTypes {
  /// UUIDs: comparison, text, and `key()` for use as a table key.
  func describeUUID() {
    uuid.method("key", upTo: 0) { box, call in call.return(box.value.uuidString) }
    compare(uuid) { $0.uuidString < $1.uuidString }
    text(uuid) { $0.uuidString }
  }

  /// URIs: the same.
  func describeURI() {
    uri.method("key", upTo: 0) { box, call in call.return(box.value.absoluteString) }
    compare(uri) { $0.absoluteString < $1.absoluteString }
    text(uri) { $0.absoluteString }
  }

  /// Object IDs: the same, and what they are the IDs of.
  func describeObjectID() {
    objectID.method("key", upTo: 0) { box, call in call.return(box.value.uriRepresentation) }
    objectID.property("entity", get: { box, call in call.return(box.value.entityName) })
    objectID.property("is_temporary", get: { box, call in call.return(box.value.isTemporaryID) })
    compare(objectID) { $0.uriRepresentation < $1.uriRepresentation }
    text(objectID) { $0.uriRepresentation }
  }

  /// Decimals: exact arithmetic with decimals, integers and numerals; comparison; text.
  func describeDecimal() {
    decimal.method("key", upTo: 0) { box, call in call.return(box.value.description) }
    decimal.method("number", upTo: 0) { box, call in call.return(NSDecimalNumber(decimal: box.value).doubleValue) }
    compareDecimals()
    text(decimal) { $0.description }
    arithmetic(.add) { $0 + $1 }
    arithmetic(.subtract) { $0 - $1 }
    arithmetic(.multiply) { $0.product($1) }
    arithmetic(.divide) { left, right in
      guard right != 0 else { throw ScriptError(.invalidValue, message: "a decimal is divided by zero") }
      return left.quotient(right)
    }
    arithmetic(.floorDivide) { left, right in try Self.divided(left, by: right).quotient }
    arithmetic(.modulo) { left, right in try Self.divided(left, by: right).rest }
    let type = decimal
    decimal.method("abs", upTo: 0) { [unowned type] box, call in
      try call.return(LuaBox(box.value.magnitude), as: type)
    }
    decimal.method("floor", upTo: 0) { [unowned type] box, call in
      try call.return(LuaBox(Self.divided(box.value, by: 1).quotient), as: type)
    }
    decimal.operator(.negate) { [unowned type] call in
      try call.return(LuaBox(-(try Self.decimal(call, at: 0))), as: type)
    }
  }

  /// With what arithmetic takes as well: integers, and numerals as text.
  private func compareDecimals() {
    equal(decimal)
    decimal.operator(.less) { call in call.return(try Self.decimal(call, at: 0) < Self.decimal(call, at: 1)) }
    decimal.operator(.lessOrEqual) { call in call.return(try Self.decimal(call, at: 0) <= Self.decimal(call, at: 1)) }
  }

  /// The quotient rounded down, as Lua's `//`, and what is left, which has the sign of the divisor.
  private static func divided(_ left: Decimal, by right: Decimal) throws -> (quotient: Decimal, rest: Decimal) {
    guard right != 0 else { throw ScriptError(.invalidValue, message: "a decimal is divided by zero") }
    var exact = left.quotient(right)
    var quotient = Decimal()
    NSDecimalRound(&quotient, &exact, 0, .down)
    var rest = left - quotient.product(right)
    // Rounding goes towards zero on some systems, and the quotient itself is rounded to 38 digits.
    for _ in 0..<2 where !rest.isZero && (rest < 0) != (right < 0) {
      quotient -= 1
      rest += right
    }
    for _ in 0..<2 where rest.magnitude >= right.magnitude {
      quotient += 1
      rest -= right
    }
    guard rest.magnitude < right.magnitude, !quotient.isNaN else {
      throw ScriptError(.invalidValue, message: "the quotient has more than 38 digits")
    }
    return (quotient, rest)
  }

  private func arithmetic(_ name: LuaOperator, _ body: @escaping (Decimal, Decimal) throws -> Decimal) {
    let type = decimal
    decimal.operator(name) { [unowned type] call in
      let result = try body(try Self.decimal(call, at: 0), try Self.decimal(call, at: 1))
      guard !result.isNaN else { throw ScriptError(.invalidValue, message: "the result is no decimal of 38 digits") }
      try call.return(LuaBox(result), as: type)
    }
  }

  /// An argument as a decimal: a decimal, an integer, or a numeral as text.
  static func decimal(_ call: borrowing LuaCall, at index: Int) throws -> Decimal {
    if let box = call.objectIfPresent(index, as: LuaBox<Decimal>.self) { return box.value }
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
