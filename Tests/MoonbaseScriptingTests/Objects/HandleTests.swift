import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct HandleTests {
  @Test func everyScalarTypeCrossesBothWays() throws {
    let lines = try ScriptBench().lines(
      """
      local p = context:insert("Person", {
        firstName = "Änne", age = 41, born = "2001-02-03T04:05:06Z", height = 1.75, salary = "1234.50",
        badge = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", page = moonbase.uri("https://example.org/a"), active = true,
        photo = "\\0\\255bytes",
      })
      assert(context:save())
      print(p.firstName, p.age, math.type(p.age), p.height, p.active)
      print(p.born, p.born.reference, p.salary, p.badge, p.page)
      print(#p.photo, p.photo:byte(2), p.lastName)
      print(p.salary + 1, p.born - p.born, p.born < p.born + 1, p.badge == moonbase.uuid(tostring(p.badge)))
      """)
    #expect(
      lines == [
        "Änne\t41\tinteger\t1.75\ttrue",
        "2001-02-03T04:05:06.000Z\t2865906.0\t1234.5\tE621E1F8-C36C-495A-93FC-0C247A3E6E5F\thttps://example.org/a",
        "7\t255\tnil", "1235.5\t0.0\ttrue\ttrue",
      ])
  }

  @Test(arguments: StoreKind.allCases)
  func aValueIsTheRowsUntilTheObjectHasOneOfItsOwn(_ kind: StoreKind) throws {
    // No text in PostgreSQL has the character NUL.
    let full = kind == .memory || kind == .sqlite ? "a\0b" : "a b"
    let lines = try ThingBench.bench(kind, "").lines(
      """
      local p = context:insert("P", { s = "", bin = ("\0x"):rep(2500), full = "\(full)", i = 1, d = 0.5 })
      assert(context:save())
      local function show() print(p.s, #(p.bin or ""), #p.full, p.i, p.d, p.f) end
      show()
      p.s = "new"
      p.i = nil
      show()
      assert(context:save())
      show()
      p.bin, p.f = "short", 2.5
      show()
      context:rollback()
      show()
      """)
    #expect(
      lines == [
        "\t5000\t3\t1\t0.5\tnil", "new\t5000\t3\tnil\t0.5\tnil", "new\t5000\t3\tnil\t0.5\tnil",
        "new\t5\t3\tnil\t0.5\t2.5", "new\t5000\t3\tnil\t0.5\tnil",
      ])
  }

  /// Forty tables that expand to 2⁴⁰ as a tree: a limit on instructions does not cover the host's work.
  @Test func aTableInItselfAgainAndAgainIsRefused() throws {
    let lines = try ScriptBench().lines(
      """
      local t = { 1 }
      for _ = 1, 40 do t = { t, t } end
      local ok, err = pcall(function() return context:fetch("Person"):where("firstName IN %@", t):count() end)
      print(ok, tostring(err):match("more than a million tables"))
      """)
    #expect(lines == ["false\tmore than a million tables"])
  }

  @Test func oneObjectHasOneHandle() throws {
    let lines = try ScriptBench().lines(
      """
      local d = context:insert("Department", { name = "R&D" })
      local p = context:insert("Person", { department = d })
      assert(context:save())
      print(p.department == d, ({ [d] = "found" })[p.department], tostring(d:id()):match("^x%-coredata://.*/Department/p1$") ~= nil)
      print(#d.employees, d.employees:contains(p), d.employees:all()[1] == p)
      for i, q in pairs(d.employees) do print(i, q == p) end
      p.department = nil
      print(#d.employees, p.department)
      assert(context:save())
      """)
    #expect(lines == ["true\tfound\ttrue", "1\ttrue\ttrue", "1\ttrue", "0\tnil"])
  }

  @Test func mistakesRaiseWithTheNearestName() throws {
    let lines = try ScriptBench().lines(
      """
      local p = context:insert("Person")
      for _, f in ipairs { function() return p.frstName end, function() p.age = "x" end, function() p.age = 70000 end,
        function() context:insert("Persn") end, function() context:fetch("Person"):where("age >"):all() end } do
        local ok, err = pcall(f)
        print(ok, err.code, (tostring(err):gsub("\\n.*", "")))
      end
      context:delete(p)
      assert(context:save())
      """)
    #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("false\t") })
    #expect(lines[0].contains("did you mean firstName"))
    #expect(lines[3].contains("did you mean Person"))
  }

  /// The row determines the entity of an object.
  @Test(arguments: StoreKind.allCases) func aTextMayNameAnotherEntityWithTheSameTable(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind).lines(
      """
      local text
      do
        local ann = context:insert("Employee", { firstName = "Ann" })
        assert(context:save())
        text = tostring(ann:id()):gsub("/Employee/", "/Person/")
      end
      context:reset()
      local found = context:object(text)
      print(found.firstName, found:id().entity, found == context:fetch("Person"):first(), found == context:object(text))
      """)
    #expect(lines == ["Ann\tEmployee\ttrue\ttrue"])
  }

  @Test func failingReadIsRaisedThroughAHandle() throws {
    var failing: FailingStore?
    let bench = try ScriptBench(wrap: { store in
      let new = FailingStore(store)
      failing = new
      return new
    })
    _ = try bench.lines("context:insert('Person', { age = 7 }) assert(context:save())")
    let id = try #require(try bench.lines("print(context:fetch('Person'):first():id())").first)
    failing?.fail(afterReads: 1)
    let outcome = try bench.run(
      """
      local p = moonbase.context:object("\(id)")
      print(p.age)
      local ok, err = pcall(function() return #p.friends end)
      print(ok, err.code)
      """)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(bench.output == "7\nfalse\t134030\n")
  }

  /// A to-many relationship may be changed in two ways, but is listed once.
  @Test func changedValuesNameARelationshipOnce() throws {
    let lines = try ThingBench.bench("").lines(
      """
      local p, q = context:insert("P"), context:insert("P")
      assert(context:save())
      p.ord = { q }
      p.qs:add(q)
      p.ord:add(q)
      p:will_change("qs")
      p:did_change("qs")
      p:did_change("ord")
      local names = {}
      for name in pairs(p:changed_values()) do names[#names + 1] = name end
      table.sort(names)
      print(table.concat(names, " "))
      """, leavingChanges: true)
    #expect(lines == ["ord qs"])
  }
}
