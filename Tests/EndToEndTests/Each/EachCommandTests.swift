import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase each`.
@Suite struct EachCommandTests {
  let bench: Workbench

  init() throws { bench = try Workbench.withNumbers(300) }

  private func each(_ arguments: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["each", "Item", "--store", "s.sqlite"] + arguments)
  }

  @Test func everyObjectIsVisitedOnceThoughItMatchesNoMoreOrAnew() throws {
    let outcome = try each("--where", "n <= %@", "--param", "200", "--do", "object.n = object.n + 150", "--batch", "7")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(outcome.complaints.hasPrefix("moonbase: 200 objects visited: 200 changed; "), "\(outcome)")
    #expect(try bench.sum() == 300 * 301 / 2 + 200 * 150)
    #expect(try bench.program("sqlite3", "s.sqlite", "SELECT DISTINCT Z_OPT FROM ZITEM ORDER BY 1").output == "1\n2\n")
    #expect(try each("--do", "local x = object.n", "--quiet").complaints == "")
  }

  @Test func codeThatFailsForAnObjectLeavesThatOneAsItWasAndTheRestGoesOn() throws {
    let code =
      "object.n = object.n + 500 context:insert('Item', { n = 0 }) if object.n % 100 == 0 then error('no') end"
    let outcome = try each("--do", code)
    #expect(outcome.status == 4, "\(outcome)")
    let lines = outcome.complaints.split(separator: "\n")
    #expect(lines.count == 4 && lines.dropLast().allSatisfy { $0.contains(/Item\/\d+: --do:1: no/) }, "\(outcome)")
    #expect(lines.last?.contains("300 objects visited: 297 changed, 297 inserted, 3 failed; ") == true, "\(outcome)")
    #expect(try bench.sum() == 300 * 301 / 2 + 297 * 500)
  }

  /// Objects changed by the code for another object are reported separately.
  @Test func othersThatAreChangedAreCountedAsSuch() throws {
    let code =
      "if object.n == 1 then for o in context:fetch('Item'):where('n > 1 AND n < 6'):each() do o.n = o.n + 500 end end"
    let outcome = try each("--do", code, "--batch", "1")
    #expect(outcome.complaints.contains("300 objects visited: 0 changed, 4 others changed; "), "\(outcome)")
  }

  /// Insertions and changes made by save hooks are counted too.
  @Test func whatHooksOfTheSaveDoIsCounted() throws {
    try bench.write(
      """
      return { entities = { Item = { will_save = function(object)
        if object.n ~= 500 then return end
        local context = object:context()
        context:insert("Item", { n = 0 })
        context:fetch("Item"):where("n == 2"):first().n = 900
      end } } }
      """, to: "x.lua")
    for batch in ["1", "1000"] {
      let code = "if object.n == 1 or object.n == 500 then object.n = object.n == 1 and 500 or 1 end"
      let outcome = try each("--where", "n == 1 OR n == 500", "--do", code, "--batch", batch, "--extension", "x.lua")
      #expect(outcome.complaints.contains("1 object visited: 1 changed"), "\(outcome)")
      let others = batch == "1" ? ", 1 others changed, 1 inserted; " : "; "
      #expect(outcome.complaints.contains(others), "\(outcome)")
    }
  }

  /// The code for one object cannot discard the changes of the objects before.
  @Test(arguments: ["rollback", "reset"]) func codeCannotGiveUpWhatWasDoneWithOthers(_ method: String) throws {
    let outcome = try each("--do", "object.n = object.n + 500 if object.n == 650 then context:\(method)() end")
    #expect(outcome.status == 4 && outcome.complaints.contains("a \(method) was asked for among objects"), "\(outcome)")
    #expect(outcome.complaints.contains("300 objects visited: 299 changed, 1 failed"), "\(outcome)")
    #expect(try bench.sum() == 300 * 301 / 2 + 299 * 500)
  }

  @Test func objectsThatBreakARuleAreToldAndTheOthersOfTheirBatchAreSaved() throws {
    for (batch, rule) in [("1000", "Item.n (1000) must be at most 999"), ("1", "Item.n"), ("13", "Item.n")] {
      let before = try bench.sum()
      let outcome = try each("--do", "object.n = (object.n % 50 == 0) and 1000 or object.n + 0", "--batch", batch)
      #expect(outcome.status == 4 && outcome.complaints.contains(rule), "\(outcome)")
      #expect(outcome.complaints.contains("300 objects visited: 0 changed, 6 failed"), "\(outcome)")
      #expect(try bench.sum() == before)
    }
    // Another object fails to save; the object whose code broke it is found.
    let code =
      "if object.n == 17 then for o in context:fetch('Item'):where('n == 18'):each() do o.n = 1000 end end object.s = 'x'"
    let outcome = try each("--do", code)
    #expect(outcome.status == 4 && outcome.complaints.contains("299 changed, 1 failed"), "\(outcome)")
    let left = try bench.moonbase(
      "fetch", "Item", "--store", "s.sqlite", "--where", "s == NULL", "--columns", "n", "--format", "csv")
    #expect(left.output == "n\n17\n", "\(left)")
  }

  @Test func hooksRulesAndDerivedAttributesOfExtensionsAreInForce() throws {
    try bench.write(
      """
      return { entities = { Item = {
        will_save = function(item) if item.s == nil then item.s = "saved" end end,
        validate_for_update = function(item) if item.n == 5 then return false, "five is not allowed", "n" end return true end,
      } } }
      """, to: "e.lua")
    let outcome = try each(
      "--extension", "e.lua", "--do", "object.n = object.n == 4 and 5 or object.n + 1", "--where", "n < 9")
    #expect(outcome.status == 4 && outcome.complaints.contains("five is not allowed"), "\(outcome)")
    let saved = try bench.moonbase(
      "fetch", "Item", "--store", "s.sqlite", "--where", "s == 'saved'", "--columns", "n", "--sort", "n", "--format",
      "csv")
    #expect(saved.output == "n\n2\n3\n4\n6\n7\n8\n9\n", "\(saved)")
  }

  @Test func aDryRunShowsTheFirstTenAndSavesNothing() throws {
    let before = try bench.contents()
    let code =
      "if object.n > 5 then object.n = object.n * 10 object.s = 'a\\nb' end if object.n == 1 then context:delete(object) end"
    let outcome = try each("--do", code, "--dry-run", "--where", "n <= 40")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("Item/1: deleted\n"))
    #expect(outcome.output.contains("Item/6\n  n: 6 → 60\n  s: null → \"a\\nb\"\n"), "\(outcome)")
    #expect(outcome.output.split(separator: "\n").filter { $0.contains("Item/") }.count == 10)
    #expect(outcome.complaints.contains("40 objects visited: 35 would be changed, 1 would be deleted"), "\(outcome)")
    let rules = try each("--do", "object.n = 1000", "--dry-run", "--where", "n == 7")
    #expect(rules.status == 4 && rules.complaints.contains("must be at most 999"), "\(rules)")
    #expect(try bench.contents() == before)
  }

  /// A dry run reports failures and does not count them as changes.
  @Test func aDryRunCountsAndTellsWhatARealRunDoes() throws {
    try bench.write(
      """
      return { entities = { Item = {
        validate_for_update = function(item) return item.n ~= 5, "five is not allowed", "n" end,
        will_save = function(item) if item.s == "raise" then error("raised") end end,
      } } }
      """, to: "e.lua")
    let before = try bench.contents()
    for code in [
      "object.n = (object.n % 50 == 0) and 1000 or object.n + 0",
      "if object.n == 4 then object.n = 5 else object.s = 'x' end",
      "if object.n == 7 then object.s = 'raise' elseif object.n == 8 then error('no') else object.s = 'y' end",
      // The code breaks another object.
      "if object.n == 17 then for o in context:fetch('Item'):where('n == 18'):each() do o.n = 1000 end end object.s = 'x'",
    ] {
      for batch in ["1000", "7"] {
        let arguments = ["each", "Item", "--store", "s.sqlite", "--extension", "e.lua", "--batch", batch, "--do", code]
        let dry = try bench.moonbase(arguments + ["--dry-run"])
        #expect(try bench.contents() == before)
        let real = try bench.moonbase(arguments)
        for (name, data) in before { try data.write(to: bench.file(name)) }
        #expect(dry.status == 4 && real.status == 4, "\(dry) \(real)")
        #expect(Self.told(dry) == Self.told(real))
        #expect(!dry.output.contains("1000") && !dry.output.contains("→ 5\n"), "\(dry)")
      }
    }
  }

  /// The lines of the report, without the time and the note that nothing was saved.
  private static func told(_ outcome: Workbench.Outcome) -> [String] {
    outcome.complaints.split(separator: "\n").map { line in
      String(line.split(separator: "; ")[0]).replacing("would be ", with: "")
    }.sorted()
  }

  @Test func aDryRunSeesValuesThatMustBeUnique() throws {
    try bench.write(
      """
      return { entities = {
        Item = { attributes = { n = "integer32", s = "string", a = "integer32", b = "integer32" }, constraints = { { "s" }, { "a", "b" } } },
      } }
      """, to: "u.lua")
    let code = """
      for i = 1, 9 do moonbase.context:insert("Item", { n = i, s = "s" .. i, a = i }) end
      assert(moonbase.context:save())
      """
    #expect(try bench.moonbase("run", "--store", "u.sqlite", "--model", "u.lua", "-e", code).status == 0)
    for (code, counts) in [
      ("if object.n > 5 then object.s = 's1' end", "0 would be changed, 4 failed"),
      ("if object.n > 5 then object.s = 'new' end", "1 would be changed, 3 failed"),
      ("object.a = 1 object.b = object.n // 2", "5 would be changed, 4 failed"),
      ("object.a = 1 object.b = nil", "8 would be changed"),
      ("if object.n < 3 then object.s = 's' .. 3 - object.n end", "2 would be changed"),
      ("context:insert('Item', { s = 's' .. object.n })", "0 would be changed, 9 failed"),
    ] {
      let dry = try bench.moonbase("each", "Item", "--store", "u.sqlite", "--do", code, "--dry-run")
      #expect(dry.complaints.contains("9 objects visited: \(counts); "), "\(dry)")
      #expect(dry.status == (counts.contains("failed") ? 4 : 0))
      if counts.contains("failed") {
        #expect(dry.complaints.contains("another object") && dry.complaints.contains("has the same"), "\(dry)")
      }
    }
  }

  @Test func aScriptReturnsTheFunctionAndFindsItsModules() throws {
    try FileManager.default.createDirectory(at: bench.file("f"), withIntermediateDirectories: false)
    try bench.write("return { by = 7 }", to: "f/step.lua")
    try bench.write(
      "local step = require('step')\nreturn function(object, context) object.n = object.n + step.by end", to: "f/e.lua")
    #expect(try each("--script", "f/e.lua", "--where", "n == 1").status == 0)
    #expect(try bench.sum() == 300 * 301 / 2 + 7)
    for (source, complaint) in [
      ("return 5", "returns function(object, context)"), ("return function(", "x.lua:1"), ("error('x')", "x.lua:1: x"),
    ] {
      try bench.write(source, to: "x.lua")
      let outcome = try each("--script", "x.lua")
      #expect(outcome.status == 1 && outcome.complaints.contains(complaint), "\(outcome)")
      #expect(!outcome.complaints.contains("visited"), "\(outcome)")
    }
  }

  @Test func limitsSandboxAndExitHoldAsForRun() throws {
    let before = try bench.sum()
    for limit in [["--limit-time", "1"], ["--limit-instructions", "1e6"]] {
      let outcome = try bench.moonbase(["each", "Item", "--store", "s.sqlite", "--do", "while true do end"] + limit)
      #expect(outcome.status == 3, "\(outcome)")
    }
    let memory = try each("--do", "t = t or {} t[#t + 1] = ('x'):rep(1e6) .. #t", "--limit-memory", "64M")
    #expect(memory.status == 3, "\(memory)")
    #expect(try each("--do", "object.n = 0 os.exit(7)").status == 7)
    #expect(try bench.sum() == before)
    let pure = try each("--do", "io.open('x')", "--sandbox", "pure", "--where", "n == 1", "--dry-run")
    // A missing global is missing for every object, so the run ends.
    #expect(pure.status == 1 && pure.complaints.contains("io"), "\(pure)")
    #expect(try each("--do", "object.n = 0", "--sandbox", "pure").status == 2)
    let closed = try each("--do", "assert(io.open('/etc/passwd'))", "--where", "n == 1")
    #expect(closed.status == 4, "\(closed)")
    for wrong in [["--sandbox", "none"], ["--limit-time", "0"], ["--allow", "x"], ["--save-order", "x"]] {
      #expect(try bench.moonbase(["each", "Item", "--store", "s.sqlite", "--do", ""] + wrong).status == 2)
    }
  }

  @Test func wrongUseIsToldBeforeAnythingIsDone() throws {
    for arguments in [
      [], ["--do", "", "--script", "x.lua"], ["--do", "", "--batch", "0"], ["--do", "", "--jobs", "0"],
      ["--do", "", "--param", "1"],
    ] {
      let outcome = try bench.moonbase(["each", "Item", "--store", "s.sqlite"] + arguments)
      #expect(outcome.status == 2 && outcome.complaints != "", "\(outcome)")
    }
    #expect(try bench.moonbase("each", "Itm", "--store", "s.sqlite", "--do", "").complaints.contains("Item"))
    let readOnly = try each("--do", "object.n = 1", "--read-only")
    #expect(readOnly.status == 1 && readOnly.complaints.contains("read-only"), "\(readOnly)")
    #expect(try each("--script", "none.lua").status == 1)
  }

  @Test func severalWorkersLoseNoChangeOfAnObjectThatTheyShare() throws {
    let code = "object.n = object.n + 1 object.group.count = object.group.count + 1"
    let outcome = try each("--do", code, "--jobs", "4", "--batch", "10", "--where", "n < 200")
    #expect(outcome.status == 0 && outcome.complaints.contains("199 objects visited"), "\(outcome)")
    #expect(try bench.sum() == 300 * 301 / 2 + 199)
    let count = try bench.moonbase("fetch", "Group", "--store", "s.sqlite", "--columns", "count", "--format", "csv")
    #expect(count.output == "count\n199\n", "\(count)")
    let failing = try each(
      "--do", "if object.n % 10 == 0 then error('no') end object.s = 'x'", "--jobs", "3", "--batch", "9")
    #expect(failing.status == 4 && failing.complaints.contains("269 changed, 31 failed"), "\(failing)")
  }

  /// The store cannot be written, so the run ends instead of trying each object.
  @Test func aTriggerWithoutEndEndsAllWithItsName() throws {
    try bench.execute(
      "CREATE TRIGGER endless AFTER UPDATE ON ZITEM BEGIN SELECT COUNT(*) FROM "
        + "(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r); END", in: "s.sqlite")
    let before = try bench.sum()
    let outcome = try each("--do", "object.n = object.n + 1")
    #expect(outcome.status == 1, "\(outcome)")
    let told = outcome.complaints.components(separatedBy: "the trigger endless of the file does not come to an end")
    #expect(told.count == 2 && !outcome.complaints.contains(" changed"), "\(outcome)")
    #expect(try bench.sum() == before)
  }
}

extension Workbench {
  /// A bench with `count` items in one group, numbered from 1.
  static func withNumbers(_ count: Int) throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Item = {
          attributes = { n = { "integer32", max = 999 }, s = "string" },
          relationships = { group = { to = "Group", inverse = "items" } },
        },
        Group = { attributes = { count = "integer32" }, relationships = { items = { to_many = "Item", inverse = "group" } } },
      } }
      """, to: "m.lua")
    let code = """
      local c = moonbase.context
      local group = c:insert("Group", { count = 0 })
      for i = 1, \(count) do c:insert("Item", { n = i % 1000, group = group }) end
      assert(c:save())
      """
    let made = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  func sum(of column: String = "ZN") throws -> Int? {
    Int(try program("sqlite3", "s.sqlite", "SELECT sum(\(column)) FROM ZITEM").output.dropLast())
  }

  /// An unknown name is a mistake in the code, so the first object ends the run.
  @Test(arguments: ["object.agee = 1", "print(object.nme)", "doit(object)", "context:fetch('Persn'):count()"])
  func aMisspeltNameEndsTheRunAtTheFirstObject(_ code: String) throws {
    let bench = try Workbench.withPeople()
    let outcome = try bench.moonbase("each", "Person", "--store", "s.sqlite", "--batch", "1", "--do", code)
    #expect(outcome.status == 1 && !outcome.complaints.contains("3 failed"), "\(outcome)")
    #expect(
      outcome.complaints.split(separator: "\n").count { $0.contains("each:1") || $0.contains("--do:1") } <= 2,
      "\(outcome)")
  }

  @Test func repeatedFailuresAreToldTenTimesAndCounted() throws {
    let bench = try Workbench.withPeople()
    let more = "for i = 1, 40 do moonbase.context:insert('Person', { age = i }) end assert(moonbase.context:save())"
    try #require(try bench.moonbase("run", "--store", "s.sqlite", "-e", more).status == 0)
    let code = "if not object.name then error('no name at age ' .. object.age) end"
    let outcome = try bench.moonbase("each", "Person", "--store", "s.sqlite", "--do", code)
    #expect(outcome.status == 4 && outcome.complaints.contains("41 failed"), "\(outcome)")
    #expect(outcome.complaints.split(separator: "\n").count { $0.contains(#/[A-Z]\w*/\d+: /#) } == 10, "\(outcome)")
    #expect(outcome.complaints.contains("moonbase: and 31 more like this: "), "\(outcome)")
  }
}
