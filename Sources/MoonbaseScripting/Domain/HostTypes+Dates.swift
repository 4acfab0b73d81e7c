import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

extension HostTypes {
  /// Dates: `d.unix`, `d.reference`, comparison, `d + seconds`, `d - seconds`, `d - d` in seconds.
  func describeDate() {
    date.property("unix", get: { box, call in call.return(box.value.timeIntervalSince1970) })
    date.property("reference", get: { box, call in call.return(box.value.timeIntervalSinceReferenceDate) })
    date.method("key", upTo: 0) { box, call in call.return(box.value.timeIntervalSinceReferenceDate) }
    compare(date) { $0 < $1 }
    text(date) { ISODate.text($0) }
    let date = date
    date.operator(.add) { [unowned date] call in
      let (box, seconds) = try Self.dateAndSeconds(&call, type: date)
      try call.return(LuaBox(try Self.later(box.value, by: seconds)), as: date)
    }
    date.operator(.subtract) { [unowned date] call in
      let left = try call.object(0, as: LuaBox<Date>.self, name: "date")
      if let right = call.objectIfPresent(1, as: LuaBox<Date>.self) {
        call.return(left.value.timeIntervalSince(right.value))
      } else {
        try call.return(LuaBox(try Self.later(left.value, by: -(try call.number(1)))), as: date)
      }
    }
  }

  /// The seconds of a new date: what no calendar has is a mistake.
  static func seconds(_ call: borrowing LuaCall) throws -> Double {
    let seconds = try call.number(0)
    guard ISODate.hasText(seconds) else {
      throw call.argumentError(
        0, problem: "\(seconds.isNaN ? "NaN" : "\(seconds)") seconds are out of the range of dates")
    }
    return seconds
  }

  private static func later(_ date: Date, by seconds: Double) throws -> Date {
    let later = date.addingTimeInterval(seconds)
    guard ISODate.hasText(later.timeIntervalSince1970) else {
      throw LuaError(.runtime, message: "the sum is out of the range of dates")
    }
    return later
  }

  private static func dateAndSeconds(_ call: inout LuaCall, type: LuaHostType<LuaBox<Date>>) throws -> (
    LuaBox<Date>, Double
  ) {
    if let box = call.objectIfPresent(0, as: LuaBox<Date>.self) { return (box, try call.number(1)) }
    return (try call.object(1, as: LuaBox<Date>.self, name: "date"), try call.number(0))
  }

  /// `==`, `<`, `<=` of boxed values.
  func compare<T: Equatable>(_ type: LuaHostType<LuaBox<T>>, _ isLess: @escaping (T, T) -> Bool) {
    let name = type.name
    equal(type)
    type.operator(.less) { call in
      call.return(
        isLess(
          try call.object(0, as: LuaBox<T>.self, name: name).value,
          try call.object(1, as: LuaBox<T>.self, name: name).value))
    }
    type.operator(.lessOrEqual) { call in
      call.return(
        !isLess(
          try call.object(1, as: LuaBox<T>.self, name: name).value,
          try call.object(0, as: LuaBox<T>.self, name: name).value))
    }
  }

  func equal<T: Equatable>(_ type: LuaHostType<LuaBox<T>>) {
    type.operator(.equal) { call in
      let left = call.objectIfPresent(0, as: LuaBox<T>.self)
      let right = call.objectIfPresent(1, as: LuaBox<T>.self)
      call.return(left != nil && left?.value == right?.value)
    }
  }

  /// `tostring` and `..` of boxed values.
  func text<T>(_ type: LuaHostType<LuaBox<T>>, _ text: @escaping (T) -> String) {
    let name = type.name
    type.operator(.text) { call in call.return(text(try call.object(0, as: LuaBox<T>.self, name: name).value)) }
    type.operator(.concatenate) { call in
      func part(_ index: Int, call: borrowing LuaCall) throws -> String {
        if let box = call.objectIfPresent(index, as: LuaBox<T>.self) { return text(box.value) }
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
