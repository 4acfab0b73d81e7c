import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase.project.lua` names the store, model and extensions of commands.
@Suite struct ProjectTests {
  @Test func everyCommandTakesStoreModelAndExtensionsFromIt() throws {
    let bench = try Workbench.withProject()
    let none = try bench.moonbase("info")
    #expect(
      none.status == 1 && none.complaints.contains("moonbase.project.lua:1:18: store: s.sqlite does not exist yet"),
      "\(none)")
    try bench.insertPeople("Ann", "Bob")
    func output(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(arguments)
      #expect(outcome.status == 0, "\(arguments): \(outcome)")
      return outcome.output
    }
    #expect(
      try output("fetch", "Person", "--columns", "name,initial", "--format", "csv") == "name,initial\nAnn,A\nBob,B\n")
    #expect(try output("export", "Person", "--columns", "name") == "{\"name\": \"Ann\"}\n{\"name\": \"Bob\"}\n")
    #expect(try output("sql", "SELECT count(*) AS n FROM Person", "--format", "csv") == "n\n2\n")
    #expect(try output("info").contains("project     ") && output("info").contains("extensions  rules 1.2"))
    #expect(try output("doctor") == "")
    _ = try output("each", "Person", "--do", "object.age = 3", "--quiet")
    _ = try output("backup", "copy.sqlite")
    #expect(try output("model", "types").contains("---@field initial string?"))
    try bench.write("name,age\nCid,-1\nDan,4\n", to: "people.csv")
    let imported = try bench.moonbase("import", "Person", "people.csv")
    #expect(imported.status == 4 && imported.complaints.contains("rejects"), "\(imported)")
  }

  @Test func itIsFoundFromAFolderBelowAndOptionsWin() throws {
    let bench = try Workbench.withProject()
    try FileManager.default.createDirectory(at: bench.file("sub"), withIntermediateDirectories: true)
    try bench.write("return { format = 'ndjson', sandbox = 'pure' }", to: "sub/moonbase.project.lua")
    try bench.insertPeople("Ann")
    let command = Workbench.command.path
    let outcome = try bench.program(
      "sh", "-c",
      """
      mkdir sub/deep && cd sub/deep && "$0" fetch Person ../../s.sqlite --columns name; "$0" fetch Person ../../s.sqlite --columns name --format csv
      "$0" run -e 'print(io)'; "$0" run --sandbox standard -e 'print(io ~= nil)'; "$0" run --no-project -e 'print(io ~= nil)'
      rm ../moonbase.project.lua; "$0" fetch Person --columns name,initial --format csv; HOME="$PWD" "$0" fetch Person
      "$0" fetch Person --no-project
      """, command)
    #expect(
      outcome.output
        == "{\"name\": \"Ann\"}\nname\nAnn\nnil\ntrue\ntrue\nname,initial\nAnn,A\n", "\(outcome)")
    #expect(outcome.complaints.components(separatedBy: "there is no store to work on").count == 3, "\(outcome)")
  }

  @Test func severalStoresGoByConfiguration() throws {
    let bench = try Workbench.withProject(
      #"return { store = { Local = "l.sqlite", Far = "f.sqlite" }, model = "model.lua" }"#)
    try bench.write(
      """
      return { entities = { A = { attributes = { n = "integer16" } }, B = { attributes = { n = "integer16" } } },
        configurations = { Local = { "A" }, Far = { "B" } } }
      """, to: "model.lua")
    let made = try bench.moonbase(
      "run", "-e", "local c = moonbase.context c:insert('A', { n = 1 }) c:insert('B', { n = 2 }) assert(c:save())")
    #expect(made.status == 0, "\(made)")
    #expect(try bench.names().contains("l.sqlite") && bench.names().contains("f.sqlite"))
    #expect(try bench.moonbase("fetch", "B", "--columns", "n", "--format", "csv").output == "n\n2\n")
    for arguments in [["sql", "SELECT 1"], ["history"], ["backup", "x.sqlite"], ["vacuum"]] {
      let one = try bench.moonbase(arguments)
      let message = "names several stores, Local (l.sqlite) and Far (f.sqlite), and this command takes one"
      #expect(one.status == 2 && one.complaints.contains("\(message): name it, as in --store l.sqlite"), "\(one)")
    }
    #expect(try bench.moonbase("sql", "SELECT n FROM A", "--store", "Local=l.sqlite").status == 0)
  }

  /// Two stores, and a project that names them.
  private static func withTwoStores() throws -> Workbench {
    let bench = try Workbench.withProject(
      #"return { store = { Local = "l.sqlite", Far = "f.sqlite" }, model = "model.lua", extensions = { "rules.lua" } }"#
    )
    try bench.write(
      """
      return { entities = { A = { attributes = { n = "integer16" } }, B = { attributes = { n = "integer16" } } },
        configurations = { Local = { "A" }, Far = { "B" } } }
      """, to: "model.lua")
    let rule = "{ validate = { n = function(n) return n < 9, 'is large' end } }"
    try bench.write("return { name = 'rules', entities = { A = \(rule), B = \(rule) } }", to: "rules.lua")
    let made = try bench.moonbase(
      "run", "-e",
      "local c = moonbase.context for i = 1, 3 do c:insert('A', { n = i }) c:insert('B', { n = i }) end assert(c:save())"
    )
    #expect(made.status == 0, "\(made)")
    return bench
  }

  @Test func aConfigurationBeforeTheStoreIsThatOfTheStore() throws {
    let bench = try Self.withTwoStores()
    let commands = [
      ["info"], ["sql", "SELECT 1"], ["backup", "x.sqlite"], ["vacuum"], ["doctor"], ["history"],
      ["migrate", "--to", "model.lua", "--plan"],
    ]
    for arguments in commands {
      let other = try bench.moonbase(arguments + ["--store", "Far=l.sqlite"])
      #expect(other.status == 1 && other.output == "", "\(arguments): \(other)")
      let unknown = try bench.moonbase(arguments + ["--store", "Lokal=l.sqlite"])
      #expect(unknown.status == 1 && unknown.complaints.contains("Lokal"), "\(arguments): \(unknown)")
      if arguments[0] != "history" {
        let known = try bench.moonbase(arguments + ["--store", "Local=l.sqlite"])
        #expect(known.status == 0, "\(arguments): \(known)")
      }
    }
    let info = try bench.moonbase("info", "Far=l.sqlite")
    #expect(info.complaints.contains("l.sqlite holds configuration Local of the model, and not configuration Far"))
    #expect(try bench.moonbase("vacuum", "Lokal=l.sqlite").complaints.contains("did you mean Local?"))
    let two = try bench.moonbase("migrate", "Local=l.sqlite", "--to", "model.lua", "--configuration", "Far", "--plan")
    #expect(two.status == 2 && two.complaints.contains("leave one out"), "\(two)")
  }

  @Test func aFileOfAProjectHasTheConfigurationThatTheProjectSays() throws {
    let bench = try Self.withTwoStores()
    for arguments in [
      ["doctor", "l.sqlite"], ["doctor", "./f.sqlite"], ["fetch", "A", "l.sqlite"],
      ["migrate", "l.sqlite", "--to", "model.lua", "--plan"],
      ["doctor", "l.sqlite", "--no-project", "--extension", "rules.lua"],
    ] {
      let outcome = try bench.moonbase(arguments)
      #expect(outcome.status == 0, "\(arguments): \(outcome)")
    }
  }

  @Test func whatOnlyLooksGoesOverAllStores() throws {
    let bench = try Workbench.withProject(
      #"return { store = { Local = "l.sqlite", Far = "f.sqlite" }, model = "model.lua", extensions = { "rules.lua" } }"#
    )
    try bench.write(
      """
      return { entities = { A = { attributes = { n = "integer16" } }, B = { attributes = { n = "integer16" } } },
        configurations = { Local = { "A" }, Far = { "B" } } }
      """, to: "model.lua")
    func writeRule(_ test: String) throws {
      let rule = "{ validate = { n = function(n) return \(test), 'is odd' end } }"
      try bench.write(
        "return { name = 'rules', entities = { A = \(rule), B = \(rule) } }", to: "rules.lua")
    }
    try writeRule("true")
    let made = try bench.moonbase(
      "run", "-e", "local c = moonbase.context c:insert('A', { n = 1 }) c:insert('B', { n = 2 }) assert(c:save())")
    #expect(made.status == 0, "\(made)")
    let info = try bench.moonbase("info").output
    #expect(info.contains("configuration Local") && info.contains("configuration Far"), "\(info)")
    #expect(try bench.moonbase("info", "--json").output.hasPrefix("["))
    let named = try bench.moonbase("info", "--store", "Far=f.sqlite").output
    #expect(named.contains("store       f.sqlite") && !named.contains("l.sqlite"), "\(named)")
    try writeRule("n % 2 == 0")
    let doctor = try bench.moonbase("doctor")
    #expect(doctor.status == 1 && doctor.output.hasPrefix("rule: A/1: "), "\(doctor)")
    #expect(doctor.output.split(separator: "\n").count == 1, "\(doctor)")
    #expect(
      doctor.complaints.hasPrefix("moonbase: l.sqlite:\nmoonbase: one thing is wrong\nmoonbase: f.sqlite:\n"),
      "\(doctor)")
    let far = try bench.moonbase("doctor", "--store", "Far=f.sqlite", "--extension", "rules.lua")
    #expect(far.status == 0 && far.complaints == "moonbase: nothing is wrong\n", "\(far)")
    let forget = try bench.moonbase("doctor", "--forget-extension", "rules")
    #expect(forget.status == 2 && forget.complaints.contains("--forget-extension is for one store"), "\(forget)")
  }

  @Test func aStoreThatIsYetToComeIsToldWithTheCommandsThatMakeIt() throws {
    let bench = try Workbench.withProject()
    try bench.write("print(1)", to: "script.lua")
    let commands = [
      ["fetch", "Person"], ["export", "Person"], ["each", "Person", "--do", "print(object)"], ["info"], ["doctor"],
      ["sql", "SELECT 1"], ["history"], ["backup", "x.sqlite"], ["vacuum"], ["recompute", "Person"],
      ["run", "--read-only", "script.lua"], ["fetch", "Person", "s.sqlite"],
    ]
    let message =
      "moonbase.project.lua:1:18: store: s.sqlite does not exist yet: moonbase run script.lua, or moonbase import "
      + "ENTITY FILE, makes it\n"
    for arguments in commands {
      let outcome = try bench.moonbase(arguments)
      #expect(outcome.status == 1 && outcome.complaints.hasSuffix(message), "\(arguments): \(outcome)")
    }
    try bench.write("return {}", to: "moonbase.project.lua")
    for arguments in [["fetch", "Person"], ["info"], ["sql", "SELECT 1"]] {
      let outcome = try bench.moonbase(arguments)
      #expect(
        outcome.status == 2 && outcome.complaints.contains("moonbase.project.lua names none: add store = "),
        "\(arguments): \(outcome)")
    }
  }

  @Test func aFileThatItNamesAndThatIsMissingIsToldWithItsPlace() throws {
    let bench = try Workbench.withProject(
      """
      return {
        store = "s.sqlite",
        model = "model.lua",
        extensions = { "none.lua" } }
      """)
    try bench.write("name\nAnn\n", to: "x.csv")
    let commands = [
      ["run", "-e", "print(1)"], ["check"], ["import", "Person", "x.csv"], ["model", "types"],
      ["repl", "-e", "print(1)"],
    ]
    for arguments in commands {
      let outcome = try bench.moonbase(arguments)
      #expect(outcome.status == 1, "\(arguments): \(outcome)")
      // A check reports missing files.
      #expect(
        (outcome.output + outcome.complaints).contains(
          "moonbase.project.lua:4:18: extensions: none.lua does not exist: correct the path, or name another one with --extension"
        ),
        "\(arguments): \(outcome)")
    }
    try bench.write(#"return { store = "s.sqlite", model = "gone.lua" }"#, to: "moonbase.project.lua")
    for arguments in [["run", "-e", "print(1)"], ["model", "diagram"], ["model", "types"]] {
      let model = try bench.moonbase(arguments)
      #expect(
        model.complaints.contains("moonbase.project.lua:1:38: model: gone.lua does not exist: correct the path"),
        "\(arguments): \(model)")
    }
    #expect(try bench.moonbase("run", "--model", "model.lua", "-e", "print(1)").output == "1\n")
  }

  @Test(arguments: [
    ("return { stor = 's' }", "1:10: a project has no 'stor'; did you mean store?: there are store, model"),
    ("return { store = os.getenv('HOME') }", "1:18: a call of 'os' cannot stand here"),
    ("return {\n  store = function() return 1 end }", "2:11: a function cannot stand here"),
    ("return { store = name }", "1:18: the name 'name' cannot stand here"),
    ("return { store = 'a' .. 'b' }", "1:22: '.' stands where a comma or '}' belongs"),
    ("local t = {} return t", "1:1: the file is plain data and begins with 'return {'"),
    ("return { store = 's', store = 't' }", "1:23: 'store' is given twice, first in line 1"),
    ("return { 'x' }", "1:10: a project has values by name"),
    ("return { store = 1 }", "1:18: store is a text, not a number"),
    ("return { store = 's' model = 'm' }", "1:22: a comma is missing before 'model'"),
    ("return { store = 'a\\qb' }", "1:20: '\\q' is no escape of Lua"),
    ("return { store = [[a }", "1:18: a text in long brackets does not end"),
    ("return { store = 'a\\", "1:18: a text does not end"),
    ("return { extensions = { { 'x.lua', limits = { time = 1e } } } }", "1:54: '1e' is no number"),
    ("return { store = 's'", "where a comma or '}' belongs"), ("return { store = \"s }", "1:18: a text does not end"),
    ("return { sandbox = 'trusted' }", "1:20: a project gives scripts no sandbox 'trusted'"),
    ("return { format = 'cvs' }", "1:19: format is one of table, json, ndjson, csv, tsv, not 'cvs'; did you mean csv?"),
    ("return { extensions = { { 'x.lua', limit = {} } } }", "1:36: an extension has no 'limit'; did you mean limits?"),
    ("return { extensions = { { 'x.lua', limits = { time = 0 } } } }", "1:54: time is a number above 0"),
    (
      "return { extensions = { { 'x.lua', limits = { memory = '16X' } } } }",
      "1:56: memory is a number above 0, not '16X', or a text with K, M or G, as \"16M\""
    ),
    (
      "return { extensions = { { 'x.lua', grants = { write = { 'a', '/etc' } } } } }",
      "1:62: grants: the folder to write '/etc' does not lie below the project's folder, this one: an extension is granted"
    ),
    ("return { store = '../s.sqlite' }", "1:18: the store '../s.sqlite' does not lie below the project's folder"),
    ("return { store = '/s.sqlite' }", "1:18: the store '/s.sqlite' does not lie below"),
    ("return { store = 'out/s.sqlite' }", "1:18: the store 'out/s.sqlite' does not lie below"),
    ("return { store = 's', model = 'linked.lua' }", "1:31: the model 'linked.lua' does not lie below"),
  ]) func aFileThatLiesIsRefusedWithItsPlace(_ text: String, _ message: String) throws {
    let bench = try Workbench.withProject(text)
    for (link, target) in [("out", "/"), ("linked.lua", "/etc/hostname")] {
      try FileManager.default.createSymbolicLink(atPath: bench.file(link).path, withDestinationPath: target)
    }
    let outcome = try bench.moonbase("fetch", "Person")
    #expect(outcome.status == 2 && outcome.output == "", "\(outcome)")
    #expect(outcome.complaints.contains("moonbase.project.lua:") && outcome.complaints.contains(message), "\(outcome)")
  }

  @Test func largeAndSpecialFilesAreNotRead() throws {
    let bench = try Workbench.withProject(String(repeating: "-- x\n", count: 2_000_000))
    let large = try bench.moonbase("fetch", "Person")
    #expect(large.status == 2 && large.complaints.contains("it is larger than 262144 bytes"), "\(large)")
    try bench.write("return " + String(repeating: "{", count: 200_000), to: "moonbase.project.lua")
    #expect(try bench.moonbase("run", "-e", "print(1)").complaints.contains("tables stand in tables more than 50 deep"))
    try FileManager.default.removeItem(at: bench.file("moonbase.project.lua"))
    mkfifo(bench.file("moonbase.project.lua").path, 0o600)
    let pipe = try bench.moonbase("run", "-e", "print(1)")
    #expect(pipe.status == 2 && pipe.complaints.contains("a pipe or a device"), "\(pipe)")
    #expect(try bench.moonbase("run", "--no-project", "-e", "print(1)").output == "1\n")
  }

  @Test func extensionsHaveLimitsAndGrantsOfTheirOwn() throws {
    let bench = try Workbench.withProject(
      """
      return { model = "model.lua", extensions = { { path = "rules.lua",
        limits = { instructions = 100000, memory = "8M", time = 5, disable = false },
        grants = { read = "words", env = { "PROJECT_TEST" } } } } }
      """)
    try FileManager.default.createDirectory(at: bench.file("words"), withIntermediateDirectories: true)
    try bench.write("good", to: "words/list.txt")
    try bench.write(
      """
      return { entities = { Person = { validate = { name = function(name)
        if name == "loop" then while true do end end
        local file = assert(io.open("words/list.txt"))
        local word = file:read("a")
        file:close()
        return name == word, "is not " .. word .. tostring(io.open("model.lua"))
      end } } } }
      """, to: "rules.lua")
    func save(_ name: String) throws -> String {
      let outcome = try bench.moonbase(
        "run", "-e", "moonbase.context:insert('Person', { name = '\(name)' }) print(moonbase.context:save())")
      return outcome.output + outcome.complaints
    }
    #expect(try save("good") == "true\n")
    #expect(try save("bad").contains("is not goodnil"))
    #expect(try save("loop").contains("100000 instructions"))
  }
}
