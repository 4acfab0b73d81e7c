import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Interrupted imports that are run again, with the same or another file.
@Suite struct ImportResumptionTests {
  private static let arguments = [
    "import", "Person", "p.csv", "--store", "s.sqlite", "--model", "m.lua", "--batch", "100",
  ]
  private static let count = 5000

  /// A bench with an import interrupted because the store had no more room. Every fiftieth row has an invalid age.
  private func ended() throws -> Workbench {
    let bench = try Workbench.forImports()
    try bench.write(
      "name,age\n" + (0..<Self.count).map { "p\($0),\($0 % 50 == 7 ? "old" : "5")\n" }.joined(), to: "p.csv")
    let limited = try bench.program(
      "sh", ["-c", "ulimit -f 800; exec \"$@\"", "sh", Workbench.command.path] + Self.arguments)
    #expect(limited.status == 1 && limited.complaints.contains("run it again to go on"), "\(limited)")
    let count = try bench.number("SELECT COUNT(*) FROM ZPERSON") ?? 0
    try #require(count > 0 && count < 4000)
    return bench
  }

  private func rejectedLines(_ bench: Workbench, _ names: String...) throws -> [Int] {
    try names.flatMap { name in
      String(decoding: try bench.bytes(of: name), as: UTF8.self).split(separator: "\n").dropFirst()
        .compactMap { Int($0.split(separator: ",")[2]) }
    }
  }

  private static let rejected = (0..<count).filter { $0 % 50 == 7 }.map { $0 + 2 }

  /// A file is identified by its contents, not by its date.
  @Test func aFileThatWasTouchedIsGoneOnWith() throws {
    let bench = try ended()
    #expect(try bench.program("touch", "-d", "2001-02-03", "p.csv").status == 0)
    let outcome = try bench.moonbase(Self.arguments)
    #expect(outcome.status == 4 && outcome.complaints.contains("it goes on in line"), "\(outcome)")
    #expect(try bench.number("SELECT COUNT(DISTINCT ZNAME) FROM ZPERSON") == Int64(Self.count - Self.rejected.count))
    #expect(try rejectedLines(bench, "p.rejects.csv") == Self.rejected)
  }

  /// A file of the same length and date differs if its contents differ, before or after the point of interruption.
  @Test(arguments: [100, 4000]) func aFileOfOtherContentsIsNotGoneOnWith(_ row: Int) throws {
    let bench = try ended()
    let text = String(decoding: try bench.bytes(of: "p.csv"), as: UTF8.self)
    #expect(try bench.program("cp", "-p", "p.csv", "old.csv").status == 0)
    try bench.write(text.replacing("p\(row),5", with: "q\(row),5"), to: "p.csv")
    #expect(try bench.program("touch", "-r", "old.csv", "p.csv").status == 0)
    let outcome = try bench.moonbase(Self.arguments)
    #expect(outcome.status == 1 && outcome.complaints.contains("the file has changed since: --restart"), "\(outcome)")
    #expect(try bench.program("cp", "old.csv", "p.csv").status == 0)
    #expect(try bench.moonbase(Self.arguments).status == 4)
  }

