import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct SourceTests {
  @Test func keysOfReturnedTablesHaveLines() {
    let lines = LuaTableLines(
      LuaSource(
        """
        local Color = { a = 1 }
        -- return { wrong = 1 }
        return {
          name = "x", version = [[
            long { } ]],
          entities = {
            Person = {
              derived = {
                ["full name"] = { get = function(a, b)
                  if a then return { z = 1 } end
                  return a, b
                end, inputs = { "a",
                  "b" } },
              },
              validate = { age = function(v) return v < 140, "no" end },
            },
          },
        }
        """, name: "t.lua"))
    #expect(lines.line(of: ["name"]) == 4)
    #expect(lines.line(of: ["version"]) == 4)
    #expect(lines.line(of: ["entities", "Person"]) == 7)
    #expect(lines.line(of: ["entities", "Person", "derived", "full name"]) == 9)
    #expect(lines.line(of: ["entities", "Person", "derived", "full name", "inputs", "2"]) == 13)
    #expect(lines.line(of: ["entities", "Person", "validate", "age"]) == 15)
    #expect(lines.line(of: ["entities", "Person", "nowhere"]) == 7)
    #expect(lines.exactLine(of: ["wrong"]) == nil)
  }

  @Test func aNamedTableIsFound() {
    let lines = LuaTableLines(LuaSource("local M = {\n a = 1,\n b = { c = 2 } }\nreturn M", name: "t"))
    #expect(lines.line(of: ["b", "c"]) == 3)
  }

  @Test func aCodeFrameHasACaret() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) {
      try state.load("local p\n\nprint(p.x)\n", name: "frame.lua")()
    }
    #expect(
      state.codeFrame(of: error, context: 1) == """
          2 | 
        > 3 | print(p.x)
            |       ^
          4 | 
        """)
    let syntax = try #require(throws: LuaError.self) { try state.load("x = = 1", name: "s.lua") }
    #expect(state.codeFrame(of: syntax) == "> 1 | x = = 1\n    |     ^")
  }

  @Test func badSourcesAreClearErrors() throws {
    let state = try LuaState()
    let cases: [([UInt8], LuaError.Kind)] = [
      ([0x1B, 0x4C, 0x75, 0x61], LuaError.Kind.binary), ([0xFF, 0xFE], .encoding),
      (Array(repeating: 0x20, count: 2 << 20), .limit(.source)),
    ]
    for (bytes, kind) in cases {
      let error = try #require(throws: LuaError.self) { try state.load(LuaSource(bytes: bytes, name: "b.lua")) }
      #expect(error.kind == kind)
      #expect(error.script == "b.lua")
    }
    #expect(try state.load("\u{FEFF}#!/usr/bin/lua\nreturn 1", name: "t").first().integerValue == 1)
  }

  @Test func aChunkRunsInManyStates() throws {
    let chunk = try LuaChunk(LuaSource("local a = ... return a * 2", name: "c.lua"))
    for _ in 0..<3 {
      let state = try LuaState()
      #expect(try state.load(chunk).first(21).integerValue == 42)
    }
    #expect(throws: LuaError.self) { try LuaState().load("return load('\\27Lua')()", name: "t")() }
  }

  @Test func reloadPatchesHoldersAndSurvivesFailure() throws {
    let state = try LuaState()
    state.modules.add("m", source: LuaSource("return { v = 1, gone = true }", name: "m.lua"), frozen: false)
    let hold = try state.load("local m = require 'm' return function() return m.v, m.gone, m.old end", name: "t")
      .first()
    let read = try #require(hold.functionValue)
    state.modules.add("m", source: LuaSource("error 'no'", name: "m.lua"), frozen: false)
    #expect(throws: LuaError.self) { try state.reload("m") }
    #expect(try read().map(\.integerValue)[0] == 1)
    state.modules.add(
      "m", source: LuaSource("local M = { v = 2 } function M.on_reload(old) M.old = old.v end return M", name: "m.lua"),
      frozen: false)
    try state.reload("m")
    let seen = try read()
    #expect(seen[0].integerValue == 2)
    #expect(!seen[1].isPresent)
  }

  /// What is refused for the time that its parsing takes is far from what anybody writes.
  @Test func longSourcesAreNotSlowOnes() throws {
    let state = try LuaState()
    for piece in [
      "f(a or b) ", "x = f(a or b) and c ", "if a or b then f(a and b) elseif c and d then g() else h() end ",
      "while a and b do f() end repeat until a or b ", "x = { a or b, c = d and e; f or g } ",
      "do local function f(a, b) return a and b or function() return a or b end end end ", "x = y == z or y ~= z ",
      "do local s = 'a or b and' --[[ or or or ]] end -- and and\n", "(f or g)(a or b) ;",
    ] {
      _ = try state.load("do " + String(repeating: piece, count: 3000) + " end", name: "long.lua")
    }
    let branches = String(repeating: "elseif x == 1 or x == 2 then f() ", count: 1500)
    _ = try state.load("if a then " + branches + "end", name: "branches.lua")
    let slow = "local x\nreturn a" + String(repeating: "\n or b", count: 3000)
    let error = try #require(throws: LuaError.self) { try state.load(slow, name: "slow.lua") }
    #expect(error.kind == .syntax)
    #expect(error.message == "too many 'and' and 'or' in one expression")
    #expect(error.line == 2003)
  }

  @Test func oddModulesAreClear() throws {
    let state = try LuaState()
    state.modules.add("nothing", source: LuaSource("local x = 1", name: "nothing.lua"))
    state.modules.add("a", source: LuaSource("local b = require 'b'\nreturn b", name: "a.lua"))
    state.modules.add("b", source: LuaSource("\nlocal a = require 'a'\nreturn a", name: "b.lua"))
    state.modules.add("broken", source: LuaSource("return {\n  a = = 1\n}", name: "broken.lua"))
    state.modules.add("name", source: LuaSource("return { ... }", name: "name.lua"))
    #expect(try state.load("return require('name')[1]", name: "t").first().textValue == "name")
    for (name, message, script) in [
      ("nothing", "module 'nothing' returns nothing", "t.lua"),
      ("a", "modules require each other: a → b → a", "b.lua"), ("broken", "unexpected symbol near '='", "broken.lua"),
      ("gone", "module 'gone' not found", "t.lua"), ("../a", "is no module name", "t.lua"),
    ] {
      for _ in 0..<2 {
        let error = try #require(throws: LuaError.self) { try state.load("require '\(name)'", name: "t.lua")() }
        #expect(error.description.contains(message), "\(name): \(error)")
        #expect(error.description.contains(script) || error.script == script, "\(name): \(error)")
      }
    }
  }

  @Test func modulesOfGrantedFoldersStayWithinThem() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-\(UUID().uuidString)")
    let root = folder.appendingPathComponent("root")
    try FileManager.default.createDirectory(at: root.appendingPathComponent("pack"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String, _ path: String) throws {
      try Data(text.utf8).write(to: folder.appendingPathComponent(path))
    }
    try write("return 'single'", "root/single.lua")
    try write("return 'init'", "root/pack/init.lua")
    try write("return 'inner'", "root/pack/inner.lua")
    try write("return 'secret'", "secret.lua")
    try Data([0x1B, 0x4C, 0x75, 0x61, 0x54]).write(to: root.appendingPathComponent("binary.lua"))
    try FileManager.default.createSymbolicLink(
      at: root.appendingPathComponent("out.lua"), withDestinationURL: folder.appendingPathComponent("secret.lua"))
    let state = try LuaState()
    state.modules.roots = [root]
    let seen = try state.load("return require 'single', require 'pack', require 'pack.inner'", name: "t")()
    #expect(seen.map(\.textValue) == ["single", "init", "inner"])
    for name in ["out", "secret", "binary", "pack.", "..secret"] {
      #expect(throws: LuaError.self, "\(name)") { try state.load("return require '\(name)'", name: "t")() }
    }
  }

  @Test func aFailingHookBringsTheOldModuleBack() throws {
    let state = try LuaState()
    state.modules.add("m", source: LuaSource("return { v = 1 }", name: "m.lua"), frozen: false)
    let read = try #require(
      try state.load("local m = require 'm' return function() return m.v, m.w end", name: "t").first().functionValue)
    state.modules.add(
      "m",
      source: LuaSource("return { v = 2, w = 3, on_reload = function(old) error('no ' .. old.v) end }", name: "m.lua"),
      frozen: false)
    let error = try #require(throws: LuaError.self) { try state.reload("m") }
    #expect(error.message == "no 1")
    #expect(try read().map(\.integerValue) == [1, nil])
  }
}
