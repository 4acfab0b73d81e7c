import MoonbaseLua
import MoonbasePlatform
import Testing

/// The examples of docs/lua-embedding.md, verbatim.
@Suite struct DocumentationTests {
  final class Account {
    let number: Int
    var balance = 0.0
    init(_ number: Int) { self.number = number }
  }

  private let state: LuaState

  init() throws { state = try LuaState(preset: .standard, limits: .untrusted) }

  @Test func noArgumentOfTheFirstExampleEndsTheProcess() throws {
    try state.setGlobal("twice", to: state.function { call in call.return(try call.integer(0) &* 2) })
    let environment = try state.environment(["name": "Scarlet"])
    let chunk = try state.load("return twice(21), name", name: "example.lua", in: environment)
    #expect(try chunk().map(\.description) == ["42", "Scarlet"])
    let wrapped = try state.load("return twice(math.maxinteger) == math.maxinteger * 2", name: "t").first()
    #expect(wrapped.isTrue)
  }

  @Test func globalsBelongToAnEnvironment() throws {
    try state.load("x = 1", name: "a")()
    let unseen = try state.load("return x", name: "b").first()
    #expect(!unseen.isPresent)
    let environment = try state.environment()
    try state.load("x = 1", name: "a", in: environment)()
    try state.setGlobal("later", to: 5)
    #expect(try state.load("return x, later", name: "b", in: environment)().map(\.description) == ["1", "nil"])
    try environment.table.set("later", to: 5)
    #expect(try state.load("return later", name: "b", in: environment).first().integerValue == 5)
  }

  @Test func hostFunctionsAndObjectsAreReachedFromScripts() throws {
    try state.setGlobal(
      "split",
      to: state.function { call in
        let separator = call.isNil(1) ? "," : try call.text(1)
        for part in try call.text(0).split(separator: separator) { call.return(String(part)) }
      })
    let account = LuaHostType<Account>("account")
    account.property(
      "balance", get: { account, call in call.return(account.balance) },
      set: { account, call in account.balance = try call.number(0) })
    account.operator(.text) { call in
      call.return("account \(try call.object(0, as: Account.self, name: "account").number)")
    }
    try state.register(account)
    try state.setGlobal("account", to: .object(LuaObject(Account(7), as: account)))
    let code = "account.balance = 5 return tostring(account), account.balance, select('#', split 'a,b,c')"
    #expect(try state.load(code, name: "t")().map(\.description) == ["account 7", "5.0", "3"])

    let keeper = try state.load(
      "local a local function keep(b) a = b end return keep, function() return a.balance end", name: "t")()
    let scoped = LuaFastCall(try #require(keeper[0].functionValue), parameters: 1)
    try state.withScope {
      try scoped.run {
        try $0.set(0, object: Account(8), as: account, scoped: true)
      } reading: { _ in
      }
    }
    let used = try #require(keeper[1].functionValue)
    let error = try #require(throws: LuaError.self) { try used() }
    #expect(error.message.contains("used outside of its callback"))
  }

  @Test func coroutinesAreResumedFromSwift() throws {
    let function = try state.load(
      "return function(a) local b = coroutine.yield(a + 1) return b * 2 end", name: "co.lua")
    let thread = try #require(try function.first().functionValue).makeThread()
    #expect(try thread.resume([1]).map(\.integerValue) == [2])
    #expect(try thread.status == .suspended)
    #expect("\(thread)" == "coroutine (suspended)")
    #expect(try thread.resume([21]).map(\.integerValue) == [42])
    #expect(try thread.status == .dead)
    try thread.close()
  }

  @Test func modulesOutputAndDatesAreGivenByTheHost() throws {
    state.modules.add("settings", source: LuaSource("return { depth = 3 }", name: "settings.lua"))
    state.modules.add("clock") { state in .table(try state.table(["zone": "UTC"])) }
    let collected = Collected()
    state.output = LuaOutput { bytes, _ in collected.output += String(decoding: bytes, as: UTF8.self) }
    try state.load("print(require 'settings'.depth, require 'clock'.zone)", name: "t")()
    #expect(collected.output == "3\tUTC\n")

    let date = LuaValueType<Date>("date")
    date.property("unix") { date, call in call.return(date.timeIntervalSince1970) }
    try state.register(date)
    let unix = try state.function { call in
      try call.return(Date(timeIntervalSince1970: try call.number(0)), as: date)
    }
    state.moduleHost["date"] = .table(try state.table(["unix": unix]))
    let text = "local date = require 'moonbase.date' return date.text(date.add(date.unix(0), { days = 1 }))"
    #expect(try state.load(text, name: "t").first().textValue == "1970-01-02T00:00:00.000Z")
  }

  @Test func valuesPrintAsPeopleReadThem() throws {
    let values = try state.load("return nil, 1, 1.5, 'a', { 1 }, { 1, x = 2 }, print, function() end", name: "p.lua")()
    #expect(
      values.map(\.description) == [
        "nil", "1", "1.5", "a", "table (1 key)", "table (2 keys)", "function of the host", "function p.lua:1",
      ])
    #expect("\([LuaValue.text("a"), .integer(1)])" == #"["a", 1]"#)
  }
}
