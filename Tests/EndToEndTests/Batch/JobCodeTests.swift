import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Jobs whose code changed before they are resumed, and interrupted jobs.
@Suite struct JobCodeTests {
  /// A job that adds `by` of `step.lua`, and in its chunks `more` of `sub/lazy.lua`.
  private func bench() throws -> Workbench {
    let bench = try Workbench.withItems(400)
    try FileManager.default.createDirectory(at: bench.file("jobs/sub"), withIntermediateDirectories: true)
    try bench.write("return { by = 1 }", to: "jobs/step.lua")
    try bench.write("return { more = 0 }", to: "jobs/sub/lazy.lua")
    try bench.write("return { name = 'x' }", to: "x.lua")
    try bench.write(
      """
      local step = require("step")
      return { request = "Item", chunk = function(objects, context, job)
        local more = require("sub.lazy").more
        for _, item in ipairs(objects) do item.sum = item.sum + step.by + more end
      end }
      """, to: "jobs/j.lua")
    return bench
  }

  private static let begin = ["run", "jobs/j.lua", "--chunk", "100", "--begin"]

  private func batch(_ bench: Workbench, _ arguments: [String], status: Int32 = 0, input: String = "") throws -> String
  {
    let outcome = try bench.moonbase(["batch"] + arguments + ["--store", "s.sqlite"], input: input)
    #expect(outcome.status == status, "\(outcome)")
    return outcome.complaints
  }

