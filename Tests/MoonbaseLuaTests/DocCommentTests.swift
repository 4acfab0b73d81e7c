import MoonbaseLua
import MoonbasePlatform
import Testing

/// The examples of the doc comments, verbatim.
@Suite struct DocCommentTests {
  private struct Refusal: Error { let code: Int64 }

  private final class Money {
    let cents: Int64
    init(_ cents: Int64) { self.cents = cents }
  }

  private let state: LuaState

  init() throws { state = try LuaState(preset: .standard, limits: .untrusted) }

  // MARK: State and errors

  @Test func errorsAreMappedToTables() throws {
    state.errorMapper = { error, state in
      (error as? Refusal).flatMap { refusal in try? .table(state.table(["code": .integer(refusal.code)])) }
    }
    try state.setGlobal("refuse", to: state.function { _ in throw Refusal(code: 7) })
    let code = try state.load("return select(2, pcall(refuse)).code", name: "t.lua").first()
    #expect(code.integerValue == 7)
  }

  @Test func aLimitEndsARun() throws {
    let limits = LuaLimits(instructions: 1_000_000, deadline: .seconds(10), memory: 32 << 20)
    let state = try LuaState(preset: .standard, limits: limits)
    let error = try #require(throws: LuaError.self) { try state.load("while true do end", name: "endless.lua")() }
    #expect(error.kind == .limit(.instructions))
    #expect(error.kind.limit == .instructions)
    #expect(error.description == "endless.lua:1: the script used up its instructions")
  }

  @Test func anErrorTellsItsPlaceAndItsFrame() throws {
    let error = try #require(throws: LuaError.self) { try state.load("local p\nprint(p.x)", name: "colors.lua")() }
    #expect(error.code == "lua.runtime")
    #expect(error.description == "colors.lua:2: attempt to index a nil value (local 'p')")
    #expect(state.codeFrame(of: error)?.contains("> 2 | print(p.x)") == true)
  }

  @Test func hostWorkIsCharged() throws {
    let numbers: [Int64] = [1, 2, 3]
    let before = try #require(state.limits.instructions)
    let left = try state.run {
      let sum = try state.function { call in
        call.state.charge(Int64(numbers.count) * 1_000_000)
        call.return(numbers.reduce(0, +))
      }
      #expect(try sum.functionValue?.first().integerValue == 6)
      return try #require(state.remainingInstructions)
    }
    #expect(before - left >= 3_000_000)
  }

  // MARK: Values

  @Test func valuesAreReadByKind() throws {
    let results = try state.load("return 42, 'x', { n = 1 }", name: "values.lua")()
    #expect(results[0].integerValue == 42)
    #expect(results[1].textValue == "x")
    #expect(try results[2].tableValue?.get("n").numberValue == 1.0)
    let arguments: [LuaValue] = [7, "text", 1.5, true, .nil]
    #expect(arguments.map(\.typeName) == ["number", "string", "number", "boolean", "nil"])
  }

  @Test func stringsAreBytes() {
    #expect(LuaString("é").count == 2)
    #expect(LuaString(bytes: [0xFF] as [UInt8]).text == nil)
    #expect(LuaString(bytes: [0xFF] as [UInt8]).description == "\u{FFFD}")
  }

  @Test func tablesAreReadAndFrozen() throws {
    let table = try state.table(["name": "Scarlet"])
    try table.set("age", to: 42)
    #expect(try table.get("age").integerValue == 42)
    #expect(try table.pairs.count == 2)
    try state.setGlobal("settings", to: .table(state.table(["depth": 3]).frozen()))
    #expect(throws: LuaError.self) { try state.load("settings.depth = 4", name: "t.lua")() }
  }

  @Test func functionsGiveTheirFirstResult() throws {
    let chunk = try state.load("return function(a, b) return a * b end", name: "product.lua")
    let product = try chunk.first().functionValue
    #expect(try product?.first(6, 7).integerValue == 42)
    #expect(product?.place == "product.lua:1")
  }

