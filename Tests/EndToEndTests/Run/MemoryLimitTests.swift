import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// The host's memory for a script counts as the script's: each of these scripts would take gigabytes.
@Suite struct MemoryLimitTests {
  private static let limit = 64
  // The command's own needs, and three times the limit.
  private static let space = 320 + 3 * limit

  private static let opening = """
    local c = moonbase.open{ model = { entities = { Person = {
      attributes = { name = "string", age = "integer64", any = "transformable" },
      relationships = { friends = { to_many = "Person", inverse = "friends" } } } } } }.context
    local long = ("x"):rep(1000000)
    """

  private func run(_ script: String) throws -> Workbench.Outcome {
    try Workbench().moonbase(
      megabytes: Self.space, "run", "--limit-memory", "\(Self.limit)M", "-e", Self.opening + "\n" + script)
  }

  @Test(
    arguments: TestLength.sampled(
      [
        "for i = 1, 1e7 do c:insert('Person') end",
        "for i = 1, 1e5 do c:insert('Person', { name = long .. i }) end",
        "for i = 1, 1e5 do c:insert('Person'):set_primitive('name', long .. i) end",
        "for i = 1, 1e5 do c:insert('Person', { name = long .. i }) assert(c:save()) c:reset() end",
        "local l = {} for i = 1, 1e4 do l[i] = long end c:insert('Person').any = l",
        "local l = {} for i = 1, 100 do l[i] = {} for j = 1, 50 do l[i][j] = long end end c:insert('Person').any = l",
        "local l = {} for i = 1, 1e4 do l[i] = long end c:fetch('Person'):where('name IN %@', l)",
        "c:fetch('Person'):where('age IN {' .. ('1,'):rep(5e6) .. '1}')",
        "local t, text = {}, ('age+'):rep(200) .. 'age' for i = 1, 1000 do t['c' .. i] = text end c:fetch('Person'):dictionaries(t)",
        "local l = {} for i = 1, 1e4 do l[i] = long end c:upsert('Person', l, {})",
        "local l = {} for i = 1, 1e4 do l[i] = long end c:insert('Person').friends = l",
        "local t = {} for i = 1, 1e6 do t[i] = c:fetch('Person'):where('name == %@', long) end",
        "local t = {} for i = 1, 1e4 do t[i] = c:fetch('Person') for j = 1, 1e3 do t[i] = t[i]:where('age == 1'):sort('age') end end",
        "local t = {} for i = 1, 1e7 do t[i] = select(2, pcall(c.fetch, c, 'Nothing')) end",
        "local t = {} for i = 1, 1e7 do t[i] = select(2, pcall(c.fetch, c, ('z'):rep(60000))) end",
        "local t = {} for i = 1, 1e7 do t[i] = select(2, pcall(c.insert, c, 'Person', { [('z'):rep(60000)] = 1 })) end",
        "local t = {} for i = 1, 1e7 do t[i] = select(2, pcall(function() c:fetch('Person'):dictionaries { ('z'):rep(60000) } end)) end",
        "c:insert('Person', { name = long }) local e = 'name' "
          + "for i = 1, 30 do e = ('FUNCTION(%s, \"stringByAppendingString:\", $v)'):format('($v := ' .. e .. ')') end "
          + "c:fetch('Person'):where(e .. ' = NULL'):count()",
        "c:insert('Person', { name = long }) c:fetch('Person'):where('name IN {' .. ('uppercase(name),'):rep(150) .. 'name}'):count()",
        "local l = {} for i = 1, 250 do l[i] = c:insert('Person', { age = i }) end for i = 1, 250 do l[i].friends = l end "
          + "c:fetch('Person'):where('friends.friends.friends.@max.age = -5'):count()",
        "local t = {} for i = 1, 1e7 do t[i] = moonbase.uri('http://example.com/' .. i) end",
        "local t, p = {}, c:insert('Person') for i = 1, 1e6 do t[i] = select(2, pcall(function() p.age = long .. i end)) end",
        "local t = {} for i = 1, 3000 do t[i] = moonbase.progress(10, long .. i) end",
        "local t = {} for i = 1, 500 do t[i] = moonbase.open{ model = { entities = { A = { attributes = { a = 'string' }, user_info = { a = long .. i } } } } } end",
        "local f = io.open('bad.sqlite', 'w') f:write(('junk'):rep(500)) f:close() "
          + "for i = 1, 2000 do local a = {} for j = 1, 100 do a[('n'):rep(400) .. i .. 'x' .. j] = 'string' end "
          + "pcall(moonbase.open, { store = 'bad.sqlite', model = { entities = { A = { attributes = a } } } }) end",
        "for i = 1, 2000 do c:insert('Person') end local p = c:insert('Person', { friends = c:fetch('Person'):all() }) "
          + "local t = {} for i = 1, 1e5 do t[i] = p.friends:each() end",
        "for i = 1, 3000 do c:insert('Person') end local all = c:fetch('Person'):all() for _, p in ipairs(all) do p.friends = all end",
        "local E = { A = { attributes = {} } } for i = 1, 3000 do E.A.attributes['a' .. i] = 'string' E['S' .. i] = { parent = 'A' } end "
          + "moonbase.open { model = { entities = E } }",
        "local rules = {} for i = 1, 100 do rules[i] = { 'SELF = ' .. i, ('m'):rep(60000) } end "
          + "local o = moonbase.open { model = { entities = { A = { attributes = { i = { 'integer64', rules = rules } } } } } }.context "
          + "for i = 1, 200 do o:insert('A', { i = 0 }) end o:save()",
      ], every: 4))
  func whatTheHostKeepsCountsAsTheScriptsMemory(_ script: String) throws {
    let outcome = try run(script)
    #expect(outcome.status == 3, "\(outcome.output)\(outcome.complaints)")
    #expect(outcome.complaints.contains("the script used more memory than it may"))
  }

