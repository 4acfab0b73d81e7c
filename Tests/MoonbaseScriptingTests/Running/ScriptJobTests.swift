import MoonbaseLua
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Modules that run on other threads: `moonbase.background` and `moonbase.parallel`.
@Suite struct ScriptJobTests {
  private static let modules = [
    "grow": """
    return function(context, ids, by)
      local sum = 0
      for _, id in ipairs(ids) do
        local p = context:object(id)
        p.age = p.age + by
        sum = sum + p.age
      end
      assert(context:save())
      return { count = #ids, sum = sum, first = ids[1] }
    end
    """,
    "some": """
    return function(context, ids)
      local p = context:object(ids[1])
      if p.age % 2 == 1 then error({ message = "is odd", code = 7 }) end
      return p.age
    end
    """,
    "count": """
    return function(context, arguments)
      local progress = moonbase.progress(4, "counting")
      progress:advance(1)
      return context:fetch("Person"):count() + arguments.add
    end
    """,
    "endless": "return function() while true do end end",
    "forgetful": "return function(context) context:insert('Person', { age = 1 }) end",
    "jobs": "return function() return tostring(select(2, pcall(function() return moonbase.background end))) end",
    "table": "return { 1 }",
    "hostile": """
    return function(context, ids, how)
      local ways = {
        raise = function() error(setmetatable({}, { __tostring = function() while true do end end })) end,
        swallow = function() while true do pcall(function() while true do end end) end end,
        bomb = function() local t = {} while true do t[#t + 1] = ("x"):rep(100000) .. #t end end,
        exit = function() os.exit(3) end, value = function() return print end,
        close = function() context:close() end,
        child = function()
          local child = context:child()
          child:object(ids[1]).age = 31
          return child
        end,
      }
      return ways[how]()
    end
    """,
    "same": "return function(_, value) return value end",
  ]

  /// Runs a script that may start jobs.
  private func run(
    _ text: String, limits: LuaLimits = LuaLimits(), kind: StoreKind = .sqlite
  ) throws -> (lines: [String], outcome: ScriptRunner.Outcome) {
    let bench = try ScriptBench(kind)
    let folder = try TemporaryFolder()
    for (name, text) in Self.modules { try Data(text.utf8).write(to: folder.url.appendingPathComponent("\(name).lua")) }
    let printed = Lock("")
    var maker = ScriptDomainMaker(limits: limits)
    maker.moduleFolders = [folder.url.path]
    maker.makeOutput = {
      LuaOutput { bytes, _ in printed.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    }
    let domain = try maker.make()
    defer { domain.close() }
    let context = try domain.context(
      of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions))
    try domain.setContext(context)
    let people = "local context = moonbase.context for i = 1, 100 do context:insert('Person', { age = i + 20 }) end "
    let outcome = ScriptRunner(domain).run([
      ScriptSource(name: "script.lua", text: people + "assert(context:save())\n" + text)
    ])
    return (printed.withLock { $0 }.split(separator: "\n").map(String.init), outcome)
  }

