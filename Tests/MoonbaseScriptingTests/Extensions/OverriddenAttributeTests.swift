import MoonbaseTestSupport
import Testing

/// Derived attributes that a subentity computes differently from its parent.
@Suite struct OverriddenAttributeTests {
  private static let model = """
    return {
      entities = {
        N = { attributes = { k = "integer64", a = "string", b = "integer64" } },
        S = { parent = "N", attributes = { other = "string" } },
        T = { parent = "S" },
      },
    }
    """

  private func bench(_ kind: StoreKind, parent: String, child: String) throws -> ScriptBench {
    let file = "return { name = 'x', entities = { N = { derived = { \(parent) } }, S = { derived = { \(child) } } } }"
    return try ScriptBench(kind, model: Self.model, extensions: [file])
  }

  @Test(arguments: StoreKind.allCases)
  func aStoredAttributeIsComputedAsTheNearestEntitySays(_ kind: StoreKind) throws {
    let lines = try bench(
      kind,
      parent: """
        a = { stored = true, inputs = { "k" }, get = function(k) return "N" .. k end },
        b = { stored = true, inputs = { "a" }, get = function(a) return #a end },
        """,
      child: "a = { stored = true, inputs = { 'other' }, get = function(o) return 'child ' .. o end }"
    ).lines(
      """
      local s, t = context:insert("S", { k = 1, other = "x" }), context:insert("T", { k = 1, other = "yy" })
      local n = context:insert("N", { k = 1 })
      assert(context:save())
      print(s.a, s.b, t.a, t.b, n.a, n.b)
      s.other, t.k, n.k = "xyz", 2, 20
      assert(context:save())
      context:reset()
      for o in context:fetch("N"):sort("-a"):each() do print(o.a, o.b) end
      print(context:fetch("N"):where("a = 'child xyz'"):count(), context:fetch("S"):where("a BEGINSWITH 'N'"):count())
      """)
    #expect(lines == ["child x\t7\tchild yy\t8\tN1\t2", "child yy\t8", "child xyz\t9", "N20\t3", "1\t0"])
  }

  private static let answers = """
    context:insert("S", { k = 1 }) context:insert("T", { k = 1 }) context:insert("N", { k = 1 })
    assert(context:save())
    local function count(name, text) return context:fetch(name):where(text):count() end
    print(count("N", "v = 'S1'"), count("N", "v = 'N1'"), count("S", "v = 'S1'"), count("S", "v = 'N1'"),
          count("T", "v = 'S1'"))
    local found = {}
    for o in context:fetch("N"):sort("v"):each() do found[#found + 1] = o.v end
    print(table.concat(found, " "))
    """

  @Test(arguments: StoreKind.allCases, [(true, false), (false, true), (true, true), (false, false)])
  func aPureAttributeHoldsOnlyForEntitiesThatDoNotOverrideIt(_ kind: StoreKind, _ isPure: (Bool, Bool)) throws {
    func derived(_ name: String, _ isPure: Bool) -> String {
      "v = { type = 'string', pure = \(isPure), inputs = { 'k' }, get = function(k) return '\(name)' .. k end }"
    }
    let lines = try bench(kind, parent: derived("N", isPure.0), child: derived("S", isPure.1)).lines(Self.answers)
    #expect(lines == ["2\t1\t2\t0\t1", "N1 S1 S1"])
  }
}
