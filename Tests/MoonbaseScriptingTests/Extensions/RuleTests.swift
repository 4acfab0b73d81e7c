import MoonbaseTestSupport
import Testing

/// Results of normalizers and rules.
@Suite struct RuleTests {
  @Test(arguments: StoreKind.allCases)
  func normalizerThatReturnsNothingIsAnErrorAndNilIsNoValue(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      normalize = {
        s = function(v) if v == "nothing" then return end if v == "nil" then return nil end return v:upper() end,
      }
      """
    ).lines(
      """
      local p = context:insert("P", { s = "nothing", i = 1 })
      local ok, err = context:save()
      print(ok, err.entity, err.key, err.message:match("normalize: extension1.lua:%d: returned nothing") ~= nil, p.s)
      p.s = "nil"
      assert(context:save())
      print(p.s)
      p.s = "some"
      assert(context:save())
      print(p.s)
      """)
    #expect(lines == ["nil\tP\ts\ttrue\tnothing", "nil", "SOME"])
  }

  @Test(arguments: StoreKind.allCases) func aRuleOverAListGetsTheListThatWasSaved(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = { qs = function(now, object, old, why)
        local was = {}
        for i, q in ipairs(old or {}) do was[i] = q.s end
        table.sort(was)
        print(why, #now, old and table.concat(was, " "))
        return true
      end }
      """
    ).lines(
      """
      local p = context:insert("P", { s = "p" })
      local a, b, c = context:insert("P", { s = "a" }), context:insert("P", { s = "b" }), context:insert("P", { s = "c" })
      p.qs = { a, b }
      assert(context:save())
      for _, isRead in ipairs { true, false } do
        if not isRead then context:refresh_all() end
        p.qs:add(c)
        p.qs:remove(a)
        assert(context:save())
        p.qs = { a, b }
        assert(context:save())
      end
      """)
    let updates = lines.filter { $0.hasPrefix("update") }
    #expect(Array(repeating: ["update\t2\ta b", "update\t2\tb c"], count: 2).joined().allSatisfy(updates.contains))
    #expect(lines.contains("insert\t2\tnil"), "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func aRuleThatChangesSomethingIsNamed(_ kind: StoreKind) throws {
    for (rule, name) in [
      ("validate = { s = function(v, object) object.i = 7 return true end }", "P.s: validate: i of "),
      ("validate_for_insert = function(object) object.i = 7 return true end", "P: validate_for_insert: i of "),
    ] {
      let lines = try ThingBench.bench(kind, rule).lines(
        """
        context:insert("P", { s = "a", i = 1 })
        print(select(2, context:save()))
        """, leavingChanges: true)
      #expect(lines.first?.contains(name) == true, "\(lines)")
    }
  }

  /// A form that validates a value first must not succeed and then fail to assign it.
  @Test(arguments: StoreKind.allCases) func aProposedValueIsCheckedAsAnAssignmentWouldBe(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      normalize = { s = function(v) return v:upper() end },
      validate = { s = function(v) return v ~= "BAD", "is bad" end },
      derived = { full = { stored = true, inputs = { 's' }, get = function(s) return s end } }
      """
    ).lines(
      """
      local p = context:insert("P", { s = "a" })
      for _, proposed in ipairs {
        { "i", "x" }, { "i", 1.5 }, { "i", {} }, { "s", 5 }, { "s", "\\xff" }, { "s", print }, { "d", 0 / 0 }, { "f", 1e300 },
        { "day", 5 }, { "bin", 7 }, { "tr", 5 }, { "full", "x" }, { "q", 5 }, { "qs", 5 },
      } do
        local key, value = proposed[1], proposed[2]
        local ran, ok, err = pcall(p.validate, p, key, value)
        local assigned = pcall(function() p[key] = value end)
        if not ran or ok or assigned or err.key ~= key or not tostring(err):match("^P%." .. key .. ":") then
          print(key, value, ran, ok, err, assigned)
        end
      end
      for key, value in pairs { i = 7.0, s = "fine", d = 1, day = "2001-01-01T00:00:00Z", bin = "\\xff", tr = "text" } do
        assert(p:validate(key, value))
      end
      local ok, err = p:validate("s", "bad")
      print(ok, err, p.s, p.i)
      assert(context:save())
      """)
    #expect(lines == ["nil\tP.s (BAD) is bad\ta\tnil"])
  }

  @Test(arguments: [
    ("1", "returned a number"), ("'yes'", "returned a string"), ("{}", "returned a table"),
    ("moonbase.null", "returned null"), ("0, 'is bad'", "returned a number"),
    ("false, 42", "gave a number as its message"), ("false, { { 'bad' } }", "gave a table as its message"),
    ("false, 'bad', {}", "gave a table as its key"), ("false, { 'bad', kee = 'i' }", "gave a table with kee"),
    ("false, 'bad', 'ii'", "blames ii, which is no property of P; did you mean i?"),
  ])
  func otherResultsOfARuleAreErrorsThatNameIt(_ results: String, _ message: String) throws {
    for hooks in [
      "validate = { s = function(v) return \(results) end }", "validate_for_insert = function(o) return \(results) end",
    ] {
      let lines = try ThingBench.bench(hooks).lines(
        """
        context:insert("P", { s = "a" })
        local ok, err = context:save()
        print(ok, err.code, err.entity, err.key, (tostring(err):gsub("\\n.*", "")))
        """, leavingChanges: true)
      let key = hooks.hasPrefix("validate = ") ? "s" : "nil"
      #expect(lines.first?.hasPrefix("nil\t134043\tP\t\(key)\t") == true, "\(lines)")
      #expect(lines.first?.contains(message) == true, "\(lines)")
    }
  }

  @Test(arguments: [
    ("true", "true"), ("true, 'is bad'", "true"), ("false", "is refused by its rule s"),
    ("nil", "is refused by its rule s"), ("nil, 'is bad'", "is bad s"), ("false, 'is bad', 'i'", "is bad i"),
    ("false, { 'is bad' }", "is bad s"), ("false, { 'is bad', key = 'i' }", "is bad i"),
  ])
  func rulesReturnTrueOrAMessageAndAKey(_ results: String, _ expected: String) throws {
    let lines = try ThingBench.bench("validate = { s = function(v) return \(results) end }").lines(
      """
      context:insert("P", { s = "a" })
      local ok, err = context:save()
      print(ok and "true" or err.message .. " " .. err.key)
      """, leavingChanges: true)
    #expect(lines == [expected])
  }

  /// A required computed attribute is validated by its computed value, whichever input changed.
  @Test(arguments: StoreKind.allCases) func requiredDerivedAttributeThatGivesNilIsMissing(_ kind: StoreKind) throws {
    let model = ThingBench.model.replacing(
      "full = {", with: "must = { 'string', transient = true, optional = false }, full = {")
    let extend = """
      return { \(ThingBench.transformer) entities = { P = { derived = {
        must = { inputs = { "s" }, get = function(s) return s end, set = function(v, p) p.s = v end } } } } }
      """
    let lines = try ScriptBench(kind, model: model, extensions: [extend]).lines(
      """
      local p = context:insert("P")
      local function save()
        local ok, err = context:save()
        print(ok, err and err.code, err and err.key, err and err.message)
      end
      save()
      p.s = "a"
      save()
      p.s = nil
      save()
      print((select(2, p:validate("must", nil))).message)
      p.must = "b"
      save()
      print(p.s)
      """)
    let missing = "nil\t1570\tmust\tis required and missing"
    #expect(lines == [missing, "true\tnil\tnil\tnil", missing, "is required and missing", "true\tnil\tnil\tnil", "b"])
  }
}
