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
    compare(decimal) { $0 < $1 }
    text(decimal) { $0.description }
    arithmetic(.add) { $0 + $1 }
    arithmetic(.subtract) { $0 - $1 }
    arithmetic(.multiply) { $0.product($1) }
    arithmetic(.divide) { left, right in
      guard right != 0 else { throw ScriptError(.invalidValue, message: "a decimal is divided by zero") }
      return left.quotient(right)
    }
    let type = decimal
    decimal.operator(.negate) { [unowned type] call in
      try call.return(LuaBox(-(try Self.decimal(call, at: 0))), as: type)
    }
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
