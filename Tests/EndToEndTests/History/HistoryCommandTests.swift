import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct HistoryCommandTests {
  /// `h.sqlite`, with a history of three saves: two insertions, a change, a deletion.
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { Person = { attributes = { name = { 'string', keep_in_history = true } } }, Car = {} } }",
      to: "m.lua")
    let code = """
      local c = moonbase.context
      local ann = c:insert("Person", { name = "Ann" })
      c:insert("Car")
      assert(c:save())
      ann.name = "Anna"
      assert(c:save())
      c:delete(ann)
      assert(c:save())
      """
    let made = try bench.moonbase(
      "run", "--store", "h.sqlite", "--model", "m.lua", "--keep-history", "-e", code)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  private func changes(_ bench: Workbench, _ arguments: String...) throws -> [Substring] {
    let outcome = try bench.moonbase(["history", "h.sqlite", "--format", "ndjson"] + arguments)
    #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
    return outcome.output.split(separator: "\n")
  }

  @Test func eachChangeIsARowWithItsTransaction() throws {
    let bench = try bench()
    let before = try bench.contents()
    let rows = try changes(bench)
    #expect(rows.count == 4)
    #expect(rows[0].contains(/^\{"transaction": 1, "date": "20[^"]+Z", .*"change": "insert", "_id": "[A-Z][a-z]+\/1"/))
    #expect(rows[2].contains(#""change": "update""#) && rows[2].contains(#""properties": ["name"]"#))
    #expect(rows[3].contains(#""change": "delete""#) && rows[3].contains(#""tombstone": {"name": "Anna"}"#))
    #expect(try bench.contents() == before)
  }

  @Test func tokensDatesEntitiesAndPredicatesNarrowIt() throws {
    let bench = try bench()
    #expect(try changes(bench, "--entity", "Car").count == 1)
    #expect(try changes(bench, "--where", "changeType == 2").count == 1)
    #expect(try changes(bench, "--where", "'name' IN updatedProperties").count == 1)
    #expect(try changes(bench, "--author", "nobody").isEmpty)
    #expect(try changes(bench, "--where", "tombstone != nil").count == 1)
    #expect(try changes(bench, "--where", "transaction.timestamp > '2026-01-01'").count == 4)
    #expect(try changes(bench, "--where", "transaction.timestamp > '2100-01-01'").isEmpty)
    #expect(try changes(bench, "--limit", "3").count == 3)
    #expect(try changes(bench, "--since", "2001-01-01").count == 4)
    #expect(try changes(bench, "--since", "2100-01-01").isEmpty)
    let token = try bench.moonbase("history", "h.sqlite", "--token").output.split(separator: "\n")[0]
    #expect(token.hasSuffix(":3"))
    #expect(try changes(bench, "--since", String(token)).isEmpty)
    #expect(try changes(bench, "--since", String(token).replacing(/3$/, with: "1")).count == 2)
  }

  @Test func aPartIsDeletedByPlaceAndByNumber() throws {
    let bench = try bench()
    #expect(try bench.moonbase("history", "h.sqlite", "--keep", "2").complaints.contains("1 transaction deleted"))
    #expect(try changes(bench).count == 2)
    let token = try bench.moonbase("history", "h.sqlite", "--token").output.split(separator: "\n")[0]
    #expect(try bench.moonbase("history", "h.sqlite", "--delete-before", String(token)).status == 0)
    #expect(try changes(bench).count == 1)
    let expired = try bench.moonbase("history", "h.sqlite", "--since", String(token).replacing(/3$/, with: "1"))
    #expect(expired.status == 1 && expired.complaints.contains("was deleted behind the token"), "\(expired)")
    #expect(
      try bench.moonbase("history", "h.sqlite", "--keep-size", "1K").complaints.contains("0 transactions deleted"))
    #expect(try bench.moonbase("history", "h.sqlite", "--keep-size", "none").status == 2)
    #expect(try bench.moonbase("history", "h.sqlite", "--keep", "9").complaints.contains("0 transactions deleted"))
  }

  @Test func aPartIsDeletedBySizeAndByScripts() throws {
    let size = try bench()
    #expect(
      try size.moonbase("history", "h.sqlite", "--keep-size", "300").complaints.contains("2 transactions deleted"))
    #expect(try changes(size).count == 1)
    let script = try bench()
    let code = """
      local c = moonbase.context
      print(c:delete_history { keep_size = 400 }, c:delete_history { keep = 1 }, c:delete_history { before = c.history_token })
      print(pcall(c.delete_history, c, {}))
      print(pcall(c.delete_history, c, { keep = 0 }))
      """
    let outcome = try script.moonbase("run", "--store", "h.sqlite", "-e", code)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0] == "1\t1\t0", "\(outcome)")
    #expect(lines[1].contains("say what is deleted") && lines[2].contains("keep is a number above 0"), "\(outcome)")
    #expect(try changes(script).count == 1)
  }

  @Test func wrongUsageAndStoresWithoutAHistoryAreRefused() throws {
    let bench = try bench()
    func outcome(_ arguments: String...) throws -> (Int32, String) {
      let outcome = try bench.moonbase(["history"] + arguments)
      #expect(outcome.output == "")
      return (outcome.status, outcome.complaints)
    }
    #expect(try outcome("h.sqlite", "--keep", "0").0 == 2)
    #expect(try outcome("h.sqlite", "--since", "yesterday").0 == 2)
    #expect(try outcome("h.sqlite", "--keep", "1", "--author", "x").0 == 2)
    #expect(try outcome("h.sqlite", "--entity", "Persn").1.contains("did you mean Person?"))
    #expect(try outcome("h.sqlite", "--where", "authr == 'x'").1.contains("of a history has no authr"))
    #expect(try outcome("none.sqlite").0 == 1)
    let strange = try self.bench().moonbase("history", "h.sqlite", "--token").output.split(separator: "\n")[0]
    #expect(try outcome("h.sqlite", "--since", String(strange)).1.contains("which is not open here: open is "))
    #expect(try outcome("h.sqlite", "--where", "tombstone.nme == 'x'").1.contains("did you mean name?"))
    let other = try Workbench.withPeople()
    let refused = try other.moonbase("history", "s.sqlite")
    #expect(
      refused.status == 1
        && refused.complaints.contains("s.sqlite keeps no history: moonbase run or each with --keep-history"),
      "\(refused)")
  }

  @Test func scriptsSayWhoSaves() throws {
    let bench = try bench()
    let code = """
      local c = moonbase.context
      c.author, c.name = "me", "importer"
      c:insert("Car")
      assert(c:save())
      local change = c:history { author = "me" }:all()[1]
      print(change.author, change.context_name)
      """
    let outcome = try bench.moonbase("run", "--store", "h.sqlite", "-e", code)
    #expect(outcome.output == "me\timporter\n", "\(outcome)")
    #expect(try changes(bench, "--author", "me").count == 1)
  }

  @Test func scriptsWalkOverTheSame() throws {
    let bench = try bench()
    let code = """
      local c = moonbase.context
      local kinds = {}
      for change in c:history():each() do kinds[#kinds + 1] = change.kind .. " " .. change.entity end
      print(table.concat(kinds, ", "))
      local all = c:history { where = "changeType == 2" }:all()
      print(#all, all[1].tombstone.name, all[1].transaction, c:history { after = all[1].token }:count())
      print(c:history { limit = 1 }:count(), c:history { author = "x" }:count(), c.history_token == all[1].token)
      print(pcall(c.history, c, { after = "x" }))
      print(pcall(c.history, c, { befor = "x" }))
      """
    let outcome = try bench.moonbase("run", "--store", "h.sqlite", "--read-only", "-e", code)
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count >= 5, "\(outcome)")
    #expect(Set(lines[0].split(separator: ", ").prefix(2)) == ["insert Person", "insert Car"])
    #expect(lines[0].hasSuffix("update Person, delete Person"))
    #expect(lines[1] == "1\tAnna\t3\t0")
    #expect(lines[2] == "1\t0\ttrue")
    #expect(lines[3].contains("a token, as context.history_token gives one"))
    #expect(lines[4].contains("befor"))
  }
}
