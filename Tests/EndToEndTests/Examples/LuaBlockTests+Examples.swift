import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

extension LuaBlockTests {
  /// The block of the documents that contains `mark`.
  private static func block(_ mark: String) throws -> String {
    try #require(try DocumentBlock.documents("lua").first { $0.code.contains(mark) }).code
  }

  static let examples: [Example] = scripts + extensions + extensionPage + files

  // MARK: Scripts

  private static let scripts: [Example] = [
    Example("store = \"tour.sqlite\"", gives: "Captain Blue\t1") { bench, code in
      try bench.bench.write(code, to: "tour.lua")
      return try bench.moonbase("run", "tour.lua")
    },
    Example("do print(json.encode(row)) end", gives: "\"name\":\"Ann\"") { bench, code in
      try bench.bench.write("name\nAnn\n", to: "people.csv")
      return try bench.script(code)
    },
    Example("string.unpack(\"<dddd\", object.color)", gives: "0.75\n") { bench, code in
      try bench.bench.write("return { entities = { Paint = { attributes = { color = 'binary' } } } }", to: "paint.lua")
      try bench.bench.write(
        """
        moonbase.context:insert("Paint", { color = string.pack("<dddd", 0, 0, 0, 0.25) })
        assert(moonbase.context:save())
        """, to: "fill.lua")
      try bench.moonbase("run", "--store", "paint.sqlite", "--model", "paint.lua", "fill.lua")
      try bench.moonbase("each", "Paint", "--store", "paint.sqlite", "--quiet", "--do", code)
      try bench.bench.write(
        "print((select(4, string.unpack('<dddd', moonbase.context:fetch('Paint'):first().color))))", to: "show.lua")
      return try bench.moonbase("run", "--store", "paint.sqlite", "show.lua")
    },
    Example("local report = import.run", gives: "2 1\n") { bench, code in
      try bench.bench.write("email,name\na@x,Ann\nb@x,Ben\n\"c\n", to: "people.csv")
      return try bench.script(
        """
        local csv, import = require "moonbase.csv", require "moonbase.import"
        \(code)
        io.write(report.rows - report.rejected, " ", report.rejected, "\\n")
        """)
    },
    Example("moonbase.copy(p.tags)", gives: "2\tnew") { bench, code in
      try bench.script(
        "local p = context:insert('Person', { tags = { 'old' } })\n\(code) assert(context:save()) print(#p.tags, p.tags[2])"
      )
    },
    Example("batch_insert(\"Person\", {", gives: "2\t2\t1") { bench, code in
      try bench.script(code + "print(inserted, updated, deleted)", options: ["--keep-history"])
    },
    Example("for _, both in ipairs(conflict.collisions)", gives: "15") { bench, code in
      try bench.script(
        """
        local p = context:insert("Person", { count = 10 })
        assert(context:save())
        \(code)
        local other = moonbase.open { store = "s.sqlite" }.context
        p.count = 12
        other:object(tostring(p:id())).count = 13
        assert(other:save())
        assert(context:save())
        print(p.count)
        """)
    },
    Example("context:undo_group(\"rename\"", gives: "rename\ttrue\tAnn") { bench, code in
      try bench.script("local person = context:insert('Person', { firstName = 'Ann' })\n\(code) assert(context:save())")
    },
    Example("two:merge_changes(changes)", gives: "Ann") { bench, code in
      try bench.script(
        """
        local p = context:insert("Person", { name = "Ben" })
        assert(context:save())
        local one, two = moonbase.open { store = "s.sqlite" }.context, moonbase.open { store = "s.sqlite" }.context
        local there = two:object(tostring(p:id()))
        \(code)
        one:object(tostring(p:id())).name = "Ann"
        assert(one:save())
        print(there.name)
        """)
    },
    Example("moonbase.background(\"stale\"", gives: "\n2") { bench, code in
      try bench.bench.write(block("-- stale.lua"), to: "stale.lua")
      return try bench.script("\(stale) \(code) io.write('\\n', count or tostring(err), '\\n')")
    },
    Example("moonbase.parallel(context:fetch", gives: "31") { bench, code in
      try bench.bench.write(block("-- grow.lua"), to: "grow.lua")
      return try bench.script(
        "local p = context:insert('Person', { age = 30 }) assert(context:save())\n\(code) assert(errors == nil) print(p.age)"
      )
    },
    Example("shape.bounds = { 5, 6 }", gives: "5\t3 x 4\n5 x 6") { bench, code in
      try bench.script(code, extension: block("read = \"pre_calculated\""))
    },
  ]

