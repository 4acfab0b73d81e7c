import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Commands that compare or copy stores (`diff`, `copy`, `vacuum`), and the option `--author`.
@Suite struct StorePairTests {
  @Test func aCopyHasTheSameObjectsAndAnotherIdentity() throws {
    let bench = try Workbench.withPeople()
    let before = try bench.bytes(of: "s.sqlite")
    let copied = try bench.moonbase("copy", "s.sqlite", "c.sqlite")
    #expect(copied.status == 0 && copied.complaints.contains("4 objects in c.sqlite"), "\(copied)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let equal = try bench.moonbase("diff", "s.sqlite", "c.sqlite")
    #expect(equal.status == 0 && equal.output == "", "\(equal)")
    #expect(try bench.moonbase("doctor", "c.sqlite").complaints.contains("nothing is wrong"))
    let again = try bench.moonbase("copy", "s.sqlite", "c.sqlite")
    #expect(again.status == 1 && again.complaints.contains("already"), "\(again)")
    #expect(try bench.moonbase("copy", "s.sqlite", "s.sqlite").complaints.contains("is the store itself"))
    let gone = try bench.moonbase("copy", "gone.sqlite", "x.sqlite")
    #expect(gone.status == 1 && gone.complaints.contains("there is no such store"), "\(gone)")
    #expect(try !bench.names().contains("x.sqlite"))
  }

  @Test func differencesAreRowsAndAScriptThatMendsThem() throws {
    let bench = try Workbench.withPeople()
    try #require(try bench.moonbase("copy", "s.sqlite", "c.sqlite", "--quiet").status == 0)
    let changed = try bench.moonbase(
      "run", "--store", "c.sqlite", "-e",
      """
      local c = moonbase.context
      local ann = c:find("Person", { age = 9007199254740993 })
      ann.name, ann.key, ann.born, ann.salary = 'q"\\\\\\n', "\\0\\255", "2020-01-02T00:00:00Z", nil
      c:delete(c:fetch("Person"):where("name == nil"):first())
      c:insert("Person", { name = "New", age = 1, height = -1 / 0, department = c:fetch("Department"):first(), friends = { ann } })
      assert(c:save())
      """)
    try #require(changed.status == 0, "\(changed)")
    let rows = try bench.moonbase("diff", "s.sqlite", "c.sqlite", "--format", "csv")
    #expect(rows.status == 1, "\(rows)")
    #expect(rows.output.contains("update,Person/1,salary,12345678901234567.89,\n"), "\(rows)")
    #expect(rows.output.contains("delete,Person/3,,,\n"), "\(rows)")
    #expect(rows.output.contains("insert,Person/4,,,") && rows.output.contains("Department/1"), "\(rows)")
    let ofEntity = try bench.moonbase("diff", "s.sqlite", "c.sqlite", "--entity", "Department")
    #expect(ofEntity.status == 0, "\(ofEntity)")
    let script = try bench.moonbase("diff", "s.sqlite", "c.sqlite", "--script")
    try bench.write(script.output, to: "changes.lua")
    let mended = try bench.moonbase("run", "--store", "s.sqlite", "changes.lua")
    #expect(mended.status == 0, "\(mended)\(script)")
    let equal = try bench.moonbase("diff", "s.sqlite", "c.sqlite", "--format", "csv")
    #expect(equal.status == 0, "\(equal)")
  }

