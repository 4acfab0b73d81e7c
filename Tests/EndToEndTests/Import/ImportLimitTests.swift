import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Limits and SIGINT apply to every command that runs Lua: maps, rules, derived attributes, mappings, models.
@Suite struct ImportLimitTests {
  private static let endless = "while true do end"

  @Test func whatAMapMakesCountsForTheMemoryLimit() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\n" + (0..<1000).map { "p\($0)\n" }.joined(), to: "p.csv")
    try bench.write(
      "return { row = function(row) row.email = ('x'):rep(1 << 20) .. row.name return row end }", to: "map.lua")
    let outcome = try bench.imports(["Person", "p.csv", "--map", "map.lua", "--limit-memory", "64M"], status: 3)
    #expect(outcome.complaints.contains("memory"), "\(outcome)")
    #expect(try bench.fetched("Person", "--count") == "0\n")
  }

  /// Each command ends with status 3 at these limits.
  @Test(arguments: [["--limit-time", "1"], ["--limit-instructions", "2000000"]])
  func everyCommandThatRunsLuaHasLimits(_ limit: [String]) throws {
    let bench = try Workbench.withItems(3)
    try bench.write(
      """
      return { entities = { Item = { derived = {
        twice = { type = "integer64", get = function(object) \(Self.endless) end },
        pure = { type = "integer64", inputs = { "n" }, pure = true, get = function(n) \(Self.endless) end },
      } } } }
      """, to: "e.lua")
    try bench.write("\(Self.endless) return {}", to: "endless.lua")
    try bench.write("return { Item = function(old, new) \(Self.endless) end }", to: "map.lua")
    let store = ["--store", "s.sqlite", "--extension", "e.lua"]
    for arguments in [
      ["fetch", "Item", "--columns", "twice"] + store, ["fetch", "Item", "--where", "pure > 1"] + store,
      ["fetch", "Item", "--where", "twice > 1", "--count"] + store, ["export", "Item", "--columns", "twice"] + store,
      ["export", "Item", "out.csv", "--columns", "twice"] + store, ["info", "s.sqlite", "--model", "endless.lua"],
      ["doctor", "s.sqlite", "--model", "endless.lua"],
      ["sql", "s.sqlite", "SELECT 1", "--model", "endless.lua"], ["history", "s.sqlite", "--model", "endless.lua"],
      ["migrate", "s.sqlite", "--to", "endless.lua"],
      ["batch", "status", "--store", "s.sqlite", "--extension", "endless.lua"],
      ["migrate", "s.sqlite", "--to", "m.lua", "--mapping", "map.lua"],
    ] {
      let outcome = try bench.program("timeout", ["60", Workbench.command.path] + arguments + limit)
      #expect(outcome.status == 3, "\(arguments): \(outcome)")
    }
    #expect(try bench.number("SELECT COUNT(*) FROM ZITEM") == 3)
  }

  /// Limits also apply while rows are read: a hostile database computes its rows.
  @Test(arguments: [
    (["plain.db", "--limit-time", "1"], 100, 4_000_000), (["plain.db", "--limit-memory", "48M"], 1, 200_000_000),
    (["p.csv", "--limit-instructions", "10000"], 0, 0),
  ]) func inferenceHasLimits(_ arguments: [String], rows: Int, length: Int) throws {
    let bench = try Workbench()
    try bench.write("a\n" + String(repeating: "1\n", count: 50_000), to: "p.csv")
    try bench.connection(to: "plain.db").executeScript(
      """
      CREATE TABLE g (a, b AS (hex(zeroblob(\(length)))));
      WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < \(rows)) INSERT INTO g SELECT x FROM c;
      """)
    for more in [["--dry-run"], ["--store", "s.sqlite"]] {
      let outcome = try bench.moonbase(["import", "--infer"] + arguments + more)
      #expect(outcome.status == 3, "\(outcome)")
      #expect(try bench.names() == ["p.csv", "plain.db"])
    }
  }

  #if os(Linux)
    @Test(arguments: ["p.csv", "plain.db"]) func sigintEndsAnExtensionThatDoesNotEndAfterInference(_ file: String)
      throws
    {
      let bench = try Workbench()
      try bench.write("a\n1\n", to: "p.csv")
      try bench.connection(to: "plain.db").executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      try bench.write(Self.endless, to: "e.lua")
      let run = try bench.beginInterruptible(
        ["import", file, "--infer", "--store", "s.sqlite", "--extension", "e.lua"])
      for _ in 0..<1000 where try !bench.names().contains("s.lua") { usleep(5000) }
      let began = ContinuousClock.now
      run.interrupt()
      #expect(try run.end() == 130)
      #expect(ContinuousClock.now - began < .seconds(5))
    }

    @Test func sigintEndsAMapThatDoesNotEnd() throws {
      let bench = try Workbench.forImports()
      try bench.write("name\np\n", to: "p.csv")
      try bench.write(
        "return { row = function(row) io.stdout:write('begun\\n') io.stdout:flush() \(Self.endless) end }",
        to: "map.lua")
      try bench.write(
        "return { entities = { Person = { validate = { name = function(v) io = io \(Self.endless) end } } } }",
        to: "e.lua")
      for more in [["--map", "map.lua"], ["--extension", "e.lua"]] {
        let run = try bench.beginInterruptible(
          ["import", "Person", "p.csv", "--store", "s.sqlite", "--model", "m.lua"] + more)
        if more[0] == "--map" { try run.wait(for: "begun") } else { usleep(1_500_000) }
        let began = ContinuousClock.now
        run.interrupt()
        #expect(try run.end() == 130)
        // The limit is a second; the margin is for a busy machine.
        #expect(ContinuousClock.now - began < .seconds(5))
      }
      #expect(try bench.fetched("Person", "--count") == "0\n")
    }
  #endif
}
