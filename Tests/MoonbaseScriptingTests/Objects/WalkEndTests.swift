import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Walks that are stopped early.
@Suite struct WalkEndTests {
  /// A walk over a relationship skips objects deleted since it began, as a walk over a request does.
  @Test(arguments: StoreKind.allCases) func aWalkOverARelationshipSkipsWhatWasDeletedMeanwhile(_ kind: StoreKind) throws
  {
    for (list, walk) in [
      ("qs", "for p in owner.qs:each() do"), ("qs", "for _, p in pairs(owner.qs) do"),
      ("ord", "for p in owner.ord:each() do"), ("qs", "for p in owner.qs:sort('i'):each() do"),
    ] {
      let lines = try ThingBench.bench(kind, "").lines(
        """
        local owner, members = context:insert("P"), {}
        for i = 1, 6 do members[i] = context:insert("P", { i = i }) end
        owner.\(list) = members
        assert(context:save())
        local count, first = 0, nil
        \(walk)
          assert(not p:is_deleted())
          count = count + 1
          for _, other in ipairs(members) do
            if count == 1 and other ~= p then context:delete(other) end
          end
        end
        context:process_pending_changes()
        print(count, #owner.\(list))
        count = 0
        \(walk) count = count + 1 end
        print(count)
        """, leavingChanges: true)
      #expect(lines == ["1\t1", "1"], "\(walk)")
    }
  }

  @Test func aLoopThatIsLeftReadsNoFurther() throws {
    let bench = try ScriptBench()
    _ = try bench.lines(
      "for i = 1, 3000 do context:insert('Person', { firstName = 'P' .. i, age = 1 }) end assert(context:save())")
    let units = try HostWorkMeter.units {
      _ = try bench.lines(
        "for i = 1, 20 do for p in context:fetch('Person'):sort('firstName'):each() do break end context:rollback() end"
      )
    }
    #expect(units < 20 * 3000)
  }

  @Test func aWalkGoesOnWhereAnotherLoopLeftIt() throws {
    let lines = try ScriptBench().lines(
      """
      for i = 1, 5 do context:insert("Person", { firstName = "P" .. i, age = 1 }) end
      assert(context:save())
      local walk = context:fetch("Person"):sort("firstName"):each()
      for p in walk do print(p.firstName) break end
      for p in walk do print(p.firstName) end
      for p in context:fetch("Person"):sort("firstName"):each() do print(p.firstName) break end
      print(select("#", context:fetch("Person"):each()))
      """)
    #expect(lines == ["P1", "P2", "P3", "P4", "P5", "P1", "4"])
  }

  @Test(arguments: StoreKind.allCases, [1, 3, 40])
  func aResetWithinAWalkPassesOverNothing(_ kind: StoreKind, _ every: Int) throws {
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      """
      for i = 1, 200 do context:insert("Person", { age = 1 }) end
      assert(context:save())
      local n = 0
      for p in context:fetch("Person"):each() do
        n, p.age = n + 1, 2
        if n % \(every) == 0 then assert(context:save()) context:reset() end
      end
      assert(context:save())
      print(n, context:fetch("Person"):where("age = 2"):count())
      """)
    #expect(lines == ["200\t200"])
  }
}