  @Test(
    arguments: TestLength.sampled(
      [
        "for i = 1, 2000 do c:fetch('Person'):where('name == %@', long .. i) end",
        "local t, r = {}, c:fetch('Person') for i = 1, 1000 do r = r:where('age == 1'):sort('age') t[i] = r end print(r:count())",
        "local p = c:insert('Person') for i = 1, 500 do p.name = long .. i end c:rollback()",
        "for i = 1, 500 do c:insert('Person', { name = long }) c:rollback() end",
        "for i = 1, 500 do c:insert('Person', { name = long }) c:reset() end",
        "local p = c:insert('Person') for i = 1, 20000 do pcall(function() p.age = 'no' end) pcall(c.fetch, c, 'x') end c:reset()",
        "local t = {} for i = 1, 1500 do t[i] = c:insert('Person', { name = long .. i }) c:delete(t[i]) c:process_pending_changes() end",
        "local t = {} for i = 1, 1500 do t[i] = c:insert('Person', { name = long .. i }) c:save() c:delete(t[i]) c:save() end",
        "for i = 1, 100000 do moonbase.uri('http://example.com/' .. i) end",
        "for i = 1, 500 do moonbase.open{ model = { entities = { A = { attributes = { a = 'string' }, user_info = { a = long .. i } } } } } end",
        "local all = {} for i = 1, 5000 do all[i] = ('x'):rep(100) .. i end "
          + "local o = moonbase.open { model = { entities = { A = { attributes = { s = { 'string', one_of = all } } } } } }.context "
          + "for i = 1, 1000 do o:insert('A', { s = 'other' }) end assert(#select(2, o:save()).details == 1000) o:reset()",
        "local rules = {} for i = 1, 200 do rules[i] = { 'SELF = ' .. i, 'is wrong' } end "
          + "local o = moonbase.open { model = { entities = { A = { attributes = { s = { 'string', rules = rules } } } } } }.context "
          + "local a = o:insert('A', { s = long .. long }) assert(#tostring(select(2, a:validate())) < 40000) o:reset()",
      ], every: 4))
  func whatTheHostHasLetGoDoesNotCount(_ script: String) throws {
    let outcome = try run(script)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaints)")
  }

  /// A rule raises the previous error again with a longer text each time; the new error keeps the previous one.
  @Test func whatAnErrorKeepsOfThoseRaisedBeforeCounts() throws {
    let bench = try Workbench()
    let rules = """
      local last
      return { name = "chain", entities = { Person = {
        validate = { name = function(value) if value == "go" then error(last or "first") end return true end },
        will_save = function(o) for i = 1, 5000 do local _, e = o:validate("name", "go") last = e end end,
      } } }
      """
    let script = """
      local c = moonbase.open{ model = { entities = { Person = { attributes = { name = "string" } } } },
        extensions = { "\(try bench.write(rules, to: "chain.lua").path)" } }.context
      c:insert("Person") c:save()
      """
    let outcome = try bench.moonbase(
      megabytes: Self.space, "run", "--limit-memory", "\(Self.limit)M", "--allow", "read=\(bench.folder.path)", "-e",
      script)
    #expect(outcome.status == 3, "\(outcome.output)\(outcome.complaints)")
  }

  /// Each connection has its own Lua state for pure functions.
  @Test func whatPureFunctionsKeepCounts() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { n = 'integer64' } } } }", to: "m.lua")
    try bench.write(
      """
      local keep = {}
      return { entities = { P = { derived = { x = { type = "integer64", inputs = { "n" }, pure = true, get = function(n)
        if #keep == 0 then keep[1] = ("x"):rep(2000000) .. n end
        return n
      end } } } } }
      """, to: "e.lua")
    func outcome(keeping: Bool) throws -> Workbench.Outcome {
      try bench.moonbase(
        megabytes: Self.space, "run", "--limit-memory", "\(Self.limit)M", "-e",
        """
        local kept = {}
        for i = 1, 60 do
          local c = moonbase.open { store = "s" .. i .. ".sqlite", model = "m.lua", extensions = { "e.lua" } }.context
          c:insert("P", { n = i }) c:save()
          assert(c:fetch("P"):where("x = %d", i):count() > 0)
          if \(keeping) then kept[i] = c end
        end
        """)
    }
    let keeping = try outcome(keeping: true)
    #expect(keeping.status == 3, "\(keeping.output)\(keeping.complaints)")
    let lettingGo = try outcome(keeping: false)
    #expect(lettingGo.status == 0, "\(lettingGo.output)\(lettingGo.complaints)")
  }

  @Test func aLimitThatIsPassedLeavesTheScriptsEndInOrder() throws {
    let outcome = try run("pcall(function() for i = 1, 1e7 do c:insert('Person') end end) print('on')")
    #expect(outcome.status == 3 && outcome.output.isEmpty)
  }

  /// The groups of a result are kept as text from the store.
  @Test func whatGroupsKeepCountsToo() throws {
    let bench = try Workbench()
    let filling = """
      local c = moonbase.open{ store = "p.sqlite", model = { entities = { P = { attributes = { n = "integer64", name = "string" } } } } }.context
      for i = 1, 1000 do c:insert("P", { n = i, name = ("x"):rep(50000) .. i }) if i % 100 == 0 then assert(c:save()) c:reset() end end
      """
    #expect(try bench.moonbase("run", "-e", filling).status == 0)
    for columns in ["{ m = 'mode:(name)' }", "{ 'n', m = 'max:(name)' }"] {
      let group = columns.contains("'n'") ? ":group_by('n')" : ""
      let outcome = try bench.moonbase(
        "run", "--limit-memory", "16M", "-e",
        "moonbase.open{ store = 'p.sqlite' }.context:fetch('P')\(group):dictionaries\(columns)")
      #expect(outcome.status == 3, "\(outcome.output)\(outcome.complaints)")
    }
  }

  /// A trigger of the file belongs to no script and is run by SQLite.
  @Test func whatATriggerOfTheStoreTakesEndsTheSave() throws {
    let bench = try Workbench()
    let model = #"{ entities = { P = { attributes = { n = "integer64" } } } }"#
    let filling =
      #"local c = moonbase.open{ store = "p.sqlite", model = \#(model) }.context c:insert("P") assert(c:save())"#
    #expect(try bench.moonbase("run", "-e", filling).status == 0)
    let large = Array(repeating: "hex(zeroblob(4000000))", count: 90).joined(separator: ", ")
    try bench.connection(to: "p.sqlite", mode: .readWrite).execute(
      "CREATE TRIGGER t AFTER UPDATE ON ZP BEGIN SELECT length(max(\(large))); END")
    let outcome = try bench.moonbase(
      megabytes: Self.space, "run", "--limit-memory", "\(Self.limit)M", "-e",
      "local c = moonbase.open{ store = 'p.sqlite' }.context c:fetch('P'):first().n = 9 print(c:save())")
    #expect(
      outcome.complaints.contains("SQLite needs more memory for it than the script may use"),
      "\(outcome.output)\(outcome.complaints)")
    #expect(outcome.status == 3)
  }
}
