import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// `moonbase migrate --mapping`.
@Suite struct MigrationScriptTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Person = { attributes = { first = "string", last = "string", age = "string" },
          relationships = { friends = { to_many = "Person", inverse = "friends" } } },
        Note = { attributes = { text = "string" } },
      } }
      """, to: "old.lua")
    try bench.write(
      """
      return { entities = {
        Person = { attributes = { name = "string", age = "binary", letters = "integer32" },
          relationships = { friends = { to_many = "Person", inverse = "friends" }, best = { to = "Person", inverse = "best_of" },
            best_of = { to_many = "Person", inverse = "best" } } },
        Memo = { attributes = { text = "string" } },
      } }
      """, to: "new.lua")
    let run = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "old.lua", "-e",
      """
      local c = moonbase.context
      local ann = c:insert("Person", { first = "Ann", last = "Lee", age = "2001-01-01T00:00:00Z" })
      local ben = c:insert("Person", { first = "Ben", last = "Ay" })
      ann.friends:add(ben)
      c:insert("Note", { text = "a" }) c:insert("Note", { text = "b" })
      assert(c:save())
      """)
    #expect(run.status == 0, "\(run.complaints)")
  }

  /// References to omitted objects are cleared, even without an inverse.
  @Test func whatLeadsToLeftOutObjectsLeadsNowhere() throws {
    let bench = try Workbench()
    let model = """
      return { entities = {
        A = { attributes = { n = "string" }, relationships = { one = { to = "B" }, all = { to_many = "B" }, given = { to = "B" } } },
        B = { attributes = { n = "string" } }, C = { parent = "B" },
      } }
      """
    try bench.write(model, to: "old.lua")
    try bench.write(
      model.replacing("{ parent = \"B\" }", with: "{ parent = \"B\", attributes = { x = \"string\" } }"), to: "new.lua")
    try bench.write(
      """
      local function keep(old) return old.n ~= "out" end
      return { B = keep, C = keep, A = function(old, new, migration) new.given = migration:destination(old.one) end }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "old.lua", "-e",
      """
      local c = moonbase.context
      local out, stays, other = c:insert("B", { n = "out" }), c:insert("B", { n = "in" }), c:insert("C", { n = "out" })
      local a, b = c:insert("A", { n = "a", one = out }), c:insert("A", { n = "b", one = stays })
      a.all:add(out) a.all:add(stays) a.all:add(other)
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    let migrated = try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua", "--mapping", "m.lua")
    #expect(migrated.status == 0, "\(migrated)")
    let found = try bench.moonbase(
      "run", "--store", "s.sqlite", "-e",
      """
      for a in moonbase.context:fetch("A"):sort("n"):each() do
        local names = {}
        for b in a.all:each() do names[#names + 1] = b.n end
        print(a.one and a.one.n, a.given and a.given.n, #a.all, names[1])
      end
      """)
    #expect(found.output == "nil\tnil\t1\tin\nin\tin\t0\tnil\n", "\(found)")
    #expect(try bench.moonbase("doctor", "s.sqlite").status == 0)
  }

  private func migrate(_ script: String, _ options: String...) throws -> ChildProcess.Outcome {
    try bench.write(script, to: "m.lua")
    return try bench.moonbase(["migrate", "s.sqlite", "--to", "new.lua", "--mapping", "m.lua"] + options)
  }

  private func print(_ code: String) throws -> String {
    try bench.moonbase("run", "--store", "s.sqlite", "-e", code).output
  }

  private static let script = """
    return {
      Person = function(old, new, migration)
        new.name = old.first .. " " .. old.last
        new.letters = #new.name
        new.age = old.age
        for friend in old.friends:each() do new.best = migration:destination(friend) end
      end,
      NoteToMemo = function(old, new)
        if old.text == "b" then return false end
        new.text = old.text:upper()
      end,
    }
    """

  @Test func aScriptSeesTheOldAndTheNewObjectSideBySide() throws {
    let done = try migrate(Self.script)
    #expect(done.status == 0, "\(done)")
    #expect(
      try print(
        "for p in moonbase.context:fetch('Person'):sort('name'):each() do print(p.name, p.letters, p.best.name, #p.friends) end"
      )
        == "Ann Lee\t7\tBen Ay\t1\nBen Ay\t6\tAnn Lee\t1\n")
    #expect(try print("for m in moonbase.context:fetch('Memo'):each() do print(m.text) end") == "A\n")
    #expect(try bench.names() == ["m.lua", "new.lua", "old.lua", "s.sqlite"])
  }

  /// An old object belongs to another context than the new ones and cannot be a destination.
  @Test func anOldObjectIsNoDestination() throws {
    let script = Self.script.replacing(
      "for friend in old.friends:each() do new.best = migration:destination(friend) end",
      with: "for friend in old.friends:each() do new.best = friend end")
    let refused = try migrate(script)
    #expect(refused.status == 1 && refused.complaints.contains("migration:destination(object)"), "\(refused)")
  }

  /// No delete rule of the new model deletes further objects or denies the omission.
  @Test(arguments: ["cascade", "nullify", "deny"])
  func whoLeadsToAnObjectThatIsLeftOutLeadsNowhere(_ rule: String) throws {
    func model(_ more: String) -> String {
      """
      return { entities = {
        Group = { attributes = { name = "string"\(more) },
          relationships = { notes = { to_many = "Note", inverse = "group", delete = "\(rule)" } } },
        Note = { attributes = { text = "string" },
          relationships = { group = { to = "Group", inverse = "notes", delete = "\(rule)" } } },
      } }
      """
    }
    try bench.write(model(""), to: "groups.lua")
    try bench.write(model(", size = \"integer32\""), to: "new.lua")
    let fill = """
      local c = moonbase.context
      for _, name in ipairs { "a", "b" } do
        local group = c:insert("Group", { name = name })
        for i = 1, 2 do c:insert("Note", { text = name .. i, group = group }) end
      end
      assert(c:save())
      """
    for name in try bench.names() where name.hasPrefix("s.sqlite") {
      try FileManager.default.removeItem(at: bench.file(name))
    }
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "groups.lua", "-e", fill).status == 0)
    let done = try migrate(
      """
      return {
        Group = function(old) if old.name == "a" then return false end end,
        Note = function(old) if old.text == "b1" then return false end end,
      }
      """)
    #expect(done.status == 0, "\(done)")
    let notes = """
      for n in moonbase.context:fetch('Note'):sort('text'):each() do print(n.text, n.group and n.group.name) end
      """
    #expect(try print(notes) == "a1\tnil\na2\tnil\nb2\tb\n")
    #expect(try print("for g in moonbase.context:fetch('Group'):each() do print(g.name, #g.notes) end") == "b\t1\n")
  }

  @Test func thePlanIsToldAndNothingIsDone() throws {
    let before = try bench.bytes(of: "s.sqlite")
    let plan = try migrate(Self.script, "--plan")
    #expect(plan.status == 0 && plan.output.contains("~ Note → Memo (2 rows): by m.lua: NoteToMemo"), "\(plan)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
  }

  /// Types with and without common values, and attributes with a new default.
  @Test func aFunctionConvertsWhatTheNewTypeCannotKeep() throws {
    try bench.write(
      """
      return { entities = { Person = { attributes = {
        first = { "integer16", optional = false, default = 7 }, last = "string", age = "binary" } },
        Note = { attributes = { text = "boolean" } } } }
      """, to: "new.lua")
    let conversions = "if old.text == 'a' then new.text = true else new.text = false end"
    let person = "new.age = old.age"
    func script(_ first: String) -> String {
      "return { Person = function(old, new) \(first) \(person) end, Note = function(old, new) \(conversions) end }"
    }
    let before = try bench.bytes(of: "s.sqlite")
    let refused = try migrate(script("if old.first == 'Ben' then new.first = 7 end"))
    #expect(
      refused.status == 1
        && refused.complaints.contains(
          "PersonToPerson, row 1 of Person: first is integer16 now, which cannot keep the old value, and the function gives it no other: "
            + "set new.first, or allow the loss by --allow-loss"),
      "\(refused)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let done = try migrate(script("new.first = #old.first"))
    #expect(done.status == 0, "\(done)")
    #expect(
      try print("for p in moonbase.context:fetch('Person'):sort('-last'):each() do print(p.first, p.age) end")
        == "3\t2001-01-01T00:00:00Z\n3\tnil\n")
    #expect(try print("for n in moonbase.context:fetch('Note'):each() do print(n.text) end") == "true\nfalse\n")
  }

  @Test func aValueThatNoFunctionConvertsIsTheDefaultWhereALossIsAllowed() throws {
    try bench.write(
      "return { entities = { Person = { attributes = { first = { 'integer16', optional = false, default = 7 } } } } }",
      to: "new.lua")
    let done = try migrate("return { Person = function(old, new) end }", "--allow-loss")
    #expect(done.status == 0, "\(done)")
    #expect(try print("for p in moonbase.context:fetch('Person'):each() do print(p.first) end") == "7\n7\n")
  }

  @Test(arguments: [
    "old.first = 'x'", "old.first = 'x' print(migration.source_context:save())",
    "migration.source_context:insert('Note', { text = 'c' })", "migration.source_context:delete(old)",
  ])
  func oldObjectsAreOnlyRead(_ change: String) throws {
    let before = try bench.bytes(of: "s.sqlite")
    let run = try migrate(
      "return { Person = function(old, new, migration) \(change) end, NoteToMemo = function() end }", "--allow-loss")
    let reason =
      "PersonToPerson, row 1 of Person: an old object was made, changed or deleted: old objects and their context are only read"
    #expect(run.status == 1 && run.complaints.contains(reason), "\(run)")
    if change.contains("save") {
      #expect(run.output.contains("is read-only: these are the objects of before"), "\(run)")
    }
    #expect(try bench.bytes(of: "s.sqlite") == before)
  }

  @Test func objectsThatNoFunctionTakesAreALoss() throws {
    let script = "return { Person = function(old, new) new.name = old.first end }"
    let loss = "Note: 2 rows would go, because no entity mapping names Note (the first is row 1)\n"
    let plan = try migrate(script, "--plan")
    #expect(plan.status == 1 && plan.output.hasSuffix("- Note (2 rows)\n! \(loss)"), "\(plan)")
    let refused = try migrate(script)
    #expect(refused.status == 1 && refused.complaints.contains("by --allow-loss\n  \(loss)"), "\(refused)")
    #expect(try migrate(script, "--allow-loss").status == 0)
  }

  @Test(arguments: [
    ("return { Person = function(old) error('no more') end }", "PersonToPerson, row 1 of Person: ", "no more"),
    ("return { Person = function(old, new) new.letters = 'many' end }", "PersonToPerson, row 1 of Person: ", "letters"),
    (
      "return { Person = function(old, new) return 7 end }", "PersonToPerson, row 1 of Person: ",
      "returns nothing, or false"
    ),
    ("return { Preson = function() end }", "m.lua: Preson is no entity that stays", "did you mean Person?"),
    ("return { NoteToMemo = function() end }", "m.lua has no function for what the models do not tell", "age"),
    ("return 7", "a migration script returns a table", "a number"),
    ("return { Person = 7 }", "m.lua:1: Person: a function is expected", "a number"),
    ("return {", "m.lua:1", "expected"),
  ])
  func aScriptThatFailsLeavesTheStoreAsItWas(_ script: String, _ first: String, _ second: String) throws {
    let before = try bench.bytes(of: "s.sqlite")
    let run = try migrate(script, "--allow-loss")
    #expect(run.status == 1 && run.complaints.contains(first) && run.complaints.contains(second), "\(run)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    #expect(try bench.names() == ["m.lua", "new.lua", "old.lua", "s.sqlite"])
  }

  #if os(Linux)
    @Test func anInterruptedScriptLeavesTheStoreAsItWas() throws {
      try bench.write(
        "return { Person = function() print('begun') io.stdout:flush() while true do end end }", to: "m.lua")
      let before = try bench.bytes(of: "s.sqlite")
      let run = try bench.beginInterruptible([
        "migrate", "s.sqlite", "--to", "new.lua", "--mapping", "m.lua", "--allow-loss",
      ])
      try run.wait(for: "begun")
      run.interrupt()
      #expect(try run.end() == 130)
      #expect(try bench.bytes(of: "s.sqlite") == before)
      #expect(try bench.names() == ["m.lua", "new.lua", "old.lua", "s.sqlite"])
    }

    @Test func valuesInFilesThatAnInterruptedScriptHadMadeGo() throws {
      let photos = "P = { attributes = { n = 'integer64', photo = { 'binary', external_storage = true }"
      try bench.write("return { entities = { \(photos) } } } }", to: "photos.lua")
      try bench.write("return { entities = { \(photos), more = 'string' } } } }", to: "new.lua")
      let run = try bench.moonbase(
        "run", "--store", "p.sqlite", "--model", "photos.lua", "-e",
        "local c = moonbase.context for n = 1, 9 do c:insert('P', { n = n, photo = ('x'):rep(150000) }) end assert(c:save())"
      )
      #expect(run.status == 0, "\(run)")
      func values() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bench.file(".p_SUPPORT/_EXTERNAL_DATA").path).sorted()
      }
      let before = try values()
      #expect(before.count == 9)
      try bench.write(
        "return { P = function(old, new) if old.n == 9 then print('begun') io.stdout:flush() while true do end end end }",
        to: "m.lua")
      let victim = try bench.beginInterruptible(["migrate", "p.sqlite", "--to", "new.lua", "--mapping", "m.lua"])
      try victim.wait(for: "begun")
      #expect(try values().count == 18)
      victim.interrupt()
      #expect(try victim.end() == 130)
      #expect(try values() == before)
    }
  #endif
}
