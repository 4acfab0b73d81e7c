import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A file of the wrong kind: the message says what kind of file it is, and which command takes it.
@Suite struct WrongFileTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { i = 'integer64' } } } }", to: "m.lua")
    try bench.write("return { entities = { P = { will_save = print } } }", to: "e.lua")
    try bench.write("x = 1", to: "tour.lua")
    try bench.write("", to: "empty")
    try (Data("bplist00".utf8) + [0xFF, 0xFE]).write(to: bench.file("x.mom"))
    try FileManager.default.createDirectory(at: bench.file("folder"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(at: bench.file("x.xcdatamodel"), withIntermediateDirectories: true)
    try bench.write(Models.people(), to: "x.xcdatamodel/contents")
    let made = try bench.moonbase("run", "--model", "m.lua", "--store", "s.sqlite", "-e", "")
    try #require(made.status == 0)
  }

  static let slips: [(arguments: [String], message: String)] = [
    (["info", "m.lua"], "not a SQLite database but a text, and info tells of stores: 'moonbase run m.lua'"),
    (["info", "e.lua"], "not a SQLite database but a text"),
    (["info", "x.xcdatamodel"], "but a model, and info tells of stores: 'moonbase model show x.xcdatamodel'"),
    (["info", "folder"], "is a folder, not a store"), (["info", "empty"], "empty is empty: there is no store in it"),
    (["info", "nope.sqlite"], "nope.sqlite: there is no such file: name a store"),
    (
      ["model", "show", "e.lua"],
      "an extension, not a model: it goes with one (moonbase run --model MODEL --extension e.lua"
    ),
    (
      ["model", "check", "e.lua"],
      "an extension, not a model: it goes with one (moonbase run --model MODEL --extension e.lua"
    ),
    (["model", "show", "tour.lua"], "this one returns nothing; a script is run by moonbase run"),
    (["model", "show", "folder"], "the folder is empty"), (["model", "show", "empty"], "the file is empty"),
    (["model", "show", "nope"], "nope: there is no such file or folder"),
    (["run", "s.sqlite"], "s.sqlite is a SQLite database; a store is named with --store"),
    (["run", "x.mom"], "x.mom is a property list; a compiled model is named with --model"),
    (["run", "x.xcdatamodel"], "a script file is expected, and a model is named with --model"),
    (["run", "folder"], "folder is a folder; a script file is expected"),
    (
      ["run", "--model", "m.lua", "--extension", "s.sqlite", "-e", ""],
      "is a SQLite database; a store is named with --store"
    ),
    (
      ["run", "--model", "m.lua", "--extension", "m.lua", "-e", ""],
      "a model, not an extension: name it as the model (--model"
    ),
    (
      ["run", "--model", "m.lua", "--extension", "folder", "-e", ""],
      "a folder without extensions, whose names end with .lua"
    ),
    (["run", "--model", "m.lua", "--extension", "x.xcdatamodel", "-e", ""], "it is a model, and 'moonbase model show"),
    (
      ["run", "--model", "m.lua", "--extension", "tour.lua", "-e", ""],
      "an extension file returns a table; this one returns nothing; a script is run by moonbase run"
    ),
    (["run", "--model", "e.lua", "-e", ""], "an extension, not a model: it goes with one"),
    (["run", "--store", "m.lua", "-e", ""], "is not a SQLite database"),
    (
      ["run", "--store", "empty", "-e", ""],
      "empty is empty: there is no store in it; to make one, name a model (--model) and open it for writing"
    ),
  ]

  @Test(arguments: slips.indices) func theMessageSaysWhatItIsAndWhatTakesIt(_ index: Int) throws {
    let slip = Self.slips[index]
    let run = try bench.moonbase(slip.arguments)
    #expect(run.status == 1)
    #expect(run.complaints.contains(slip.message), "\(run)")
  }

  @Test(arguments: [("m.lua", "a model (name it with --model)"), ("e.lua", "an extension (name it with --extension)")])
  func whatIsNoScriptDoesNotRunInSilence(_ name: String, _ form: String) throws {
    let run = try bench.moonbase("run", name)
    #expect(run.status == 0 && run.complaints.contains("\(name) returned \(form)"), "\(run)")
  }

  @Test(arguments: [
    "for line in io.lines('pipe') do end", "io.open('pipe'):read('a')", "io.open('pipe', 'w'):write(('x'):rep(1e6))",
  ])
  func aPipeThatNobodyServesEndsAtTheDeadline(_ code: String) throws {
    try #require(mkfifo(bench.file("pipe").path, 0o600) == 0)
    // A pipe that stays open and empty, without a reader.
    let run = try bench.program(
      "timeout",
      ["20", "bash", "-c", "exec 9<>pipe; \"$0\" run --limit-time 1 -e \"$1\"", Workbench.command.path, code])
    #expect(run.status == 3 && run.complaints.contains("ran out of time"), "\(run)")
  }
}
