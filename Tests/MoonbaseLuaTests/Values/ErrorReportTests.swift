import MoonbaseLua
import MoonbasePlatform
import Testing

/// Errors as text for people: reports, places, tracebacks.
@Suite struct ErrorReportTests {
  private func error(_ code: String, _ preset: LuaPreset = .standard) throws -> LuaError {
    let state = try LuaState(preset: preset)
    return try #require(throws: LuaError.self) { try state.load(code, name: "t.lua")() }
  }

  @Test func aPlainReportIsTheInterpreters() throws {
    let cases = [
      ("error('msg', 0)", "msg"), ("error('msg')", "t.lua:1: msg"), ("error({})", "(error object is a table value)"),
      ("error()", "(error object is a nil value)"), ("error(true)", "(error object is a boolean value)"),
      ("error(12)", "12"),
    ]
    for (code, message) in cases {
      let report = try error(code, .trusted).plainReport.split(separator: "\n")
      #expect(report.first.map(String.init) == message, "\(code)")
      #expect(report[1] == "stack traceback:")
      #expect(report.last == "\t[C]: in ?")
    }
    let object = "error(setmetatable({}, { __tostring = function() return 'mine' end }))"
    #expect(try error(object, .trusted).plainReport == "mine")
    // With a place, which a person needs.
    #expect(try error("error('msg', 0)").description == "t.lua:1: msg")
  }

  @Test func framesWithoutANameAreToldByTheirPlace() throws {
    let report = try error("local x\n;(function()\n  error 'x'\nend)()").report
    #expect(!report.contains("in function\n"), "\(report)")
    #expect(!report.hasSuffix("in function"), "\(report)")
    #expect(report.contains("t.lua:3: in function <t.lua:2>"), "\(report)")
  }

  @Test func whatCrossesACallbackKeepsItsTraceback() throws {
    let state = try LuaState()
    try state.setGlobal("each", to: state.function { call in try call.function(0)(1, "x") })
    let error = try #require(throws: LuaError.self) {
      try state.load("local function inner()\n  error('in')\nend\neach(function()\n  inner()\nend)", name: "t.lua")()
    }
    #expect(error.traceback.compactMap(\.line).prefix(3) == [2, 5, 4], "\(error.report)")
    let raised = try #require(throws: LuaError.self) {
      try state.load("local function inner()\n  error({})\nend\neach(function()\n  inner()\nend)", name: "t.lua")()
    }
    #expect(raised.traceback.compactMap(\.line).prefix(3) == [2, 5, 4], "\(raised.report)")
  }

  @Test func anErrorThatCrossesOverAndOverKeepsABoundedTraceback() throws {
    let state = try LuaState()
    try state.setGlobal("each", to: state.function { call in try call.function(0)(1, "x") })
    for raised in ["'x'", "setmetatable({}, { __tostring = function() return 'x' end })"] {
      let code = """
        local e = \(raised)
        for i = 1, 200 do
          local ok, again = pcall(each, function() error(e, 0) end)
          e = again
        end
        error(e, 0)
        """
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t.lua")() }
      #expect(error.traceback.count <= 64)
    }
  }

  @Test func nestingThatIsTooDeepIsASyntaxErrorWithItsLine() throws {
    let deep = String(repeating: "(", count: 300)
    for (code, line) in [
      ("\n\nreturn \(deep)1", 3), ("x = 1\nreturn \(String(repeating: "not ", count: 300))x", 2),
      ("\nreturn " + String(repeating: "{", count: 300), 2),
    ] {
      let error = try error(code)
      #expect(error.kind == .syntax)
      #expect(error.description == "t.lua:\(line): the source nests too deeply (more than 200 levels)")
    }
    let state = try LuaState()
    let results = try state.load("return load(('('):rep(300))", name: "t")()
    #expect(results[1].textValue == "the source nests too deeply (more than 200 levels)")
  }

  @Test func callsThatLeaveNoRoomForTheParserAreToldAsSuch() throws {
    let state = try LuaState()
    let code = """
      local found
      local function deep()
        local chunk, message = load("return 1")
        if not chunk and not found then found = message end
        string.gsub("x", "x", deep)
      end
      pcall(deep)
      return found
      """
    #expect(
      try state.load(code, name: "t").first().textValue
        == "C stack overflow: too many calls wait for each other where this is loaded")
  }

  @Test func foundationHearsTheMessage() throws {
    let error: any Error = try error("error('what is wrong')")
    #expect(error.localizedDescription == "t.lua:1: what is wrong")
  }

  @Test func wrongCallsOfModulesBlameTheCaller() throws {
    let calls = [
      "local json = require 'moonbase.json'\njson.decode('1', { bgi = 1 })",
      "local json = require 'moonbase.json'\njson.encode(print)",
      "local csv = require 'moonbase.csv'\ncsv.encode({}, { bgi = 1 })",
      "local csv = require 'moonbase.csv'\ncsv.encode({ { a = 1 }, { b = 1 } })",
      "local text = require 'moonbase.text'\ntext.fold(1)",
      "local text = require 'moonbase.text'\ntext.length('\\xFF')",
      "local text = require 'moonbase.text'\ntext.sort { 'a', 1, true }",
      "local text = require 'moonbase.text'\ntext.compare('a', 'b', 'xx_nope')",
      "local base64 = require 'moonbase.base64'\nbase64.encode('', { x = 1 })",
      "local geometry = require 'moonbase.geometry'\nlocal _ = geometry.Point.new(1, 2) + 1",
      "local geometry = require 'moonbase.geometry'\ngeometry.Point.new(1, 2).z = 5",
      "local color = require 'moonbase.color'\ncolor.new(2, 0, 0)",
    ]
    for call in calls {
      for code in [call, call.replacing("\n", with: "\nreturn pcall and (function()\n").appending("\nend)()")] {
        let error = try error(code)
        #expect(error.script == "t.lua", "\(error)\n\(code)")
        #expect(error.line == (code == call ? 2 : 3), "\(error)\n\(code)")
        #expect(!error.message.contains("moonbase."), "\(error)")
      }
    }
  }

  @Test func programsOfTheTrustedPresetMayBeBytecodeOrOfAnyEncoding() throws {
    let state = try LuaState(preset: .trusted, limits: .none)
    let dumped = try state.load("return string.dump(load 'return 6 * 7')", name: "t").first().stringValue
    let bytecode = LuaSource(bytes: try #require(dumped).bytes, name: "b.luac")
    #expect(try state.load(bytecode).first().integerValue == 42)
    let latin = LuaSource(bytes: Array("return #'".utf8) + [0xE9] + Array("'".utf8), name: "l.lua")
    #expect(try state.load(latin).first().integerValue == 1)
    for preset in [LuaPreset.pure, .standard, .compat] {
      let error = try #require(throws: LuaError.self) { try LuaState(preset: preset).load(bytecode) }
      #expect(error.kind == .binary)
    }
  }
}
