import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase recompute` updates stored derived attributes, and `doctor` finds outdated ones.
@Suite struct RecomputeCommandTests {
  /// Five people whose initials were computed by older code, and an extension that now computes two letters.
  private static func outdated() throws -> Workbench {
    let bench = try Workbench.withProject()
    try bench.insertPeople("Ann", "Bob", "Cid", "Dan", "Eve")
    try bench.write(Workbench.projectRules.replacingOccurrences(of: "sub(1, 1)", with: "sub(1, 2)"), to: "rules.lua")
    return bench
  }

  private func initials(_ bench: Workbench) throws -> String {
    try bench.moonbase("fetch", "Person", "--columns", "initial", "--format", "csv").output
  }

  @Test func valuesOfFormerCodeAreComputedAnew() throws {
    let bench = try Self.outdated()
    let dry = try bench.moonbase("recompute", "Person", "initial", "--dry-run")
    #expect(dry.status == 0 && dry.output.contains(#"initial: "A" → "An""#), "\(dry)")
    #expect(try initials(bench) == "initial\nA\nB\nC\nD\nE\n")
    let outcome = try bench.moonbase("recompute", "Person")
    #expect(outcome.status == 0 && outcome.complaints.contains("5 objects visited: 5 changed"), "\(outcome)")
    #expect(try initials(bench) == "initial\nAn\nBo\nCi\nDa\nEv\n")
    let again = try bench.moonbase("recompute", "Person", "initial", "./s.sqlite", "--busy-timeout", "1")
    #expect(again.complaints.contains("5 objects visited: 0 changed"), "\(again)")
  }

  /// An object that fails validation is unchanged.
  @Test func objectsThatFailAreToldAndTheOthersAreComputed() throws {
    let bench = try Self.outdated()
    try bench.execute("UPDATE ZPERSON SET ZAGE = -1 WHERE ZNAME = 'Cid'", in: "s.sqlite")
    let outcome = try bench.moonbase("recompute", "Person", "--batch", "2")
    #expect(outcome.status == 4 && outcome.complaints.contains("Person.age (-1) is negative"), "\(outcome)")
    #expect(outcome.complaints.contains("4 changed, 1 failed"))
    #expect(try initials(bench) == "initial\nAn\nBo\nC\nDa\nEv\n")
    // The run is complete, so there is nothing to resume.
    let again = try bench.moonbase("recompute", "Person", "--batch", "2")
    #expect(again.status == 4 && again.complaints.contains("5 objects visited"), "\(again)")
  }

  @Test func namesThatAreNoStoredDerivedAttributesAreRefused() throws {
    let bench = try Self.outdated()
    func complaint(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(["recompute"] + arguments)
      #expect(outcome.status != 0 && outcome.output == "", "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint("Person", "inital").contains("did you mean initial?"))
    #expect(try complaint("Person", "name").contains("Person.name is no stored derived attribute"))
    #expect(try complaint("Persn").contains("did you mean Person?"))
    #expect(try complaint("s.sqlite", "Person").contains("the entity comes first"))
    #expect(try complaint("Person", "--batch", "0").contains("--batch takes a number"))
    #expect(try complaint("Person", "gone.sqlite").contains("there is no such store"))
    let without = try complaint("Person", "--no-project", "--store", "s.sqlite", "--without-extension", "rules")
    #expect(without.contains("Person has no stored derived attribute"))
  }

  /// An interrupted run resumes after its last batch, unless the code has changed.
  @Test func aRunThatWasEndedGoesOnWhereItStood() throws {
    let bench = try Self.outdated()
    let slow = Workbench.projectRules.replacingOccurrences(
      of: "get = function(name) return name and name:sub(1, 1)",
      with: "get = function(name) if name == 'Dan' then error('stop', 0) end return name and name:sub(1, 2)")
    // The run ends at the limit, within the fourth object.
    try bench.write(slow.replacingOccurrences(of: "error('stop', 0)", with: "while true do end"), to: "rules.lua")
    let ended = try bench.moonbase("recompute", "Person", "--batch", "1", "--limit-instructions", "3000000")
    #expect(ended.status == 3, "\(ended)")
    let notes = try bench.moonbase("recompute", "Person", "--batch", "1", "--limit-instructions", "3000000")
    #expect(notes.status == 3 && notes.complaints.contains("this one goes on behind them"), "\(notes)")
    let restarted = try bench.moonbase(
      "recompute", "Person", "--batch", "1", "--limit-instructions", "3000000", "--restart")
    #expect(!restarted.complaints.contains("goes on behind them"), "\(restarted)")
    try bench.write(Workbench.projectRules.replacingOccurrences(of: "sub(1, 1)", with: "sub(1, 3)"), to: "rules.lua")
    let other = try bench.moonbase("recompute", "Person")
    #expect(other.status == 0 && other.complaints.contains("5 objects visited: 5 changed"), "\(other)")
    #expect(try initials(bench) == "initial\nAnn\nBob\nCid\nDan\nEve\n")
  }

  /// Each store has its own bookmark.
  @Test func aRunOverSeveralStoresGoesOnWhereItStood() throws {
    let bench = try Workbench.withProject(
      #"return { store = { Local = "l.sqlite", Far = "f.sqlite" }, model = "model.lua", extensions = { "rules.lua" } }"#
    )
    try bench.write(
      """
      return { entities = { A = { abstract = true, attributes = { n = "integer16", twice = "integer64" } }, Near = { parent = "A" }, Far = {
        parent = "A" } }, configurations = { Local = { "Near" }, Far = { "Far" } } }
      """, to: "model.lua")
    func writeGetter(_ body: String) throws {
      try bench.write(
        "return { name = 'rules', entities = { A = { derived = { twice = { type = 'integer64', stored = true, inputs = { 'n' }, "
          + "get = function(n) \(body) end } } } } }", to: "rules.lua")
    }
    try writeGetter("return n")
    let made = try bench.moonbase(
      "run", "-e",
      "local c = moonbase.context for i = 1, 3 do c:insert('Near', { n = i }) c:insert('Far', { n = i }) end assert(c:save())"
    )
    #expect(made.status == 0, "\(made)")
    let code = "if n == 3 and NAME == nil then while true do end end return 2 * n"
    try writeGetter(code)
    let arguments = ["recompute", "A", "--batch", "1", "--limit-instructions", "3000000"]
    #expect(try bench.moonbase(arguments).status == 3)
    let again = try bench.moonbase(arguments)
    #expect(again.status == 3, "\(again)")
    #expect(again.complaints.contains("it went through 2 objects and changed 2"), "\(again)")
    try writeGetter("return 3 * n")
    let all = try bench.moonbase("recompute", "A")
    #expect(all.status == 0 && all.complaints.components(separatedBy: "3 objects visited: 3 changed").count == 3)
    #expect(all.complaints.contains("moonbase: l.sqlite:\n") && all.complaints.contains("moonbase: f.sqlite:\n"))
    #expect(try bench.moonbase("recompute", "A").complaints.contains("3 objects visited: 0 changed"))
  }

  @Test func doctorTellsWhatDiffersAndWhatBreaksARule() throws {
    let bench = try Self.outdated()
    try bench.execute("UPDATE ZPERSON SET ZAGE = -1, ZINITIAL = 'Bo' WHERE ZNAME = 'Bob'", in: "s.sqlite")
    let before = try bench.bytes(of: "s.sqlite")
    let plain = try bench.moonbase("doctor", "--no-project", "s.sqlite")
    #expect(plain.status == 0 && plain.complaints.contains("nothing is wrong"), "\(plain)")
    let outcome = try bench.moonbase("doctor", "s.sqlite", "--no-project", "--extension", "rules.lua")
    #expect(outcome.status == 1 && outcome.complaints.contains("5 things are wrong"), "\(outcome)")
    #expect(
      outcome.output.contains("derived: Person/1: initial is A, and the extension computes An"), "\(outcome)")
    #expect(outcome.output.contains("rule: Person/2: Person.age (-1) is negative"), "\(outcome)")
    #expect(!outcome.output.contains("derived: Person/2"))
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let json = try bench.moonbase("doctor", "--json").output.split(separator: "\n")
    #expect(json.count == 5 && json.allSatisfy { $0.hasPrefix("{\"event\": \"found\"") })
  }
}
