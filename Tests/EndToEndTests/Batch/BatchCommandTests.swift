import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

extension Workbench {
  /// A bench with a store that has `count` items numbered from 1, and the job `j.lua`, which adds to the sum of
  /// each item.
  static func withItems(_ count: Int, in store: String = "s.sqlite") throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Item = { attributes = { n = "integer64", sum = { "integer64", optional = false, default = 0, max = 100 } } },
        Note = { attributes = { text = "string" } },
      } }
      """, to: "m.lua")
    try bench.write(
      """
      return {
        request = function(context) return context:fetch("Item"):where("n >= 0") end,
        start = function(context, job) context:insert("Note", { text = "start " .. job.name }) end,
        chunk = function(objects, context, job)
          for _, item in ipairs(objects) do item.sum = item.sum + 1 end
          context:insert("Note", { text = "chunk " .. job.chunk })
        end,
        finish = function(context) context:insert("Note", { text = "finish" }) end,
      }
      """, to: "j.lua")
    let code = "for i = 1, \(count) do moonbase.context:insert('Item', { n = i }) end assert(moonbase.context:save())"
    let made = try bench.moonbase("run", "--store", store, "--model", "m.lua", "-e", code)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  func batch(_ arguments: String..., status: Int32 = 0, input: String = "") throws -> Outcome {
    let outcome = try moonbase(["batch"] + arguments + ["--store", "s.sqlite"], input: input)
    #expect(outcome.status == status, "\(outcome)")
    return outcome
  }
}

@Suite struct BatchCommandTests {
  @Test(arguments: ["1", "3"]) func aJobWorksOnEachObjectOnce(_ jobs: String) throws {
    let bench = try Workbench.withItems(1050)
    let outcome = try bench.batch("run", "j.lua", "--chunk", "100", "--jobs", jobs)
    #expect(outcome.complaints.contains("j: 11 chunks done, 0 failed, 1050 objects"), "\(outcome)")
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 1050)
    #expect(try bench.number("SELECT COUNT(DISTINCT ZTEXT) FROM ZNOTE") == 13)
    #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE") == 13)
    #expect(try bench.batch("status").output.contains("j: finished, 11 of 11 chunks done (100 %)"))
    #expect(try bench.batch("resume", "j.lua").complaints.contains("there is nothing to resume"))
    // A finished job can be started again.
    _ = try bench.batch("run", "j.lua")
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 2") == 1050)
  }

  @Test func chunksThatFailAreTriedAgainSetAsideAndResumed() throws {
    let bench = try Workbench.withItems(500)
    let script = """
      return {
        request = "Item",
        chunk = function(objects, context, job)
          for _, item in ipairs(objects) do item.sum = item.sum + (item.n == 150 and BAD or 1) end
          if job.chunk == 4 then
            if job.attempt == 1 then error("for now") end
            context:insert("Note", { text = "attempt " .. job.attempt })
          end
        end,
      }
      """
    try bench.write(script.replacing("BAD", with: "1000"), to: "k.lua")
    let failed = try bench.batch("run", "k.lua", "--chunk", "100", status: 4)
    #expect(failed.complaints.contains("k: 4 chunks done, 1 failed, 400 objects"), "\(failed)")
    #expect(failed.complaints.contains("chunk 2: Item.sum (1000) must be at most 100"))
    #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE WHERE ZTEXT = 'attempt 2'") == 1)
    let status = try bench.batch("status", "k").output
    #expect(
      status.contains("some chunks failed, 4 of 5") && status.contains("2 (3 attempts): Item.sum (1000)"), "\(status)")
    try bench.write(script.replacing("BAD", with: "2"), to: "k.lua")
    #expect(try bench.batch("resume", "k.lua", status: 1).complaints.contains("--accept-changes goes on"))
    // Before any function of the script is called.
    try bench.write(
      "return { request = 'Item', start = function() print('started') end, chunk = function() end }", to: "k2.lua")
    let refused = try bench.batch("run", "k2.lua", "--name", "k", status: 1)
    #expect(refused.complaints.contains("the job k is under way") && refused.output == "", "\(refused)")
    #expect(try bench.batch("worker", "k.lua", status: 1).complaints.contains("resume --accept-changes goes on"))
    _ = try bench.batch("resume", "k.lua", "--accept-changes")
    try bench.write("return { request = 'Item', chunk = function() end }", to: "k.lua")
    #expect(try bench.batch("resume", "k.lua").complaints.contains("is finished"))
    #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 501)
    #expect(try bench.batch("status", "k.lua").output.contains("k: finished, 5 of 5"))
    let anew = try bench.batch("run", "k.lua")
    #expect(anew.complaints.contains("the job k was finished (") && anew.complaints.contains("begun anew"), "\(anew)")
  }

  @Test func workersAnswerForTheChunksThatTheyAreGiven() throws {
    let bench = try Workbench.withItems(400)
    #expect(try bench.batch("run", "j.lua", "--chunk", "100", "--begin").output == "1\n2\n3\n4\n")
    let answers = try bench.batch("worker", "j.lua", input: "2\n3-4\n2\n").output.split(separator: "\n")
    #expect(answers.count == 4 && answers[0].contains(#""chunk": 2, "status": "done", "objects": 100"#), "\(answers)")
    #expect(answers[3].contains("done before"))
    #expect(try bench.batch("status", "j", "--open").output == "1\n")
    #expect(try bench.batch("worker", "j.lua", status: 2, input: "5\n").complaints.contains("from 1 to 4"))
    #expect(try bench.batch("worker", "j.lua", status: 2, input: "one\n").complaints.contains("not 'one'"))
    _ = try bench.batch("resume", "j.lua")
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 400)
    #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE") == 6)
  }

  @Test func whatAScriptPrintsIsNotAmongTheAnswers() throws {
    let bench = try Workbench.withItems(4)
    try bench.write(
      "return { request = 'Item', chunk = function() print('noise') end, finish = function() error('no end') end }",
      to: "p.lua")
    let first = try bench.batch("run", "p.lua", "--chunk", "2", status: 1)
    #expect(first.complaints.contains("2 chunks done, 0 failed") && first.complaints.contains("no end"), "\(first)")
    #expect(first.complaints.contains("moonbase batch resume calls it again"), "\(first)")
    let worker = try bench.batch("worker", "p.lua", input: "1-2\n")
    #expect(worker.output.split(separator: "\n").allSatisfy { $0.hasPrefix("{") }, "\(worker)")
  }

  @Test func aScriptCannotSaveAPartOfAChunk() throws {
    let bench = try Workbench.withItems(10)
    try bench.write(
      """
      return { request = "Item", chunk = function(objects, context)
        objects[1].sum = 9
        if objects[2].n == 2 then assert(context:save()) end
      end }
      """, to: "k.lua")
    #expect(try bench.batch("run", "k.lua", status: 4).complaints.contains("its body must not save"))
    #expect(try bench.number("SELECT SUM(ZSUM) FROM ZITEM") == 0)
  }

  @Test func whatIsNoJobIsRefused() throws {
    let bench = try Workbench.withItems(1)
    func complaint(_ script: String, status: Int32 = 1) throws -> String {
      try bench.write(script, to: "k.lua")
      return try bench.batch("run", "k.lua", status: status).complaints
    }
    #expect(try complaint("return 1").contains("a batch job returns a table"))
    #expect(try complaint("return { chunk = function() end }").contains("request: the name of an entity is expected"))
    #expect(try complaint("return { request = 'Item' }").contains("chunk: a function of the objects is expected"))
    #expect(try complaint("return { request = 'Itme', chunk = function() end }").contains("did you mean Item?"))
    #expect(try complaint("return { request = 'Item', chunks = 1, chunk = function() end }").contains("did you mean"))
    #expect(
      try complaint("return { request = function(c) return c:fetch('Item'):limit(3) end, chunk = function() end }")
        .contains("leave limit and offset out"))
    #expect(
      try complaint("return { request = function() return 7 end, chunk = function() end }").contains(
        "returns a request"))
    #expect(try bench.batch("resume", "j.lua", status: 1).complaints.contains("knows no job j"))
    #expect(try bench.batch("status", "j", status: 2).complaints.contains("knows no job j"))
    #expect(try bench.batch("status").complaints.contains("knows no jobs"))
    #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE") == 0)
    try bench.write("return { request = 'Item', chunk = function() end }", to: "k.lua")
    #expect(try bench.batch("run", "k.lua").status == 0)
    #expect(try bench.batch("resume", "j.lua", status: 1).complaints.contains("knows no job j (it knows k)"))
    #expect(try bench.batch("status", "j", status: 2).complaints.contains("knows no job j (it knows k)"))
  }

  /// `MOONBASE_CYCLES` sets the number of kills (`scripts/crash`).
  @Test func aJobThatIsKilledAgainAndAgainWorksOnEachObjectOnce() throws {
    let cycles = Repetition.killedJobs.count
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    var kills = 0
    while kills < cycles {
      let bench = try Workbench.withItems(20_000)
      var arguments = [
        "batch", "run", "j.lua", "--store", "s.sqlite", "--chunk", "20", "--jobs", "\(1 + random.next(3))",
      ]
      var status: Int32?
      for _ in 0..<60 where status == nil {
        let victim = try ChildProcess(Workbench.command, arguments, in: bench.folder)
        for _ in 0..<(20 + random.next(400)) where victim.isRunning { usleep(1000) }
        if victim.isRunning {
          victim.kill()
          kills += 1
        } else {
          status = try victim.end()
        }
        // A job killed before its first entry in the ledger is started with `run`.
        let isBegun = try bench.moonbase("batch", "status", "--store", "s.sqlite").output.contains("j:")
        arguments[1] = isBegun ? "resume" : "run"
        if isBegun, let place = arguments.firstIndex(of: "--chunk") { arguments.removeSubrange(place...place + 1) }
      }
      if status == nil { status = try bench.moonbase(arguments).status }
      #expect(status == 0)
      #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 20_000)
      #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE") == 1002)
      #expect(try bench.number("SELECT COUNT(DISTINCT ZTEXT) FROM ZNOTE") == 1002)
    }
  }

  @Test func fourWorkersOfWhichTwoAreKilledShareAJob() throws {
    let bench = try Workbench.withItems(4000)
    _ = try bench.batch("run", "j.lua", "--chunk", "20", "--begin")
    let workers = try (0..<4).map { _ in
      try ChildProcess(Workbench.command, ["batch", "worker", "j.lua", "--store", "s.sqlite"], in: bench.folder)
    }
    // The workers to be killed never reach their last chunks, however fast they are.
    for chunk in 1...200 where chunk <= 160 || [0, 3].contains(chunk % 4) { workers[chunk % 4].say("\(chunk)") }
    while workers[1...2].contains(where: { $0.isRunning && $0.output.isEmpty }) { usleep(2000) }
    workers[1].kill()
    workers[2].kill()
    for worker in [workers[0], workers[3]] {
      worker.closeInput()
      #expect(try worker.end() == 0, "\(worker.outcome())")
    }
    let open = try bench.batch("status", "j", "--open").output
    #expect(!open.isEmpty)
    _ = try bench.batch("resume", "j.lua")
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM WHERE ZSUM = 1") == 4000)
    #expect(try bench.number("SELECT COUNT(DISTINCT ZTEXT) FROM ZNOTE") == 202)
    #expect(try bench.number("SELECT COUNT(*) FROM ZNOTE") == 202)
  }
}
