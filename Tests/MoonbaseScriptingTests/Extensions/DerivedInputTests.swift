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
