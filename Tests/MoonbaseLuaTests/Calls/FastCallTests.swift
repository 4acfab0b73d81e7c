import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct FastCallTests {
  func call(_ code: String, _ state: LuaState, parameters: Int) throws -> LuaFastCall {
    LuaFastCall(try #require(try state.load(code, name: "f.lua").first().functionValue), parameters: parameters)
  }

  @Test func resultsAfterTheFirstCanBeRead() throws {
    let state = try LuaState()
    let call = try call("return function(first) return first, 'two', { 3 } end", state, parameters: 1)
    func results(_ first: LuaValue) throws -> [String] {
      try call.run {
        try $0.set(0, to: first)
      } reading: { result in
        [result.isNil ? "nil" : result.text ?? "\(result.integer ?? 0)"]
          + (try (1...3).map { try result.further($0).typeName })
      }
    }
    let expected = ["string", "table", "nil"]
    #expect(try results(.integer(1)) == ["1"] + expected)  // a run of its own
    let within = try state.run { () throws -> [[String]] in
      try [results(.integer(1)), results(.nil), results("text")]
    }
    #expect(within == [["1"] + expected, ["nil"] + expected, ["text"] + expected])
    let one = try self.call("return function() return 1 end", state, parameters: 0)
    let further = try one.run(reading: { try $0.further(1).typeName })
    #expect(further == "nil")
  }

  @Test func everyKindOfArgumentAndResultPasses() throws {
    let state = try LuaState()
    let call = try call("return function(...) return ... end", state, parameters: 1)
    #expect(
      try call.run {
        $0.set(0, integer: .min)
      } reading: {
        $0.integer
      } == .min)
    #expect(
      try call.run {
        $0.set(0, number: -0.0)
      } reading: {
        $0.number?.sign
      } == .minus)
    #expect(
      try call.run {
        $0.set(0, number: -0.0)
      } reading: {
        $0.integer
      } == nil)
    #expect(
      try call.run {
        $0.set(0, boolean: true)
      } reading: {
        $0.boolean
      } == true)
    #expect(
      try call.run {
        $0.set(0, boolean: true)
      } reading: {
        $0.number
      } == nil)
    #expect(
      try call.run {
        $0.set(0, string: "é")
      } reading: {
        $0.text
      } == "é")
    #expect(
      try call.run {
        $0.setNil(0)
      } reading: {
        $0.isNil
      })
    #expect(try call.run { $0.isNil })
    let table = try LuaValue.table(state.table(["a": 1]))
    #expect(try call.value { try $0.set(0, to: table) }.tableValue?.get("a").integerValue == 1)
    #expect(try call.value { $0.set(0, integer: 7) }.integerValue == 7)
    #expect(try call.value().description == "nil")
  }

  @Test func callsNestAndLeaveNothingBehind() throws {
    let state = try LuaState()
    let inner = try call("return function(n) if n % 3 == 0 then error('three') end return n end", state, parameters: 1)
    try state.setGlobal(
      "inner",
      to: state.function { call in
        let number = try call.integer(0)
        call.return(
          try inner.run {
            $0.set(0, integer: number)
          } reading: {
            $0.integer ?? 0
          })
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
      #expect(
        try outer.run {
          $0.set(0, integer: 3000)
        } reading: {
          $0.integer
        } == 3_000_000)
    }
  }

  @Test func anErrorNamesItsPlaceAndTheNextCallWorks() throws {
    let state = try LuaState()
    let call = try call("return function(n)\n  return n.x end", state, parameters: 1)
    for _ in 0..<300 {
      let error = try #require(throws: LuaError.self) {
        try call.run {
          $0.set(0, integer: 1)
        } reading: {
          $0.integer
        }
      }
      #expect(error.line == 2)
    }
    let table = try LuaValue.table(state.table(["x": 5]))
    #expect(
      try call.run {
        try $0.set(0, to: table)
      } reading: {
        $0.integer
      } == 5)
  }

  /// Within a run scalars leave the stack at once. Any other result stays on the stack while it is read, and calls go
  /// on above it.
  @Test func resultsLiveWhileTheyAreReadWithinARun() throws {
    let state = try LuaState()
    let same = try call("return function(...) return ... end", state, parameters: 1)
    let fail = try call("return function() error({}) end", state, parameters: 0)
    func nest(_ depth: Int) throws -> Int {
      if depth == 0 { return 0 }
      return try same.run {
        $0.set(0, string: "level \(depth)")
      } reading: { result in
        _ = try? fail.run { $0.isNil }
        let below = try nest(depth - 1)
        #expect(result.text == "level \(depth)")
        return below
          + Int(
            try same.run {
              $0.set(0, integer: 5)
            } reading: {
              $0.integer ?? 0
            })
      }
    }
    try state.run {
      for _ in 0..<1000 {
        #expect(
          try same.run {
            $0.set(0, number: 0.5)
          } reading: {
            $0.number
          } == 0.5)
        #expect(try same.run { $0.isNil })
        #expect(
          try same.run {
            $0.set(0, boolean: false)
          } reading: {
            $0.boolean
          } == false)
        _ = #expect(throws: LuaError.self) { try fail.run { $0.isNil } }
      }
      #expect(try nest(400) == 2000)
      guard case .null = try same.value({ try $0.set(0, to: .null) }) else {
        throw LuaError(.runtime, message: "null came back as something else")
      }
    }
  }

  /// The closure that sets the arguments of a call may make the same call.
  @Test func aCallMayBeMadeWhileItsArgumentsArePlaced() throws {
    let state = try LuaState()
    let join = try call("return function(a, b) return (a or '-') .. (b or '-') end", state, parameters: 2)
    let long = String(repeating: "x", count: 1000)
    func nest(_ depth: Int) throws -> String {
      try join.run {
        $0.set(0, string: depth % 2 == 0 ? "\(depth)" : long)
        if depth > 0 { $0.set(1, string: try nest(depth - 1)) }
      } reading: {
        $0.text ?? "no text"
      }
    }
    for _ in 0..<3 { #expect(try nest(4) == "4\(long)2\(long)0-") }
    #expect(try join.value().textValue == "--")
  }

  /// Where setting the arguments fails, neither their bytes stay, which would add up, nor their objects.
  @Test func aPlacingThatFailsLeavesNothing() throws {
    struct Refusal: Error {}
    let state = try LuaState()
    let same = try call("return function(...) return ... end", state, parameters: 2)
    weak var seen: LuaBox<Int64>?
    let type = LuaHostType<LuaBox<Int64>>("number box", interned: false)
    try state.register(type)
    let long = String(repeating: "x", count: 1 << 20)
    let before = try residentBytes()
    for _ in 0..<300 {
      #expect(throws: Refusal.self) {
        try same.run {
          $0.set(0, string: long)
          let box = LuaBox<Int64>(1)
          seen = box
          try $0.set(1, object: box, as: type)
          throw Refusal()
        } reading: { _ in
        }
      }
    }
    #expect(try residentBytes() - before < 64 << 20)
    state.collectGarbage()
    #expect(seen == nil)
    #expect(try same.run { $0.isNil })
  }

  private func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
  }

  @Test func noResultIsNotNil() throws {
    let state = try LuaState()
    let give = try call(
      "return function(n, ...) if n == 0 then return end if n == 1 then return nil end return 'a', ... end", state,
      parameters: 2)
    func results(_ count: Int64, _ text: String? = nil) throws -> (isMissing: Bool, isNil: Bool, text: String?) {
      try give.run {
        $0.set(0, integer: count)
        if let text { $0.set(1, string: text) }
      } reading: {
        ($0.isMissing, $0.isNil, $0.text)
      }
    }
    func check() throws {
      for text in [nil, "b"] {
        #expect(try results(0, text) == (true, true, nil))
        #expect(try results(1, text) == (false, true, nil))
        #expect(try results(2, text) == (false, false, "a"))
      }
    }
    try check()
    try state.run { for _ in 0..<100 { try check() } }
  }

  final class Holder { var state: LuaState? }

  /// The last owner releases the state while it runs. The call ends before the state does.
  @Test func aCallKeepsItsStateWhileItRuns() throws {
    let holder = Holder()
    holder.state = try LuaState()
    let call: LuaFastCall
    do {
      let state = try #require(holder.state)
      try state.setGlobal("drop", to: state.function { [unowned holder] _ in holder.state = nil })
      call = try self.call("return function(n) drop() return n + 1 end", state, parameters: 1)
    }
    #expect(
      try call.run {
        $0.set(0, integer: 41)
      } reading: {
        $0.integer
      } == 42)
    let error = try #require(throws: LuaError.self) { try call.run { $0.integer } }
    #expect(error.kind == .closed)
  }

  @Test func fastCallsTakeScalars() throws {
    let state = try LuaState()
    let function = try #require(
      try state.load("return function(a, b, c) return a * b + (c and #c or 0) end", name: "t")().first?.functionValue)
    let call = LuaFastCall(function, parameters: 3)
    for i in 0..<100 {
      let result = try call.run {
        $0.set(0, integer: Int64(i))
        $0.set(1, integer: 2)
        if i % 2 == 0 { $0.set(2, string: "abc") }
      } reading: {
        $0.integer
      }
      #expect(result == Int64(i * 2 + (i % 2 == 0 ? 3 : 0)))
    }
  }
}
