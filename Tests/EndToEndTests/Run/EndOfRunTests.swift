import MoonbaseTestSupport
import Testing

/// A run ends in time, whatever other threads do for it.
@Suite struct EndOfRunTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { n = 'integer64', s = 'string' } } } }", to: "m.lua")
  }

  private func run(_ script: String, _ options: String...) throws -> Workbench.Outcome {
    try bench.moonbase(
      ["run", "--store", "s.sqlite", "--model", "m.lua"] + options + ["-e", "local c = moonbase.context " + script])
  }

  private func fill(_ count: Int) throws {
    let text = String(repeating: "a", count: 28) + "b"
    let outcome = try run("for i = 1, \(count) do c:insert('P', { n = i, s = '\(text)' }) end assert(c:save())")
    #expect(outcome.status == 0)
  }

  private static let endings: [(script: String, status: Int32)] = [
    ("while true do end", 3), ("error('x')", 1), ("break", 3), ("os.exit(7)", 7),
  ]

  /// An endless trigger keeps the chunk from being saved.
  @Test(arguments: endings)
  func aSaveOnAnotherThreadEndsWithItsRun(_ ending: (script: String, status: Int32)) throws {
    try fill(600)
    try bench.execute(
      """
      CREATE TRIGGER t AFTER UPDATE ON ZP WHEN new.Z_PK = 1 BEGIN SELECT count(*) FROM
        (WITH RECURSIVE a(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM a LIMIT 100000000000) SELECT v FROM a); END
      """, in: "s.sqlite")
    let outcome = try run(
      "local i = 0 for p in c:fetch('P'):save_every(100):each() do p.n = p.n + 1 i = i + 1 if i == 101 then \(ending.script) end end",
      "--limit-time", "1")
    // On one core the first chunk is saved before the script continues.
    #expect([ending.status, 3].contains(outcome.status), "\(outcome.complaints)")
  }

  /// Reading ahead never ends.
  @Test(arguments: endings)
  func aPageThatIsReadAheadEndsWithItsRun(_ ending: (script: String, status: Int32)) throws {
    try fill(3000)
    let outcome = try run(
      """
      local i = 0
      for p in c:fetch("P"):where("n < 1500 OR s MATCHES %@", "(a|aa)+$"):each() do
        i = i + 1
        if i == 1020 then \(ending.script) end
      end
      """, "--limit-time", "1")
    #expect(outcome.status == (ending.script == "break" ? 0 : ending.status), "\(outcome.complaints)")
  }

  @Test func aFaultDoesNotWaitForAPageThatIsReadAheadLongerThanItsRun() throws {
    try fill(3000)
    let outcome = try run(
      """
      local id, i = c:fetch("P"):where("n = 2900"):ids()[1], 0
      for p in c:fetch("P"):where("n < 1500 OR s MATCHES %@", "(a|aa)+$"):each() do
        i = i + 1
        if i == 1020 then
          local t = os.clock() while os.clock() - t < 0.1 do end
          print(c:object(id).n)
          break
        end
      end
      """, "--limit-time", "1")
    #expect(outcome.status == 3 || outcome.output == "2900\n", "\(outcome.complaints)")
  }
}
