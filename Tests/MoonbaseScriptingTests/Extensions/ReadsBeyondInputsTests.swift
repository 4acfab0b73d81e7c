import MoonbaseTestSupport
import Testing

/// A function of a derived attribute may read more than its declared inputs, from objects that it keeps. These reads
/// are recorded too, and a chain may have any length.
@Suite struct ReadsBeyondInputsTests {
  private static let model = """
    return { entities = { T = { attributes = { i = "integer64", j = "integer64", kept = "integer64" } } } }
    """

  private static let file = """
    local other, objects = {}, {}
    local function up(i) return i + (other.object and other.object.i or 0) end
    return { name = "x", entities = { T = {
      methods = {
        look_at = function(object, target) other.object = target end,
        join = function(object) objects[#objects + 1] = object end,
      },
      derived = {
        up = { type = "integer64", inputs = { "i" }, get = up },
        above = { type = "integer64", inputs = { "up", "j" }, get = function(u, j) return u + j end },
        kept = { stored = true, inputs = { "i" }, get = up },
        depth = { type = "integer64", inputs = { "i" }, get = function(i)
          return i == 1 and 1 or objects[i - 1].depth + 1
        end },
      },
    } } }
    """

  @Test(arguments: StoreKind.allCases) func whatIsReadOfOthersIsNoted(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind, model: Self.model, extensions: [Self.file]).lines(
      """
      local a, b = context:insert("T", { i = 1, j = 2 }), context:insert("T", { i = 10, j = 0 })
      a:look_at(b)
      assert(context:save())
      print(a.up, a.above, a.kept)
      b.i = 30
      print(a.up, a.above)
      assert(context:save())
      print(a.kept, context:recompute("T", "kept"))
      """)
    #expect(lines == ["11\t13\t11", "31\t33", "31\t0"])
  }

  @Test func aChainHasAnyLength() throws {
    let lines = try ScriptBench(.memory, model: Self.model, extensions: [Self.file]).lines(
      """
      local last
      for i = 1, 300 do last = context:insert("T", { i = i, j = 0 }) last:join() end
      print(last.depth)
      context:rollback()
      """)
    #expect(lines == ["300"])
  }
}
