import MoonbaseLua
import Testing

/// Handles of host objects: access and lifetime.
@Suite struct HostHandleTests {
  final class Point {
    var x: Double
    var y: Double
    init(_ x: Double, _ y: Double) {
      self.x = x
      self.y = y
    }
  }

  func pointType() -> LuaHostType<Point> {
    let type = LuaHostType<Point>("Point")
    type.properties(
      ["x", "y"], get: { point, slot, call in call.return(slot == 0 ? point.x : point.y) },
      set: { point, slot, call in
        let value = try call.number(0)
        if slot == 0 { point.x = value } else { point.y = value }
      })
    type.method("moved") { [unowned type] point, call in
      try call.return(Point(point.x + call.number(0), point.y + call.number(1)), as: type)
    }
    type.operator(.equal) { call in
      let first: Point = try call.object(0)
      let second: Point = try call.object(1)
      call.return(first.x == second.x && first.y == second.y)
    }
    type.operator(.text) { call in
      let point: Point = try call.object(0)
      call.return("(\(point.x), \(point.y))")
    }
    return type
  }

  /// The preset `trusted` can call the finalizer of an object.
  @Test func theFinalizerTakesNothingButObjects() throws {
    let state = try LuaState(preset: .trusted)
    let type = pointType()
    try state.register(type)
    try state.setGlobal("p", to: .object(LuaObject(Point(3, 4), as: type)))
    let script = """
      local collect = debug.getmetatable(p).__gc
      for _, value in ipairs { 1, "x", {}, io.stdout, print, coroutine.create(print) } do assert(not pcall(collect, value)) end
      assert(not pcall(collect))
      return p.x
      """
    #expect(try state.load(script, name: "gc.lua").first().numberValue == 3)
  }

  /// The preset can also call the functions that read and write properties. They serve the handles of all types, each
  /// by its own type.
  @Test func accessTakesNothingButObjectsAndGoesByTheirType() throws {
    let state = try LuaState(preset: .trusted)
    let type = pointType()
    let other = LuaHostType<LuaBox<Int64>>("box")
    other.properties(["y", "x"], get: { box, slot, call in call.return(slot == 0 ? -1 : box.value) })
    try state.register(type)
    try state.register(other)
    try state.setGlobal("p", to: .object(LuaObject(Point(3, 4), as: type)))
    try state.setGlobal("box", to: .object(LuaObject(LuaBox<Int64>(7), as: other)))
    let script = """
      local point = debug.getmetatable(p)
      for _, access in ipairs { point.__index, point.__newindex, point.__tostring } do
        for _, value in ipairs { 1, "x", {}, io.stdout, print, coroutine.create(print) } do
          assert(not pcall(access, value, "x", 1))
        end
        assert(not pcall(access))
      end
      assert(not pcall(point.__index, p) and not pcall(point.__index, p, 1))
      return point.__index(p, "x", "more"), point.__index(box, "x")
      """
    let results = try state.load(script, name: "access.lua")()
    #expect(results.map(\.numberValue) == [3, 7])
  }

  /// Lua stores each text of up to 40 bytes once, and longer texts once per creation.
  @Test func propertiesAreFoundHoweverManyThereAreAndHoweverLongTheirNames() throws {
    let state = try LuaState()
    let names = (0..<100).map { "p\($0)" } + ["long" + String(repeating: "g", count: 60)]
    let type = LuaHostType<LuaBox<Int64>>("wide")
    var written: [Int] = []
    type.properties(
      names, get: { _, slot, call in call.return(slot) },
      set: { _, slot, call in
        written.append(Int(try call.integer(0)))
        #expect(written.last == slot)
      })
    type.method("p") { _, call in call.return("method") }
    try state.register(type)
    let script = """
      local o = ...
      for i = 0, 99 do
        assert(o["p" .. i] == i)
        o["p" .. i] = i
      end
      local long = "long" .. ("g"):rep(60)
      assert(o[long] == 100 and o:p() == "method")
      o[long] = 100
      assert(not pcall(function() return o.p100 end) and not pcall(function() return o[1] end))
      """
    _ = try state.load(script, name: "wide.lua")(.object(LuaObject(LuaBox<Int64>(0), as: type)))
    #expect(written == Array(0...100))
  }

