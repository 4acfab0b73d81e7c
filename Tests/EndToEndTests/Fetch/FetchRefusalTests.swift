import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct FetchRefusalTests {
  @Test func unknownNamesSayWhichWereMeant() throws {
    let bench = try Workbench.withPeople()
    func complaint(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(["fetch"] + arguments + ["--store", "s.sqlite"])
      #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint("Persn").contains("no entity Persn; did you mean Person?"))
    #expect(try complaint("Person", "--columns", "naem").contains("no property naem; did you mean name?"))
    #expect(try complaint("Person", "--columns", "department.naem").contains("did you mean name?"))
    #expect(try complaint("Person", "--columns", "").contains("no property"))
    #expect(
      try complaint("Person", "--columns", "friends.@cuont").contains(
        "there is no operator @cuont; did you mean @count?"))
    #expect(try complaint("Person", "--columns", "name,friends.@sum").contains("needs an attribute behind it"))
    #expect(try complaint("Person", "--columns", "name.@count").contains("needs a to-many relationship"))
    #expect(try complaint("Person", "--columns", "name.x").contains("which has no keys"))
    #expect(try complaint("Person", "--columns", "naem", "--explain").contains("did you mean name?"))
    #expect(try complaint("Person", "--sort", "naem").contains("did you mean name?"))
    #expect(try complaint("Person", "--where", "age >").contains("column"))
    #expect(try complaint("Person", "--where", "age > %@").contains("argument"))
    #expect(try complaint("Person", "--where", "age > %@", "--param", "old").contains("impossible comparison"))
  }

  @Test func wrongUsageIsToldBeforeTheStoreIsOpened() throws {
    let bench = try Workbench()
    func complaint(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(["fetch", "Person"] + arguments)
      #expect(outcome.status == 2 && outcome.output == "", "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint().contains("--store PATH"))
    #expect(try complaint("--store", "a", "--store", "a").contains("twice"))
    #expect(try complaint("--store", "a", "--store", "b").contains("several stores need the configuration"))
    #expect(try complaint("--columns", "name", "age").contains("--columns name,age"))
    #expect(try complaint("--store", "a", "--limit", "0").contains("--limit takes a number above 0"))
    #expect(try complaint("--store", "a", "--param", "0").contains("--where"))
    #expect(try complaint("--store", "a", "--busy-timeout", "soon").contains("--busy-timeout takes a number"))
    #expect(try complaint("--store", "a", "--format", "xml").contains("--format"))
    #expect(try complaint("--store", "a", "--where", "i > 1", "--where", "i < 3").contains("join the conditions"))
    #expect(try complaint("--store", "a", "--sort=i", "--sort", "-j").contains("--sort is given twice"))
  }

  /// A value after `--where` and similar options may look like an option.
  @Test func optionsThatMayBeRepeatedAreNoMistake() throws {
    let bench = try Workbench.withPeople()
    let outcome = try bench.moonbase(
      "fetch", "Person", "--store", "s.sqlite", "--where", "age > %@ OR age < %@", "--param", "--count", "--param", "5",
      "--count")
    #expect(!outcome.complaints.contains("twice"), "\(outcome)")
  }

  /// For all options of the argument parser: an option given twice is refused unless it may be repeated.
  @Test func eachOptionIsTakenOnceOrMayBeRepeated() throws {
    struct Command: Decodable {
      struct Name: Decodable { var kind, name: String }
      struct Argument: Decodable {
        var kind: String
        var isRepeating: Bool
        var names: [Name]?
      }
      var commandName: String
      var arguments: [Argument]?
      var subcommands: [Command]?
    }
    struct Help: Decodable { var command: Command }
    let bench = try Workbench()
    var count = 0
    func look(_ command: Command, _ path: [String]) throws {
      for option in command.arguments ?? [] where option.kind == "option" {
        guard let name = option.names?.first(where: { $0.kind == "long" })?.name else { continue }
        let outcome = try bench.moonbase(path + ["--\(name)=1", "--\(name)=1"])
        let isRefused = outcome.status == 2 && outcome.complaints.contains("--\(name) is given twice")
        #expect(isRefused != option.isRepeating, "\(path) --\(name): \(outcome)")
        count += 1
      }
      for next in command.subcommands ?? [] where !["run", "help"].contains(next.commandName) {
        try look(next, path + [next.commandName])
      }
    }
    let help = try bench.moonbase("--experimental-dump-help").output
    try look(JSONDecoder().decode(Help.self, from: Data(help.utf8)).command, [])
    #expect(count > 50)
  }

  /// A command that changes existing data makes no store if a name is mistyped.
  @Test(arguments: [
    ["history", "gone.sqlite", "--keep", "1", "--model", "m.lua"],
    ["history", "gone.sqlite", "--delete-before", "2020-01-01", "--model", "m.lua"],
    ["each", "Person", "--store", "gone.sqlite", "--model", "m.lua", "--do", "object.age = 1"],
  ])
  func noStoreIsMade(_ arguments: [String]) throws {
    let bench = try Workbench.withPeople()
    let names = try bench.names()
    #expect(names.contains("m.lua"))
    let outcome = try bench.moonbase(arguments)
    #expect(outcome.status == 1 && outcome.complaints.contains("gone.sqlite: there is no such store"), "\(outcome)")
    #expect(try bench.names() == names)
  }

  @Test func whatIsNoStoreIsOneClearError() throws {
    let bench = try Workbench.withPeople()
    try bench.write("hello", to: "text.sqlite")
    try bench.write("", to: "empty.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: bench.file("loop.sqlite").path, withDestinationPath: bench.file("loop.sqlite").path)
    let names = try bench.names()
    func complaint(_ path: String) throws -> String {
      let outcome = try bench.moonbase("fetch", "Person", "--store", path)
      #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint("none.sqlite").contains("none.sqlite does not exist"))
    #expect(try complaint("text.sqlite").contains("not a SQLite database"))
    #expect(try complaint("empty.sqlite").contains("empty"))
    #expect(try complaint(".").contains("folder"))
    #expect(try complaint("loop.sqlite").contains("symbolic links"))
    #expect(try bench.names() == names)
  }

  @Test func aStoreBehindALinkAndInAFolderThatMayNotBeWrittenIsRead() throws {
    let bench = try Workbench.withPeople()
    try FileManager.default.createSymbolicLink(atPath: bench.file("link").path, withDestinationPath: "s.sqlite")
    let linked = try bench.moonbase("fetch", "Person", "--store", "link", "--count")
    #expect(linked.output == "3\n", "\(linked)")
    let other = try Workbench.withPeople()
    let before = try other.contents()
    chmod(other.folder.path, 0o500)
    defer { chmod(other.folder.path, 0o700) }
    #expect(try other.moonbase("fetch", "Person", "--store", "s.sqlite", "--count").output == "3\n")
    #expect(try other.contents() == before)
  }

  @Test func aStoreInRollbackModeThatIsBeingWrittenIsBusy() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("PRAGMA journal_mode = DELETE", in: "s.sqlite")
    #expect(
      try bench.program(
        "sqlite3", "s.sqlite", "BEGIN EXCLUSIVE",
        ".shell \(Self.quoted(Workbench.command.path)) fetch Person --store s.sqlite --busy-timeout 0.05; echo status=$?"
      ).output.contains("status=75"))
  }

  /// No command waits for the default of five seconds at any read of the file.
  @Test(arguments: [
    "info s.sqlite", "backup s.sqlite copy.sqlite", "doctor s.sqlite", "sql s.sqlite 'SELECT 1'", "history s.sqlite",
    "fetch Person --store s.sqlite", "run --store s.sqlite -e return", "migrate s.sqlite --to m.lua",
    "migrate s.sqlite --to m.lua --plan", "migrate s.sqlite --to m.lua --staged",
    "migrate s.sqlite --to m.lua --staged --plan", "migrate s.sqlite --to m.lua --mapping mapping.lua",
    "migrate s.sqlite --to m.lua --mapping mapping.lua --plan",
  ]) func whatLocksAStoreInRollbackModeIsWaitedForAsLongAsToldByEachCommand(_ command: String) throws {
    let bench = try Workbench.withPeople()
    try bench.write("return {}", to: "mapping.lua")
    try bench.execute("PRAGMA journal_mode = DELETE", in: "s.sqlite")
    let output = try bench.program(
      "sqlite3", "s.sqlite", "BEGIN EXCLUSIVE",
      ".shell \(Self.quoted(Workbench.command.path)) \(command) --busy-timeout 0; echo status=$?"
    ).output
    #expect(output.contains("status=75"), "\(output)")
    #expect(!FileManager.default.fileExists(atPath: bench.file("copy.sqlite").path))
  }

  private static func quoted(_ path: String) -> String { "'\(path)'" }

  @Test func aReaderThatGoesEndsTheFetchWithoutAWord() throws {
    let bench = try Workbench.withPeople()
    let code =
      "for i = 1, 20000 do moonbase.context:insert('Department', { name = ('x'):rep(50) }) end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    let pipe = "'\(Workbench.command.path)' fetch Department --store s.sqlite --format csv | head -1"
    let outcome = try bench.program("sh", "-c", pipe)
    #expect(outcome.status == 0 && outcome.output == "_id,name\n" && outcome.complaints == "", "\(outcome)")
  }
}
