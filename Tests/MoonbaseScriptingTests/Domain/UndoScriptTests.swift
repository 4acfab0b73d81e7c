import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Undo in scripts: each call that changes a value is a step.
@Suite struct UndoScriptTests {
  @Test(arguments: StoreKind.allCases) func eachCallIsAStepAndAGroupIsOne(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      print(context.undo_levels, context.can_undo, (pcall(context.undo, context)))
      context.undo_levels = 10
      local p = context:insert("Person", { firstName = "Ann", age = 1 })
      p.age = 2
      p.firstName = "Bob"
      print(context:undo(), p.firstName, p.age, context.can_redo)
      print(context:undo(), p.age, context:redo(), p.age)
      print(context:undo_group("birthday", function() p.age = 3 p.firstName = "Cid" return "done", 7 end))
      print(context.undo_name, p.age, p.firstName, context:undo(), p.age, p.firstName, context.undo_name, context.redo_name)
      print(context:redo(), p.age, p.firstName)
      print(context:undo(), context:undo(), context:undo(), context:undo(), context.can_undo, context.has_changes)
      """)
    #expect(
      lines == [
        "nil\tfalse\tfalse", "true\tAnn\t2\ttrue", "true\t1\ttrue\t2", "done\t7",
        "birthday\t3\tCid\ttrue\t2\tAnn\tnil\tbirthday", "true\t3\tCid", "true\ttrue\ttrue\tfalse\tfalse\tfalse",
      ])
  }

  @Test(arguments: StoreKind.allCases) func allDoorsAreSteps(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local d, e = context:insert("Department", { name = "d" }), context:insert("Department", { name = "e" })
      local p, q = context:insert("Person", { firstName = "p" }), context:insert("Person", { firstName = "q" })
      assert(context:save())
      context.undo_levels = 100
      local function state()
        if d:is_deleted() then return "gone " .. tostring(p.department) end
        return table.concat({ #d.employees, p.department and p.department.name or "-", p.age, tostring(p.firstName), p.email or "-" }, " ")
      end
      local doors = {
        function() p.department = d end, function() d.employees:add(q) end, function() d.employees = { p } end,
        function() d.employees:remove(p) end, function() e.employees:add(p, q) end,
        function() p.email = "A@B" end, function() context:insert("Person", { department = e }) end,
        function() context:upsert("Person", { "firstName" }, { { firstName = "p", age = 4 }, { firstName = "q", age = 5 } }) end,
        function() p.department = d end, function() context:delete(d) end,
      }
      local states = { state() }
      for i, door in ipairs(doors) do door() states[i + 1] = state() end
      for i = #doors, 1, -1 do
        assert(context:undo())
        if state() ~= states[i] then print("undo", i, state(), states[i]) end
      end
      print(context.can_undo)
      for i = 1, #doors do
        assert(context:redo())
        if state() ~= states[i + 1] then print("redo", i, state(), states[i + 1]) end
      end
      print(context.can_redo)
      assert(context:save())
      -- A primitive value is set past all notes, and so past this one.
      moonbase.object.set_primitive(p, "height", 9)
      for _ = 1, #doors do assert(context:undo()) end
      assert(p.height == 9)
      assert(context:save())
      print(state() == states[1], context:fetch("Department"):count())
      """)
    #expect(lines == ["false", "false", "true\t2"])
  }

  /// The guide's policies for a transient attribute over a shadow: read on demand or early, written at once or late.
  @Test(arguments: ["on_demand", "pre_calculated"], ["immediate", "delayed"])
  func transientAttributesAreUndone(_ read: String, _ write: String) throws {
    for kind in StoreKind.allCases { try transientAttributesAreUndone(kind, read, write) }
  }

  private func transientAttributesAreUndone(_ kind: StoreKind, _ read: String, _ write: String) throws {
    let pair = """
      return { name = "pair", entities = { Person = { derived = { bounds = {
        inputs = { "boundsAsString" }, read = "\(read)", write = "\(write)",
        get = function(text) return text and { tonumber(text) } end,
        set = function(value, object) object.boundsAsString = value and tostring(value[1]) end } } } } }
      """
    let colors = ScriptBench.colors.replacing("bounds = {", with: "other = { type = 'string',")
    let lines = try ScriptBench(kind, extensions: [colors, pair]).lines(
      """
      local p = context:insert("Person", { firstName = "p", bounds = { 1 } })
      assert(context:save())
      context.undo_levels = 10
      p.bounds = { 2 }
      p.bounds = { 3 }
      print(p.bounds[1], context:undo(), p.bounds[1], context:undo(), p.bounds[1], p.boundsAsString)
      print(context:redo(), p.bounds[1])
      assert(context:save())
      print(p.boundsAsString, context:undo(), p.bounds[1], context:undo(), p.bounds[1], context.can_undo)
      assert(context:save())
      print(p.boundsAsString)
      context:reset()
      print(context:fetch("Person"):first().bounds[1])
      """)
    let isLate = write == "delayed"
    // A delayed value that a save transforms belongs to the step that set the value.
    #expect(lines[0] == "3\ttrue\t2\ttrue\t1\t1")
    #expect(lines[1] == "true\t2")
    #expect(lines[2] == (isLate ? "2\ttrue\t1\tfalse\t1\tfalse" : "2\ttrue\t1\tfalse\t1\tfalse"))
    #expect(Array(lines[3...]) == ["1", "1"])
  }

  @Test func mistakesSayWhatToWrite() throws {
    let lines = try ScriptBench().lines(
      """
      local function message(f, ...) return select(2, pcall(f, ...)).message end
      print(message(context.undo, context))
      print(message(function() context.undo_levels = 0 end))
      print(message(context.undo_group, context, "x", function() end))
      context.undo_levels = 3
      print(message(context.undo_group, context, "x", function() context:undo() end))
      local p = context:insert("Person", {})
      local ok, e = pcall(context.undo_group, context, "half", function() p.age = 5 error("stop") end)
      print(ok, e, p.age, context.undo_name, context:undo(), p.age)
      context.undo_levels = nil
      print(context.can_undo, context.undo_levels)
      """, leavingChanges: true)
    #expect(lines[0].contains("context.undo_levels = 50"))
    #expect(lines[1].contains("from 1 to 1000000"))
    #expect(lines[2].contains("undo is off"))
    #expect(lines[3].contains("undo within undo_group: call it when"))
    #expect(lines[4].hasSuffix("5\thalf\ttrue\t0"), "\(lines)")
    #expect(lines[5] == "false\tnil")
  }
}
