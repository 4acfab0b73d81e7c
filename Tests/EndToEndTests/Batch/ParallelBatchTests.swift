import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Workers of one job, run by GNU parallel.
@Suite struct ParallelBatchTests {
  @Test func fourWorkersOfGNUParallelOfWhichTwoAreKilledLoseNothing() throws {
    let bench = try Workbench.withItems(800)
    let version = try bench.program("parallel", "--version")
    try #require(
      version.output.contains("GNU parallel"),
      "this test needs GNU parallel: install the Debian package 'parallel', as scripts/setup does")
    // Two chunks wait until the test lets them end.
    try bench.write(
      """
      return {
        request = function(context) return context:fetch("Item"):where("n >= 0") end,
        chunk = function(objects, context, job)
          local isHeld = job.chunk == 7 or job.chunk == 31
          if isHeld and not io.open("go") then
            io.open("held-" .. job.chunk, "w"):close()
            while not io.open("go") do end
          end
          for _, item in ipairs(objects) do item.sum = item.sum + 1 end
          context:insert("Note", { text = "chunk " .. job.chunk })
        end,
      }
      """, to: "j.lua")
    // The shell is replaced by the worker, so the worker's process number is known.
    let worker = "echo $$ >> pids; exec '\(Workbench.command.path)' batch worker j.lua --store s.sqlite"
    try bench.write(worker, to: "worker.sh")
    let pipe =
      "'\(Workbench.command.path)' batch run --begin j.lua --store s.sqlite --chunk 20 "
      + "| parallel --will-cite -j4 --pipe -N1 --joblog log sh worker.sh"
    // Lets the workers end even if the test fails.
    defer { _ = try? bench.write("", to: "go") }
    let all = try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", pipe], in: bench.folder)
    // The other workers continue beside the two that wait, until no chunk is left.
    while all.isRunning, done(bench) < 38 { usleep(20_000) }
    // The worker that saved the last chunk may still be running.
    while all.isRunning, try living(bench).count > 2 { usleep(20_000) }
    #expect(try Set(bench.names()).isSuperset(of: ["held-7", "held-31"]))
    let living = try living(bench)
    #expect(living.count == 2)
    for process in living { kill(process, SIGKILL) }
    let status = try all.end()
    // The exit status is the number of failed workers, and the log has the reason.
    let outcome = all.outcome()
    #expect(status == 2, "\(outcome)")
    let killed = try lines(bench, "log").filter { $0.split(separator: "\t")[6] == "\(128 + SIGKILL)" }
    #expect(killed.count == 2, "\(outcome)")
    #expect(outcome.output.split(separator: "\n").count == 38, "\(outcome)")
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 0") == 40)
    let open = try bench.batch("status", "j", "--open").output
    #expect(open == "7\n31\n")
    try bench.write("", to: "go")
    _ = try bench.batch("resume", "j.lua")
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 800)
    #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE") == 40)
    #expect(try bench.number("SELECT COUNT(DISTINCT ZTEXT) FROM ZNOTE") == 40)
  }

  /// The number of saved chunks; 0 while a worker holds the lock of the log left by the last one.
  private func done(_ bench: Workbench) -> Int64 { (try? bench.number("SELECT COUNT(*) FROM ZNOTE")) ?? 0 }

  private func lines(_ bench: Workbench, _ name: String) throws -> [Substring] {
    String(decoding: try bench.bytes(of: name), as: UTF8.self).split(separator: "\n")
  }

  private func living(_ bench: Workbench) throws -> [Int32] {
    try lines(bench, "pids").compactMap { Int32($0) }.filter { kill($0, 0) == 0 }
  }
}