  /// Rows are not silently imported in two ways, and a dry run is not resumed as a real import.
  @Test func anotherWayToTakeRowsIsToldAndSoIsADryRun() throws {
    let bench = try ended()
    let dry = try bench.moonbase(Self.arguments + ["--dry-run"])
    #expect(
      dry.status == 4 && dry.complaints.contains("was ended, and goes on where it stood without --dry-run"), "\(dry)")
    try bench.write("return { row = function(row) row.name = 'm' .. row.name return row end }", to: "map.lua")
    let outcome = try bench.moonbase(Self.arguments + ["--map", "map.lua"])
    #expect(
      outcome.status == 4 && outcome.complaints.contains("those from here on are taken as it says now"), "\(outcome)")
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON WHERE ZNAME GLOB 'p*'") ?? 0 > 0)
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON WHERE ZNAME GLOB 'mp*'") ?? 0 > 0)
  }

  /// The import's own reject file is started again too.
  @Test func whatBeginsAnewNeedsNoForce() throws {
    let bench = try ended()
    let outcome = try bench.moonbase(Self.arguments + ["--restart"])
    #expect(outcome.status == 4 && !outcome.complaints.contains("taken as it says now"), "\(outcome)")
    #expect(try rejectedLines(bench, "p.rejects.csv") == Self.rejected)
  }

  /// Rows rejected before stay in their file, and later ones go to another file.
  @Test func rejectedRowsMayGoToAnotherFileOnTheWay() throws {
    let bench = try ended()
    try bench.write("mine", to: "taken.csv")
    let taken = try bench.moonbase(Self.arguments + ["--rejects", "taken.csv"])
    #expect(taken.status == 2 && taken.complaints.contains("taken.csv is there from an earlier import"), "\(taken)")
    let outcome = try bench.moonbase(Self.arguments + ["--rejects", "other.csv"])
    #expect(outcome.status == 4 && outcome.complaints.contains("what was rejected before, and why: /"), "\(outcome)")
    #expect(try rejectedLines(bench, "p.rejects.csv", "other.csv") == Self.rejected)
    #expect(try bench.number("SELECT COUNT(DISTINCT ZNAME) FROM ZPERSON") == Int64(Self.count - Self.rejected.count))
  }

  #if os(Linux)
    /// The advice concerns the reject file, not the input.
    @Test(arguments: [
      ("none/r.csv", "No such file or directory: make its folder, or name another file with --rejects"),
      ("m.lua/r.csv", "Not a directory: make its folder, or name another file with --rejects"),
      ("/sys/r.csv", ": allow it to be written, or name a file in another folder with --rejects"),
      (".", "Is a directory: name another file with --rejects"),
    ]) func aRejectFileThatCannotBeWrittenIsToldBeforeAnythingIsDone(_ path: String, _ advice: String) throws {
      let bench = try Workbench.forImports()
      try bench.write("name,age\nAnn,1\nBob,x\n", to: "p.csv")
      let outcome = try bench.imports(["Person", "p.csv", "--rejects", path, "--force"], status: 1)
      #expect(
        outcome.complaints.contains("the rejected rows cannot be written to \(path): ")
          && outcome.complaints.contains(advice), "\(outcome)")
      #expect(try bench.fetched("Person", "--count") == "0\n")
    }

    @Test func aFullDiskOfRejectedRowsEndsTheImportAndItGoesOnWithAnotherFile() throws {
      let bench = try Workbench.forImports()
      try bench.write("name,age\n" + (0..<1000).map { "p\($0),\($0 == 500 ? "old" : "5")\n" }.joined(), to: "p.csv")
      let full = try bench.moonbase(Self.arguments + ["--rejects", "/dev/full"])
      #expect(full.status == 1, "\(full)")
      for words in [
        "the rejected rows cannot be written to /dev/full: No space left on device: make room, or name a file on another disk with --rejects",
        "500 rows: 500 inserted, 0 rejected", "ended before the end of the file: run it again to go on",
      ] { #expect(full.complaints.contains(words), "\(full)") }
      let outcome = try bench.moonbase(Self.arguments + ["--rejects", "other.csv"])
      #expect(outcome.status == 4 && outcome.complaints.contains("1000 rows: 999 inserted, 1 rejected"), "\(outcome)")
      #expect(try rejectedLines(bench, "other.csv") == [502])
      #expect(try bench.number("SELECT COUNT(DISTINCT ZNAME) FROM ZPERSON") == 999)
    }

    /// The default reject file is checked only when a row is rejected.
    @Test func aRejectFileOfItselfThatCannotBeWrittenHarmsNobodyWhereNoRowIsRejected() throws {
      let bench = try Workbench.forImports()
      try FileManager.default.createDirectory(at: bench.file("p.rejects.csv"), withIntermediateDirectories: false)
      try bench.write("name,age\nAnn,1\n", to: "p.csv")
      try bench.imports(["Person", "p.csv"])
      try bench.write("name,age\nAnn,x\n", to: "p.csv")
      let outcome = try bench.imports(["Person", "p.csv"], status: 1)
      #expect(
        outcome.complaints.contains("p.rejects.csv: Is a directory: name another file with --rejects"), "\(outcome)")
      // No progress is recorded for standard input, so it cannot be resumed.
      let piped = try bench.imports(
        ["Person", "-", "--format", "csv", "--rejects", "/dev/full"], status: 1, input: "name,age\nAnn,x\n")
      #expect(piped.complaints.contains("what is said above is saved"), "\(piped)")
    }

    // MARK: Waiting input

    private func interrupted(_ bench: Workbench, _ arguments: [String], after input: String) throws -> String {
      let run = try bench.beginInterruptible(arguments)
      if !input.isEmpty { run.say(input) }
      // There is no sign that the command waits for input.
      sleep(2)
      run.interrupt()
      // The signal must end the command, which still waits for input.
      #expect(try run.end() == 130)
      return run.outcome().complaints
    }

    @Test func sigintIsHeardWhileStandardInputWaits() throws {
      let bench = try Workbench.forImports()
      let arguments = ["import", "Person", "-", "--format", "csv", "--store", "s.sqlite", "--model", "m.lua"]
      let none = try interrupted(bench, arguments, after: "")
      #expect(none.contains("interrupted while standard input was waited for: nothing was done"), "\(none)")
      // Complete rows are imported; an incomplete row is not.
      let some = try interrupted(bench, arguments, after: "name,age\nAnn,1\nBob,x\nCy,3\n\"D")
      #expect(
        some.contains("3 rows: 2 inserted, 1 rejected") && some.contains("what is said above is saved"), "\(some)")
      #expect(
        try bench.fetched("Person", "--format", "csv", "--columns", "name", "--sort", "name") == "name\nAnn\nCy\n")
      let spooled = try interrupted(
        bench, ["import", "Person", "-", "--format", "ndjson", "--infer", "--store", "new.sqlite"], after: "{\"a\": 1}")
      #expect(spooled.contains("nothing was done"), "\(spooled)")
      #expect(try !bench.names().contains("new.sqlite"))
    }

    @Test func sigintIsHeardWhileAScriptReadsStandardInput() throws {
      let bench = try Workbench()
      let complaints = try interrupted(
        bench, ["run", "-e", "print(io.read('l')) print(io.read('l')) print('end')"], after: "one")
      #expect(complaints.contains("interrupted"), "\(complaints)")
    }
  #endif
}