  private static let stale = """
    for _, days in ipairs { 1, 40, 50 } do
      context:insert("Note", { date = moonbase.date.now() - days * 86400 })
    end
    assert(context:save())
    """

  // MARK: Parts of extensions

  private static func entity(_ name: String, _ code: String) -> String {
    "return { name = 'x', entities = { \(name) = {\n\(code)\n} } }"
  }

  private static let extensions: [Example] = [
    Example("[\"department.budget\"] = function", gives: "is too low for Ann") { bench, code in
      try bench.script(
        """
        local d = context:insert("Department", { budget = 5 })
        context:insert("Person", { name = "Ann", department = d })
        print(select(2, context:save()))
        context:rollback()
        """, extension: entity("Person", code))
    },
    Example("messages = { de = {", gives: "zu niedrig") { bench, code in
      let text = """
        return { name = "x", \(code), entities = { Department = { validate = { budget = function(budget, d)
          return budget >= 10, { "is too low for {name}", values = { name = d.name } }
        end } } } }
        """
      try bench.bench.write(text, to: "extension.lua")
      try bench.bench.write(
        "local c = moonbase.context c:insert('Department', { budget = 1, name = 'X' }) print(select(2, c:save())) c:rollback()",
        to: "script.lua")
      return try bench.bench.program(
        "env", "LC_ALL=de_DE.UTF-8", Workbench.command.path, "run", "--model", "m.lua", "--extension", "extension.lua",
        "script.lua"
      ).output
    },
    Example("full_address = function", gives: "Main Street 1, Rome\tMain Street 1 / Rome") { bench, code in
      try bench.script(
        """
        local p = context:insert("Person", { street = "Main Street 1", city = "Rome" })
        print(p:full_address(), moonbase.object.full_address(p, " / "))
        context:rollback()
        """, extension: code)
    },
    Example("derived = { credits =", gives: "Good Omens: Terry, Neil") { bench, code in
      try bench.script(
        """
        local book = context:insert("Book", { title = "Good Omens" })
        book.authors:add(context:insert("Author", { name = "Terry" }), context:insert("Author", { name = "Neil" }))
        assert(context:save())
        print(book.credits)
        """, extension: entity("Book", code))
    },
    Example("read = \"pre_calculated\"", gives: "4") { bench, code in
      try bench.script(
        "local s = context:insert('Shape', { boundsAsString = '3 x 4' }) print(s.bounds[2]) assert(context:save())",
        extension: code)
    },
    Example("classes = { Rect = Rect }", gives: "{{1, 2}, {3, 4}}") { bench, code in
      try bench.script(
        """
        local s = context:insert("Shape")
        s.bounds = require "moonbase.geometry".Rect.new(1, 2, 3, 4)
        assert(context:save())
        print(s.boundsAsString)
        """, extension: code)
    },
    // The hash in the document belongs to no model.
    Example("requires = {", gives: "loaded") { bench, code in
      let shown = try JSONSerialization.jsonObject(with: Data(bench.moonbase("model", "show", "m.lua", "--json").utf8))
      let entities = try #require((shown as? [String: Any])?["entities"] as? [[String: Any]])
      let person = try #require(entities.first { $0["name"] as? String == "Person" })
      let hash = try #require(person["versionHash"] as? String)
      try bench.bench.write("return { name = 'geometry' }", to: "geometry.lua")
      try bench.bench.write("return { name = 'colors', version = '1.3' }", to: "colors.lua")
      return try bench.script(
        "print('loaded')", extension: "return { name = 'x', \(code.replacing("3a7b01c2", with: hash.lowercased())) }",
        options: ["--extension", "geometry.lua", "--extension", "colors.lua"])
    },
  ]

  // MARK: Files that commands and functions take

