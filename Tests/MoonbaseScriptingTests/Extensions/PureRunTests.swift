import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import enum MoonbaseModel.Predicate

/// Pure functions in queries: limits apply to each call of a program, and to all calls together within a script.
@Suite struct PureRunTests {
  private static let hooks = """
    derived = {
      slow = { type = "integer64", inputs = { "i" }, pure = true,
               get = function(i) local n = 0 for k = 1, 2000 do n = (n + k * i) % 1000 end return n end },
      half = { type = "double", inputs = { "i" }, pure = true, get = function(i) return i / 2 end },
      whole = { type = "double", inputs = { "i" }, pure = true, strict = true, get = function(i) return i * 2 end },
      broken = { type = "integer64", inputs = { "i" }, pure = true,
                 get = function(i) if i == 7 then error("seven") end return i end },
      text = { type = "string", inputs = { "s", "i" }, pure = true,
               get = function(s, i) return (s or "none") .. (i or 0) end },
    }
    """

  private func bench(limits: LuaLimits = LuaLimits()) throws -> ScriptBench {
    let bench = try ScriptBench(
      .sqlite, model: ThingBench.model,
      extensions: [
        "return { name = 'x', \(ThingBench.transformer) entities = { P = { \(Self.hooks) } } }"
      ], limits: limits)
    _ = try bench.lines(
      "for i = 1, 60 do context:insert('P', { i = i, s = i % 2 == 0 and 's' or nil }) end context:save()")
    return bench
  }

  @Test func aProgramsLimitsHoldForEachCall() throws {
    let bench = try bench(limits: LuaLimits(instructions: 100_000))
    let context = try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
    var request = FetchRequest("P")
    request.predicate = try Predicate(format: "slow >= 0")
    #expect(try context.count(request) == 60)
  }

  @Test func aScriptsLimitsHoldForAllCalls() throws {
    let bench = try bench()
    let text = "print(moonbase.context:fetch('P'):where('slow >= 0'):count())"
    #expect(try bench.run(text, limits: LuaLimits(instructions: 5_000_000)).status == 0)
    #expect(bench.output == "60\n")
    let outcome = try bench.run(text, limits: LuaLimits(instructions: 100_000))
    #expect(outcome.message?.contains("used up its instructions") == true, "\(outcome)")
  }

  @Test func valuesAndErrorsAreThoseOfTheFunction() throws {
    let lines = try bench().lines(
      """
      print(context:fetch("P"):where("half = 2.5"):first().i, context:fetch("P"):where("whole = 8"):first().i)
      context:insert("P", { s = "x" })
      context:save()
      print(context:fetch("P"):where("whole = NULL"):count(), context:fetch("P"):where("text = 'x0'"):count())
      print(context:fetch("P"):where("text BEGINSWITH 'none' AND whole > 40 AND s = NULL"):count())
      local ok, err = pcall(function() return context:fetch("P"):where("broken > 0"):count() end)
      print(ok, err.message:match("P.broken: get: .*seven") ~= nil, context:fetch("P"):where("whole > 0"):count())
      """)
    #expect(lines == ["5\t4", "1\t1", "20", "false\ttrue\t60"])
  }
}
