import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct TransformerTests {
  @Test(arguments: StoreKind.allCases)
  func transformerThatGivesNothingIsRefusedAtTheAssignment(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      "", beside: "transformers = { T = { transform = function(v) end, reverse = function(b) return b end } },"
    ).lines(
      """
      local p = context:insert("P")
      local ok, err = pcall(function() p.tr = "x" end)
      print(ok, err.key, err.message:match("transform of transformer T gave nothing") ~= nil, p.tr)
      p.tr = nil
      print(pcall(p.set_primitive, p, "tr", "x"))
      """, leavingChanges: true)
    #expect(lines[0] == "false\ttr\ttrue\tnil")
    #expect(lines[1].contains("gave nothing"))
  }

  @Test(arguments: StoreKind.allCases) func reverseThatGivesNothingIsAnError(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      "", beside: "transformers = { T = { transform = function(v) return v end, reverse = function(b) end } },"
    ).lines(
      """
      local p = context:insert("P", { tr = "x" })
      assert(context:save())
      context:refresh(p, false)
      local ok, err = pcall(function() return p.tr end)
      print(ok, err.key, err.message:match("reverse of transformer T gave nothing") ~= nil)
      """, leavingChanges: true)
    #expect(lines == ["false\ttr\ttrue"])
  }

  @Test(
    arguments: [
      ("return print", "the result of transformer T: a function cannot be stored"),
      ("return setmetatable({}, {})", "the result of transformer T: the table has a metatable"),
      ("return b", "reverse of transformer T gave a string instead of a value of its class C"),
      ("return {}", "reverse of transformer T gave a list instead of a value of its class C"),
    ])
  func reverseThatGivesSomethingElseIsAnErrorThatSaysWhere(_ result: String, _ message: String) throws {
    let lines = try ThingBench.bench(
      "derived = { shown = { shadow = 'bin', transformer = 'T' } }",
      beside: """
        classes = { C = C },
        transformers = { T = { class = "C",
          transform = function(v) return "x" end,
          reverse = function(b) \(result) end } },
        """, before: "local C = {} C.__index = C C.new = function() return setmetatable({}, C) end"
    ).lines(
      """
      local p = context:insert("P", { tr = moonbase.classes.C.new(), shown = moonbase.classes.C.new() })
      assert(context:save())
      context:refresh(p, false)
      for _, name in ipairs { "tr", "shown" } do
        local ok, err = pcall(function() return p[name] end)
        print(ok, err.entity, err.key, tostring(err))
      end
      """, leavingChanges: true)
    for (line, name) in zip(lines, ["tr", "shown"]) {
      #expect(
        line.hasPrefix("false\tP\t\(name)\tP.\(name): ") && line.contains("extension1.lua:4: \(message)"), "\(line)")
    }
    #expect(lines.count == 2)
  }

  @Test(arguments: ["return 'yes'", "return 0", ""])
  func aClassThatSaysNeitherYesNorNoIsAnErrorThatSaysWhere(_ result: String) throws {
    let lines = try ThingBench.bench(
      "",
      beside: """
        classes = { C = {
          is = function(v) \(result) end } },
        transformers = { T = { class = "C", transform = function(v) return v end, reverse = function(b) return b end } },
        """
    ).lines(
      """
      local p = context:insert("P")
      for _, value in ipairs { "x", setmetatable({}, {}) } do
        local ok, err = pcall(function() p.tr = value end)
        print(ok, err.entity, err.key, tostring(err))
      end
      """, leavingChanges: true)
    let given = ["return 'yes'": "a string", "return 0": "a number", "": "nothing"][result] ?? ""
    for line in lines {
      #expect(
        line.hasPrefix("false\tP\ttr\tP.tr: ") && line.contains("extension1.lua:2: is of class C returned \(given)"),
        "\(line)")
    }
    #expect(lines.count == 2)
  }

  @Test(arguments: StoreKind.allCases) func shadowTransformerThatGivesNothingIsRefused(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      "derived = { shown = { shadow = 'bin', transformer = 'T' }, text = { shadow = 's', transformer = 'U' } }",
      beside: """
        transformers = {
          T = { transform = function(v) if v ~= 0 then return v end end, reverse = function(b) if b ~= "1" then return b end end },
          U = { transform = function(v) return v .. "!" end, reverse = function(b) return b:sub(1, -2) end },
        },
        """
    ).lines(
      """
      local p = context:insert("P")
      print((select(2, pcall(function() p.shown = 0 end)).message))
      p.bin = "1"
      print((select(2, pcall(function() return p.shown end)).message))
      p.text = "a"
      print(p.s, p.text)
      """, leavingChanges: true)
    #expect(lines[0].contains("transform of transformer T gave nothing"))
    #expect(lines[1].contains("reverse of transformer T gave nothing"))
    #expect(lines[2] == "a!\ta")
  }

  @Test(arguments: StoreKind.allCases) func valuesKeepTheirClassAfterAReload(_ kind: StoreKind) throws {
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      """
      local Color = moonbase.classes.Color
      local p, v = context:insert("Person"), Color.new(1, 0, 0)
      p.favoriteColor = v
      moonbase.reload()
      p.favoriteColor = v
      p.favoriteColor = moonbase.classes.Color.new(0, 1, 0)
      print(p.favoriteColor.g, context:save())
      """, opener: { _ in throw ScriptError(.invalidRequest, message: "there is nothing to open") })
    #expect(lines == ["1\ttrue"])
  }

  /// The ID of an object without a row changes with the save, and could not be replaced within the bytes.
  @Test(arguments: StoreKind.allCases) func bytesHoldNoIDOfAnObjectWithoutARow(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(
      kind, "",
      beside: """
        transformers = { T = {
          transform = function(v) return v.text or tostring(v[1]) end, reverse = function(b) return { text = b } end,
        } },
        """)
    let lines = try bench.lines(
      """
      local p, q = context:insert("P"), context:insert("P")
      for _, value in ipairs { { q }, { q:id() }, { { q } }, { text = "see " .. tostring(q:id()) .. "!" } } do
        print(pcall(function() p.tr = value end))
      end
      assert(context:save())
      p.tr = { text = "see " .. tostring(q:id()) }
      assert(context:save())
      context:reset()
      local found = context:fetch("P"):where("tr != NULL"):all()
      print(#found, found[1].tr.text:match("^see (x%-coredata://.*/P/p%d+)$") ~= nil)
      """)
    try #require(lines.count == 5, "\(lines)")
    #expect(
      lines[..<4].allSatisfy { $0.contains("P.tr: it holds the ID of an object that has no row yet") }, "\(lines)")
    #expect(lines[4] == "1\ttrue")
  }
}
