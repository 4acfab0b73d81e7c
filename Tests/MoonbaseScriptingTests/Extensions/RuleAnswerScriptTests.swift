import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Arguments and results of rules in scripts.
@Suite struct RuleAnswerScriptTests {
  @Test(arguments: StoreKind.allCases) func aRuleGetsTheOldValueAndTheOccasion(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = {
        s = function(value, object, old, occasion) print("s", value, object:entity(), old, occasion) return true end,
        i = function(...) print("i", select("#", ...)) return true end,
        d = function() return true end,
      }
      """
    ).lines(
      """
      local p = context:insert("P", { s = "a", d = 1 })
      assert(context:save())
      p.s = "b"
      assert(p:validate("s", "c"))
      assert(context:save())
      p.i = 5
      p.s = nil
      assert(context:save())
      """)
    #expect(lines == ["s\ta\tP\tnil\tinsert", "s\tc\tP\ta\tassignment", "s\tb\tP\ta\tupdate", "i\t4"])
  }

  /// The recursion ends: a failing rule is not evaluated again within another rule.
  @Test(arguments: StoreKind.allCases) func aRuleThatValidatesItsOwnObjectEnds(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind, "validate = { i = function(v, o) count = count + 1 return o:validate() end }", before: "count = 0"
    ).lines(
      """
      local p = context:insert("P", { i = 1 })
      local ok, err = p:validate()
      print(ok, err.message)
      context:rollback()
      """)
    #expect(
      lines.first?.hasPrefix("nil\t") == true && lines.first?.contains("its rule gave an error") == true, "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func anAnswerMayBeAWarningWithCodeAndValues(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      validate = {
        i = function(v, o) if v < 10 then return true end
          return false, { "{value} is above {limit}", code = 9001, severity = v < 100 and "warning" or "failure",
                          values = { limit = v < 100 and 10 or 100 } } end,
      }
      """
    ).lines(
      """
      local p = context:insert("P", { i = 50 })
      local ok, warnings = p:validate()
      print(ok, #warnings, warnings[1].message, warnings[1].key)
      print(select("#", p:validate("i", 5)), #select(2, p:validate("i", 50)))
      assert(context:save())
      local warning = context.validation_warnings[1]
      print(#context.validation_warnings, warning.code, warning.message, warning.id == p:id(), warning)
      p.i = 500
      local ok, err = context:save()
      print(ok, err.code, err.message, #context.validation_warnings)
      context:rollback()
      """)
    #expect(
      lines == [
        "true\t1\t50 is above 10\ti", "1\t1", "1\t9001\t50 is above 10\ttrue\tP.i (50) 50 is above 10",
        "nil\t9001\t500 is above 100\t0",
      ])
  }

  @Test(arguments: [
    ("{ 'bad', code = 'x' }", "gave a string as its code"), ("{ 'bad', code = 1.5 }", "gave a number as its code"),
    ("{ 'bad', code = 134007 }", "says that a run is over"),
    ("{ 'bad', severity = 'warnin' }", "did you mean warning?"),
    ("{ 'bad', severity = 1 }", "gave a number as its severity"),
    ("{ 'bad', values = 1 }", "gave a number as its values"), ("{ 'bad', values = { 1 } }", "as a name"),
    ("{ 'bad', values = { a = print } }", "wrong value a of its message"),
    ("{ 'bad {limmit}', values = { limit = 1 } }", "did you mean limit?"),
  ])
  func otherAnswersAreErrorsThatNameTheRule(_ answer: String, _ message: String) throws {
    for hooks in [
      "validate = { s = function(v) return false, \(answer) end }",
      "validate_for_insert = function(o) return false, \(answer) end",
    ] {
      let lines = try ThingBench.bench(hooks).lines(
        """
        context:insert("P", { s = "a" })
        local ok, err = context:save()
        print(ok, err.code, err.entity, (tostring(err):gsub("\\n.*", "")))
        """, leavingChanges: true)
      #expect(lines.first?.hasPrefix("nil\t134043\tP\t") == true && lines.first?.contains(message) == true, "\(lines)")
    }
  }

  /// An app's contexts have their own Lua state, without `moonbase.context`.
  @Test(arguments: StoreKind.allCases) func hooksReachTheContextOfTheirObject(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(
      kind,
      """
      will_save = function(p)
        if p.s ~= "log" and p:is_inserted() and moonbase.context == nil then
          p:context():insert("P", { s = "log" })
        end
      end,
      """)
    let contexts = try (0..<2).map { _ in try ManagedObjectContext(bench.coordinator, extensions: bench.extensions) }
    try contexts[0].insert("P", values: ["s": "a"])
    try contexts[0].save()
    #expect(try contexts[1].count(FetchRequest("P", where: "s == 'log'")) == 1)
    #expect(contexts[1].registeredObjects.isEmpty)
  }
}
