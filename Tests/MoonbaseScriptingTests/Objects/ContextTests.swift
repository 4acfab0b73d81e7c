import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct ContextTests {
  private let people = """
    for i = 1, 20 do context:insert("Person", { firstName = "p" .. i, age = i + 20, active = i % 2 == 0 }) end
    assert(context:save())

    """

  @Test(arguments: StoreKind.allCases) func requestsAreBuiltStepByStep(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      people + """
        local base = context:fetch("Person"):where("age BETWEEN {%d, %d}", 25, 30)
        local odd = base:where("active = NO"):sort("-age")
        print(base:count(), odd:count(), odd:first().age, #odd:ids(), #base:limit(2):offset(1):all())
        local ages = {}
        for p in odd:each() do ages[#ages + 1] = p.age end
        print(table.concat(ages, " "))
        print(context:fetch_template("olderThan", { AGE = 38 }):count())
        """)
    #expect(lines == ["6\t3\t29\t3\t2", "29 27 25", "2"])
  }

  @Test(arguments: StoreKind.allCases) func walkSkipsWhatWasDeletedSinceAndSavesOnTheWay(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      people + """
        local seen = 0
        for p in context:fetch("Person"):sort("age"):batch(4):save_every(5):each() do
          seen = seen + 1
          p.height = p.age / 2
          local next = context:find("Person", { age = p.age + 1 })
          if next and p.age % 2 == 1 then context:delete(next) end
        end
        print(seen, context.has_changes, context:fetch("Person"):count())
        """)
    #expect(lines == ["10\tfalse\t10"])
  }

  /// The chunks are large enough for background saves during the walk, given two cores.
  @Test(arguments: StoreKind.allCases) func chunksThatAreWrittenAheadAreReadAsSaved(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      for age = 1, 300 do context:insert("Person", { age = 20 + age % 100 }) end
      assert(context:save())
      local previous, sum
      local walk = context:fetch("Person"):save_every(70)
      for round = 1, 3 do
        local seen = 0
        for p in walk:each() do
          seen = seen + 1
          p.height = (p.height or 0) + round
          if previous and seen % 90 == 0 then sum = (sum or 0) + previous.height end
          previous = p
        end
      end
      print(sum, context.has_changes, context:fetch("Person"):where("height = 6"):count())
      for p in walk:each() do
        p.height = 7
        if context:fetch("Person"):where("height = 7"):count() == 75 then break end
      end
      print(context.has_changes, context:fetch("Person"):where("height = 7"):count())
      assert(context:save())
      print(context:fetch("Person"):where("height = 7"):count())
      """)
    #expect(lines == ["30.0\tfalse\t300", "true\t75", "75"])
  }

  /// New objects are saved in the background too, and reading their state waits for the save.
  @Test(arguments: StoreKind.allCases) func aWalkThatInsertsIsWrittenAhead(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      for age = 1, 300 do context:insert("Person", { age = 20 + age % 100 }) end
      assert(context:save())
      local made = {}
      for p in context:fetch("Person"):save_every(70):each() do
        made[#made + 1] = context:insert("Person", { age = p.age, firstName = "copy " .. #made })
        if #made == 200 then print(made[100].firstName, context:find("Person", { firstName = "copy 120" }) == made[121]) end
      end
      print(#made, context.has_changes, made[300].firstName, context:fetch("Person"):where("firstName != NULL"):count())
      """)
    #expect(lines == ["copy 99\ttrue", "300\tfalse\tcopy 299\t300"])
  }

  /// A save during the walk replaces the temporary IDs with which the walk began.
  @Test(arguments: StoreKind.allCases, [false, true])
  func walkVisitsEachUnsavedObjectOnceThoughItSaves(_ kind: StoreKind, _ isSavedByTheWalk: Bool) throws {
    let lines = try ScriptBench(kind).lines(
      """
      for age = 21, 25 do context:insert("Person", { age = age }) end
      assert(context:save())
      for age = 26, 120 do context:insert("Person", { age = age }) end
      local request, seen, times = context:fetch("Person"):sort("age"), 0, {}
      for p in (\(isSavedByTheWalk) and request:save_every(3) or request):each() do
        seen = seen + 1
        times[p.age] = (times[p.age] or 0) + 1
        p.height = p.age
        if seen % 7 == 3 then assert(context:save()) end
        -- Those that are saved by now go like those that never were.
        if p.age % 10 == 4 then context:delete(context:find("Person", { age = p.age + 1 })) end
        collectgarbage()
      end
      assert(context:save())
      local once = 0
      for _, count in pairs(times) do if count == 1 then once = once + 1 end end
      print(seen, once, context:fetch("Person"):count(), context:fetch("Person"):where("height = age"):count())
      """)
    #expect(lines == ["90\t90\t90\t90"])
  }

  @Test(arguments: StoreKind.allCases) func nothingIsDeletedByACallWithAWrongArgument(_ kind: StoreKind) throws {
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      """
      local a, b = context:insert("Person", { age = 1 }), context:insert("Person", { age = 2 })
      context:save()
      print(pcall(context.delete, context, a, 5))
      print(a:is_deleted(), b:is_deleted(), context.has_changes)
      context:delete(b)
      context:save()
      print(pcall(context.delete, context, a, b))
      print(a:is_deleted(), context.has_changes, context:fetch("Person"):count())
      """)
    try #require(lines.count == 4, "\(lines)")
    #expect(lines[0].hasPrefix("false\t") && lines[0].contains("bad argument #2"))
    #expect(lines[1] == "false\tfalse\tfalse")
    #expect(lines[2].hasPrefix("false\t"))
    #expect(lines[3] == "false\tfalse\t1")
  }

  /// As in Core Data, requests keep the objects that they name, not their temporary IDs.
  @Test(arguments: StoreKind.allCases) func requestsFindTheObjectsThatTheyNameAfterTheSaveToo(_ kind: StoreKind) throws
  {
    let template = "fetch_requests = { inside = { \"Person\", \"department = $WHICH\" }, "
    let model = ScriptBench.model.replacing("fetch_requests = { ", with: template)
    let lines = try ScriptBench(kind, model: model).lines(
      """
      local d = context:insert("Department", { name = "d" })
      local p, q = context:insert("Person", { age = 1, department = d }), context:insert("Person", { age = 2 })
      local people = context:fetch("Person")
      local requests = {
        people:where("department = %@", d), people:where("age > 0"):where("department = %@", d):limit(5),
        people:where("department = %@", d:id()), people:where("SELF IN %@", { p, q }), people:where("SELF IN %@", d.employees),
        context:fetch("Department"):where("ANY employees = %@", p), context:fetch_template("inside", { WHICH = d }),
      }
      local function counts()
        local found = {}
        for i, request in ipairs(requests) do found[i] = request:count() .. "/" .. #request:all() end
        print(table.concat(found, " "))
      end
      counts()
      assert(context:save())
      counts()
      assert(tostring(requests[1]):find(tostring(d:id()), 1, true), tostring(requests[1]))
      context:reset()
      counts()
      """)
    #expect(lines == Array(repeating: "1/1 1/1 1/1 2/2 1/1 1/1 1/1", count: 3))
  }

  /// A transient value stays in its object, and IDs within it become permanent with their objects.
  @Test(arguments: StoreKind.allCases) func idsInTransientValuesBecomePermanent(_ kind: StoreKind) throws {
    let model = """
      return { entities = { A = { attributes = {
        k = "integer32", one = { "object_id", transient = true }, any = { "undefined", transient = true } } } } }
      """
    let lines = try ScriptBench(kind, model: model, extensions: []).lines(
      """
      local a, b = context:insert("A", { k = 1 }), context:insert("A", { k = 2 })
      a.one, a.any, b.any = b:id(), { b:id(), { deep = { b:id(), "text" } } }, { x = a:id(), y = { k = 5 } }
      assert(context:save())
      print(a.one == b:id(), a.any[1] == b:id(), a.any[2].deep[1] == b:id(), b.any.x == a:id())
      print(a.any[2].deep[2], b.any.y.k, context:object(a.any[1]).k, context:object(b.any.x).k)
      """)
    #expect(lines == ["true\ttrue\ttrue\ttrue", "text\t5\t2\t1"])
  }

  @Test(arguments: StoreKind.allCases) func upsertTakesOneTableOrAList(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local one = context:upsert("Person", { "firstName" }, { firstName = "a", age = 1 })
      local again = context:upsert("Person", { "firstName" }, { firstName = "a", age = 2 })
      local list = context:upsert("Person", { "firstName" }, { { firstName = "a", age = 3 }, { firstName = "b", age = 4 } })
      print(one == again, one == list[1], #list, one.age, list[2].age)
      print(pcall(context.upsert, context, "Person", { "fistName" }, { age = 1 }))
      print(pcall(context.upsert, context, "Person", { "firstName" }, { firstName = "c", age = "x" }))
      print(context:fetch("Person"):count())
      assert(context:save())
      """)
    #expect(lines.count == 4 && lines[0] == "true\ttrue\t2\t3\t4" && lines[3] == "2")
    #expect(lines[1].contains("did you mean firstName?") && lines[2].contains("age"))
  }

  @Test(arguments: StoreKind.allCases) func rowsAreAListWithoutHoles(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local function message(...) return select(2, pcall(...)).message end
      print(message(context.batch_insert, context, "Person", { firstName = "a" }))
      print(message(context.batch_insert, context, "Person", { { firstName = "a" }, nil, { firstName = "b" } }))
      print(message(context.upsert, context, "Person", { "firstName" }, { { firstName = "a" }, nil, { firstName = "b" } }))
      print(context:batch_insert("Person", {}), context:fetch("Person"):count(), context.has_changes)
      """)
    #expect(lines[0].contains("a list of rows is expected, as in { { firstName = ... }, ... }, got one row"))
    #expect(lines[1...2].allSatisfy { $0.contains("after row 1 comes none") }, "\(lines)")
    #expect(lines.last == "0\t0\tfalse")
  }

  @Test(arguments: StoreKind.allCases) func aRequestSaysHowItIsAnswered(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local request = context:fetch("Person"):where("age > 30")
      print(request:sort("age"):explain())
      print(request:group_by("active"):explain { "active", n = "@count" })
      print(pcall(request.explain, request, "age"))
      """)
    #expect(lines.count { $0.hasPrefix("the store: ") } == 2)
    #expect(lines.contains { $0.contains("GROUP BY") } == (kind != .memory), "\(lines)")
    #expect(lines.contains("  SCAN t0") == (kind == .sqlite))
    #expect(lines.last?.hasPrefix("false\t") == true && lines.last?.contains("a table of key paths") == true)
  }

  @Test(arguments: StoreKind.allCases) func dictionariesGroupAndAggregate(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      people + """
        local rows = context:fetch("Person"):group_by("active"):dictionaries { "active", total = "@sum.age", n = "@count" }
        table.sort(rows, function(a, b) return a.total < b.total end)
        for _, r in ipairs(rows) do print(r.active, r.total, r.n) end
        """)
    #expect(lines == ["false\t300\t10", "true\t310\t10"])
  }

  @Test(arguments: StoreKind.allCases) func rowsComeOneAfterTheOther(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      people + """
        local sum, count = 0, 0
        for row in context:fetch("Person"):where("age > 25"):sort("age"):rows { "age", name = "firstName" } do
          sum, count = sum + row.age, count + 1
          if count == 1 then print(row.age, row.name, row.active) end
          context:insert("Person", { age = 99 })
          assert(context:save())
        end
        print(sum, count, context:fetch("Person"):count())
        for row in context:fetch("Person"):group_by("active"):sort("-active"):rows { "active", n = "@count" } do print(row.active, row.n) end
        for row in context:fetch("Person"):rows() do print(row.firstName ~= nil, row.age) break end
        print(select(2, pcall(function() for _ in context:fetch("Person"):rows { "agee" } do end end)).message)
        """)
    #expect(Array(lines.prefix(2)) == ["26\tp6\tnil", "495\t15\t35"], "\(lines)")
    #expect(
      lines.contains("true\t10") && lines.contains("false\t10") && lines.last?.contains("agee") == true, "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func groupsAreChosenAndEqualRowsGivenOnce(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      people + """
        local request = context:fetch("Person"):group_by("active"):having("total > %d", 305)
        for _, r in ipairs(request:dictionaries { "active", total = "@sum.age" }) do print(r.active, r.total) end
        local all = context:fetch("Person")
        print(#all:dictionaries { "active" }, #all:distinct():dictionaries { "active" }, #all:distinct(false):dictionaries { "active" })
        """)
    #expect(lines == ["true\t310", "20\t2\t20"])
  }

  @Test(arguments: StoreKind.allCases) func greatestAndLeastKeepTheirType(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local d = moonbase.date.parse("2020-01-02")
      context:insert("Person", { born = d, salary = "1.5", badge = moonbase.uuid(), firstName = "a", height = 2 })
      context:insert("Person", { born = d + 10, salary = "2.5", badge = moonbase.uuid(), firstName = "b", height = 3 })
      assert(context:save())
      for _, f in ipairs { "@min.", "@max." } do
        local function get(key) return context:fetch("Person"):dictionaries { x = f .. key }[1].x end
        print(get("born"), get("salary"), #tostring(get("badge")), get("firstName"), get("height"), math.type(get("age")))
      end
      """)
    #expect(
      lines == [
        "2020-01-02T00:00:00.000Z\t1.5\t36\ta\t2.0\tinteger", "2020-01-02T00:00:10.000Z\t2.5\t36\tb\t3.0\tinteger",
      ])
  }

  @Test(arguments: StoreKind.allCases) func transactionIsAllOrNothing(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      print(context:transaction(function() context:insert("Person", { age = 1 }) return "done" end))
      local ok, err = context:transaction(function() context:insert("Person", { age = 2 }) error("stop") end)
      print(ok, tostring(err):match("stop"), context.has_changes, context:fetch("Person"):count())
      ok, err = context:transaction(function() context:insert("Person", { age = 13 }) end)
      print(ok, err.key, context:fetch("Person"):count())
      """)
    #expect(lines == ["true\tdone", "nil\tstop\tfalse\t1", "nil\tage\t1"])
  }

  @Test(arguments: StoreKind.allCases) func upsertFindsByKeys(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      for _ = 1, 2 do
        context:upsert("Person", { "email" }, { { email = "a@b", age = 1 }, { email = "c@d", age = 2 } })
        assert(context:save())
      end
      print(context:fetch("Person"):count(), context:find("Person", { email = "c@d" }).age)
      """)
    #expect(lines == ["2\t2"])
  }

  @Test(arguments: StoreKind.allCases) func derivedAttributesWorkInPredicatesAndSorting(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      context:insert("Person", { firstName = "Ann", lastName = "Lee" })
      context:insert("Person", { firstName = "Bob", lastName = "Ash" })
      assert(context:save())
      print(context:fetch("Person"):where("fullName = 'Ann Lee'"):count())
      print(context:fetch("Person"):sort("-fullName"):first().firstName)
      """)
    #expect(lines == ["1", "Bob"])
  }

  /// More properties than one step handles, and a property that a method hides.
  @Test(arguments: [1, 15, 16, 17, 48])
  func aTableOfAnySizeSetsItsProperties(_ count: Int) throws {
    let names = (1...count).map { "a\($0) = 'integer64'" }.joined(separator: ", ")
    let bench = try ScriptBench(
      model: "return { entities = { Wide = { attributes = { \(names), validate = 'integer64' } } } }", extensions: [])
    let lines = try bench.lines(
      """
      local values = { validate = -1 }
      for i = 1, \(count) do values["a" .. i] = i end
      local wide = context:insert("Wide", values)
      for i = 1, \(count) do assert(wide["a" .. i] == i) end
      print(moonbase.object.primitive(wide, "validate"))
      for _, key in ipairs { "b", 1, true } do
        values[key] = 1
        print((select(2, pcall(context.insert, context, "Wide", values))).message)
        values[key] = nil
      end
      print(pcall(context.insert, context, "Wide", setmetatable({}, { __index = { a1 = 1 } })))
      context:rollback()
      """)
    #expect(lines.first == "-1")
    #expect(lines[1].contains("Wide has no property b"))
    #expect(lines[2].contains("Wide: value 1 of the table has no name"))
    #expect(lines[3].contains("Wide: the table has a boolean as a key"))
    #expect(lines.last?.hasPrefix("true") == true)
  }

  /// Each step copies all earlier ones; without a limit many steps would exhaust the host's memory.
  @Test(arguments: ["where('i = 1')", "sort('s')", "prefetch('q')", "group_by('s')"])
  func requestsGrowNoFurtherThanTheyMay(_ step: String) throws {
    let lines = try ThingBench.bench("").lines(
      """
      local request = context:fetch("P")
      local ok, err
      for n = 1, 100000 do
        ok, err = pcall(function() request = request:\(step) end)
        if not ok then print(n, err.message) break end
      end
      print(pcall(request.\(step.hasPrefix("group") ? "dictionaries" : "all"), request))
      """)
    #expect(lines[0].hasPrefix("1001\t") && lines[0].contains("at most 1000"), "\(lines)")
    #expect(lines[1].hasPrefix("true"), "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func refusedValidationIsNoFailedSave(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(kind, "validate = { s = function(v) return v ~= 'bad', 'is bad' end }")
    let lines = try bench.lines(
      """
      local p = context:insert("P", { s = "bad" })
      if not p:validate() then context:delete(p) end
      print(p:validate("s", "bad") == nil, context:save())
      """)
    #expect(lines == ["true\ttrue"])
    let outcome = try bench.run("moonbase.context:insert('P', { s = 'bad' }) moonbase.context:save()")
    #expect(outcome.status == 1 && outcome.message?.contains("a save failed") == true)
  }
}