  @Test func boxesHoldValues() throws {
    let date = LuaValueType<Date>("date")
    date.property("unix") { date, call in call.return(date.timeIntervalSince1970) }
    try state.register(date)
    try state.setGlobal("epoch", to: date.value(Date(timeIntervalSince1970: 0)))
    #expect(try state.global("epoch").objectValue(as: LuaBox<Date>.self)?.value == Date(timeIntervalSince1970: 0))
    #expect(try state.load("return epoch.unix", name: "t.lua").first().numberValue == 0)
  }

  @Test func operatorsGetBothOperands() throws {
    let type = LuaHostType<Money>("money")
    type.operator(.equal) { call in
      let first: Money = try call.object(0)
      let second: Money = try call.object(1)
      call.return(first.cents == second.cents)
    }
    try state.register(type)
    let chunk = try state.load("local a, b = ... return a == b", name: "t.lua")
    #expect(try chunk(.object(LuaObject(Money(1), as: type)), .object(LuaObject(Money(1), as: type)))[0].isTrue)
  }

  // MARK: Calls

  @Test func fastCallsTakeNumbersAndTexts() throws {
    let join = try state.load("return function(n, unit) return n .. unit end", name: "t.lua").first()
    let call = LuaFastCall(try #require(join.functionValue), parameters: 2)
    let length = try call.run {
      $0.set(0, number: 1.5)
      $0.set(1, string: "cm")
    } reading: {
      $0.text
    }
    #expect(length == "1.5cm")
  }

  @Test func argumentErrorsNameTheirPlace() throws {
    try state.setGlobal(
      "resize",
      to: state.function { call in
        let width = try call.integer(0)
        guard width > 0 else { throw call.argumentError(0, problem: "the width must be positive") }
        call.return(width)
      })
    let error = try #require(throws: LuaError.self) { try state.load("resize(0)", name: "t.lua")() }
    #expect(error.message == "bad argument #1 to 'resize' (the width must be positive)")
  }

  // MARK: Trees, sources, modules

  @Test func treesArePlainData() throws {
    let tree = try state.tree(of: state.load("return { name = 'x', sizes = { 1, 2 } }", name: "t.lua").first())
    #expect(tree["sizes"]?[0] == .integer(1))
    struct Size: Codable, Equatable { var width = 2.0, height = 3.0 }
    let value = try state.encode(Size())
    #expect(try state.decode(Size.self, from: value) == Size())
  }

  @Test func environmentsKeepTheirGlobals() throws {
    let environment = try state.environment(["name": "Scarlet"])
    try state.load("greeting = 'Hello ' .. name", name: "a.lua", in: environment)()
    #expect(try environment.table.get("greeting").textValue == "Hello Scarlet")
  }

  @Test func chunksRunInManyStates() throws {
    let chunk = try LuaChunk(LuaSource("local a = ... return a * 2", name: "twice.lua"))
    #expect(try state.load(chunk).first(21).integerValue == 42)
    let second = try LuaState()
    #expect(try second.load(chunk).first(4).integerValue == 8)
  }

  @Test func linesOfTablesAreFound() {
    let lines = LuaTableLines(LuaSource("return {\n  a = 1,\n  b = { c = 2 } }", name: "t.lua"))
    #expect(lines.line(of: ["b", "c"]) == 3)
  }

  @Test func aReloadReachesScriptsThatHoldTheModule() throws {
    state.modules.add("colors", source: LuaSource("return { red = 1 }", name: "colors.lua"), frozen: false)
    let read = try state.load("local c = require 'colors' return function() return c.red end", name: "t.lua").first()
    state.modules.add("colors", source: LuaSource("return { red = 2 }", name: "colors.lua"), frozen: false)
    try state.reload("colors")
    #expect(try read.functionValue?.first().integerValue == 2)
  }
}
