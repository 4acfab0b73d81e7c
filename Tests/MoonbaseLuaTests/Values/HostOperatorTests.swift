import MoonbaseLua
import Testing

/// Operators of host types.
@Suite struct HostOperatorTests {
  final class Money {
    let cents: Int64
    var isClosed = false
    init(_ cents: Int64) { self.cents = cents }
  }

  /// Defines every metamethod that a type may have.
  func open(_ state: LuaState) throws -> LuaHostType<Money> {
    let type = LuaHostType<Money>("Money", interned: false)
    type.property("cents", get: { money, call in call.return(money.cents) })
    let arithmetic: [(LuaOperator, (Int64, Int64) -> Int64)] = [
      (.add, { $0 + $1 }), (.subtract, { $0 - $1 }), (.multiply, { $0 * $1 }), (.divide, { $0 / $1 }),
      (.floorDivide, { $0 / $1 }), (.modulo, { $0 % $1 }), (.power, { $0 ^ $1 }),
    ]
    for (name, compute) in arithmetic {
      type.operator(name) { [unowned type] call in
        let first: Money = try call.object(0)
        let second: Money = try call.object(1, name: "Money")
        try call.return(Money(compute(first.cents, second.cents)), as: type)
      }
    }
    type.operator(.negate) { [unowned type] call in
      let money: Money = try call.object(0)
      try call.return(Money(-money.cents), as: type)
    }
    for (name, compare) in [(LuaOperator.equal, { $0 == $1 }), (.less, { $0 < $1 }), (.lessOrEqual, { $0 <= $1 })]
      as [(LuaOperator, (Int64, Int64) -> Bool)]
    {
      type.operator(name) { call in
        let first: Money = try call.object(0)
        let second: Money = try call.object(1)
        call.return(compare(first.cents, second.cents))
      }
    }
    type.operator(.concatenate) { call in
      func text(_ index: Int) throws -> String {
        if let money = call.objectIfPresent(index, as: Money.self) { return "\(money.cents)c" }
        return try call.text(index)
      }
      call.return(try text(0) + text(1))
    }
    type.operator(.length) { call in call.return((try call.object(0) as Money).cents) }
    type.operator(.text) { call in call.return("\((try call.object(0) as Money).cents) cents") }
    type.operator(.call) { call in call.return((try call.object(0) as Money).cents * (try call.integer(1))) }
    type.operator(.close) { call in (try call.object(0) as Money).isClosed = true }
    type.operator(.pairs) { call in
      let next = try call.state.function { call in
        let key = call.isNil(1) ? 0 : try call.integer(1)
        guard key < 3 else { return call.returnNil() }
        call.return(key + 1)
        call.return((key + 1) * 10)
      }
      try call.return(next)
      try call.return(try call.value(0))
      call.returnNil()
    }
    try state.register(type)
    return type
  }

  func evaluate(_ code: String, in preset: LuaPreset = .standard) throws -> [LuaValue] {
    let state = try LuaState(preset: preset)
    let type = try open(state)
    let chunk = try state.load("local a, b = ... " + code, name: "t.lua")
    return try chunk(.object(LuaObject(Money(700), as: type)), .object(LuaObject(Money(300), as: type)))
  }

  @Test(arguments: LuaPreset.allCases)
  func everyOperatorReachesTheHost(_ preset: LuaPreset) throws {
    let numbers = try evaluate(
      """
      return (a + b).cents, (a - b).cents, (a * b).cents, (a / b).cents, (a // b).cents, (a % b).cents, (a ^ b).cents,
        (-a).cents, #a, a(2)
      """, in: preset)
    #expect(numbers.map(\.integerValue) == [1000, 400, 210_000, 2, 2, 100, 700 ^ 300, -700, 700, 1400])
    let truths = try evaluate("return a == b, a ~= b, a < b, a <= b, a > b, a >= b, a + b == b + a", in: preset)
    #expect(truths.map(\.booleanValue) == [false, true, false, false, true, true, true])
    let texts = try evaluate("return tostring(a), a .. b, a .. '!', '1' .. b, string.format('%s', b)", in: preset)
    #expect(texts.map(\.textValue) == ["700 cents", "700c300c", "700c!", "1300c", "300 cents"])
    let sum = try evaluate("local n = 0 for k, v in pairs(a) do n = n + k * v end return n", in: preset)
    #expect(sum[0].integerValue == 140)
  }

  @Test func leavingABlockClosesAnObject() throws {
    let state = try LuaState()
    let type = try open(state)
    for code in ["do local m <close> = ... end", "pcall(function(...) local m <close> = ... error('x') end, ...)"] {
      let money = Money(1)
      _ = try state.load(code, name: "t")(.object(LuaObject(money, as: type)))
      #expect(money.isClosed)
    }
  }

  @Test func whatATypeLacksIsAnErrorOfLua() throws {
    for (code, message) in [
      ("return a + 1", "attempt to calculate Money + number (Money expected)"),
      ("return a & b", "attempt to perform bitwise operation"),
      ("a.cents = 1", "'cents' of Money cannot be assigned"), ("return a.x", "Money has no 'x'"),
      ("a[{}] = 1", "Money has no 'table'"), ("return ('x').cents.y", "attempt to index a nil value"),
      ("return getmetatable(a).__index.x", "attempt to index a boolean value"),
      ("setmetatable(a, {})", "table expected"),
      ("return rawget(a, 1)", "table expected, got Money"),
      ("return a < 1", "attempt to compare Money with number (Money expected)"),
    ] {
      let error = try #require(throws: LuaError.self, "\(code)") { try evaluate(code) }
      #expect(error.message.contains(message), "\(code): \(error.message)")
      #expect(error.line == 1)
    }
  }

  /// A handle is recognized by its identity; a handle of another type is refused.
  @Test func anotherTypesObjectIsRefused() throws {
    final class Other {}
    let state = try LuaState()
    let money = try open(state)
    let other = LuaHostType<Other>("Other")
    try state.register(other)
    try state.setGlobal("other", to: .object(LuaObject(Other(), as: other)))
    for code in ["local a = ... return a + other", "local a = ... return a < other"] {
      let error = try #require(throws: LuaError.self) {
        try state.load(code, name: "t")(.object(LuaObject(Money(1), as: money)))
      }
      #expect(error.message.contains("Other (Money expected)"), "\(error)")
    }
  }
}
