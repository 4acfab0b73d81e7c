import MoonbaseTestSupport
import Testing

/// Two contexts of one script over one file.
@Suite struct TwoContextTests {
  private static let opening = """
    local model = { entities = {
      P = { attributes = { k = "integer64", n = "integer64" },
            relationships = { m = { to_many = "P", inverse = "o", delete = "cascade" }, o = { to_many = "P", inverse = "m" } } },
    } }
    local a = moonbase.open { store = "s.sqlite", model = model }.context
    local b = moonbase.open { store = "s.sqlite", model = model }.context

    """

  private func output(_ script: String) throws -> String {
    let outcome = try Workbench().moonbase("run", "-e", Self.opening + script)
    #expect(outcome.status == 0, "\(outcome.complaints)")
    return outcome.output
  }

  @Test func upsertComparesWithWhatTheStoreHasNow() throws {
    let found = try output(
      """
      local p = a:insert("P", { k = 1, n = 5 })
      assert(a:save())
      local held = b:find("P", { k = 1 })
      assert(held.n == 5)
      p.n = 9
      assert(a:save())
      b:upsert("P", { "k" }, { k = 1, n = 5 })
      assert(b:save())
      a:refresh(p)
      print(p.n, held.n)
      """)
    #expect(found == "5\t5\n")
  }

  @Test func aMemberThatAnotherContextTookOutIsNotDeletedWithItsFormerOwner() throws {
    let found = try output(
      """
      local p, q = a:insert("P", { k = 1 }), a:insert("P", { k = 2 })
      p.m:add(q)
      assert(a:save())
      local owner = b:find("P", { k = 1 })
      assert(#owner.m == 1)
      p.m:remove(q)
      assert(a:save())
      b:delete(owner)
      assert(b:save())
      a:reset()
      print(a:fetch("P"):count(), a:fetch("P"):first().k)
      """)
    #expect(found == "1\t2\n")
  }
}
