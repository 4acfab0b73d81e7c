import MoonbaseLua
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Calls of rules, their arguments, and the reports of their results.
@Suite struct AskedRuleTests {
  @Test(arguments: StoreKind.allCases) func aRuleOverAToManyRelationshipIsAskedWhereItHasChanged(_ kind: StoreKind)
    throws
  {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = { qs = function(list, object)
        for _, member in ipairs(list) do if member.s == "bad" then return false, "has a bad member of " .. #list end end
        return true
      end }
      """
    ).lines(
      """
      local p = context:insert("P", { s = "p" })
      local bad = context:insert("P", { s = "bad" })
      assert(context:save())
      p.qs:add(bad)
      local ok, err = context:save()
      print(ok, err.key, err.message)
      bad.s = "good"
      print(context:save())
      p.s = "other"
      bad.s = "bad"
      print(context:save())
      print(p:validate("qs", { bad }))
      """)
    #expect(lines[0] == "nil\tqs\thas a bad member of 1")
    #expect(lines[1] == "true" && lines[2] == "true")
    #expect(lines[3].hasPrefix("nil\t"))
  }

  @Test(arguments: StoreKind.allCases) func aRuleOverAToOneRelationshipGetsTheObjects(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = { q = function(q, object, old)
        return q.s ~= "closed", "is closed, was " .. tostring(old and old.s)
      end }
      """
    ).lines(
      """
      local open, closed = context:insert("P", { s = "open" }), context:insert("P", { s = "closed" })
      local p = context:insert("P", { s = "p", q = open })
      assert(context:save())
      p.q = closed
      local ok, err = context:save()
      print(ok, err.key, err.message)
      """, leavingChanges: true)
    #expect(lines == ["nil\tq\tis closed, was open"])
  }

  @Test(arguments: StoreKind.allCases) func aBlamedKeyIsReportedWithItsOwnValue(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = { s = function() return false, "does not fit", "i" end },
      validate_for_insert = function() return false, "neither", "d" end
      """
    ).lines(
      """
      context:insert("P", { s = "a", i = 7, d = 1.5 })
      local ok, err = context:save()
      for _, detail in ipairs(err.details) do print(detail.key, detail.value) end
      """, leavingChanges: true)
    #expect(lines == ["i\t7", "d\t1.5"])
  }

  @Test(arguments: StoreKind.allCases) func aRuleThatRaisesHidesNothing(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = { s = function() error("oops") end, i = function() return false, "is wrong" end },
      validate_for_insert = function() error("again") end
      """
    ).lines(
      """
      context:insert("P", { s = "a", i = 7 })
      local ok, err = context:save()
      print(ok, #err.details)
      local texts = {}
      for _, detail in ipairs(err.details) do texts[#texts + 1] = detail.message end
      local all = table.concat(texts, " | ")
      print(all:match("oops") ~= nil, all:match("is wrong") ~= nil, all:match("again") ~= nil)
      """, leavingChanges: true)
    #expect(lines == ["nil\t3", "true\ttrue\ttrue"])
  }

  @Test(arguments: StoreKind.allCases) func aTableThatAHookRaisesArrivesWithMessageAndCode(_ kind: StoreKind) throws {
    for hook in [
      "will_save = function() error({ message = 'too late', code = 4711 }) end",
      "validate = { s = function() error({ message = 'too late', code = 4711 }) end }",
      "normalize = { s = function(v) error({ message = 'too late', code = 4711 }) end }",
    ] {
      let lines = try ThingBench.bench(kind, hook).lines(
        """
        context:insert("P", { s = "a" })
        local ok, err = context:save()
        print(ok, err.code, err.message:match("too late"))
        """, leavingChanges: true)
      #expect(lines == ["nil\t4711\ttoo late"], "\(hook)")
    }
  }

  @Test func whoSetsATimeEachTimeIsToldTheWay() throws {
    let lines = try ThingBench.bench(
      "n = 0 will_save = function(object) object.i = (object.i or 0) + 1 end".replacing("n = 0 ", with: "")
    ).lines(
      """
      context:insert("P", { s = "a" })
      local ok, err = context:save()
      print(ok, err.message:match("object:set_primitive") ~= nil)
      """, leavingChanges: true)
    #expect(lines == ["nil\ttrue"])
    let fine = try ThingBench.bench("will_save = function(object) object:set_primitive('i', (object.i or 0) + 1) end")
      .lines(
        """
        local p = context:insert("P", { s = "a" })
        print(context:save(), p.i > 0)
        """)
    #expect(fine == ["true\ttrue"])
  }

  /// Assigning a value of another class is refused, as for an attribute with its own transformer.
  @Test(arguments: StoreKind.allCases) func theClassOfATransformerHoldsForAShadowPair(_ kind: StoreKind) throws {
    let before = """
      local Box = {} Box.__index = Box
      function Box.new(text) return setmetatable({ text = text }, Box) end
      """
    let beside = """
      classes = { Box = Box },
      transformers = {
        T = { transform = function(v) return v end, reverse = function(b) return b end },
        BoxT = { class = "Box", transform = function(box) return box.text end, reverse = function(t) return Box.new(t) end },
      },
      """
    let lines = try ThingBench.bench(
      kind, "derived = { box = { shadow = 's', transformer = 'BoxT' } }", beside: beside, before: before
    ).lines(
      """
      local p = context:insert("P")
      for _, wrong in ipairs { 7, "text", { text = "t" }, true } do
        local ok, err = pcall(function() p.box = wrong end)
        print(ok, tostring(err):match("of class Box") ~= nil)
      end
      p.box = moonbase.classes.Box.new("x")
      print(p.s, context:save())
      """)
    #expect(lines == Array(repeating: "false\ttrue", count: 4) + ["x\ttrue"])
  }

  /// A value of a class is a constant, like the result of a function.
  @Test(arguments: StoreKind.allCases) func aBatchUpdateTakesAValueOfAClass(_ kind: StoreKind) throws {
    let before = """
      local Box = {} Box.__index = Box
      function Box.new(text) return setmetatable({ text = text }, Box) end
      """
    let beside = """
      classes = { Box = Box },
      transformers = {
        T = { class = "Box", transform = function(box) return box.text end, reverse = function(t) return Box.new(t) end },
      },
      """
    let lines = try ThingBench.bench(kind, "", beside: beside, before: before).lines(
      """
      context:insert("P", { s = "a" })
      assert(context:save())
      print(context:fetch("P"):batch_update { tr = moonbase.classes.Box.new("x") })
      print(context:fetch("P"):batch_update { tr = function() return moonbase.classes.Box.new("y") end })
      context:reset()
      print(context:fetch("P"):first().tr.text)
      print(context:fetch("P"):batch_update { tr = moonbase.classes.Box.new("x") })
      context:reset()
      print(context:fetch("P"):first().tr.text)
      """)
    #expect(lines == ["1", "1", "y", "1", "x"])
  }

  @Test(arguments: StoreKind.allCases) func aPreCalculatedGetterThatRaisesBlocksNothingElse(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = { early = { type = "string", read = "pre_calculated", inputs = { "s" }, get = function(s)
        if s == "bad" then error("cannot") end
        return s
      end } }
      """
    ).lines(
      """
      context:insert("P", { s = "bad", i = 5 })
      assert(context:save())
      context:reset()
      local p = context:fetch("P"):first()
      print(p.i, pcall(function() return p.early end))
      p.s = "good"
      print(p.early, context:save())
      """)
    #expect(lines.count == 2 && lines[0].hasPrefix("5\tfalse\t") && lines[0].contains("cannot"))
    #expect(lines.last == "good\ttrue")
  }

  @Test func decimalsAreComparedAndDividedAsNumbersAre() throws {
    let lines = try ThingBench.bench("will_save = function() end").lines(
      """
      local d = moonbase.decimal
      print(d(5) < 6, d(5) <= 5, 4 < d(5), d(7) > "6.5", pcall(function() return d(5) < 6.5 end))
      for _, pair in ipairs { { 7, 2 }, { -7, 2 }, { 7, -2 }, { -7, -2 }, { 6, 3 }, { "0.7", "0.2" } } do
        local a, b = d(pair[1]), d(pair[2])
        print(tostring(a // b), tostring(a % b), tostring((a // b) * b + a % b == a))
      end
      print(tostring(d("-2.5"):abs()), tostring(d("-2.5"):floor()), tostring(d("2.5"):floor()), pcall(function() return d(1) // 0 end))
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      local names = {}
      for name in pairs(p:committed_values()) do names[#names + 1] = name end
      print(#names > 0)
      """)
    #expect(lines[0].hasPrefix("true\ttrue\ttrue\ttrue\tfalse\t"))
    #expect(
      Array(lines[1...6])
        == ["3\t1\ttrue", "-4\t1\ttrue", "-4\t-1\ttrue", "3\t-1\ttrue", "2\t0\ttrue", "3\t0.1\ttrue"])
    #expect(lines[7].hasPrefix("2.5\t-3\t2\tfalse\t") && lines[7].contains("divided by zero"))
  }
}