  private static let files: [Example] = [
    Example("-- stale.lua", gives: "2\n1") { bench, code in
      try bench.bench.write(code, to: "stale.lua")
      return try bench.script(
        "\(stale)\nio.write((moonbase.background('stale', 30):wait()), '\\n', context:fetch('Note'):count(), '\\n')")
    },
    Example("-- grow.lua", gives: "1\t32") { bench, code in
      try bench.bench.write(code, to: "grow.lua")
      return try bench.script(
        """
        local p = context:insert("Person", { age = 30 })
        assert(context:save())
        local counts = moonbase.parallel(context:fetch("Person"), "grow", 2)
        context:refresh_all()
        print(counts[1], p.age)
        """)
    },
    Example("[\"people of 13 are refused\"]", gives: "people of 13 are refused: passed") { bench, code in
      let model = try ManagedObjectModel(contentsOf: bench.bench.file("m.lua"))
      let rule = entity("Person", "validate = { age = function(age) return age ~= 13, 'is unlucky' end }")
      let tests = try ScriptTests(model: model, extensions: [.text(rule, name: "extension.lua")])
      return try tests.run(ScriptSource(name: "people.lua", text: code)).map { result in
        "\(result.name): \(result.failure ?? "passed")"
      }.joined(separator: "\n")
    },
    Example("model = \"model.lua\"", gives: "Ann\ncolors,rules\n") { bench, code in
      try bench.bench.write(LuaBlockBench.model, to: "model.lua")
      try bench.bench.write("return { name = 'rules' }", to: "rules.lua")
      try bench.bench.write("return { name = 'colors' }", to: "colors.lua")
      try bench.bench.write(code, to: "moonbase.project.lua")
      try bench.moonbase(
        "run", "-e", "local c = moonbase.context c:insert('Person', { name = 'Ann' }) assert(c:save())")
      let people = try bench.moonbase("fetch", "Person", "--columns", "name", "--format", "tsv")
      let info = try bench.moonbase("info")
      let names = ["colors", "rules"].filter(info.contains).joined(separator: ",")
      return [people.split(separator: "\n").last.map(String.init) ?? "", names, info].joined(separator: "\n")
    },
    Example("[\"no age is negative\"]", gives: "1 passed") { bench, code in
      let rule = entity("Person", "validate = { age = function(age) return age >= 0, 'is negative' end }")
      try bench.bench.write(rule, to: "rules.lua")
      try bench.bench.write(code, to: "people_test.lua")
      let outcome = try bench.bench.moonbase(
        "test", "people_test.lua", "--model", "m.lua", "--extension", "rules.lua")
      #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
      return outcome.complaints
    },
    Example("columns = { Name = \"name\"", gives: "Ann\tTools\ttrue\nBen\tTools\tfalse") { bench, code in
      try bench.bench.write("Name,Dept,Status\nAnn,Tools,here\nBen,Tools,left\nTOTAL,,\n", to: "people.csv")
      try bench.bench.write(code, to: "map.lua")
      try bench.moonbase(
        "import", "Person", "people.csv", "--map", "map.lua", "--create-missing", "--store", "s.sqlite", "--model",
        "m.lua", complaining: true)
      return try bench.script(
        "for p in context:fetch('Person'):sort('name'):each() do print(p.name, p.department.name, p.active) end")
    },
    Example("context:fetch(\"Word\")", gives: "4") { bench, code in
      try bench.script("assert(context:insert('Word', { text = 'Moon' })) assert(context:save())")
      try bench.bench.write(code, to: "job.lua")
      try bench.moonbase("batch", "run", "job.lua", "--store", "s.sqlite", complaining: true)
      return try bench.script("local w = context:fetch('Word'):first() print(w.length or w.count)")
    },
    Example("new.name = old.first", gives: "Ann Ash") { bench, code in
      let person = "attributes = { first = 'string', last = 'string' }"
      try bench.bench.write(
        """
        return { entities = { Person = { \(person),
          relationships = { friends = { to_many = "Person", inverse = "friends" } } },
          Note = { attributes = { text = "string" } } } }
        """, to: "m.lua")
      try bench.bench.write(
        """
        return { entities = { Person = { attributes = { name = "string" },
          relationships = { best_friend = { to = "Person", inverse = "best_friend_of" },
            best_friend_of = { to_many = "Person", inverse = "best_friend" } } },
          Memo = { attributes = { text = "string" } } } }
        """, to: "new.lua")
      try bench.bench.write(code, to: "mapping.lua")
      try bench.script("context:insert('Person', { first = 'Ann', last = 'Ash' }) assert(context:save())")
      try bench.moonbase(
        "migrate", "s.sqlite", "--to", "new.lua", "--mapping", "mapping.lua", "--allow-loss", complaining: true)
      return try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--columns", "name", "--format", "tsv")
    },
  ]
}
