import MoonbaseLua
import MoonbasePlatform
import Testing

/// Calls in an unsupported order give clear errors and no crash.
@Suite struct MisuseTests {
  @Test func whatIsLeftOfAClosedStateSaysSo() throws {
    var state: LuaState? = try LuaState()
    let made = try #require(
      try state?.load("return { 1 }, function() return 1 end, coroutine.create(print), 'text'", name: "t")())
    let chunk = try #require(try state?.load("return 1", name: "t"))
    let call = LuaFastCall(try #require(made[1].functionValue), parameters: 1)
    state = nil
    let table = try #require(made[0].tableValue)
    let attempts: [() throws -> Void] = [
      { _ = try table.get(1) }, { try table.set("a", to: 1) }, { _ = try table.pairs }, { try table.markAsList() },
      { _ = try made[1].functionValue?.call([]) }, { _ = try chunk() }, { _ = try call.value() },
      { _ = try made[1].functionValue?.makeThread() }, { _ = try made[2].threadValue?.resume() },
      { _ = try made[2].threadValue?.status }, { try made[2].threadValue?.close() },
      { _ = try call.value { try $0.set(0, to: made[0]) } }, { _ = try call.run { $0.integer } },
    ]
    for (number, attempt) in attempts.enumerated() {
      let error = #expect(throws: LuaError.self, "attempt \(number)") { try attempt() }
      #expect(error?.kind == .closed, "attempt \(number): \(String(describing: error))")
    }
    #expect(made[3].textValue == "text")
  }

  @Test func valuesOfAnotherStateAreRefused() throws {
    let first = try LuaState()
    let second = try LuaState()
    let foreign = try first.load("return { 1 }, function() end, coroutine.create(print)", name: "t")()
    let own = try second.table()
    let function = try #require(try second.load("return function(...) return ... end", name: "t").first().functionValue)
    let call = LuaFastCall(function, parameters: 1)
    for value in foreign {
      let attempts: [() throws -> Void] = [
        { try own.set("a", to: value) }, { try own.set(value, to: 1) }, { _ = try own.get(value) },
        { _ = try function.call([value]) }, { _ = try call.value { try $0.set(0, to: value) } },
        { try second.setGlobal("g", to: value) },
        { _ = try second.tree(of: .table(second.list([value]))) },
      ]
      for (number, attempt) in attempts.enumerated() {
        let error = #expect(throws: LuaError.self, "attempt \(number)") { try attempt() }
        #expect(error?.kind == .foreign, "attempt \(number): \(String(describing: error))")
      }
    }
    let table = try #require(foreign[0].tableValue)
    let elsewhere = try first.environment()
    let chunk = try LuaChunk(LuaSource("return 1", name: "t"))
    for attempt in [
      { try own.setMetatable(table) }, { try own.replaceContents(with: first.table(["a": 1, "b": .table(table)])) },
      { _ = try second.load("return 1", name: "t", in: elsewhere) },
      { _ = try second.load(chunk, in: elsewhere) },
    ] {
      let error = #expect(throws: LuaError.self) { try attempt() }
      #expect(error?.kind == .foreign)
    }
    try second.setGlobal("give", to: second.function { call in try call.return(foreign[0]) })
    let error = try #require(throws: LuaError.self) { try second.load("give()", name: "t")() }
    #expect(error.kind == .foreign)
    #expect(try second.load("return 1", name: "t").first().integerValue == 1)
  }
}
