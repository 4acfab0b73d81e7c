import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Scripts that cause endless work of the host, in memory and in SQL: a limit or SIGINT ends them, and `pcall` cannot
/// catch that.
@Suite struct HostLimitTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
  }

  static let model = """
    return { entities = { P = {
      attributes = { n = 'integer64', s = 'string' },
      relationships = {
        friends = { to_many = 'P', inverse = 'friendOf' }, friendOf = { to_many = 'P', inverse = 'friends' },
      },
    } } }
    """

  static let beginning = """
    local c, ps = moonbase.context, {}
    for i = 1, 60 do ps[i] = c:insert('P', { n = i, s = ('a'):rep(28) .. i }) end
    for i = 1, 60 do for j = 1, 20 do ps[i].friends:add(ps[(i * 7 + j * 13) % 60 + 1]) end end

    """

  /// Each would take minutes or never end.
  static let bodies = [
    "subqueries": """
    SUBQUERY(friends, $a, SUBQUERY($a.friends, $b, SUBQUERY($b.friends, $c, SUBQUERY($c.friends, $d, \
    $d.n * $b.n * $c.n * $a.n = -1).@count > 0).@count > 0).@count > 0).@count > 0
    """,
    "paths": "friends.friends.friends.friends.friends.@count = 7",
    "unions": "-1 IN friends.friends.friends.friends.@unionOfObjects.n",
    "expressions": "s MATCHES '(a+)+b'",
  ].mapValues { "while true do pcall(function() c:fetch('P'):where(\"\($0)\"):all() end) end" }
    .merging([
      "sorting": "while true do pcall(function() c:fetch('P'):sort('friends.@count', 's'):all() end) end",
      "prefetching": "c:save() while true do c:fetch('P'):prefetch('friends.friends.friends'):all() end",
      "lists": "while true do pcall(function() ps[1].friends:all() end) end",
      "dictionaries": "c:save() while true do c:fetch('P'):dictionaries { 'n', x = '@sum.friends.n' } end",
      "long lists": """
      local l = {} for i = 1, 5000 do l[i] = -i + 0.5 end
      while true do pcall(function() c:fetch('P'):where('n IN %@', l):count() end) end
      """,
      "long texts": """
      ps[1].s = ('a'):rep(4000000)
      c:fetch('P'):where('s CONTAINS[c] %@', ('a'):rep(2000000) .. 'b'):all()
      """,
      "rollbacks": "while true do for i = 1, 500 do c:insert('P') end c:rollback() end",
      "saves": "while true do for i = 1, 500 do c:insert('P') end c:save() end",
    ]) { own, _ in own }

  static let ready = "print('ready') io.stdout:flush() "

  private func arguments(_ name: String, isStored: Bool, _ options: [String] = []) throws -> [String] {
    let body = try #require(Self.bodies[name])
    let store = isStored ? ["--store", "s.sqlite"] : []
    return ["run", "--model", "m.lua"] + store + options + ["-e", Self.beginning + Self.ready + body]
  }

  /// Runs with a time limit, and with a longer limit if a busy machine did not reach the tested work.
  private func runInTime(_ arguments: (_ limit: [String]) throws -> [String]) throws -> Workbench.Outcome {
    for seconds in ["0.7", "4"] {
      let run = try bench.moonbase(arguments(["--limit-time", seconds]))
      if run.output == "ready\n" { return run }
      for name in try bench.names() where name.hasPrefix("s.sqlite") {
        try FileManager.default.removeItem(at: bench.file(name))
      }
    }
    return try bench.moonbase(arguments(["--limit-time", "20"]))
  }

  /// Each body in memory and in SQL; the short run alternates.
  private static let places = bodies.keys.sorted().enumerated().flatMap { place, name in
    (TestLength.isLong ? [false, true] : [place % 2 == 0]).map { (name, $0) }
  }

  @Test(arguments: places)
  func instructionsEndWorkOfTheHost(_ name: String, isStored: Bool) throws {
    let run = try bench.moonbase(
      arguments(name, isStored: isStored, ["--limit-instructions", "1e6", "--limit-time", "120"]))
    #expect(run.status == 3 && run.output == "ready\n")
    #expect(run.complaints.contains("the script used up its instructions") || name == "long texts", "\(run.complaints)")
  }

  @Test(arguments: places)
  func aDeadlineEndsWorkOfTheHost(_ name: String, isStored: Bool) throws {
    let run = try runInTime { try arguments(name, isStored: isStored, $0) }
    #expect(run.status == 3 && run.output == "ready\n")
    #expect(run.complaints.contains("the script ran out of time"), "\(run.complaints)")
  }

  // MARK: One statement of SQL

  /// A count that takes SQLite minutes: objects without changes are counted in one statement.
  static let count = "moonbase.context:fetch('P'):where(\"\(subqueries)\"):count()"

  static let subqueries = """
    SUBQUERY(friends, $a, SUBQUERY($a.friends, $b, SUBQUERY($b.friends, $c, SUBQUERY($c.friends, $d, SUBQUERY($d.friends, \
    $e, $e.n * $d.n * $b.n * $c.n * $a.n = -1).@count > 0).@count > 0).@count > 0).@count > 0).@count > 0
    """

  @Test(arguments: [["--limit-time", "2"], ["--limit-instructions", "5e6"]])
  func aLimitEndsAStatementInItsMidst(_ limit: [String]) throws {
    let setup = try bench.moonbase(
      "run", "--model", "m.lua", "--store", "s.sqlite", "-e", Self.beginning + "assert(c:save())")
    #expect(setup.status == 0, "\(setup.complaints)")
    let before = try bench.bytes(of: "s.sqlite")
    let run = try bench.moonbase(["run", "--store", "s.sqlite"] + limit + ["-e", Self.ready + Self.count])
    #expect(run.status == 3 && run.output == "ready\n", "\(run.complaints)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    #expect(try bench.connection(to: "s.sqlite").text("PRAGMA integrity_check") == "ok")
  }

  @Test func thePropertiesOfAModelAreCharged() throws {
    let code = """
      local a = {} for i = 1, 5000 do a['a' .. i] = 'string' end
      pcall(moonbase.open, { model = { entities = { P = { attributes = a } } } })
      """
    let run = try bench.moonbase("run", "--limit-instructions", "100000", "-e", code)
    #expect(run.status == 3)
    #expect(run.complaints.contains("the script used up its instructions"), "\(run.complaints)")
  }
}
