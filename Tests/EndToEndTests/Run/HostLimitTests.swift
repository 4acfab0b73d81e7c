import MoonbasePlatform
import Testing

/// Scripts that have the host work without end: a limit or one SIGINT ends them, in memory and in SQL, and a pcall does not help.
@Suite struct HostLimitTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = { P = {
        attributes = { n = 'integer64', s = 'string' },
        relationships = {
          friends = { to_many = 'P', inverse = 'friendOf' }, friendOf = { to_many = 'P', inverse = 'friends' },
        },
      } } }
      """, to: "m.lua")
  }

  private static let beginning = """
    local c, ps = moonbase.context, {}
    for i = 1, 60 do ps[i] = c:insert('P', { n = i, s = ('a'):rep(28) .. i }) end
    for i = 1, 60 do for j = 1, 20 do ps[i].friends:add(ps[(i * 7 + j * 13) % 60 + 1]) end end
    print('ready')

    """

  /// Each would take minutes, or for ever.
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

  private func arguments(_ name: String, isStored: Bool, _ options: [String] = []) throws -> [String] {
    let body = try #require(Self.bodies[name])
    let store = isStored ? ["--store", "s.sqlite"] : []
    return ["run", "--model", "m.lua"] + store + options + ["-e", Self.beginning + body]
  }

  @Test(arguments: bodies.keys.sorted(), [false, true])
  func instructionsEndWorkOfTheHost(_ name: String, isStored: Bool) throws {
    let run = try bench.moonbase(
      arguments(name, isStored: isStored, ["--limit-instructions", "3e6", "--limit-time", "20"]))
    #expect(run.status == 3)
    #expect(run.complaints.contains("the script used up its instructions") || name == "long texts", "\(run.complaints)")
  }

  @Test(arguments: bodies.keys.sorted(), [false, true])
  func aDeadlineEndsWorkOfTheHost(_ name: String, isStored: Bool) throws {
    let run = try bench.moonbase(arguments(name, isStored: isStored, ["--limit-time", "0.7"]))
    #expect(run.status == 3)
    #expect(run.complaints.contains("the script ran out of time"), "\(run.complaints)")
  }
}
