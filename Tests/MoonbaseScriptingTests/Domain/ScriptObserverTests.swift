import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Change notifications for scripts.
@Suite struct ScriptObserverTests {
  @Test(arguments: StoreKind.allCases) func eventsOfAContextCome(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local log = {}
      local function note(name) return function(c)
        log[#log + 1] = name .. " " .. #c.inserted .. #c.updated .. #c.deleted
      end end
      local watches = {}
      for _, event in ipairs { "will_save", "did_save", "objects_did_change" } do watches[event] = context:on(event, note(event)) end
      local p = context:insert("Person", { age = 1 })
      context:process_pending_changes()
      p.age = 2
      assert(context:save())
      context:delete(p)
      assert(context:save())
      print(table.concat(log, ", "))
      log = {}
      print(watches.will_save.is_active)
      watches.will_save:cancel()
      watches.objects_did_change:cancel()
      print(watches.will_save.is_active)
      watches = nil
      collectgarbage()
      context:insert("Person", { age = 3 })
      assert(context:save())
      print(table.concat(log, ", "))
      """)
    #expect(
      lines[0].hasPrefix(
        "objects_did_change 100, objects_did_change 010, will_save 100, did_save 100, objects_did_change 001, will_save 001, did_save 001"
      ), "\(lines)")
    #expect(Array(lines[1...]) == ["true", "false", "did_save 100"])
  }

  @Test(arguments: StoreKind.allCases) func propertiesAreObserved(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local d = context:insert("Department", { name = "d" })
      local p = context:insert("Person", { firstName = "Ann", lastName = "Lee", age = 1 })
      local watch = p:observe("age", function(value, object, old) print("age", value, object == p, old) end)
      p:observe("fullName", function(value, _, old) print("name", value, old) end)
      p:observe("department", function(value, _, old) print("department", value == d, old == d) end)
      d:observe("employees", function(value, _, old) print("employees", #value, #old) end)
      collectgarbage()
      p.age = 2
      p.age = 2
      p.firstName = "Bob"
      p.department = d
      p.department = nil
      watch:cancel()
      p.age = 3
      context:rollback()
      """)
    #expect(
      lines == [
        "age\t2\ttrue\t1", "name\tBob Lee\tAnn Lee", "department\ttrue\tfalse", "employees\t1\t0",
        "department\tfalse\ttrue", "employees\t0\t1",
      ])
  }

  @Test(arguments: StoreKind.allCases) func errorsOfObserversFailSavesOrAreTold(_ kind: StoreKind) throws {
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      """
      local p = context:insert("Person", { age = 1 })
      local watch = context:on("will_save", function() error("not today") end)
      local ok, e = context:save()
      print(ok, e.message, context.has_changes, context:fetch("Person"):pending(false):count())
      watch:cancel()
      context:on("did_save", function() error({ message = "too late", code = 7 }) end)
      ok, e = context:save()
      print(ok, e.message, context.has_changes)
      """)
    #expect(lines[0].hasPrefix("nil\t") && lines[0].contains("not today") && lines[0].hasSuffix("true\t0"), "\(lines)")
    #expect(lines[1].hasPrefix("true\t") && lines[1].contains("too late") && lines[1].hasSuffix("false"), "\(lines)")
    let outcome = try bench.run(
      """
      local p = moonbase.context:insert("Person", { age = 1 })
      p:observe("age", function() local x = nil; x() end)
      p.age = 2
      assert(moonbase.context:save())
      """)
    #expect(outcome.status == 1 && outcome.message?.contains("observe(\"age\")") == true, "\(outcome)")
    let ended = try bench.run(
      """
      local p = moonbase.context:insert("Person", { age = 1 })
      p:observe("age", function() os.exit(5) end)
      p.age = 2
      print("not reached")
      """)
    #expect(ended.status == 5 && bench.output.isEmpty, "\(ended)")
  }

  /// Observers that save, that set the observed value, and that cancel themselves.
  @Test(arguments: StoreKind.allCases) func watchesThatReenterEnd(_ kind: StoreKind) throws {
    let bench = try ScriptBench(kind)
    let outcome = try bench.run(
      """
      local context = moonbase.context
      local p = context:insert("Person", { age = 1 })
      local count = 0
      p:observe("age", function(value) count = count + 1 if value < 10 then p.age = value + 1 end end)
      p.age = 2
      print(p.age, count)
      local saves = context:on("did_save", function() print(pcall(context.save, context)) end)
      assert(context:save())
      saves:cancel()
      local once
      once = context:on("objects_did_change", function() once:cancel() print("once") context:save() end)
      p.age = 20
      context:process_pending_changes()
      p.age = 21
      context:process_pending_changes()
      print(context.has_changes)
      context:rollback()
      print(select(2, pcall(context.on, context, "did_sav", print)).message)
      """)
    let lines = bench.output.split(separator: "\n").map(String.init)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines.first == "10\t9", "\(lines)")
    #expect(lines.contains("once") && lines.count { $0 == "once" } == 1)
    #expect(lines.last?.contains("did you mean did_save?") == true)
  }
}
