import MoonbaseLua
import Testing

/// Host values in Lua: values without references are stored in Lua's memory, others in a box; scripts see no
/// difference.
@Suite struct ValueTypeTests {
  struct Triple: Equatable {
    var a: Int64
    var b: Double
    var c: UInt64
  }

  private let state: LuaState
  private let number = LuaValueType<Int64>("count")
  private let triple = LuaValueType<Triple>("triple")
  private let name = LuaValueType<String>("name")

  init() throws {
    state = try LuaState(preset: .trusted)
    number.property("value") { number, call in call.return(number) }
    number.method("plus", upTo: 1) { [unowned number] value, call in
      try call.return(value + call.integer(0), as: number)
    }
    number.operator(.equal) { [unowned number] call in
      call.return(try call.value(0, of: number) == call.value(1, of: number))
    }
    number.operator(.add) { [unowned number] call in
      try call.return(call.value(0, of: number) + call.value(1, of: number), as: number)
    }
    triple.property("a") { triple, call in call.return(triple.a) }
    triple.property("c") { triple, call in call.return(Int64(bitPattern: triple.c)) }
    name.property("text") { name, call in call.return(name) }
    for type in [number, triple, name] as [LuaAnyHostType] { try state.register(type) }
  }

  private var samples: [LuaValue] {
    [
      number.value(-7), triple.value(Triple(a: 1, b: 2.5, c: .max)),
      name.value("Ä" + String(repeating: "x", count: 40)),
    ]
  }

  private func same(_ found: LuaValue?, _ sample: LuaValue) -> Bool {
    guard case .object(let found)? = found, case .object(let sample) = sample, found.type === sample.type else {
      return false
    }
    switch (found.object, sample.object) {
    case (let one as LuaBox<Int64>, let two as LuaBox<Int64>): return one.value == two.value
    case (let one as LuaBox<Triple>, let two as LuaBox<Triple>): return one.value == two.value
    case (let one as LuaBox<String>, let two as LuaBox<String>): return one.value == two.value
    default: return false
    }
  }

  /// As a global, an element, an argument, one of several results, an upvalue, and through a coroutine.
  @Test func aValueIsTheSameByEachWay() throws {
    let way = try state.load(
      """
      return function(first, ...)
        local kept = { first, ... }
        local function inner() return kept[1] end
        local thread = coroutine.wrap(function(value) while true do value = coroutine.yield(value) end end)
        return inner(), thread(kept[2]), kept[3], select(-1, ...)
      end
      """, name: "way.lua"
    ).first()
    for first in samples {
      try state.setGlobal("given", to: first)
      #expect(try same(state.global("given"), first))
      let arguments = [first] + samples
      let results = try #require(way.functionValue).call(arguments)
      #expect(results.count == 4 && same(results[0], first) && same(results[1], samples[0]))
      #expect(same(results[2], samples[1]) && same(results[3], samples[2]))
      let table = try state.list(samples)
      #expect(try zip(table.elements, samples).allSatisfy { same($0, $1) })
    }
  }

