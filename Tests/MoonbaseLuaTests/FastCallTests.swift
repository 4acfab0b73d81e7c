import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct FastCallTests {
  func call(_ code: String, _ state: LuaState, parameters: Int) throws -> LuaFastCall {
    LuaFastCall(try #require(try state.load(code, name: "f.lua").first().functionValue), parameters: parameters)
  }

  @Test func everyKindOfArgumentAndResultPasses() throws {
    let state = try LuaState()
    let call = try call("return function(...) return ... end", state, parameters: 1)
    call.set(0, integer: .min)
    #expect(try call.run { $0.integer } == .min)
    call.set(0, number: -0.0)
    #expect(try call.run { $0.number?.sign } == .minus)
    #expect(try call.run { $0.integer } == nil)
    call.set(0, boolean: true)
    #expect(try call.run { $0.boolean } == true)
    #expect(try call.run { $0.number } == nil)
    call.set(0, string: "é")
    #expect(try call.run { $0.text } == "é")
    call.setNil(0)
    #expect(try call.run { $0.isNil })
    try call.set(0, .table(state.table(["a": 1])))
    #expect(try call.value().tableValue?.get("a").integerValue == 1)
    call.set(0, integer: 7)
    #expect(try call.value().integerValue == 7)
  }

  @Test func callsNestAndLeaveNothingBehind() throws {
    let state = try LuaState()
    let inner = try call("return function(n) if n % 3 == 0 then error('three') end return n end", state, parameters: 1)
    try state.setGlobal(
      "inner",
      state.function { call in
        inner.set(0, integer: try call.integer(0))
        call.return(try inner.run { $0.integer ?? 0 })
      })
    let code = """
      return function(n)
        local sum = 0
        for i = 1, n do local ok, value = pcall(inner, i) if ok then sum = sum + value end end
        return sum
      end
      """
    let outer = try call(code, state, parameters: 1)
    for _ in 0..<3 {
      outer.set(0, integer: 3000)
      #expect(try outer.run { $0.integer } == 3_000_000)
    }
  }

  @Test func anErrorNamesItsPlaceAndTheNextCallWorks() throws {
    let state = try LuaState()
    let call = try call("return function(n)\n  return n.x end", state, parameters: 1)
    call.set(0, integer: 1)
    for _ in 0..<300 {
      let error = try #require(throws: LuaError.self) { try call.run { $0.integer } }
      #expect(error.line == 2)
    }
    try call.set(0, .table(state.table(["x": 5])))
    #expect(try call.run { $0.integer } == 5)
  }

  /// Within a run scalars leave the stack at once; what else a call gives stays there while it is read, and calls go on above it.
  @Test func resultsLiveWhileTheyAreReadWithinARun() throws {
    let state = try LuaState()
    let same = try call("return function(...) return ... end", state, parameters: 1)
    let fail = try call("return function() error({}) end", state, parameters: 0)
    func nest(_ depth: Int) throws -> Int {
      if depth == 0 { return 0 }
      same.set(0, string: "level \(depth)")
      return try same.run { result in
        _ = try? fail.run { $0.isNil }
        let below = try nest(depth - 1)
        #expect(result.text == "level \(depth)")
        same.set(0, integer: 5)
        return below + Int(try same.run { $0.integer ?? 0 })
      }
    }
    try state.run {
      for _ in 0..<1000 {
        same.set(0, number: 0.5)
        #expect(try same.run { $0.number } == 0.5)
        same.setNil(0)
        #expect(try same.run { $0.isNil })
        same.set(0, boolean: false)
        #expect(try same.run { $0.boolean } == false)
        _ = #expect(throws: LuaError.self) { try fail.run { $0.isNil } }
      }
      #expect(try nest(400) == 2000)
      try same.set(0, .null)
      guard case .null = try same.value() else { throw LuaError(.runtime, "null came back as something else") }
    }
  }

  final class Holder { var state: LuaState? }

  /// The last owner lets the state go while it runs: the call ends first.
  @Test func aCallKeepsItsStateWhileItRuns() throws {
    let holder = Holder()
    holder.state = try LuaState()
    let call: LuaFastCall
    do {
      let state = try #require(holder.state)
      try state.setGlobal("drop", state.function { [unowned holder] _ in holder.state = nil })
      call = try self.call("return function(n) drop() return n + 1 end", state, parameters: 1)
    }
    call.set(0, integer: 41)
    #expect(try call.run { $0.integer } == 42)
    let error = try #require(throws: LuaError.self) { try call.run { $0.integer } }
    #expect(error.kind == .closed)
  }

  @Test func aWrongValueNamesTheProperty() throws {
    let state = try LuaState()
    let type = LuaHostType<LuaBox<Int64>>("number box", interned: false)
    type.property("value", get: { box, call in call.return(box.value) }, set: { _, call in _ = try call.integer(0) })
    try state.register(type)
    let write = try #require(
      try state.load("return function(o, v) o.value = v end", name: "t").first().functionValue)
    let box = LuaValue.object(LuaObject(LuaBox<Int64>(3), as: type))
    _ = try write.call([box, 4])
    let error = try #require(throws: LuaError.self) { try write.call([box, "x"]) }
    #expect(error.message == "bad value for 'value' (number expected, got string)")
  }

  @Test func typesAreDescribedWhenAnObjectIsHandedOver() throws {
    let state = try LuaState()
    let type = LuaHostType<LuaBox<Int64>>("number box", interned: false)
    var described = 0
    state.registerLater(type) { [unowned type] in
      described += 1
      type.property("value", get: { box, call in call.return(box.value) })
    }
    #expect(described == 0)
    let read = try #require(try state.load("return function(o) return o.value end", name: "t").first().functionValue)
    for _ in 0..<2 {
      #expect(try read.first(.object(LuaObject(LuaBox<Int64>(3), as: type))).integerValue == 3)
    }
    #expect(described == 1)
  }
}