  /// Rows are compared first, and objects only if the rows differ.
  @Test func everyKindOfPropertyIsCompared() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Base = { attributes = { n = "integer16", d = "decimal", u = "uuid", b = { "binary",
          external_storage = true }, m = { "composite", elements = { city = "string" } } }, relationships = {
          one = { to = "Base", inverse = "many" }, many = { to_many = "Base", inverse = "one" },
          list = { to_many = "Base", ordered = true, inverse = "lists" }, lists = { to_many = "Base", inverse = "list" } } },
        Sub = { parent = "Base", attributes = { s = "string" } } } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "a.sqlite", "--model", "m.lua", "-e",
      """
      local c, all = moonbase.context, {}
      for i = 1, 12 do
        all[i] = c:insert(i % 2 == 0 and "Sub" or "Base", { n = i, d = "1.5", b = ("x"):rep(200000), m = { city = "X" },
          u = "0B5D1E0E-6C5C-4C5B-9A5D-000000000001" })
        all[i].one, all[i].list = all[1], { all[1], all[i] }
      end
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    try #require(try bench.moonbase("copy", "a.sqlite", "b.sqlite", "--quiet").status == 0)
    #expect(try bench.moonbase("diff", "a.sqlite", "b.sqlite").status == 0)
    let changes = try bench.moonbase(
      "run", "--store", "b.sqlite", "-e",
      """
      local c = moonbase.context
      local function at(n) return c:find("Base", { n = n }) end
      at(2).s, at(3).d, at(4).u = "new", "1.6", nil
      at(5).b, at(6).m, at(7).one, at(8).list = ("x"):rep(199999) .. "y", { city = "Y" }, at(2), { at(8), at(1) }
      at(9).lists = { at(9), at(1) }
      c:delete(at(12)) c:insert("Base", { n = 13 })
      assert(c:save())
      """)
    try #require(changes.status == 0, "\(changes)")
    let rows = try bench.moonbase("diff", "a.sqlite", "b.sqlite", "--format", "ndjson").output
    let names = rows.split(separator: "\n").compactMap { row in
      row.firstMatch(of: #/"update", "object": "[^"]*", "property": "([a-z]+)"/#).map { String($0.1) }
    }
    #expect(Set(names) == ["s", "d", "u", "b", "m", "one", "list", "lists"])
    for name in ["s", "d", "u", "b", "m", "one"] { #expect(names.count { $0 == name } == 1, "\(name)") }
    for change in ["insert", "delete"] {
      #expect(rows.components(separatedBy: "\"\(change)\", ").count == 2, "\(change)")
    }
  }

  @Test func objectsMayBeKnownByAttributes() throws {
    let bench = try Workbench()
    try bench.write(Workbench.projectModel, to: "m.lua")
    for (store, people) in [("a.sqlite", "{ Ann = 1, Bob = 2 }"), ("b.sqlite", "{ Bob = 3, Cid = 4 }")] {
      let made = try bench.moonbase(
        "run", "--store", store, "--model", "m.lua", "-e",
        "for name, age in pairs \(people) do moonbase.context:insert('Person', { name = name, age = age }) end assert(moonbase.context:save())"
      )
      try #require(made.status == 0, "\(made)")
    }
    let outcome = try bench.moonbase("diff", "a.sqlite", "b.sqlite", "--by", "name", "--format", "csv")
    #expect(outcome.status == 1, "\(outcome)")
    #expect(
      outcome.output.contains("update,Person name=Bob,age,2,3\n")
        && outcome.output.contains("delete,Person name=Ann,,,\n"), "\(outcome)")
    #expect(outcome.output.contains("insert,Person name=Cid,"))
    let wrong = try bench.moonbase("diff", "a.sqlite", "b.sqlite", "--by", "nam")
    #expect(wrong.status == 1 && wrong.complaints.contains("did you mean name?"), "\(wrong)")
  }

  @Test func aVacuumGivesUpFreePages() throws {
    let bench = try Workbench()
    try bench.write(Workbench.projectModel, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      for i = 1, 500 do c:insert("Person", { name = ("x"):rep(500) .. i }) end assert(c:save())
      for person in c:fetch("Person"):where("SELF != nil"):each() do if person.name:sub(-1) ~= "7" then c:delete(person) end end
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    let before = try bench.moonbase("fetch", "Person", "s.sqlite", "--format", "csv").output
    let size = try bench.bytes(of: "s.sqlite").count
    let outcome = try bench.moonbase("vacuum", "s.sqlite")
    #expect(outcome.status == 0 && outcome.complaints.contains("fewer than before"), "\(outcome)")
    #expect(try bench.bytes(of: "s.sqlite").count < size / 2)
    #expect(try bench.moonbase("fetch", "Person", "s.sqlite", "--format", "csv").output == before)
    #expect(try bench.moonbase("doctor", "s.sqlite").complaints.contains("nothing is wrong"))
    let gone = try bench.moonbase("vacuum", "gone.sqlite")
    #expect(gone.status == 1 && gone.complaints.contains("there is no such store"), "\(gone)")
    let lock = try bench.lock("s.sqlite")
    defer { lock.end() }
    #expect(try bench.moonbase("vacuum", "s.sqlite", "--busy-timeout", "0.05").status == 75)
  }

  @Test func savesHaveTheAuthorThatTheCommandLineNames() throws {
    let bench = try Workbench.withPeople()
    let run = try bench.moonbase(
      "run", "--store", "s.sqlite", "--keep-history", "--author", "Ann", "-e",
      "moonbase.context:fetch('Person'):first().age = 5 assert(moonbase.context:save())")
    #expect(run.status == 0, "\(run)")
    let each = try bench.moonbase(
      "each", "Person", "s.sqlite", "--author", "Bob", "--do", "object.height = 2", "--quiet")
    #expect(each.status == 0, "\(each)")
    try bench.write("name\nCid\n", to: "n.csv")
    #expect(try bench.moonbase("import", "Person", "n.csv", "s.sqlite", "--author", "Cid").status == 0)
    let history = try bench.moonbase("history", "s.sqlite", "--format", "csv").output
    for author in ["Ann", "Bob", "Cid"] { #expect(history.contains(",\(author),"), "\(author) in \(history)") }
  }

  @Test func aStoreForgetsAnExtensionWhereItIsTold() throws {
    let bench = try Workbench.withProject()
    try bench.insertPeople("Ann")
    let wrong = try bench.moonbase("doctor", "--forget-extension", "rule")
    #expect(wrong.status == 2 && wrong.complaints.contains("did you mean rules?"), "\(wrong)")
    let outcome = try bench.moonbase("doctor", "--no-project", "s.sqlite", "--forget-extension", "rules")
    #expect(outcome.status == 0 && outcome.complaints.contains("has forgotten the extension rules"), "\(outcome)")
    let each = try bench.moonbase("each", "Person", "s.sqlite", "--no-project", "--do", "object.age = 2")
    #expect(each.status == 0, "\(each)")
  }
}
