import MoonbaseGraph
import MoonbaseScripting
import Testing

@Suite struct DestinationTests {
  /// Runs a script with two contexts over one store.
  private func lines(_ text: String) throws -> [String] {
    let bench = try ThingBench.bench("")
    let (coordinator, extensions) = (bench.coordinator, bench.extensions)
    return try bench.lines("local other = moonbase.open({}).context\n" + text) { _ in
      StoreHandle(coordinator: coordinator, extensions: extensions)
    }
  }

  @Test func assignmentOfAnotherContextsObjectChangesNothing() throws {
    let lines = try lines(
      """
      local a, b, p = context:insert("P", { s = "a" }), context:insert("P", { s = "b" }), context:insert("P", { s = "p" })
      p.fr = { a }
      assert(context:save())
      local new, saved = other:insert("P"), other:object(a:id())
      for _, foreign in ipairs { new, saved } do
        for _, change in ipairs {
          function() p.fr = { b, foreign } end, function() p.q = foreign end, function() p.fr:add(b, foreign) end,
          function() p.fr:remove(foreign) end, function() p.ord:insert(1, foreign) end,
          function() p.fr:contains(foreign) end, function() context:refresh(foreign, true) end,
          function() context:delete(foreign) end, function() p:validate("q", foreign) end,
          function() context:insert("P", { q = foreign }) end, function() context:find("P", { q = foreign }) end,
          function() context:upsert("P", { "s" }, { { s = "p", q = foreign } }) end,
          function() return context:fetch("P"):where("q = %@", foreign) end,
        } do
          local ok, err = pcall(change)
          if ok or not tostring(err):match("another context") then print("accepted", _, ok, err) end
        end
      end
      context:process_pending_changes()
      print(#p.fr, p.fr:all()[1].s, p.q, p:has_changes(), a:has_changes(), b:has_changes(), context.has_changes)
      other:rollback()
      """)
    #expect(lines == ["1\ta\tnil\tfalse\tfalse\tfalse\tfalse"])
  }

  /// For each way of reading the objects, also in part, until `sort` sets another order.
  @Test func aRequestOfAnOrderedRelationshipKeepsItsOrder() throws {
    let lines = try lines(
      """
      local p = context:insert("P", { s = "p" })
      for _, name in ipairs { "c", "a", "e", "b", "d" } do p.ord:add(context:insert("P", { s = name })) end
      local function names(objects)
        local all = {}
        for i, object in ipairs(objects) do all[i] = object.s end
        return table.concat(all)
      end
      local function walked(request)
        local all = {}
        for object in request:each() do all[#all + 1] = object end
        return names(all)
      end
      local function show()
        local some = p.ord:where("s != 'e'")
        local ids = {}
        for i, id in ipairs(some:ids()) do ids[i] = context:object(id) end
        print(names(some:all()), walked(some), names(ids), some:first().s, names(some:offset(1):limit(2):all()),
          walked(some:limit(3)), names(some:sort("-s"):all()))
      end
      show()
      assert(context:save())
      show()
      p.ord:move(5, 1)
      show()
      context:refresh_all()
      local walk = {}
      for object in p.ord:where("s != 'e'"):each() do
        walk[#walk + 1] = object.s
        if object.s == "d" then context:delete(p.ord[2]) end
      end
      print(table.concat(walk))
      context:rollback()
      """)
    let saved = "cabd\tcabd\tcabd\tc\tab\tcab\tdcba"
    #expect(lines == [saved, saved, "dcab\tdcab\tdcab\td\tca\tdca\tdcba", "dab"])
  }

  @Test func aRelationshipIsOneThingHoweverOftenItIsAskedFor() throws {
    let lines = try lines(
      """
      local a, b = context:insert("P"), context:insert("P")
      print(a.qs == a.qs, a.qs == b.qs, a.qs == a.fr, a.qs == 1)
      context:rollback()
      """)
    #expect(lines == ["true\tfalse\tfalse\tfalse"])
  }

  @Test func whatCanBeNoDestinationIsNotRemovedWithoutAWord() throws {
    let lines = try ScriptBench().lines(
      """
      local d, p = context:insert("Department"), context:insert("Employee")
      d.employees:remove(p)
      local ok, err = pcall(d.employees.remove, d.employees, p, d)
      print(ok, err.key, err.message, #d.employees)
      d.employees:add(p)
      print(pcall(d.employees.remove, d.employees, p, d))
      print(#d.employees)
      """, leavingChanges: true)
    #expect(
      lines == [
        "false\temployees\tDepartment.employees: its destinations are Person, not Department\t0",
        "false\tDepartment.employees: its destinations are Person, not Department", "1",
      ])
  }

  @Test func goneObjectsSayWhyTheyAreGone() throws {
    let lines = try lines(
      """
      local function why(p) print((select(2, pcall(function() return p.s end)).message:match("was used after .*"))) end
      local new = context:insert("P")
      context:delete(new) context:process_pending_changes()
      why(new)
      local p = context:insert("P")
      assert(context:save())
      context:delete(p) assert(context:save())
      why(p)
      p = context:insert("P")
      context:rollback()
      why(p)
      p = context:insert("P")
      assert(context:save())
      context:reset()
      why(p)
      """)
    #expect(
      lines == [
        "was used after it was deleted; it was never saved", "was used after its deletion was saved",
        "was used after its insertion was rolled back", "was used after its context was reset: fetch it again",
      ])
  }

  @Test func wrongPositionsAreNamed() throws {
    let lines = try lines(
      """
      local p = context:insert("P")
      print((select(2, pcall(function() return p.ord[1.5] end)).message))
      print((select(2, pcall(function() return p.ord[true] end)).message))
      context:rollback()
      """)
    #expect(lines == ["a relationship has no '1.5'", "a relationship has no 'true'"])
  }

  @Test func badArgumentsNameTheMethodAndDoNotCountTheObject() throws {
    let lines = try lines(
      """
      local function message(f, ...) return tostring(select(2, pcall(f, ...))):match("bad argument.*") end
      print(message(context.insert, context, 5))
      print(message(function() return context:insert(true) end))
      print(message(function() local x = context:insert({}) end))
      """)
    #expect(
      lines == [
        "bad argument #1 to 'insert' (the name of an entity is expected, in quotes, as in \"P\", got number)",
        "bad argument #1 to 'insert' (the name of an entity is expected, in quotes, as in \"P\", got boolean)",
        "bad argument #1 to 'insert' (the name of an entity is expected, in quotes, as in \"P\", got table)",
      ])
  }
}