  @Test(
    arguments: [
      ("jobs/step.lua", "return { by = 2 }", "(step.lua has changed)"),
      ("jobs/sub/lazy.lua", "return { more = 1 }", "(sub/lazy.lua has changed)"),
      ("jobs/step.lua", nil, "step.lua"), ("jobs/sub/lazy.lua", nil, "(sub/lazy.lua is missing)"),
    ] as [(String, String?, String)]) func aModuleThatChangedIsNamedAndTheJobWaits(
      _ file: String, _ source: String?, _ words: String
    ) throws
  {
    let bench = try bench()
    _ = try batch(bench, Self.begin)
    // Modules loaded later are recorded with the first chunk.
    _ = try batch(bench, ["worker", "jobs/j.lua"], input: "2\n")
    _ = try batch(bench, ["worker", "jobs/j.lua"], input: "3\n")
    let old = try bench.bytes(of: file)
    if let source {
      try bench.write(source, to: file)
    } else {
      try FileManager.default.removeItem(at: bench.file(file))
    }
    for command in ["resume", "worker"] {
      let complaint = try batch(bench, [command, "jobs/j.lua"], status: 1)
      #expect(complaint.contains(words), "\(complaint)")
      if source != nil {
        #expect(
          complaint.contains("and 2 chunks are done: moonbase batch resume --accept-changes goes on"), "\(complaint)")
      }
    }
    #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 200)
    if source != nil {
      _ = try batch(bench, ["resume", "jobs/j.lua", "--accept-changes"])
      #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 600)
    } else {
      try old.write(to: bench.file(file))
      _ = try batch(bench, ["resume", "jobs/j.lua"])
      #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 400)
    }
  }

  @Test func extensionsAreOfTheCodeToo() throws {
    let bench = try bench()
    _ = try batch(bench, Self.begin + ["--extension", "x.lua"])
    let without = try batch(bench, ["resume", "jobs/j.lua", "--without-extension", "x"], status: 1)
    #expect(without.contains("(--extension x.lua is missing)"), "\(without)")
    try bench.write("return { name = 'x', entities = {} }", to: "x.lua")
    let changed = try batch(bench, ["resume", "jobs/j.lua", "--extension", "x.lua"], status: 1)
    #expect(changed.contains("(--extension x.lua has changed)"), "\(changed)")
    try bench.write("return { name = 'x' }", to: "x.lua")
    try bench.write("return { name = 'y' }", to: "y.lua")
    let more = try batch(bench, ["resume", "jobs/j.lua", "--extension", "x.lua", "--extension", "y.lua"], status: 1)
    #expect(more.contains("(--extension y.lua is new)"), "\(more)")
    _ = try batch(bench, ["resume", "jobs/j.lua", "--extension", "x.lua"])
  }

  /// The script may be run from any folder, and its folder may be copied.
  @Test func aFolderThatWasCopiedHasTheSameCode() throws {
    let bench = try bench()
    _ = try batch(bench, Self.begin)
    _ = try batch(bench, ["worker", "jobs/j.lua"], input: "1-2\n")
    try FileManager.default.moveItem(at: bench.file("jobs"), to: bench.file("others"))
    _ = try batch(bench, ["resume", bench.file("others/j.lua").path])
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 400)
  }

  @Test(arguments: ["x", "0", "5", "1-", "-1", "1,,9", "1 2", "17\0", "\u{1b}[31m", "99999999999999999999"])
  func aLineThatIsNoChunkEndsAWorkerWithTheUsage(_ line: String) throws {
    let bench = try bench()
    _ = try batch(bench, Self.begin)
    let complaint = try batch(bench, ["worker", "jobs/j.lua"], status: 2, input: "1\n\n\(line)\n2\n")
    #expect(
      complaint.contains("a line is the number of a chunk from 1 to 4, or a range as 17-20, not '"), "\(complaint)")
    #expect(!complaint.contains("\u{1b}") && !complaint.contains("\0"))
    #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 100)
  }

  @Test func aLineWithoutEndEndsAWorkerAndIsNotKept() throws {
    let bench = try bench()
    _ = try batch(bench, Self.begin)
    let complaint = try batch(
      bench, ["worker", "jobs/j.lua"], status: 1, input: "1\n" + String(repeating: "1,", count: 5 << 20))
    #expect(complaint.contains("standard input, line 2: it has more than 64 KiB"), "\(complaint.prefix(300))")
    #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 100)
  }

  #if os(Linux)
    @Test func sigintIsHeardWhileAWorkerWaitsForLines() throws {
      let bench = try bench()
      _ = try batch(bench, Self.begin)
      let worker = try bench.beginInterruptible(["batch", "worker", "jobs/j.lua", "--store", "s.sqlite"])
      worker.say("2-3")
      try worker.wait(for: "\"chunk\": 3")
      usleep(500_000)
      worker.interrupt()
      #expect(try worker.end() == 130)
      let complaints = worker.outcome().complaints
      #expect(complaints.contains("interrupted: 2 chunks done, 0 failed; moonbase batch resume"), "\(complaints)")
    }

    /// A chunk whose code does not end is rolled back as a whole, and earlier chunks stay.
    @Test(arguments: ["run", "worker"]) func sigintEndsAChunkThatHangs(_ command: String) throws {
      let bench = try bench()
      try bench.write(
        """
        return { request = "Item", chunk = function(objects, context, job)
          for _, item in ipairs(objects) do item.sum = item.sum + 1 end
          if job.chunk == 3 and not io.open("go") then
            io.stderr:write("hangs\\n")
            while true do end
          end
        end }
        """, to: "jobs/j.lua")
      var arguments = ["batch", command, "jobs/j.lua", "--store", "s.sqlite"]
      if command == "run" { arguments += ["--chunk", "100"] } else { _ = try batch(bench, Self.begin) }
      let run = try bench.beginInterruptible(arguments)
      if command == "worker" { run.say("1-4") }
      while run.isRunning, try bench.number("SELECT SUM(ZSUM) FROM ZITEM") != 200 { usleep(10_000) }
      usleep(200_000)
      run.interrupt()
      #expect(try run.end() == 130)
      let complaints = run.outcome().complaints
      #expect(
        complaints.contains("2 chunks done, 0 failed") && complaints.contains("moonbase batch resume"), "\(complaints)")
      #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 200)
      try bench.write("", to: "go")
      _ = try batch(bench, ["resume", "jobs/j.lua"])
      #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 400)
    }
  #endif
}
