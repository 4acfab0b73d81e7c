import MoonbaseModel
import MoonbaseScripting
import Testing

/// The printed form of objects.
@Suite struct ObjectAtAGlanceTests {
  @Test func anObjectPrintsItsEntityIDAndValues() throws {
    let lines = try ScriptBench().lines(
      """
      local d = context:insert("Department", { name = "R&D" })
      local p = context:insert("Person", { firstName = "Än\\"ne\\n", age = 41, salary = "1.50", born = "2001-02-03T04:05:06Z",
        photo = "\\0\\255", department = d, favoriteColor = moonbase.classes.Color.new(1, 0, 0) })
      assert(context:save())
      print((tostring(p):gsub("x%-coredata://[%w-]+/", "…/")))
      print((tostring(d):gsub("x%-coredata://[%w-]+/", "…/")))
      context:delete(p)
      print((tostring(p):gsub("x%-coredata://[%w-]+/", "…/"):match("^.-{")))
      context:rollback()
      """)
    #expect(
      lines == [
        "Person …/Person/p1 { firstName = \"Än\\\"ne\\n\", age = 41, born = 2001-02-03T04:05:06.000Z, salary = 1.5, "
          + "photo = 2 bytes, favoriteColor = a Color, department = Department/p1 }",
        #"Department …/Department/p1 { name = "R&D" }"#, "Person …/Person/p1 (deleted) {",
      ])
  }

  @Test func aRelationshipPrintsWhoseItIsAndHowManyItHolds() throws {
    let bench = try ScriptBench()
    let lines = try bench.lines(
      """
      local function shown(value) return (tostring(value):gsub("x%-coredata://[%w-]+/", "…/")) end
      local d = context:insert("Department", { name = "R&D" })
      local p = context:insert("Person", { age = 1, department = d })
      assert(context:save())
      print(shown(d.employees))
      context:reset()
      d = context:fetch("Department"):first()
      local employees = d.employees
      print(shown(employees))
      print(#employees, shown(employees))
      context:reset()
      print(shown(employees))
      """)
    #expect(
      lines == [
        "Department.employees of …/Department/p1 (1 object)", "Department.employees of …/Department/p1 (not read yet)",
        "1\tDepartment.employees of …/Department/p1 (1 object)",
        "Department.employees of …/Department/p1 (its object is gone)",
      ])
  }

  @Test func anErrorTellsItsFields() throws {
    let lines = try ScriptBench().lines(
      """
      local p = context:insert("Person", { age = 900 })
      local _, err = context:save()
      for name, value in pairs(err) do print(name, type(value)) end
      print((select(2, pcall(function() return next(p) end)):match("bad.*")))
      context:rollback()
      """)
    #expect(
      lines == [
        "code\tnumber", "message\tstring", "entity\tstring", "key\tstring", "id\tuserdata", "value\tnumber",
        "details\ttable", "traceback\tstring",
        "bad argument #1 to 'next' (table expected: 'next' walks over tables alone, 'pairs' over this as well)",
      ])
  }

  @Test func theModelPrintsWhatItIs() throws {
    let lines = try ScriptBench().lines(
      """
      print(moonbase.model)
      print((tostring(moonbase.model.entities.Person):match("^.-,")))
      """)
    #expect(lines == ["moonbase.model (entities)", "an entity of moonbase.model (abstract,"])
  }

  @Test func aContextPrintsItsStoreAndHowMuchChanged() throws {
    let lines = try ScriptBench().lines(
      """
      print(context)
      local p = context:insert("Person", { age = 1 })
      assert(context:save())
      p.age = 2
      context:insert("Person")
      print(context)
      for i = 1, 1001 do context:insert("Department") end
      print(context)
      """, leavingChanges: true)
    #expect(
      lines == [
        "context of a store in memory (no changes)",
        "context of a store in memory (1 inserted, 1 updated and 0 deleted objects)",
        "context of a store in memory (1003 changed objects)",
      ])
  }

  @Test func aRequestPrintsWhatItAsksFor() throws {
    let lines = try ScriptBench().lines(
      """
      local people = context:fetch("Person")
      print(people)
      print(people:where("age > %d", 3):where("lastName = 'B'"):sort("lastName", "-age"):limit(10):offset(2))
      local ages = {}
      for i = 1, 100000 do ages[i] = i end
      print(people:where("age IN %@", ages):limit(1))
      local names = {}
      for i = 1, 200 do names[i] = "n" .. i end
      print(#tostring(people:where("lastName IN %@", names)) < 900)
      """)
    #expect(
      lines == [
        "fetch request for Person",
        #"fetch request for Person where age > 3 AND lastName == "B", sort = { "lastName", "-age" }, limit = 10, offset = 2"#,
        "fetch request for Person, limit = 1 where …", "true",
      ])
  }

  @Test func printingChangesNothingAndFiresNoFault() throws {
    let hook = "return { entities = { Person = { awake_from_fetch = function(p) print('awake') end } } }"
    let bench = try ScriptBench(extensions: [ScriptBench.colors, hook])
    _ = try bench.lines("for age = 1, 2 do context:insert('Person', { age = age }) end assert(context:save())")
    let lines = try bench.lines(
      """
      local a, b = table.unpack(context:fetch("Person"):sort("age"):all())
      context:refresh(a, false)
      print("a fault", a:is_fault())
      print(tostring(a):match("age = 1") ~= nil, a:is_fault(), context.has_changes)
      context:delete(b)
      assert(context:save())
      print(tostring(b):match("%(.*%)"), a.age)
      context:reset()
      print(tostring(a):match("%(.*%)"))
      """)
    #expect(
      lines.drop { $0 == "awake" } == [
        "a fault\ttrue", "true\ttrue\tfalse", "awake", "(deleted)\t1", "(its context was reset)",
      ])
  }

  @Test func aLongObjectIsCutOff() throws {
    let attributes = (0..<60).map { "a\($0) = 'string'" }.joined(separator: ", ")
    let bench = try ScriptBench(
      model: "return { entities = { Wide = { attributes = { \(attributes) } } } }", extensions: [])
    let lines = try bench.lines(
      """
      local w = context:insert("Wide")
      for i = 0, 59 do w["a" .. i] = ("x"):rep(100000) end
      print(#tostring(w) < 1200, #tostring(w) > 400, tostring(w):match("a0 = .xxx") ~= nil, tostring(w):sub(-7))
      """, leavingChanges: true)
    #expect(lines == ["true\ttrue\ttrue\t, … }"])
  }

  @Test func pairsWalksOverAttributesAndToOneRelationshipsInTheModelsOrder() throws {
    let model = """
      return { entities = {
        P = { attributes = { z = "string", a = "integer16" }, relationships = {
          one = { to = "P", inverse = "many" }, many = { to_many = "P", inverse = "one" } } },
        Q = { parent = "P", attributes = { extra = "string" } } } }
      """
    let lines = try ScriptBench(model: model, extensions: []).lines(
      """
      local p = context:insert("P", { z = "last" })
      local q = context:insert("Q", { a = 7, one = p })
      local names = {}
      for name, value in pairs(q) do names[#names + 1] = name .. "=" .. (value == p and "p" or tostring(value)) end
      print(table.concat(names, " "))
      local declared = {}
      for name in pairs(moonbase.model.entities.P.attributes) do declared[#declared + 1] = name end
      print(table.concat(declared, " "))
      """, leavingChanges: true)
    let names = lines[0].split(separator: " ").map { String($0.prefix { $0 != "=" }) }
    #expect(Set(lines[0].split(separator: " ")) == ["z=nil", "a=7", "one=p", "extra=nil"])
    #expect(names.filter { $0 == "z" || $0 == "a" } == lines[1].split(separator: " ").map(String.init))
    #expect(names.last == "extra")
  }

  @Test func theLengthOfAnObjectIsAMistakeThatSaysWhatCounts() throws {
    let lines = try ScriptBench().lines(
      """
      local p = context:insert("Person")
      print(select(2, pcall(function() return #p end)))
      """, leavingChanges: true)
    #expect(lines[0].hasSuffix("an object of Person has no length: # counts what a to-many relationship of it holds"))
  }
}
