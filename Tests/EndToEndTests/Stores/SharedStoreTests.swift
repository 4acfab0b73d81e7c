import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Several processes with one store, and killed processes.
@Suite(.serialized) struct SharedStoreTests {
  let bench: Workbench
  private static let model = "return { entities = { P = { attributes = { i = 'integer64' } } } }"
  private static let insert = "local c = moonbase.context c:insert('P') "
  private static let save = insert + "assert(c:save()) print(c:fetch('P'):count())"

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
  }

  private func save(_ extra: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["run", "--store", "s.sqlite"] + extra + ["-e", Self.save])
  }

  @Test func aStoreWhoseWriterWasKilledIsWrittenAgain() throws {
    let victim = try bench.begin(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      Self.insert + "c:save() print('saved') io.stdout:flush() io.read()")
    try victim.wait(for: "saved")
    victim.kill()
    #expect(try bench.names().contains("s.sqlite-wal"))
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.status == 0 && info.output.contains("1\n"))
    let run = try save()
    #expect(run.status == 0 && run.output == "2\n", "\(run.complaints)")
    #expect(try bench.names() == ["m.lua", "s.sqlite"])
  }

  /// Copying the file and journal of an open transaction simulates a killed process.
  @Test func aStoreWhoseWriterDiedOverItsJournalIsOpenedForWritingWithoutNamingItsModel() throws {
    #expect(try save("--model", "m.lua").output == "1\n")
    try bench.execute("PRAGMA journal_mode = DELETE", in: "s.sqlite")
    let writer = try bench.connection(to: "s.sqlite")
    try writer.executeScript(
      """
      PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM ZP; CREATE TABLE long (a);
      INSERT INTO long WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        SELECT hex(zeroblob(2000)) FROM n
      """)
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(at: bench.file("s.sqlite" + suffix), to: bench.file("t.sqlite" + suffix))
    }
    let count = ["--store", "t.sqlite", "-e", "print(moonbase.context:fetch('P'):count())"]
    let reader = try bench.moonbase(["run", "--read-only"] + count)
    #expect(reader.status == 1 && reader.complaints.contains("a process died while writing"), "\(reader)")
    let run = try bench.moonbase(["run"] + count)
    #expect(run.status == 0 && run.output == "1\n", "\(run)")
    #expect(try !bench.names().contains("t.sqlite-journal"))
  }

  @Test func aStoreThatAnotherProcessHoldsOpenIsWritten() throws {
    let other = try bench.begin(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      Self.insert + "c:save() print('saved') io.stdout:flush() io.read('l') " + Self.insert
        + "assert(c:save()) print(c:fetch('P'):count())")
    try other.wait(for: "saved")
    #expect(try save().output == "2\n")
    other.say("go on")
    #expect(try other.end() == 0)
    #expect(other.output == "saved\n3\n")
  }

  /// The other process changes all rows, deletes one and inserts one when the walk has read a part.
  @Test func aWalkSeesOneStateWhileAnotherProcessWrites() throws {
    let make = "local c = moonbase.context for _ = 1, 3000 do c:insert('P').i = 1 end assert(c:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", make).status == 0)
    let walker = try bench.begin(
      "run", "--store", "s.sqlite", "-e",
      """
      local c = moonbase.context
      local count, sum = 0, 0
      for p in c:fetch('P'):each() do
        count, sum = count + 1, sum + p.i
        if count == 10 then print('walking') io.stdout:flush() io.read('l') end
      end
      print(count, sum)
      c:insert('P').i = 5
      assert(c:save())
      print(c:fetch('P'):count(), c:fetch('P'):where('i == 2'):count())
      """)
    try walker.wait(for: "walking")
    let write = """
      local c = moonbase.context
      for p in c:fetch('P'):each() do p.i = 2 end
      c:delete(c:fetch('P'):first())
      c:insert('P').i = 7
      assert(c:save()) print(c:fetch('P'):where('i == 1'):count())
      """
    let writer = try bench.moonbase("run", "--store", "s.sqlite", "-e", write)
    #expect(writer.status == 0 && writer.output == "0\n", "\(writer.complaints)")
    walker.say("go on")
    #expect(try walker.end() == 0)
    #expect(walker.output == "walking\n3000\t3000\n3001\t2999\n")
  }

  @Test func severalProcessesMakeAStoreTogether() throws {
    let runs = try (0..<4).map { _ in
      try bench.begin(
        "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
        "for i = 1, 15 do local c = moonbase.context c:insert('P') assert(c:save()) end")
    }
    for run in runs { #expect(try run.end() == 0) }
    #expect(try bench.moonbase("info", "s.sqlite").output.contains(" 60\n"))
  }

  @Test func aStoreThatStaysLockedIsBusy() throws {
    #expect(try save("--model", "m.lua").status == 0)
    let locker = try bench.begin(
      "run", "--store", "s.sqlite", "-e",
      """
      local c = moonbase.context
      c:fetch('P'):first().i = 1
      print('ready') io.stdout:flush() io.read('l')
      assert(c:save())
      """)
    try locker.wait(for: "ready")
    let lock = try bench.lock("s.sqlite")
    defer { lock.end() }
    let run = try bench.moonbase("run", "--store", "s.sqlite", "-e", Self.insert + "assert(c:save())")
    #expect(run.status == 75)
    #expect(run.complaints.contains("another process is reading or writing the store; try again"))
    let quiet = try bench.moonbase("run", "--store", "s.sqlite", "-e", Self.insert + "c:save()")
    #expect(quiet.status == 75)
    lock.end()
    locker.say("go on")
    #expect(try locker.end() == 0)
  }

  /// All data was in a log that is missing; no kill of this package's processes leaves such a file.
  @Test func aDatabaseWhoseTablesWereInAMissingLogIsLeftAlone() throws {
    try bench.execute("PRAGMA journal_mode = WAL", in: "s.sqlite")
    let before = try bench.contents()
    for arguments in [
      ["info", "s.sqlite"], ["doctor", "s.sqlite"], ["run", "--store", "s.sqlite", "-e", ""],
      ["run", "--store", "s.sqlite", "--read-only", "--model", "m.lua", "-e", ""],
      ["run", "--store", "s.sqlite", "--model", "m.lua", "-e", ""],
    ] {
      let refused = try bench.moonbase(arguments)
      #expect(refused.status == 1 && refused.complaints.contains("s.sqlite-wal) is missing"), "\(refused)")
    }
    #expect(try bench.contents() == before)
  }

  @Test(arguments: ["CREATE TABLE a (b); DROP TABLE a", ""])
  func aDatabaseWithoutTablesBecomesAStore(_ sql: String) throws {
    if sql.isEmpty { try bench.write("", to: "s.sqlite") } else { try bench.execute(sql, in: "s.sqlite") }
    let before = try bench.bytes(of: "s.sqlite")
    for arguments in [
      ["info", "s.sqlite"], ["run", "--store", "s.sqlite", "--read-only", "--model", "m.lua", "-e", ""],
    ] {
      let refused = try bench.moonbase(arguments)
      #expect(refused.status == 1 && refused.complaints.contains("is empty: there is no store in it"))
    }
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let run = try save("--model", "m.lua")
    #expect(run.status == 0 && run.output == "1\n", "\(run.complaints)")
  }

  @Test func whatIsWrittenIntoADeletedFileIsNotCalledSaved() throws {
    let run = try bench.moonbase(
      "run", "--sandbox", "trusted", "--store", "s.sqlite", "--model", "m.lua", "-e",
      Self.insert + "assert(c:save()) assert(os.remove('s.sqlite')) c:insert('P') print(c:save())")
    #expect(run.output.hasPrefix("nil\t"))
    #expect(run.output.contains("was moved, replaced or deleted since it was opened"))
  }

  @Test func aWriteBeyondWhatTheUserMayIsAnError() throws {
    let code = "local c = moonbase.context for i = 1, 20000 do c:insert('P') end print(c:save())"
    let run = try bench.program(
      "bash", "-c", "ulimit -f 40; exec \"$0\" \"$@\"", Workbench.command.path, "run", "--store", "s.sqlite", "--model",
      "m.lua", "-e", code)
    #expect(run.status == 1 || run.output.hasPrefix("nil\t"))
    #expect(run.output.contains("nil\t"))
    #expect(try save("--model", "m.lua").output == "1\n")
  }
}
