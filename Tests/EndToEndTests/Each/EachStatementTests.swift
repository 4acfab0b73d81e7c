import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Runs of `moonbase each` in one statement of the store, compared with runs object by object (`--batch`).
@Suite struct EachStatementTests {
  /// The rows, their versions and their history.
  private func contents(_ bench: Workbench) throws -> String {
    let sql = """
      SELECT Z_PK, Z_OPT, quote(ZN), quote(ZS) FROM ZITEM; SELECT ZENTITYPK, ZCHANGETYPE, quote(ZCOLUMNS) FROM ACHANGE ORDER BY 1, 2;
      """
    let outcome = try bench.program("sqlite3", "s.sqlite", sql)
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  private func transactions(_ bench: Workbench) throws -> Int {
    Int(try bench.program("sqlite3", "s.sqlite", "SELECT count(*) FROM ATRANSACTION").output.dropLast()) ?? 0
  }

  private static func bench() throws -> Workbench {
    let bench = try Workbench.withNumbers(2500)
    // From here on the file keeps a history.
    let begun = try bench.moonbase(
      "run", "--store", "s.sqlite", "--keep-history", "-e",
      "for o in moonbase.context:fetch('Item'):where('n == 5'):each() do o.s = 'five' end moonbase.context:save()")
    try #require(begun.status == 0, "\(begun)")
    return bench
  }

  @Test(arguments: [
    ("object.s = (object.s or '') .. object.n", "2500 changed", 0, 1),
    ("if object.n > 500 then object.n = object.n - 1 end", "998 changed", 0, 1),
    ("object.n = object.n", "0 changed", 0, 0),
    // Failures are reported by object.
    ("object.s = object.s:upper()", "3 changed, 2497 failed", 4, 3),
    ("object.n = object.n + 5", "2490 changed, 10 failed", 4, 3),
    // Code that does more than set a value runs object by object.
    ("x = (x or 0) + 1 object.s = 'x'", "2500 changed", 0, 3),
  ])
  func bothWaysTellAndLeaveTheSame(_ code: String, _ told: String, _ status: Int32, _ saves: Int) throws {
    let (one, other) = (try Self.bench(), try Self.bench())
    let before = try transactions(one)
    let arguments = ["each", "Item", "--store", "s.sqlite", "--do", code]
    let (found, expected) = (try one.moonbase(arguments), try other.moonbase(arguments + ["--batch", "900"]))
    for outcome in [found, expected] {
      #expect(outcome.status == status && outcome.output == "", "\(outcome)")
      #expect(outcome.complaints.contains("2500 objects visited: \(told); "), "\(outcome)")
    }
    // Failures name the bench's store, which is removed for the comparison.
    func failures(_ outcome: Workbench.Outcome) -> [Substring] {
      outcome.complaints.split(separator: "\n").compactMap { $0.split(separator: "/Item/").last }.dropLast()
    }
    #expect(failures(found) == failures(expected))
    #expect(try contents(one) == contents(other))
    #expect(try transactions(one) - before == saves)
  }

  @Test func conditionsAndScriptsOfAFileAreOneStatementToo() throws {
    let bench = try Self.bench()
    let before = try transactions(bench)
    try bench.write("return function(item, context)\n  item.s = 'n' .. item.n\nend\n", to: "e.lua")
    let outcome = try bench.moonbase(
      "each", "Item", "--store", "s.sqlite", "--script", "e.lua", "--where", "n < %@", "--param", "700")
    #expect(outcome.status == 0 && outcome.complaints.contains(" objects visited: "), "\(outcome)")
    #expect(try transactions(bench) == before + 1)
    #expect(
      try bench.moonbase("fetch", "Item", "--store", "s.sqlite", "--where", "s == 'n3'", "--count").output == "3\n")
  }

  @Test func rulesHooksAndDerivedAttributesOfExtensionsAreAsked() throws {
    for part in [
      "validate = { n = function(n) if n == 7 then return false, 'seven' end return true end }",
      "normalize = { s = function(s) return s:lower() end }", "will_save = function() end",
      "validate_for_update = function(o) return true end", "awake_from_fetch = function() end",
    ] {
      let bench = try Self.bench()
      let before = try transactions(bench)
      try bench.write("return { entities = { Item = { \(part) } } }", to: "e.lua")
      let outcome = try bench.moonbase(
        "each", "Item", "--store", "s.sqlite", "--extension", "e.lua", "--do", "object.s = 'X'")
      #expect(outcome.complaints.contains("2500 objects visited: "), "\(outcome)")
      #expect(try transactions(bench) == before + 3, "\(part)")
    }
  }

  #if os(Linux)
    @Test func sigintLeavesNothing() throws {
      let bench = try Self.bench()
      let before = try contents(bench)
      let slow = "object.s = ('a'):rep(200000):find(('a?'):rep(60) .. 'b') and 'x' or 'y'"
      let run = try bench.beginInterruptible(["each", "Item", "--store", "s.sqlite", "--do", slow])
      // The statement holds the write lock from its beginning.
      for _ in 0..<2000 where run.isRunning {
        if (try? bench.lock("s.sqlite").end()) == nil { break }
        usleep(5000)
      }
      run.interrupt()
      #expect(try run.end() == 130)
      #expect(run.outcome().complaints.contains("nothing was saved"), "\(run.outcome())")
      #expect(try contents(bench) == before)
    }
  #endif
}
