import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Pipes, devices and deceptive paths.
@Suite struct SpecialFileTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { i = 'integer64' } } } }", to: "m.lua")
    try #require(mkfifo(bench.file("pipe").path, 0o600) == 0)
  }

  @Test(
    arguments: [
      ["info", "pipe"], ["model", "show", "pipe"], ["run", "--store", "pipe", "--model", "m.lua", "-e", "x = 1"],
      ["run", "--store", "s.sqlite", "--model", "pipe", "-e", "x = 1"],
    ])
  func aPipeIsRefusedAtOnce(_ arguments: [String]) throws {
    let refused = try bench.program("timeout", ["20", Workbench.command.path] + arguments)
    #expect(refused.status == 1)
    #expect(refused.complaints.contains("pipe"))
    #expect(try bench.names() == ["m.lua", "pipe"])
  }

  /// Each command that takes a store, with a special file in its place.
  private static let commands = [
    "migrate STORE --to m.lua --plan", "migrate STORE --to m.lua --plan --staged", "migrate STORE --to m.lua",
    "migrate STORE --to m.lua --mapping map.lua --plan", "info STORE", "doctor STORE", "doctor STORE --repair",
    "backup STORE copy", "sql STORE select", "history STORE", "fetch P --store STORE", "export P --store STORE",
    "each P --store STORE --do x", "import P m.csv --store STORE", "batch status --store STORE",
    "export --all folder --store STORE", "run --store STORE -e return", "model check STORE",
  ]
  private static let noFiles = ["pipe", "socket", "folder", "/dev/null"]

  @Test(
    arguments: TestLength.sampled(commands.flatMap { command in noFiles.map { (command, $0) } }, every: 5))
  func whatIsNoFileIsRefusedAtOnceByEachCommand(command: String, file: String) throws {
    try bench.write("return {}", to: "map.lua")
    try bench.write("i\n1\n", to: "m.csv")
    try FileManager.default.createDirectory(at: bench.file("folder"), withIntermediateDirectories: false)
    try makeSocket(bench.file("socket").path)
    let names = try bench.names()
    let words = command.split(separator: " ").map { $0 == "STORE" ? file : String($0) }
    let refused = try bench.program("timeout", ["20", Workbench.command.path] + words)
    #expect(refused.status == 1, "\(refused)")
    #expect(refused.complaints.contains(file) && refused.output == "", "\(refused)")
    #expect(try bench.names() == names)
  }

  private func makeSocket(_ path: String) throws {
    let made = try bench.program("python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('socket')")
    try #require(made.status == 0, "\(made)")
  }

  /// SQLite would write its log or index into the file with the other name.
  @Test(arguments: ["-wal", "-shm", "-journal"]) func aSecondNameOfAnotherFileIsNoLog(_ suffix: String) throws {
    let code = "local c = moonbase.context c:insert('P') assert(c:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    try? FileManager.default.removeItem(at: bench.file("s.sqlite\(suffix)"))
    try bench.write("precious", to: "other")
    try #require(link(bench.file("other").path, bench.file("s.sqlite\(suffix)").path) == 0)
    let refused = try bench.moonbase("run", "--store", "s.sqlite", "-e", "print(moonbase.context:fetch('P'):count())")
    #expect(refused.status == 1 && refused.complaints.contains("second name of another file"), "\(refused.complaints)")
    #expect(try String(contentsOf: bench.file("other"), encoding: .utf8) == "precious")
  }

  @Test func theErrorThatEndsAScriptIsToldByItsBeginning() throws {
    let run = try bench.program(
      "timeout", ["60", Workbench.command.path, "run", "-e", "error(('x'):rep(1 << 20):rep(64))"])
    #expect(run.status == 1 && run.complaints.contains("bytes in all)"))
    #expect(run.complaints.utf8.count < 2 << 20)
  }

  /// No process writes to the pipe or reads from it.
  @Test(
    arguments: [
      "for line in io.lines('pipe') do end", "FILL print('done')", "FILL f = nil collectgarbage()", "FILL os.exit(0)",
      "FILL error('a mistake')", "io.write(('x'):rep(65536)) io.stdout:flush() print('rest')",
    ])
  func limitsHoldWhileAPipeIsWaitedFor(_ script: String) throws {
    let fill = "f = io.open('pipe', 'r+') for i = 1, 16 do f:write(('x'):rep(4096)) end f:flush() f:write('rest')"
    try bench.write(script.replacing("FILL", with: fill), to: "s.lua")
    let run = try bench.program(
      "timeout", ["120", "sh", "-c", "exec 3<>pipe; \"$0\" run --limit-time 1 s.lua >&3", Workbench.command.path])
    #expect(run.status == 3, "\(run)")
    #expect(run.complaints.contains("a mistake") == script.contains("a mistake"), "\(run)")
  }

  /// Blanks before a number are skipped as they are read, and they may never end.
  @Test func limitsHoldWhileANumberIsLookedFor() throws {
    let run = try bench.program(
      "timeout",
      [
        "20", "sh", "-c", "yes ' ' >pipe & \"$0\" run --limit-time 1 -e 'print(io.open(\"pipe\"):read(\"n\"))'",
        Workbench.command.path,
      ])
    #expect(run.status == 3, "\(run)")
  }

  /// Removing or renaming a link affects the link, not its destination.
  @Test func aLinkIsAnEntryOfItsOwn() throws {
    try bench.write("kept", to: "text")
    for name in ["one", "two"] { try #require(symlink("text", bench.file(name).path) == 0) }
    try FileManager.default.createDirectory(at: bench.file("folder"), withIntermediateDirectories: true)
    try #require(symlink("folder", bench.file("way").path) == 0)
    let run = try bench.moonbase(
      "run", "-e",
      "print(os.remove('one'), os.rename('two', 'way/three'), os.rename('text', 'way/text'), os.remove('../x'))")
    #expect(run.output.hasPrefix("true\ttrue\ttrue\tnil\t../x: not granted for writing"), "\(run)")
    #expect(try bench.names() == ["folder", "m.lua", "pipe", "way"])
    #expect(try String(contentsOf: bench.file("folder/text"), encoding: .utf8) == "kept")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: bench.file("folder/three").path) == "text")
  }

  /// The buffers of files read line by line count, and unreferenced files are collected to make room.
  @Test func openFilesAreWeighedAndCollected() throws {
    let keep = "local t = {} for i = 1, 900 do t[i] = io.lines('m.lua') t[i]() end"
    #expect(try bench.moonbase("run", "--limit-memory", "4M", "-e", keep).status == 3)
    let forget = "for i = 1, 900 do io.lines('m.lua')() io.open('m.lua') end print('done')"
    let run = try bench.program(
      "sh", ["-c", "ulimit -n 60; \"$0\" run -e \"\(forget)\"", Workbench.command.path])
    #expect(run.output == "done\n", "\(run)")
  }

  @Test func newUUIDsDifferWhereNoFileCanBeOpened() throws {
    let run = try bench.program(
      "sh",
      [
        "-c", "ulimit -n 40; \"$0\" run -e \"$1\"", Workbench.command.path,
        "local t = {} for i = 1, 60 do t[i] = io.open('m.lua') end print(moonbase.uuid()) print(moonbase.uuid())",
      ])
    let lines = Set(run.output.split(separator: "\n"))
    let form = /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
    #expect(lines.count == 2 && lines.allSatisfy { $0.wholeMatch(of: form) != nil })
  }

  @Test func aModelThatIsNoneIsNotTakenForAStore() throws {
    try bench.write("\n", to: "line.lua")
    let run = try bench.moonbase("run", "--model", "line.lua", "-e", "x = 1")
    #expect(run.status == 1 && run.complaints.contains("line.lua") && !run.complaints.contains("store"), "\(run)")
  }

  /// A slow reader gets all output, though the script dropped the pipe without closing it.
  @Test(arguments: ["", "os.exit(0)", "error('a mistake')", "f = nil collectgarbage()"])
  func whatWasWrittenArrives(_ end: String) throws {
    try bench.write(
      "local f = io.open('pipe', 'w') for i = 1, 40 do f:write(('x'):rep(4096)) end \(end)", to: "s.lua")
    let run = try bench.program(
      "timeout",
      [
        "20", "sh", "-c",
        "(sleep 0.3; dd bs=1000 count=1 status=none; sleep 0.3; cat) <pipe | wc -c & \"$0\" run s.lua; wait",
        Workbench.command.path,
      ])
    #expect(run.output.filter { !$0.isWhitespace } == "163840", "\(run)")
  }

  @Test func aScriptMayComeThroughAPipe() throws {
    let run = try bench.program(
      "timeout", ["20", "bash", "-c", "\"$0\" run <(echo 'print(6 * 7)')", Workbench.command.path])
    #expect(run.output == "42\n", "\(run.complaints)")
  }

  @Test func aPathThatIsNoTextIsRefused() throws {
    let run = try bench.program(
      "bash", ["-c", "\"$0\" run --store $'\\xff.sqlite' --model m.lua -e 1", Workbench.command.path])
    #expect(run.status == 2)
    #expect(run.complaints.contains("argument 3 is no UTF-8 text"))
    #expect(try bench.names() == ["m.lua", "pipe"])
  }

  @Test func aParentFolderIsThatOfALinksDestination() throws {
    try FileManager.default.createDirectory(at: bench.file("real/deep"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: bench.file("link").path, withDestinationPath: "real/deep")
    let code = "local c = moonbase.context c:insert('P') assert(c:save())"
    #expect(try bench.moonbase("run", "--store", "link/../s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    #expect(try bench.moonbase("info", "link/../s.sqlite").output.contains(" 1\n"))
    #expect(try bench.moonbase("info", "real/s.sqlite").output.contains(" 1\n"))
    #expect(!(try bench.names().contains("s.sqlite")))
  }

  /// Endless files, and files with a distant end; `huge.lua` has 64 GB and occupies no space.
  @Test(
    arguments: [
      ["run", "huge.lua"], ["run", "pipe"], ["run", "/dev/zero"], ["run", "--sandbox", "trusted", "huge.lua"],
      ["run", "--model", "m.lua", "--extension", "huge.lua", "-e", "x = 1"],
      ["run", "--model", "m.lua", "--extension", "pipe", "-e", "x = 1"],
      ["run", "--model", "m.lua", "--extension", "huge", "-e", "x = 1"],
      ["run", "-e", "require(('.'):rep(20 << 20))"], ["run", "-e", "require 'huge'"], ["run", "-e", "require 'tube'"],
      ["run", "--model", "huge.lua", "-e", "x = 1"], ["model", "show", "huge.lua"], ["model", "show", "huge.momd"],
      ["model", "show", "/dev/zero"], ["run", "-e", "assert(io.open('huge.lua')):read('a')", "--limit-memory", "64M"],
    ])
  func aSourceIsReadNoFurtherThanItsLimit(_ arguments: [String]) throws {
    try makeHugeFiles()
    let run = try bench.program(
      "timeout", ["120", "sh", "-c", "ulimit -v 700000; exec \"$@\"", "sh", Workbench.command.path] + arguments)
    #expect(run.status == 1 || run.status == 3, "\(run.status) \(run.complaints)")
    #expect(!run.complaints.isEmpty && run.complaints.utf8.count < 1000)
  }

  private func makeHugeFiles() throws {
    try FileManager.default.createDirectory(at: bench.file("huge"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(at: bench.file("huge.momd"), withIntermediateDirectories: true)
    try #require(mkfifo(bench.file("tube.lua").path, 0o600) == 0)
    for name in ["huge.lua", "huge/huge.lua", "huge.momd/huge.mom", "huge.momd/VersionInfo.plist"] {
      try bench.write("-- text\n", to: name)
      try #require(truncate(bench.file(name).path, 64 << 30) == 0)
    }
  }

  @Test func standardInputIsReadNoFurtherThanTheLimit() throws {
    let run = try bench.program("timeout", ["20", "bash", "-c", "\"$0\" run - </dev/zero", Workbench.command.path])
    #expect(run.status == 3)
    #expect(
      run.complaints == "moonbase run: stdin: the source has more than 1048576 bytes; --limit-source allows more\n")
  }
}
