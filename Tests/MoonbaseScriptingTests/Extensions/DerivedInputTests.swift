import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// What a derived attribute is computed from, and when.
@Suite struct DerivedInputTests {
  /// Computing a later input makes the same call for another object: the earlier inputs must not be lost to it.
  @Test(arguments: StoreKind.allCases) func inputsMayBeComputedByTheSameFunction(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = { path = { type = 'string', inputs = { 's', 'q.path', 's' },
                           get = function(s, above, again) return (above or '') .. '/' .. s .. again end } }
      """
    ).lines(
      """
      local long = ("x"):rep(5000)
      local top = context:insert("P", { s = long })
      local middle = context:insert("P", { s = "m", q = top })
      local low = context:insert("P", { s = "l", q = middle })
      print(low.path == "/" .. long .. long .. "/mm/ll", middle.path == "/" .. long .. long .. "/mm")
      """, leavingChanges: true)
    #expect(lines == ["true\ttrue"])
  }

  /// An owner whose value stays as it is goes at once, and the next one may lie where it lay.
  @Test(arguments: StoreKind.allCases) func whatIsStoredFollowsInEveryOwnerThatNobodyHolds(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = { full = { type = 'string', stored = true, inputs = { 'q.i' },
                           get = function(i) return i and (i >= 5 and 'big' or 'small') end } }
      """
    ).lines(
      """
      for _ = 1, 20 do context:insert("P", { s = "low", q = context:insert("P", { s = "top", i = 0 }) }) end
      assert(context:save())
      context:reset()
      collectgarbage()
      for n, top in ipairs(context:fetch("P"):where("s = 'top'"):all()) do top.i = n % 2 == 0 and 9 or 1 end
      assert(context:save())
      context:reset()
      local right, big = 0, 0
      for low in context:fetch("P"):where("s = 'low'"):each() do
        if low.full == (low.q.i >= 5 and "big" or "small") then right = right + 1 end
        if low.full == "big" then big = big + 1 end
      end
      print(right, big)
      """)
    #expect(lines == ["20\t10"])
  }

  @Test(arguments: StoreKind.allCases) func inputsMayBeObjectsOfAClass(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = {
        point = { inputs = { 'i' }, get = function(i) return setmetatable({ x = i }, Point) end },
        far = { type = 'integer64', inputs = { 'point', 'q.far', 'q.point' },
                get = function(p, far, other) return p.x + (far or 0) + (other and other.x or 0) end },
      }
      """, beside: "classes = { Point = Point }, " + ThingBench.transformer,
      before: "local Point = {} Point.__index = Point"
    ).lines(
      """
      local top = context:insert("P", { i = 1 })
      print(context:insert("P", { i = 10, q = context:insert("P", { i = 100, q = top }) }).far)
      """, leavingChanges: true)
    #expect(lines == ["212"])
  }

  /// Of the inputs before a missing one nothing may stay: with texts of a megabyte that would be gigabytes.
  @Test func missingInputOfAStrictAttributeCostsNoMemory() throws {
    let bench = try ThingBench.bench(
      "derived = { both = { type = 'string', strict = true, inputs = { 's', 'q.s' }, get = function(a, b) return a .. b end } }"
    )
    let before = try residentBytes()
    let lines = try bench.lines(
      """
      local p = context:insert("P", { s = ("x"):rep(1 << 20) })
      for i = 1, 500 do
        p.i = i
        assert(p.both == nil)
      end
      p.q = context:insert("P", { s = "y" })
      print(#p.both)
      """, leavingChanges: true)
    #expect(lines == ["1048577"])
    #expect(try residentBytes() - before < 200 << 20)
  }

  private func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
  }
}
