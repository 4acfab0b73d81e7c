import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Summaries of commands as JSON.
@Suite struct SummaryTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench.withProject()
    try bench.insertPeople("Ann", "Bob")
    try bench.write("name,age\nCid,1\nDan,-4\n", to: "people.csv")
    try bench.write(
      "return { ['holds'] = function(t) t.equal(1, 1) end, ['fails'] = function(t) t.equal(1, 2) end }",
      to: "a_test.lua")
    try bench.write("name,age\nEve,1\nFay,2\n", to: "more.csv")
    try bench.write("return { request = 'Person', chunk = function() end }", to: "job.lua")
  }

  /// The object or list that a command prints; expects a status.
  private func report(_ arguments: [String], status: Int32 = 0) throws -> Any {
    let outcome = try bench.moonbase(arguments + ["--json"])
    #expect(outcome.status == status && !outcome.complaints.contains("objects visited"), "\(arguments): \(outcome)")
    return try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
  }

  private func object(_ arguments: String..., status: Int32 = 0) throws -> [String: Any] {
    try #require(try report(arguments, status: status) as? [String: Any])
  }

  @Test func eachCommandThatTellsWhatItDidTellsItAsJSON() throws {
    let each = try object("each", "Person", "--do", "object.age = 7")
    #expect(each["visited"] as? Int == 2 && each["changed"] as? Int == 2 && each["dryRun"] as? Bool == false)
    let dry = try object("each", "Person", "--do", "object.age = 8", "--dry-run")
    #expect((dry["examples"] as? [String])?.count == 2)
    let recompute = try object("recompute", "Person")
    #expect(recompute["matched"] as? Int == 2 && recompute["store"] as? String == "s.sqlite")
    let rows = try object("import", "Person", "people.csv", status: 4)
    #expect(rows["rows"] as? Int == 2 && rows["inserted"] as? Int == 1 && rows["rejected"] as? Int == 1)
    #expect((rows["rejects"] as? String)?.hasSuffix("people.rejects.csv") == true, "\(rows)")
    let vacuum = try object("vacuum")
    #expect(vacuum["store"] as? String == "s.sqlite" && vacuum["size"] as? Int ?? 0 > 0)
    #expect(try object("backup", "b.sqlite")["copy"] as? String == "b.sqlite")
    #expect(try object("copy", "s.sqlite", "c.sqlite")["objects"] as? Int == 3)
    #expect(try object("export", "Person", "p.ndjson")["objects"] as? Int == 3)
    let all = try object("export", "--all", "all")
    #expect((all["entities"] as? [String: Int]) == ["Person": 3])
    #expect(try object("import", "--all", "all", "--store", "n.sqlite")["objects"] as? Int == 3)
    let infer = try object("import", "more.csv", "--infer", "--store", "i.sqlite")
    #expect(infer["inserted"] as? Int == 2 && infer["complete"] as? Bool == true)
    let test = try object("test", status: 1)
    #expect(test["passed"] as? Int == 1 && test["failed"] as? Int == 1)
    #expect(try (object("init", "fresh")["files"] as? [String])?.contains("script.lua") == true)
    let convert = try object("model", "convert", "model.lua", "m.mom")
    #expect(convert["form"] as? String == "mom" && (convert["losses"] as? [String]) == [])
  }

  @Test func migrationsAndJobsAreToldAsJSON() throws {
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "old.lua")
    let plan = try object("migrate", "--to", "old.lua", "--plan", status: 1)
    #expect(plan["possible"] as? Bool == false && plan["migrated"] as? Bool == false)
    let stages = try #require(plan["stages"] as? [[String: Any]])
    #expect((stages[0]["losses"] as? [[String: Any]])?.isEmpty == false, "\(stages)")
    let done = try object("migrate", "--to", "old.lua", "--allow-loss")
    #expect(done["migrated"] as? Bool == true)
    try bench.write("return { store = 's.sqlite' }", to: "moonbase.project.lua")
    let without = ["--without-extension", "rules"]
    let job = try #require(report(["batch", "run", "job.lua"] + without) as? [String: Any])
    #expect(job["finished"] as? Bool == true && job["objects"] as? Int == 2, "\(job)")
    let jobs = try #require(report(["batch", "status"]) as? [[String: Any]])
    #expect(jobs.count == 1 && jobs[0]["job"] as? String == "job" && jobs[0]["finished"] as? Bool == true)
  }

  @Test(arguments: [
    (["history"], "--format json"), (["export", "Person"], "--format json"),
    (["batch", "status", "x", "--open"], "--open"),
    (["model", "convert", "model.lua", "--to", "xml"], "name the one to write"),
    (["test", "--watch"], "leave --watch out"),
  ]) func whereRowsOrTextsArePrintedTheOtherOptionIsNamed(_ arguments: [String], _ message: String) throws {
    let outcome = try bench.moonbase(arguments + ["--json"])
    #expect(outcome.status == 2 && outcome.complaints.contains(message), "\(outcome)")
  }
}
