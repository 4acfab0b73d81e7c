import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct RunCommandTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      #"return { entities = { Person = { attributes = { name = "string", age = "integer16" } } } }"#, to: "m.lua")
  }

  @Test func piecesShareOneEnvironment() throws {
    try bench.write("print(x, arg[0], arg[1], ...)", to: "script.lua")
    let run = try bench.moonbase("run", "-e", "x = 1", "script.lua", "one", "--two")
    #expect(run.status == 0)
    #expect(run.output == "1\tscript.lua\tone\tone\t--two\n")
    #expect(run.complaints == "")
  }

  @Test func aScriptComesFromStandardInput() throws {
    #expect(try bench.moonbase(["run", "-", "a"], input: "print(...)").output == "a\n")
  }

  @Test(arguments: ["standard", "trusted"]) func whatIsWrittenKeepsItsOrder(_ preset: String) throws {
    let code = "print('a') io.write('b\\n') print('c') io.stdout:write('d\\n')"
    #expect(try bench.moonbase("run", "--sandbox", preset, "-e", code).output == "a\nb\nc\nd\n")
  }

  @Test(arguments: [("no", 5), ("line", 5), ("full", 0)]) func aScriptSaysWhenItsOutputIsHandedOn(
    _ mode: String, _ count: Int
  ) throws {
    try bench.write(
      "io.stdout:setvbuf(arg[1]) print('seen') local file = io.open('out.txt') print(#file:read('a'))", to: "s.lua")
    let line = "'\(Workbench.command.path)' run s.lua \(mode) > out.txt; cat out.txt"
    let run = try bench.run(URL(fileURLWithPath: "/bin/sh"), ["-c", line], input: "")
    #expect(run.output == "seen\n\(count)\n")
  }

  @Test(arguments: [
    (
      "store:insert('P')",
      "an open store has no 'insert', its context has: local context = moonbase.open{ ... }.context"
    ),
    ("print(store.contxt)", "an open store has no 'contxt'; did you mean context?"),
  ])
  func anOpenStoreIsNotItsContext(_ code: String, _ message: String) throws {
    let open = "local store = moonbase.open { model = { entities = { P = {} } } } "
    let run = try bench.moonbase("run", "-e", open + code)
    #expect(run.status == 1 && run.complaints.contains(message), "\(run.complaints)")
  }

  @Test func aScriptReadsStandardInput() throws {
    let code = "local n = 0 for line in io.lines() do n = n + #line end print(n)"
    #expect(try bench.moonbase(["run", "-e", code], input: "ab\ncde\n").output == "5\n")
  }

  @Test(
    arguments: [
      ("os.exit(7)", 7), ("os.exit(true)", 0), ("os.exit(false)", 1), ("error('no')", 1),
      ("error(setmetatable({}, { __tostring = function() os.exit(7) end }))", 7),
    ] as [(String, Int32)]
  )
  func theScriptSaysHowItEnds(_ code: String, _ status: Int32) throws {
    #expect(try bench.moonbase("run", "-e", code).status == status)
  }

  @Test(
    arguments: [
      ["--limit-instructions", "100000", "-e", "while true do end"],
      ["--limit-time", "0.2", "-e", "while true do end"],
      ["--limit-memory", "4000000", "-e", "local t = {} for i = 1, 1e9 do t[i] = i end"],
      ["--limit-instructions", "100000", "-e", "pcall(function() while true do end end)"],
      ["--limit-instructions", "100000", "-e", "pcall(moonbase.open, { model = m, extensions = { 'forever.lua' } })"],
      ["--limit-instructions", "100000", "-e", "pcall(moonbase.open, { model = 'forever.lua' })"],
      ["--limit-time", "0.2", "-e", "pcall(moonbase.open, { model = m, extensions = { 'forever.lua' } }) print(1)"],
      ["--limit-instructions", "100000", "--extension", "forever.lua", "-e", ""],
      ["--limit-time", "0.2", "--extension", "forever.lua", "-e", ""],
      ["--limit-instructions", "100000", "--model", "forever.lua", "-e", ""],
      ["--limit-time", "0.2", "-e", "error(setmetatable({}, { __tostring = function() while true do end end }))"],
      [
        "--limit-instructions", "1e5", "-e",
        "error(setmetatable({}, { __tostring = function() while true do end end }))",
      ],
    ])
  func anExceededLimitExitsWithThree(_ arguments: [String]) throws {
    try bench.write("while true do end", to: "forever.lua")
    let arguments = ["-e", "m = { entities = {} }"] + arguments
    let run = try bench.moonbase(["run"] + arguments)
    #expect(run.status == 3)
    #expect(run.output == "")
    #expect(run.complaints.contains("moonbase run: -e:1: ") || run.complaints.contains("forever.lua:1: "))
  }

  @Test func whatIsSavedIsThereInTheNextRunWithoutAModel() throws {
    let insert = "moonbase.context:insert('Person', { name = 'Scarlet', age = 120 }) assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", insert).status == 0)
    #expect(try bench.names() == ["m.lua", "s.sqlite"])
    let fetch =
      "for p in moonbase.context:fetch('Person'):where('(age >= 100) AND (age <= 200)'):each() do print(p.name) end"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", fetch).output == "Scarlet\n")
    let tables = try bench.program("sqlite3", "s.sqlite", ".tables").output.split(whereSeparator: \.isWhitespace)
    #expect(Set(tables) == ["ZPERSON", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"])
  }

  @Test func unsavedChangesAreTold() throws {
    let insert = "moonbase.context:insert('Person')"
    let run = try bench.moonbase("run", "--model", "m.lua", "-e", insert)
    #expect(run.status == 0)
    #expect(run.complaints.contains("1 changed object was not saved"))
    #expect(try bench.moonbase("run", "--quiet", "--model", "m.lua", "-e", insert).complaints == "")
  }

  @Test func aChangedExtensionChangesTheBehaviour() throws {
    let code = "local ok, err = moonbase.context:insert('Person', { age = 130 }):validate() print(ok, err)"
    func rule(below limit: Int) -> String {
      "return { name = 'x', entities = { Person = { validate = { age = function(v) return v < \(limit), 'is too old' end } } } }"
    }
    let arguments = ["run", "--quiet", "--model", "m.lua", "--extension", "e.lua", "-e", code]
    try bench.write(rule(below: 140), to: "e.lua")
    #expect(try bench.moonbase(arguments).output == "true\tnil\n")
    try bench.write(rule(below: 120), to: "e.lua")
    #expect(try bench.moonbase(arguments).output.contains("is too old"))
  }

  @Test func severalStoresEachHoldTheirConfiguration() throws {
    try bench.write(
      """
      return {
        entities = { Person = { attributes = { name = "string" } }, Note = { attributes = { text = "string" } } },
        configurations = { People = { "Person" }, Notes = { "Note" } },
      }
      """, to: "two.lua")
    let insert = "moonbase.context:insert('Person', { name = 'p' }) moonbase.context:insert('Note', { text = 'n' }) "
    let run = try bench.moonbase(
      "run", "--store", "People=p.sqlite", "--store", "Notes=n.sqlite", "--model", "two.lua", "-e",
      insert + "assert(moonbase.context:save())")
    #expect(run.status == 0, "\(run)")
    #expect(run.complaints == "moonbase: p.sqlite is a new store\nmoonbase: n.sqlite is a new store\n")
    func rows(_ table: String, _ store: String) throws -> String {
      try bench.program("sqlite3", store, "SELECT count(*) FROM \(table)").output
    }
    #expect(try rows("ZPERSON", "p.sqlite") == "1\n" && rows("ZNOTE", "n.sqlite") == "1\n")
    // The model comes from the stores; a script opens them in the same way.
    let count = "local c = moonbase.open { store = { People = 'p.sqlite', Notes = 'n.sqlite' } }.context "
    let again = try bench.moonbase(
      "run", "-e", count + "print(c:fetch('Person'):count(), c:fetch('Note'):first().text)")
    #expect(again.output == "1\tn\n")
  }

  /// An extension with a class and its transformer, up to where its table ends.
  private static let taggedExtension = """
    local Tag = {}
    Tag.__index = Tag
    return { name = "t", classes = { Tag = Tag }, transformers = { T = {
      class = "Tag",
      transform = function(tag) return tag.text end,
      reverse = function(bytes) return setmetatable({ text = bytes }, Tag) end,
    } }
    """

  @Test func aValueChangedInPlaceIsFoundByStrict() throws {
    try bench.write(
      "return { entities = { P = { attributes = { tags = { 'transformable', transformer = 'T' } } } } }", to: "t.lua")
    try bench.write(
      Self.taggedExtension + " }", to: "t-extension.lua")
    let code = """
      local c = moonbase.context
      local p = c:insert("P", { tags = setmetatable({ text = "a" }, moonbase.classes.Tag) })
      assert(c:save())
      c:refresh(p, false)
      p.tags.text = "b"
      local ok, err = c:save()
      print(ok, err and err.code, err and err.key)
      """
    let arguments = ["--model", "t.lua", "--extension", "t-extension.lua", "-e", code]
    #expect(try bench.moonbase(["run"] + arguments).output == "true\tnil\tnil\n")
    #expect(try bench.moonbase(["run", "--strict"] + arguments).output == "nil\t134045\ttags\n")
  }

  /// For a value class and a shadow attribute, read or assigned, before and after the save.
  @Test(arguments: ["tags", "label"]) func aValueThatWasAssignedAndChangedIsFoundByStrict(_ key: String) throws {
    try bench.write(
      """
      return { entities = { P = { attributes = {
        tags = { 'transformable', transformer = 'T' }, label = { 'undefined', transient = true }, text = 'string' } } } }
      """, to: "t.lua")
    try bench.write(
      Self.taggedExtension + ", entities = { P = { derived = { label = { shadow = 'text', transformer = 'T' } } } } }",
      to: "t-extension.lua")
    let code = """
      local c = moonbase.context
      local tag = setmetatable({ text = "a" }, moonbase.classes.Tag)
      local p = c:insert("P", { \(key) = tag })
      assert(c:save())
      tag.text = "b"
      local ok, err = c:save()
      print(ok, err and err.code, err and err.key)
      p.\(key) = moonbase.copy(tag)
      print(c:save())
      p.\(key).text = "c"
      ok, err = c:save()
      print(ok, err and err.key)
      c:refresh(p, false)
      print(p.\(key).text, c:save())
      """
    let arguments = ["--model", "t.lua", "--extension", "t-extension.lua", "-e", code]
    let found = "nil\t134045\t\(key)\ntrue\nnil\t\(key)\nb\ttrue\n"
    #expect(try bench.moonbase(["run", "--strict"] + arguments).output == found)
  }

  @Test(arguments: [("guide", "false\n"), ("framework", "true\n")])
  func theOrderOfASaveIsChosen(_ order: String, _ saved: String) throws {
    try bench.write(
      "return { entities = { P = { attributes = { name = { 'string', optional = false } } } } }", to: "r.lua")
    try bench.write(
      "return { name = 'r', entities = { P = { will_save = function(p) p.name = 'late' end } } }", to: "r-extension.lua"
    )
    let code = "moonbase.context:insert('P') print(moonbase.context:save() == true)"
    let run = try bench.moonbase(
      "run", "--save-order", order, "--model", "r.lua", "--extension", "r-extension.lua", "-e", code)
    #expect(run.output == saved)
  }

  @Test(arguments: ["", "assert(ok, err)", "if not ok then error(err) end"])
  func aBusyStoreExitsWithSeventyFive(_ reaction: String) throws {
    let insert = "moonbase.context:insert('Person', { name = 'a' }) "
    #expect(
      try bench.moonbase(
        "run", "--store", "s.sqlite", "--model", "m.lua", "-e", insert + "assert(moonbase.context:save())"
      ).status == 0)
    try bench.write(
      """
      local context = moonbase.context
      context:insert("Person", { name = "b" })
      assert(context:save())
      print("ready") io.stdout:flush()
      io.read()
      context:insert("Person", { name = "c" })
      local ok, err = context:save()
      \(reaction)
      """, to: "busy.lua")
    // Another process takes the lock after the script's first save, and holds it until the script ends.
    try bench.write(
      """
      mkfifo in sql
      "$1" run --store s.sqlite busy.lua <in >ready.txt &
      script=$!
      exec 8>in
      until [ -s ready.txt ]; do sleep 0.1; done
      sqlite3 s.sqlite <sql >locked.txt &
      exec 9>sql
      echo 'BEGIN IMMEDIATE; SELECT 1;' >&9
      until [ -s locked.txt ]; do sleep 0.1; done
      echo go >&8
      wait $script
      exit $?
      """, to: "busy.sh")
    let run = try bench.program("timeout", "60", "sh", "busy.sh", Workbench.command.path)
    #expect(run.status == 75)
    #expect(run.complaints.contains("try again"))
  }

  @Test func outputThatDoesNotArriveIsAFailure() throws {
    let code = "print(string.rep('x', 100000))"
    let full = try bench.program(
      "sh", "-c", "\"$0\" run -e \"$1\" >/dev/full", Workbench.command.path, code)
    #expect(full.status == 1 && full.complaints.contains("standard output"))
    for streams in [">&-", "2>&-", ">&- 2>&-", "<&-"] {
      // No opened file gets the descriptor of a closed stream.
      let code = "local f = io.open('v.txt', 'w') print('out') io.stderr:write('err') f:write('data') f:close()"
      _ = try bench.program("sh", "-c", "\"$0\" run -e \"$1\" \(streams)", Workbench.command.path, code)
      #expect(try bench.bytes(of: "v.txt") == Data("data".utf8), "\(streams)")
    }
    let help = try bench.program("sh", "-c", "\"$0\" --help >/dev/full", Workbench.command.path)
    #expect(help.status == 1)
  }

  #if os(Linux)
    @Test func interruptionEndsTheScript() throws {
      // The signal is sent once the script has printed that it runs, however slow the machine is.
      try bench.write(
        "print('ready') io.stdout:flush() while true do pcall(function() while true do end end) end", to: "forever.lua")
      try bench.write(
        """
        env --default-signal=INT "$1" run --limit-time 60 forever.lua >ready.txt &
        script=$!
        tries=0
        until [ -s ready.txt ] || [ $tries -ge 600 ]; do sleep 0.1; tries=$((tries + 1)); done
        kill -INT $script
        wait $script
        """, to: "interrupt.sh")
      let run = try bench.program("sh", "interrupt.sh", Workbench.command.path)
      #expect(run.status == 130)
      #expect(run.complaints.hasPrefix("moonbase run: forever.lua:1: interrupted\nstack traceback:\n"))
    }

    @Test func interruptionEndsTheWaitForInput() throws {
      try bench.write("print('ready') io.stdout:flush() print('read', io.read()) print('after')", to: "waiting.lua")
      try bench.write(
        """
        mkfifo pipe
        exec 3<>pipe
        env --default-signal=INT "$1" run --limit-time 60 waiting.lua <pipe >ready.txt &
        script=$!
        tries=0
        until [ -s ready.txt ] || [ $tries -ge 600 ]; do sleep 0.1; tries=$((tries + 1)); done
        sleep 0.5
        kill -INT $script
        tries=0
        while kill -0 $script 2>&- && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
        kill -KILL $script 2>&-
        wait $script
        """, to: "interrupt.sh")
      let run = try bench.program("sh", "interrupt.sh", Workbench.command.path)
      #expect(run.status == 130)
      let output = try Data(contentsOf: bench.folder.appendingPathComponent("ready.txt"))
      #expect(String(decoding: output, as: UTF8.self) == "ready\n")
    }
  #endif

  /// The script gets its arguments, and a note says that they are the script's.
  @Test(
    arguments: [
      (["--store", "x.sqlite"], "--store"), (["a", "--limit-time=3"], "--limit-time=3"), (["--quiet"], "--quiet"),
      (["a", "--help"], nil), (["--", "--store", "x"], nil), (["--storey", "-e"], nil),
    ] as [([String], String?)])
  func anOptionBehindTheScriptIsTheScripts(arguments: [String], told: String?) throws {
    let bench = try Workbench()
    try bench.write("print(...)", to: "s.lua")
    let run = try bench.moonbase(["run", "s.lua"] + arguments)
    #expect(run.status == 0 && run.output == arguments.joined(separator: "\t") + "\n")
    let word = told.map { "moonbase run: \($0) stands behind the script and goes to it" } ?? ""
    #expect(told == nil ? run.complaints == "" : run.complaints.hasPrefix(word), "\(run)")
    #expect(try bench.moonbase(["run", "--quiet", "s.lua"] + arguments).complaints == "")
  }

  @Test func theProgramsNameRunsIt() throws {
    let bench = try Workbench()
    try bench.write("print('again', ...)", to: "b.lua")
    try bench.write("io.stdout:flush() os.execute(('%q run b.lua x'):format(arg[-1]))", to: "a.lua")
    let run = try bench.moonbase("run", "--sandbox", "trusted", "a.lua")
    #expect(run.status == 0 && run.output == "again\tx\n", "\(run)")
  }

  @Test func filesOfAnotherKindSayWhatTheyAre() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { A = { attributes = { x = 'string' } } } }", to: "m.lua")
    try bench.write("return { entities = { A = { will_save = function(a) end } } }", to: "x.lua")
    try bench.write("return { classes = { C = {} } }", to: "c.lua")
    for name in ["x.lua", "c.lua"] {
      let run = try bench.moonbase("run", "--model", name, "-e", "")
      #expect(run.status == 1 && run.complaints.contains("\(name): this file is an extension, not a model"))
    }
    let run = try bench.moonbase("run", "--model", "m.lua", "--extension", "m.lua", "-e", "")
    #expect(run.status == 1 && run.complaints.contains("m.lua: this file is a model, not an extension"))
    let fine = try bench.moonbase("run", "--model", "m.lua", "--extension", "x.lua", "-e", "")
    #expect(fine.status == 0, "\(fine)")
  }

  @Test func aStoreWhoseNameHasAnEqualsSignIsNoConfiguration() throws {
    try bench.write("return { entities = { P = { attributes = { s = 'string' } } } }", to: "m.lua")
    let insert = "moonbase.context:insert('P', { s = 'a' }) assert(moonbase.context:save())"
    let count = "io.write(moonbase.context:fetch('P'):count())"
    #expect(try bench.moonbase("run", "--store", "./a=b.sqlite", "--model", "m.lua", "-e", insert).status == 0)
    // An existing file takes precedence.
    #expect(try bench.moonbase("run", "--store", "a=b.sqlite", "-e", count).output == "1")
    let first = try bench.moonbase("run", "--store", "c?mode=ro", "--model", "m.lua", "-e", insert)
    #expect(first.status == 0, "\(first)")
    #expect(try bench.moonbase("run", "--store", "c?mode=ro", "-e", count).output == "1")
    let other = try bench.moonbase("run", "--store", "x=y.sqlite", "--model", "m.lua", "-e", "")
    #expect(other.status == 1 && other.complaints.contains("no configuration x"), "\(other)")
  }
}