  @Test func hostObjectsHavePropertiesMethodsAndOperators() throws {
    let state = try LuaState()
    let type = pointType()
    try state.register(type)
    let point = Point(1, 2)
    let environment = try state.environment([
      "p": .object(LuaObject(point, as: type)), "q": .object(LuaObject(Point(1, 2), as: type)),
    ])
    let source = """
      p.x = p.x + 10
      local m = p:moved(1, 1)
      return p.x, m.y, p == q, tostring(m), m == m, ({[p] = 1})[p]
      """
    let results = try state.load(source, name: "t", in: environment)()
    #expect(point.x == 11)
    #expect(results[0].numberValue == 11)
    #expect(results[1].numberValue == 3)
    #expect(results[2].booleanValue == false)
    #expect(results[3].textValue == "(12.0, 3.0)")
    #expect(results[5].integerValue == 1)
    for (code, message) in [
      ("return p.z", "Point has no 'z'"), ("p.z = 1", "Point has no 'z'"), ("p.x = 'a'", "number expected, got string"),
      ("p.moved()", "Point expected, got no value"),
      ("p:moved(1)", "bad argument #2 to 'moved' (number expected, got no value)"),
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t", in: environment)() }
      #expect(error.message.contains(message), "\(error)")
    }
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

  @Test func sameObjectIsSameHandle() throws {
    let state = try LuaState()
    let type = pointType()
    try state.register(type)
    let point = Point(0, 0)
    try state.setGlobal("get", to: state.function { call in try call.return(point, as: type) })
    #expect(
      try state.load("local t = {} t[get()] = 1 return rawequal(get(), get()), t[get()]", name: "t")()[1].integerValue
        == 1)
  }

  @Test func aScopedHandleDiesWithItsScope() throws {
    let state = try LuaState()
    let type = pointType()
    try state.register(type)
    let chunk = try state.load(
      "local f = function(p) kept = p return p.x end return f, function() return kept.x end", name: "t")()
    let use = try #require(chunk[0].functionValue)
    let late = try #require(chunk[1].functionValue)
    let call = LuaFastCall(use, parameters: 1)
    try state.withScope {
      let x = try call.value { try $0.set(0, object: Point(4, 0), as: type, scoped: true) }
      #expect(x.numberValue == 4)
    }
    let error = try #require(throws: LuaError.self) { try late() }
    #expect(error.message == "Point used outside of its callback")
  }

  @Test func hostObjectsAreReleased() throws {
    weak var seen: Point?
    do {
      let state = try LuaState()
      let type = pointType()
      try state.register(type)
      do {
        let point = Point(1, 1)
        seen = point
        _ = try state.load("local p = ... p = nil", name: "t")(.object(LuaObject(point, as: type)))
      }
      #expect(seen != nil)
      state.collectGarbage()
      #expect(seen == nil)
      let point = Point(1, 1)
      seen = point
      try state.setGlobal("p", to: .object(LuaObject(point, as: type)))
    }
    #expect(seen == nil)
  }

  /// Found by fuzzing.
  @Test func anObjectOutlivesItsState() throws {
    final class Thing {}
    let type = LuaHostType<Thing>("Thing")
    var first: LuaState? = try LuaState()
    try first?.register(type)
    let value = LuaValue.object(LuaObject(Thing(), as: type))
    first = nil
    let second = try LuaState()
    let function = try second.load("return ...", name: "t")
    let error = try #require(throws: LuaError.self) { try function.call([value]) }
    #expect(error.kind == .foreign)
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
