import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension LuaValueTypes {
  /// Dates: `d.unix`, `d.reference`, comparison, `d + seconds`, `d - seconds`, `d - d` in seconds.
  ///
  /// The key of a date is its number of seconds since 2001.
  func describeDate() {
    date.property("unix") { date, call in call.return(date.timeIntervalSince1970) }
    date.property("reference") { date, call in call.return(date.timeIntervalSinceReferenceDate) }
    date.method("key", upTo: 0) { date, call in call.return(date.timeIntervalSinceReferenceDate) }
    compare(date) { $0 < $1 }
    text(date) { ISODate.text($0) }
    let type = date
    type.operator(.add) { [unowned type] call in
      let (date, seconds) = try Self.dateAndSeconds(&call, type: type)
      try call.return(try Self.later(date, by: seconds), as: type)
    }
    type.operator(.subtract) { [unowned type] call in
      let left = try call.value(0, of: type)
      if let right = call.valueIfPresent(1, of: type) {
        call.return(left.timeIntervalSince(right))
      } else {
        try call.return(try Self.later(left, by: -(try call.number(1))), as: type)
      }
    }
  }

  /// The seconds of a new date. Throws if they are out of range.
  static func seconds(_ call: borrowing LuaCall) throws -> Double {
    let seconds = try call.number(0)
    guard ISODate.hasText(seconds) else {
      throw call.argumentError(
        0, problem: "\(seconds.isNaN ? "NaN" : "\(seconds)") seconds are out of the range of dates")
    }
    return seconds
  }

  /// A date later by seconds. Throws if it is out of range.
  private static func later(_ date: Date, by seconds: Double) throws -> Date {
    let later = date.addingTimeInterval(seconds)
    guard ISODate.hasText(later.timeIntervalSince1970) else {
      throw LuaError(.runtime, message: "the sum is out of the range of dates")
    }
    return later
  }

  /// The operands of a sum of a date and seconds, in any order.
  private static func dateAndSeconds(_ call: inout LuaCall, type: LuaValueType<Date>) throws -> (Date, Double) {
    if let date = call.valueIfPresent(0, of: type) { return (date, try call.number(1)) }
    return (try call.value(1, of: type), try call.number(0))
  }

  /// Defines `==`, `<`, `<=` of values.
  func compare<T: Equatable>(_ type: LuaValueType<T>, _ isLess: @escaping (T, T) -> Bool) {
    equal(type)
    type.operator(.less) { [unowned type] call in
      call.return(isLess(try call.value(0, of: type), try call.value(1, of: type)))
    }
    type.operator(.lessOrEqual) { [unowned type] call in
      call.return(!isLess(try call.value(1, of: type), try call.value(0, of: type)))
    }
  }

  /// Defines `==` of values. Values of different types are not equal.
  func equal<T: Equatable>(_ type: LuaValueType<T>) {
    type.operator(.equal) { [unowned type] call in
      let left = call.valueIfPresent(0, of: type)
      let right = call.valueIfPresent(1, of: type)
      call.return(left != nil && left == right)
    }
  }

  /// Defines `tostring` and `..` of values.
  ///
  /// Concatenation takes values, texts and numbers on either side.
  func text<T>(_ type: LuaValueType<T>, _ text: @escaping (T) -> String) {
    type.operator(.text) { [unowned type] call in call.return(text(try call.value(0, of: type))) }
    type.operator(.concatenate) { [unowned type] call in
      func part(_ index: Int, call: borrowing LuaCall) throws -> String {
        if let value = call.valueIfPresent(index, of: type) { return text(value) }
        switch try call.value(index) {
        case .integer(let number): return String(number)
        case .number(let number): return String(number)
        default: return try call.text(index)
        }
      }
      call.return(try part(0, call: call) + part(1, call: call))
    }
  }
}