  /// A fast call accepts values beside strings, whose bytes are at the same place.
  @Test func aFastCallTakesAndGivesThem() throws {
    let function = try state.load("return function(a, b, c, d) return d, a, b, c end", name: "f.lua").first()
      .functionValue
    let call = LuaFastCall(try #require(function), parameters: 4)
    for round in 0..<40 {
      let sample = Triple(a: Int64(round), b: 0.5, c: UInt64(round))
      let results = try call.run {
        try $0.set(0, Int64(round), as: number)
        $0.set(1, string: String(repeating: "s", count: round * 3))
        try $0.set(2, "n\(round)", as: name)
        try $0.set(3, sample, as: triple)
      } reading: { (result: borrowing LuaResult) in
        [try result.value, try result.further(1), try result.further(2), try result.further(3)]
      }
      #expect(same(results[0], triple.value(sample)) && same(results[1], number.value(Int64(round))))
      #expect(results[2].textValue?.count == round * 3 && same(results[3], name.value("n\(round)")))
    }
  }

  @Test func aHostFunctionReadsAndReturnsThem() throws {
    let (number, triple, name) = (number, triple, name)
    try state.setGlobal(
      "turn",
      to: state.function { [unowned number, unowned triple, unowned name] call in
        let first = try call.value(0, of: number)
        #expect(call.valueIfPresent(0, of: triple) == nil && call.valueIfPresent(9, of: number) == nil)
        try call.return(call.value(2, of: name), as: name)
        try call.return(call.value(1, of: triple), as: triple)
        try call.return(first + 1, as: number)
      })
    for (index, sample) in samples.enumerated() { try state.setGlobal("s\(index)", to: sample) }
    let results = try state.load("return turn(s0, s1, s2)", name: "t.lua")()
    #expect(results.count == 3 && same(results[0], samples[2]) && same(results[1], samples[1]))
    #expect(same(results[2], number.value(-6)))
    let error = try state.load("return select(2, pcall(turn, s1, s1, s2))", name: "t.lua").first()
    #expect("\(error)".contains("count expected, got triple"))
  }

  @Test func mistakesSayWhatTheTypeIs() throws {
    try state.setGlobal("n", to: number.value(3))
    let script = """
      local all = {}
      for _, f in ipairs {
        function() return n.other end, function() n.value = 1 end, function() n.plus = 1 end, function() return n.plus(1) end,
        function() return n + 1 end, function() return n < n end, function() return #n end,
      } do
        all[#all + 1] = select(2, pcall(f)):gsub("^[^:]*:%d+: ", "")
      end
      return table.concat(all, "\\n")
      """
    let lines = try state.load(script, name: "m.lua").first().textValue?.split(separator: "\n").map(String.init) ?? []
    #expect(lines.count == 7)
    #expect(lines[0].contains("a count has no 'other'") && lines[1].contains("'value' of count cannot be assigned"))
    #expect(lines[2].contains("method 'plus' of count cannot be assigned"))
    #expect(lines[3].contains("count expected, got number: call it with ':', not with '.'"))
    #expect(lines[4].contains("count expected"))
  }

  /// The preset `trusted` can call the functions behind an access, with foreign userdata.
  @Test func accessTakesNothingButValues() throws {
    let other = LuaHostType<LuaBox<Int64>>("box")
    other.property("value", get: { box, call in call.return(box.value) })
    try state.register(other)
    try state.setGlobal("n", to: number.value(3))
    try state.setGlobal("t", to: triple.value(Triple(a: 5, b: 0, c: 9)))
    try state.setGlobal("box", to: .object(LuaObject(LuaBox<Int64>(8), as: other)))
    let script = """
      local ofValue, ofObject = debug.getmetatable(n), debug.getmetatable(box)
      assert(ofValue.__gc == nil)
      for _, value in ipairs { 1, "a text of more than sixteen bytes", {}, io.stdout, print, coroutine.create(print), box } do
        for _, name in ipairs { "__index", "__newindex", "__tostring" } do assert(not pcall(ofValue[name], value, "value", 1), name) end
      end
      for _, value in ipairs { n, t } do
        for _, name in ipairs { "__index", "__newindex", "__tostring", "__gc" } do assert(not pcall(ofObject[name], value, "value", 1)) end
      end
      assert(not pcall(ofValue.__index))
      assert(ofValue.__index(t, "a") == 5 and tostring(t) == "triple")
      debug.setmetatable(t, ofObject)
      assert(not pcall(function() return t.value end))
      debug.setmetatable(t, nil)
      return (n + n):plus(1).value
      """
    #expect(try state.load(script, name: "access.lua").first().integerValue == 7)
  }

  /// The values are in Lua's memory and are collected with it.
  @Test func valuesThatGoLeaveNothing() throws {
    try state.setGlobal("n", to: number.value(0))
    let grow = try #require(
      try state.load(
        "return function(k) local v = n for i = 1, k do v = v:plus(1) end collectgarbage() return v.value end",
        name: "g.lua"
      ).first().functionValue)
    #expect(try grow.first(.integer(1000)).integerValue == 1000)
    let before = state.memoryUsed
    #expect(try grow.first(.integer(20_000)).integerValue == 20_000)
    #expect(state.memoryUsed <= before + 4096)
  }
}
