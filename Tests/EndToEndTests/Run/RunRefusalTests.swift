import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Every kind of bad input gives a clear message and the right status, and leaves all files unchanged.
@Suite struct RunRefusalTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "m.lua")
  }

  /// Expects a refusal that changes nothing on disk.
  private func refused(_ arguments: [String], status: Int32 = 1) throws -> String {
    let before = try contents()
    let run = try bench.moonbase(["run"] + arguments)
    #expect(run.status == status)
    #expect(run.output == "")
    #expect(run.complaints.hasPrefix("moonbase run: "))
    #expect(try contents() == before)
    return run.complaints
  }

  private func contents() throws -> [String: Data?] {
    Dictionary(uniqueKeysWithValues: try bench.names().map { ($0, try? bench.bytes(of: $0)) })
  }

  @Test(
    arguments: [
      ("nowhere.lua", "nowhere.lua: there is no such file"), (".", ". is a folder; a script file is expected"),
    ])
  func aScriptThatIsNotThereIsNamed(_ path: String, _ message: String) throws {
    #expect(try refused([path]) == "moonbase run: \(message)\n")
  }

  @Test(
    arguments: [
      (["--store", "a.sqlite", "--store", "b.sqlite"], "the configuration that each holds"),
      (["--store", "A=a.sqlite", "--store", "B=a.sqlite"], "names a.sqlite twice"),
      (["--model", "m.lua", "--model=n.lua"], "--model is given twice, and one is used: leave the other out"),
      (["--sandbox", "pure", "--sandbox", "trusted"], "--sandbox is given twice"),
      (["--limit-time", "5", "--limit-time", "5"], "--limit-time is given twice"),
      (["--save-order", "guide", "--save-order", "guide"], "--save-order is given twice"),
      (["--store", "A="], "[CONFIGURATION=]PATH"), (["--save-order", "late"], "guide or framework"),
    ])
  func optionsThatMakeNoSenseAreRefused(_ options: [String], _ part: String) throws {
    #expect(try refused(options + ["-e", ""], status: 2).contains(part))
  }

  @Test func aConfigurationThatTheModelLacksIsNamed() throws {
    #expect(try refused(["--store", "Peple=p.sqlite", "--model", "m.lua", "-e", ""]).contains("Peple"))
  }

  @Test func aBrokenScriptIsShownWithItsLine() throws {
    try bench.write("local a = 1\nx = = 2\n", to: "broken.lua")
    #expect(try refused(["broken.lua"]).contains("broken.lua:2: unexpected symbol near '='"))
  }

  @Test func theCodeAroundAMistakeIsShown() throws {
    try bench.write("local a = 1\nx = = 2\n", to: "broken.lua")
    #expect(try refused(["broken.lua"]).contains("\n> 2 | x = = 2\n    |     ^"))
    try bench.write("local a\nlocal b = a.b\n", to: "failing.lua")
    #expect(try refused(["failing.lua"]).contains("\n> 2 | local b = a.b\n    |           ^\n"))
  }

  @Test func limitsAreNumbers() throws {
    #expect(try refused(["--limit-memory", "x5", "-e", ""], status: 2).contains("takes a number, not 'x5'"))
    #expect(try refused(["--limit-instructions", "0", "-e", ""], status: 2).contains("above 0"))
    #expect(try refused(["--limit-memory", "10", "-e", ""], status: 3).contains("--limit-memory"))
    #expect(
      try refused(["--limit-instructions", "1e3", "-e", "while true do end"], status: 3).contains("instructions"))
    #expect(try bench.moonbase("run", "--limit-memory", "64M", "-e", "print(1)").output == "1\n")
  }

  @Test func aBrokenScriptMakesNoStore() throws {
    try bench.write("x = = 2", to: "broken.lua")
    let message = try refused(["--store", "new.sqlite", "--model", "m.lua", "broken.lua"])
    #expect(message.contains("broken.lua:1: "))
  }

  @Test func aScriptThatIsNoTextIsRefused() throws {
    try Data([0x1B, 0x4C, 0x75, 0x61, 0x54, 0xFF]).write(to: bench.file("binary.lua"))
    #expect(try refused(["binary.lua"]).contains("binary.lua"))
  }

  @Test(
    arguments: [
      ("return {", "bad.lua:"),
      ("return { entities = { A = { attributes = { n = 'strin' } } } }", "did you mean string?"),
      ("return { entities = { A = { relationships = { b = { to = 'B' } } } } }", "B"), ("return 1", "bad.lua"),
    ])
  func aBrokenModelIsNamedWithItsMistake(_ model: String, _ part: String) throws {
    try bench.write(model, to: "bad.lua")
    let message = try refused(["--model", "bad.lua", "-e", ""])
    #expect(message.contains("bad.lua"))
    #expect(message.contains(part))
  }

  @Test func aMissingModelOrExtensionIsNamed() throws {
    #expect(try refused(["--model", "nowhere.lua", "-e", ""]).contains("nowhere.lua"))
    #expect(try refused(["--model", "m.lua", "--extension", "nowhere.lua", "-e", ""]).contains("nowhere.lua"))
    #expect(try refused(["--store", "new.sqlite", "-e", ""]).contains("a new store needs a model"))
  }

  @Test(
    arguments: [
      ("return {\n  name = 'x',\n  transfomers = {},\n}", "e.lua:3: ", "did you mean transformers?"),
      ("return {\n  name = 'x',\n  entities = {\n    Persn = {},\n  },\n}", "e.lua:4: ", "Person"),
      ("return { name = 'x', entities = { Person = { validate = { nme = print } } } }", "e.lua:1: ", "name"),
      ("error('early')", "e.lua:1: ", "early"), ("local x =", "e.lua:1: ", "<eof>"),
    ])
  func aBrokenExtensionIsNamedWithItsPlace(_ text: String, _ place: String, _ part: String) throws {
    try bench.write(text, to: "e.lua")
    let message = try refused(["--model", "m.lua", "--extension", "e.lua", "-e", ""])
    #expect(message.contains(place))
    #expect(message.contains(part))
  }

  @Test(
    arguments: [
      ("moonbase.context:insert('Persn')", "did you mean Person?"),
      ("print(moonbase.context:insert('Person').nam)", "did you mean name?"),
      ("moonbase.context:fetch('Person'):where('nme = 1'):all()", "did you mean name?"),
      ("moonbase.context:fetch('Person'):where('name = '):all()", "-e:1: "),
    ])
  func anUnknownNameInAScriptIsToldWithItsPlace(_ code: String, _ part: String) throws {
    let message = try refused(["--model", "m.lua", "-e", code])
    #expect(message.contains("-e:1: "))
    #expect(message.contains(part))
  }

  @Test func aFileThatIsNoDatabaseIsRefused() throws {
    try bench.write("hello", to: "text.sqlite")
    #expect(try refused(["--model", "m.lua", "--store", "text.sqlite", "-e", ""]).contains("not a SQLite database"))
  }

  @Test func aDatabaseThatIsNoCoreDataStoreIsRefused() throws {
    _ = try bench.program("sqlite3", "plain.sqlite", "CREATE TABLE a (b)")
    #expect(try refused(["--model", "m.lua", "--store", "plain.sqlite", "-e", ""]).contains("no Core Data store"))
    #expect(try refused(["--store", "plain.sqlite", "-e", ""]).contains("no Core Data store"))
  }

  @Test func aFolderInThePlaceOfAStoreIsRefused() throws {
    try FileManager.default.createDirectory(at: bench.file("d.sqlite"), withIntermediateDirectories: true)
    #expect(try refused(["--model", "m.lua", "--store", "d.sqlite", "-e", ""]).contains("is a folder"))
  }

  @Test func aReadOnlyStoreKeepsEveryByte() throws {
    let save = "moonbase.context:insert('Person', { name = 'a' }) assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", save).status == 0)
    #expect(try refused(["--store", "s.sqlite", "--read-only", "-e", save]).contains("read-only"))
  }

  @Test func aStoreOfAnotherModelIsRefused() throws {
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "").status == 0)
    try bench.write("return { entities = { Person = { attributes = { title = 'string' } } } }", to: "other.lua")
    #expect(try refused(["--store", "s.sqlite", "--model", "other.lua", "-e", ""]).contains("Person"))
  }

  @Test(
    arguments: [
      "moonbase.open { store = '/moonbase-not-granted.sqlite', model = { entities = {} } }",
      "moonbase.open { store = '../moonbase-not-granted.sqlite', model = { entities = {} } }",
      "moonbase.open { model = '/etc/hosts' }", "assert(io.open('/etc/hosts'))", "assert(io.open('../x', 'w'))",
    ])
  func filesOutsideOfWhatIsGrantedAreRefused(_ code: String) throws {
    #expect(try refused(["-e", code]).contains("--allow"))
  }

  @Test(
    arguments: [
      [], ["--bogus"], ["--store"], ["--store", "a"], ["--sandbox", "loose", "-e", ""], ["--allow", "all", "-e", ""],
      ["--limit-time", "-1", "-e", ""], ["-e"],
    ])
  func wrongUsageIsToldWithTheHelp(_ arguments: [String]) throws {
    #expect(try refused(arguments, status: 2).contains("See 'moonbase run --help'."))
  }
}
