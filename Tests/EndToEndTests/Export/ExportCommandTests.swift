import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase export ENTITY`.
@Suite struct ExportCommandTests {
  let bench: Workbench

  init() throws { bench = try Workbench.withPeople() }

  private func export(_ arguments: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["export", arguments[0], "--store", "s.sqlite"] + arguments.dropFirst())
  }

  private func text(_ name: String) throws -> String { String(decoding: try bench.bytes(of: name), as: UTF8.self) }

  @Test func theFormFollowsTheFileNameAndIsThatOfFetch() throws {
    for (format, names) in ["csv": ["a.csv"], "json": ["a.json"], "ndjson": ["a.ndjson", "a.jsonl"], "tsv": ["a.tsv"]] {
      let fetched = try bench.moonbase(
        "fetch", "Person", "--store", "s.sqlite", "--sort", "age,name", "--uri", "--format", format)
      for name in names {
        let outcome = try export("Person", name, "--sort", "age,name")
        #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
        #expect(try text(name) == fetched.output)
      }
      #expect(try export("Person", "-", "--sort", "age,name", "--format", format).output == fetched.output)
      #expect(try export("Person", "any", "--sort", "age,name", "--format", format, "--force").status == 0)
      #expect(try text("any") == fetched.output)
    }
    #expect(try export("Department", "--columns", "name").output == "{\"name\": \"Sales\"}\n")
  }

  @Test func tabsAndLineEndsOfATextAreQuotedInTSV() throws {
    let code = """
      moonbase.context:insert("Department", { name = "a\\tb" }) moonbase.context:insert("Department", { name = 'c "d"\\r\\n' })
      moonbase.context:insert("Department", { name = "e,f" }) moonbase.context:insert("Department", { name = "" })
      moonbase.context:insert("Department", {}) assert(moonbase.context:save())
      """
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    let outcome = try export("Department", "--columns", "name,people.@count", "--format", "tsv")
    #expect(
      outcome.output
        == "name\tpeople.@count\nSales\t2\n\"a\tb\"\t0\n\"c \"\"d\"\"\r\n\"\t0\ne,f\t0\n\"\"\t0\n\t0\n", "\(outcome)")
  }

  @Test func whatIsSelectedIsWrittenWithItsColumns() throws {
    let outcome = try export(
      "Person", "p.csv", "--where", "age == %@", "--param", "30", "--sort", "-name", "--limit", "1", "--columns",
      "name,department.name,friends", "--null", "-")
    #expect(outcome.status == 0, "\(outcome)")
    let lines = try text("p.csv").split(separator: "\n")
    #expect(lines.count == 2 && lines[1].hasPrefix("\"\",Sales,\"[\"\"x-coredata://"), "\(lines)")
    let dates = try export("Person", "--columns", "born", "--where", "born != NULL", "--dates", "unix")
    #expect(dates.output == "{\"born\": 978307201.5}\n")
  }

  @Test func whatIsThereIsReplacedOnlyWhenTold() throws {
    try bench.write("old", to: "a.csv")
    chmod(bench.file("a.csv").path, 0o600)
    let before = try bench.contents()
    let refused = try export("Person", "a.csv")
    #expect(refused.status == 1 && refused.complaints.contains("--force"), "\(refused)")
    for file in ["s.sqlite", "s.sqlite-wal", ".s_SUPPORT", "."] {
      let refused = try export("Person", file, "--format", "csv", "--force")
      #expect(refused.status == 1 && refused.complaints.contains("name a"), "\(file): \(refused)")
    }
    #expect(try bench.contents() == before)
    #expect(try export("Person", "a.csv", "--force").status == 0)
    #expect(try text("a.csv").hasPrefix("_id,"))
    var status = stat()
    #expect(stat(bench.file("a.csv").path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func aLinkStaysAndWhatItLeadsToIsReplaced() throws {
    try bench.write("old", to: "a.csv")
    try FileManager.default.createSymbolicLink(atPath: bench.file("l.csv").path, withDestinationPath: "a.csv")
    #expect(try export("Department", "l.csv", "--columns", "name", "--force").status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: bench.file("l.csv").path) == "a.csv")
    #expect(try text("a.csv") == "name\nSales\n")
  }

  @Test func anExportThatFailsLeavesWhatWasThere() throws {
    let code =
      "for i = 1, 3000 do moonbase.context:insert('Department', { name = ('x'):rep(100) }) end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    try bench.write("old", to: "a.csv")
    let before = try bench.contents()
    // Limits the size of a file, in blocks of 1024 bytes.
    let full = try bench.program(
      "bash", "-c", "ulimit -f 40; exec \"$0\" \"$@\"", Workbench.command.path, "export", "Department", "a.csv",
      "--store",
      "s.sqlite", "--force")
    #expect(full.status == 1 && full.complaints.contains("a.csv cannot be written: File too large"), "\(full)")
    let unknown = try export("Nobody", "b.csv")
    #expect(unknown.status == 1 && unknown.complaints.contains("Nobody"))
    let noFolder = try export("Department", "none/b.csv")
    #expect(noFolder.status == 1 && noFolder.complaints.contains("none/b.csv cannot be written"))
    #expect(try bench.contents() == before)
    #if os(Linux)
      let device = try export("Department", "/dev/full", "--format", "csv")
      #expect(device.status == 1 && device.complaints.contains("No space left on device"), "\(device)")
    #endif
  }

  @Test func aReaderThatGoesEndsItQuietly() throws {
    let code =
      "for i = 1, 30000 do moonbase.context:insert('Department', { name = 'n' }) end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    let outcome = try bench.program(
      "bash", "-c", "\"$0\" export Department --store s.sqlite | head -n 1 >/dev/null", Workbench.command.path)
    #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
  }

  @Test func aStoreBesideItsLogWithoutOneAndWithoutItsIndexGivesTheSameInItsOrder() throws {
    let code =
      "for i = 1, 3000 do moonbase.context:insert('Department', { name = ('%05d'):format(i * 7 % 3001) }) end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    let arguments = ["Department", "--where", "name < 'A'", "--sort", "-name"]
    let logged = try bench.moonbase(["export", "--store", "s.sqlite"] + arguments)
    #expect(logged.status == 0 && logged.output.split(separator: "\n").count == 3000)
    // Paths are read from objects, plain columns from rows.
    let paths = try bench.moonbase(["export", "--store", "s.sqlite", "--columns", "name,people.@count"] + arguments)
    let names = try bench.moonbase(["export", "--store", "s.sqlite", "--columns", "name"] + arguments)
    #expect(paths.output.replacingOccurrences(of: ", \"people.@count\": 0", with: "") == names.output)
    try bench.execute("PRAGMA journal_mode = DELETE", in: "s.sqlite")
    #expect(try bench.moonbase(["export", "--store", "s.sqlite"] + arguments).output == logged.output)
  }

  @Test func wrongUseIsToldBeforeAnythingIsDone() throws {
    for arguments in [
      ["a.txt"], ["a.csv", "--format", "table"], ["a.json", "--null", "x"], ["--force"], ["a.csv", "--limit", "0"],
      ["a.csv", "--param", "1"],
    ] {
      let refused = try bench.moonbase(["export", "Person", "--store", "s.sqlite"] + arguments)
      #expect(refused.status == 2 && refused.complaints != "", "\(arguments): \(refused)")
    }
    #expect(!(try bench.names().contains { $0.hasPrefix("a.") }))
  }

  /// A csv file cannot hold the text; JSON does, and an import accepts it.
  @Test func aTextWithANULByteIsRefusedInCSVAndComesBackByJSON() throws {
    try bench.execute("UPDATE ZDEPARTMENT SET ZNAME = 'a' || char(0) || 'b'", in: "s.sqlite")
    for name in ["a.csv", "a.tsv"] {
      let refused = try export("Department", name)
      #expect(refused.status == 1, "\(refused)")
      #expect(
        refused.complaints.contains(/Department\.name of x-coredata:.*\/Department\/p1: its text has a NUL byte/)
          && refused.complaints.contains("write --format json"), "\(refused)")
    }
    #expect(try !bench.names().contains { $0.hasPrefix("a.") })
    let path = try bench.moonbase(
      "fetch", "Person", "--format", "csv", "--columns", "department.name", "--store", "s.sqlite")
    #expect(path.status == 1 && path.complaints.contains("Person.department.name of x-coredata:"), "\(path)")
    for name in ["a.json", "a.ndjson"] {
      #expect(try export("Department", name, "--columns", "name").status == 0)
      let taken = try bench.moonbase("import", "Department", name, "--store", "\(name).sqlite", "--model", "m.lua")
      #expect(taken.status == 0, "\(taken)")
      let found = try bench.program(
        "sqlite3", "\(name).sqlite", "SELECT DISTINCT hex(CAST(ZNAME AS BLOB)) FROM ZDEPARTMENT")
      #expect(found.output == "610062\n", "\(found)")
    }
  }

  #if os(Linux)
    private func fill() throws {
      try bench.execute(
        """
        WITH RECURSIVE r(n) AS (VALUES (10) UNION ALL SELECT n + 1 FROM r WHERE n < 200000)
        INSERT INTO ZDEPARTMENT (Z_PK, Z_ENT, Z_OPT, ZNAME)
        SELECT n, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Department'), 1, 'x' FROM r;
        """, in: "s.sqlite")
    }

    private func wait(forSuffix suffix: String) throws {
      for _ in 0..<10_000 {
        if try bench.names().contains(where: { $0.hasSuffix(suffix) }) { break }
        usleep(1_000)
      }
    }

    @Test func anInterruptedExportLeavesWhatWasThere() throws {
      try fill()
      try bench.write("old", to: "a.csv")
      let before = try bench.contents()
      let run = try bench.beginInterruptible(["export", "Department", "a.csv", "--force", "--store", "s.sqlite"])
      try wait(forSuffix: ".export")
      run.interrupt()
      #expect(try run.end() == 130)
      #expect(run.outcome().complaints.contains("interrupted: a.csv was not written"))
      #expect(try bench.contents() == before)
    }

    @Test func whatAKilledExportLeftGoesWithTheNextOne() throws {
      try fill()
      let run = try bench.begin("export", "Department", "a.csv", "--store", "s.sqlite")
      try wait(forSuffix: ".export")
      run.kill()
      #expect(try bench.names().contains { $0.hasSuffix(".export") } && !bench.names().contains("a.csv"))
      #expect(try export("Person", "a.csv").status == 0)
      #expect(!(try bench.names().contains { $0.hasSuffix(".export") }))
    }
  #endif
}
