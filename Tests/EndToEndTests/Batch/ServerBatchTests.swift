#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// Jobs over a schema of PostgreSQL, with several worker processes.
  @Suite struct ServerBatchTests {
    private let bench: Workbench
    private let server: String

    /// A job over 800 items. A chunk takes some time in the script, so that processes are killed in it.
    init() throws {
      server = try PostgreSQLServer.newAddress().absoluteString
      bench = try Workbench.withItems(800, in: server)
      try bench.write(
        """
        return {
          request = function(context) return context:fetch("Item"):where("n >= 0") end,
          chunk = function(objects, context, job)
            for _, item in ipairs(objects) do item.sum = item.sum + 1 end
            for i = 1, 200000 do end
            context:insert("Note", { text = "chunk " .. job.chunk })
          end,
          finish = function(context) context:insert("Note", { text = "finish" }) end,
        }
        """, to: "j.lua")
    }

    /// The number that a statement finds in the schema.
    private func number(_ sql: String) throws -> Int {
      let answer = try bench.psql(sql, at: server)
      return try #require(Int(answer.trimmingCharacters(in: .whitespacesAndNewlines)), "\(answer)")
    }

    private func batch(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(["batch"] + arguments + ["--store", server])
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output + outcome.complaints
    }

    /// Starts a worker with the chunks of a file. The shell is replaced by the worker.
    private func worker(_ file: String) throws -> ChildProcess {
      let line = "exec '\(Workbench.command.path)' batch worker j.lua --store '\(server)' < \(file)"
      return try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", line], in: bench.folder)
    }

    private func expectEachOnce(_ count: Int) throws {
      #expect(try number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 800)
      #expect(try number("SELECT COUNT(*) FROM ZNOTE") == count)
      #expect(try number("SELECT COUNT(DISTINCT ZTEXT) FROM ZNOTE") == count)
    }

    @Test func threadsOfOneProcessWorkOnEachObjectOnce() throws {
      #expect(
        try batch("run", "j.lua", "--chunk", "100", "--jobs", "3").contains("8 chunks done, 0 failed, 800 objects"))
      try expectEachOnce(9)
      #expect(try batch("status").contains("j: finished, 8 of 8 chunks done"))
    }

    /// The killed workers are killed wherever they are: in the script, in a save, between chunks.
    @Test func fourWorkersOfWhichTwoAreKilledLoseAndDoubleNothing() throws {
      let chunks = try batch("run", "--begin", "j.lua", "--chunk", "20").split(separator: "\n").map(String.init)
      try #require(chunks.count == 40)
      // Each worker gets all chunks, in another order, so that several workers take the same chunk.
      let workers = try (0..<4).map { index in
        let lines = chunks[(index * 10)...] + chunks[..<(index * 10)]
        try bench.write(lines.joined(separator: "\n") + "\n", to: "\(index).txt")
        return try worker("\(index).txt")
      }
      defer { for worker in workers where worker.isRunning { worker.kill() } }
      let end = ContinuousClock.now + .seconds(120)
      while ContinuousClock.now < end, try number("SELECT COUNT(*) FROM ZNOTE") < 6 { usleep(5_000) }
      for worker in workers[..<2] { worker.kill() }
      for worker in workers[2...] { #expect(try worker.end() == 0, "\(worker.outcome())") }
      #expect(try batch("status", "j", "--open") == "")
      try expectEachOnce(40)
      _ = try batch("resume", "j.lua")
      try expectEachOnce(41)
    }

    /// The ledger keeps the chunks of killed workers open until the job is resumed.
    @Test func aJobWhoseWorkersAreAllKilledIsResumed() throws {
      let chunks = try batch("run", "--begin", "j.lua", "--chunk", "20")
      try bench.write(chunks, to: "all.txt")
      for round in 1...3 {
        let worker = try worker("all.txt")
        defer { worker.kill() }
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end, worker.isRunning, try number("SELECT COUNT(*) FROM ZNOTE") < 4 * round {
          usleep(2_000)
        }
      }
      let done = try number("SELECT COUNT(*) FROM ZNOTE")
      #expect(done < 40)
      #expect(try number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 20 * done)
      #expect(try batch("resume", "j.lua").contains("\(40 - done) chunks done, 0 failed"))
      try expectEachOnce(41)
    }
  }
#endif
