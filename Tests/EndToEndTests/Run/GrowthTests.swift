import MoonbaseTestSupport
import Testing

/// The memory of long operations does not grow with their duration.
@Suite struct GrowthTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      "return { entities = { P = { attributes = { i = 'integer64', s = 'string' } } } }", to: "m.lua")
  }

  /// Lua that prints the memory of the process in kilobytes.
  private static let resident = """
    local function resident(key)
      for line in io.lines("/proc/self/status") do
        local size = line:match("^" .. key .. ":%s*(%d+)")
        if size then return tonumber(size) end
      end
    end
    local c = moonbase.context

    """

  private func run(_ script: String, _ arguments: String...) throws -> Int {
    let run = try bench.moonbase(
      ["run", "--sandbox", "trusted", "--store", "s.sqlite", "--model", "m.lua"] + arguments
        + ["-e", Self.resident + script])
    #expect(run.complaintsBesideNewStores.isEmpty)
    return try #require(Int(run.output.split(separator: "\n").last ?? ""), "\(run.output)")
  }

  /// A store with many objects, written by SQL without the graph.
  private func fill(_ count: Int) throws {
    _ = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "moonbase.context:save()")
    try bench.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZI, ZS) SELECT i, 1, 1, i, 'number ' || i FROM n;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
      """, in: "s.sqlite")
  }

  @Test func aWalkHoldsNoMoreThanIsLookedAt() throws {
    try fill(150_000)
    let growth = try run(
      """
      local before, sum = resident("VmHWM"), 0
      for p in c:fetch("P"):each() do sum = sum + p.i end
      assert(sum == 150000 * 150001 // 2)
      print(resident("VmHWM") - before)
      """)
    #expect(growth < 40_000)
  }

  @Test func reloadsLetGoOfWhatTheyReplace() throws {
    try bench.write(
      """
      local Class = {}
      return { classes = { Class = Class }, entities = { P = { derived = { twice = {
        type = "integer64", inputs = { "i" }, pure = true, get = function(i) return i * 2 end } },
        will_save = function(p) end } } }
      """, to: "x.lua")
    let growth = try run(
      """
      c:insert("P", { i = 1 }) c:save()
      local function reload(count)
        for _ = 1, count do
          moonbase.reload()
          assert(c:fetch("P"):where("twice == 2"):count() == 1)
        end
        collectgarbage() collectgarbage()
      end
      reload(100)
      local before = resident("VmRSS")
      reload(300)
      print(resident("VmRSS") - before)
      """, "--extension", "x.lua")
    #expect(growth < 5_000)
  }

  @Test func storesOfWhichAScriptHasNothingLeftAreClosed() throws {
    let files = try run(
      """
      local kept = moonbase.open { store = "kept.sqlite", model = "m.lua" }
      local object = moonbase.open { store = "object.sqlite", model = "m.lua" }.context:insert("P", { i = 2 })
      object:context():save()
      local request = moonbase.open { store = "request.sqlite", model = "m.lua" }.context:fetch("P")
      local reload = moonbase.open { store = "reload.sqlite", model = "m.lua" }.reload
      moonbase.open { store = "changed.sqlite", model = "m.lua" }.context:insert("P", { i = 3 })
      for i = 1, 200 do moonbase.open { store = "s" .. i % 3 .. ".sqlite", model = "m.lua" } end
      assert(kept.context:fetch("P"):count() == 0 and object.i == 2 and request:count() == 0)
      reload()
      moonbase.open { store = "changed.sqlite", model = "m.lua" }
      local open = 0
      for number = 0, 1000 do
        local file = io.open("/proc/self/fdinfo/" .. number)
        if file then open = open + 1 file:close() end
      end
      print(open)
      """, "--quiet")
    #expect(files < 130)
  }
}