  @Test(arguments: StoreKind.allCases) func partsAreDoneOnAllCoresAndResultsComeInOrder(_ kind: StoreKind) throws {
    let (lines, outcome) = try run(
      """
      local results, errors = moonbase.parallel(context:fetch("Person"):sort("age"), "grow", 10)
      local count, sum = 0, 0
      for i, part in ipairs(results) do count, sum = count + part.count, sum + part.sum end
      print(count, sum, errors, results[1].first == context:fetch("Person"):sort("age"):ids()[1])
      context:refresh_all()
      print(context:fetch("Person"):sort("age"):first().age)
      print(#moonbase.parallel(context:fetch("Person"):where("age < 0"), "grow", 10))
      """, kind: kind)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines == ["100\t8050\tnil\ttrue", "31", "0"])
  }

  @Test func errorsOfPartsAreCollected() throws {
    let (lines, outcome) = try run(
      """
      local results, errors = moonbase.parallel(context:fetch("Person"):sort("age"), "some")
      local good, bad = 0, 0
      for i, result in ipairs(results) do
        if result == moonbase.null then bad = bad + 1 else good = good + 1 end
      end
      local failed = 0
      for i, err in pairs(errors) do
        failed = failed + 1
        assert(results[i] == moonbase.null and err.message:find("is odd"))
      end
      print(bad == failed, bad > 0, good + bad == #results)
      """)
    #expect(outcome.status == 0 && outcome.message == nil, "\(outcome)")
    #expect(lines == ["true\ttrue\ttrue"] || lines == ["true\tfalse\ttrue"])
    let unseen = try run("moonbase.parallel(context:fetch('Person'), 'nosuch')")
    #expect(unseen.outcome.status == 1 && unseen.outcome.message?.contains("module 'nosuch' not found") == true)
  }

  @Test func aJobIsWaitedForAndGivesItsResult() throws {
    let (lines, outcome) = try run(
      """
      local job = moonbase.background("count", { add = 5 })
      print(job:wait(), job.is_done, job.progress, tostring(job))
      local value = { 1, moonbase.null, { a = moonbase.date.parse("2024-02-29"), b = moonbase.decimal("1.50") }, id = nil }
      local same = moonbase.background("same", value):wait()
      print(same[1], same[2] == moonbase.null, same[3].a, same[3].b)
      print(moonbase.background("jobs"):wait())
      moonbase.background("count", { add = 1 })
      """)
    #expect(outcome.status == 0 && outcome.message == nil, "\(outcome)")
    #expect(
      lines == [
        "105\ttrue\t0.25\tjob of module count (done)", "1\ttrue\t2024-02-29T00:00:00.000Z\t1.5",
        "moonbase has no 'background'",
      ])
  }

  @Test func whatFailsIsToldOnce() throws {
    let (lines, outcome) = try run(
      """
      for _, module in ipairs { "nosuch", "table", "forgetful" } do
        local result, err = moonbase.background(module):wait()
        print(result, (err.message:gsub("\\n.*", "")))
      end
      print(context:fetch("Person"):count())
      for _, value in ipairs { moonbase.classes.Color.new(1, 2, 3), { context:insert("Person", {}) }, print } do
        print(select(2, pcall(moonbase.background, "same", value)).message)
      end
      context:rollback()
      """)
    #expect(outcome.status == 0 && outcome.message == nil, "\(outcome)")
    try #require(lines.count == 7, "\(lines)")
    #expect(lines[0].contains("module 'nosuch' not found") && lines[1].contains("is to return a function"))
    #expect(lines[2].contains("left 1 changed object unsaved") && lines[3] == "100")
    #expect(lines[4].contains("a Color") && lines[5].contains("save it first"), "\(lines)")
    for script in ["moonbase.background('table')", "local _, err = moonbase.background('table'):wait()"] {
      let unseen = try run(script)
      #expect(unseen.outcome.status == 1 && unseen.outcome.message?.contains("a job on another thread failed") == true)
    }
  }

  /// Hostile modules fail with errors of their own, and the script continues.
  @Test(arguments: StoreKind.allCases) func hostileModulesFailAlone(_ kind: StoreKind) throws {
    let limits = LuaLimits(instructions: 2_000_000, deadline: .seconds(20), memory: 32 << 20)
    let ways = ["raise", "swallow", "bomb", "exit", "value", "close", "child", "nosuch"]
    for way in ways {
      let (lines, outcome) = try run(
        """
        local results, errors = moonbase.parallel(context:fetch("Person"):sort("age"):limit(1), "hostile", "\(way)")
        print(results[1] == moonbase.null, errors and tostring(errors[1]))
        context:refresh_all()
        print(context:fetch("Person"):count(), context:fetch("Person"):sort("age"):first().age)
        """, limits: limits, kind: kind)
      #expect(outcome.status == 0 && lines.count == 2, "\(way): \(outcome) \(lines)")
      #expect(lines.first?.hasPrefix("true\t") == true && lines.last == "100\t21", "\(way): \(lines)")
    }
  }

  @Test func anEndlessJobEndsWithTheRunOrWhenItIsCancelled() throws {
    let cancelled = try run(
      """
      local job = moonbase.background("endless")
      print(job.is_done)
      job:cancel()
      local result, err = job:wait()
      print(result, err.message, job.is_done)
      """)
    #expect(cancelled.outcome.status == 0, "\(cancelled.outcome)")
    #expect(cancelled.lines == ["false", "nil\tthe job of module endless was cancelled\ttrue"])
    var limits = LuaLimits()
    limits.deadline = .seconds(0.3)
    for script in ["moonbase.background('endless'):wait()", "moonbase.background('endless')"] {
      #expect(try run(script, limits: limits).outcome.status == 3)
    }
    #expect(try run("moonbase.background('endless') error('stop')").outcome.status == 1)
    let many = try run("for i = 1, 100 do moonbase.background('endless') end")
    #expect(
      many.outcome.status == 1 && many.outcome.message?.contains("64 jobs run already") == true, "\(many.outcome)")
    limits = LuaLimits()
    limits.instructions = 10_000_000
    let limited = try run(
      "local _, err = moonbase.background('endless'):wait() print(err.code, err.message)", limits: limits)
    #expect(limited.outcome.status == 0 && limited.lines.first?.contains("instructions") == true, "\(limited)")
  }
}
