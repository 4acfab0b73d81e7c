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

  /// `a` saved `n = 10` over 5, and `b`, which had read 5, saves 7.
  private func conflict(_ policy: String) throws -> String {
    try output(
      """
      local p = a:insert("P", { k = 1, n = 5 })
      assert(a:save())
      local held = b:find("P", { k = 1 })
      assert(held.n == 5)
      p.n = 10
      assert(a:save())
      held.n = 7
      b.merge_policy = \(policy)
      local ok, err = b:save()
      a:refresh(p, false)
      print(ok, p.n, err and err.code, err and err.message)
      b:rollback()
      """)
  }

  @Test(arguments: [("error", 10), ("store_trump", 10), ("object_trump", 7), ("overwrite", 7), ("rollback", 10)])
  func aMergePolicyIsSetByItsName(_ name: String, _ saved: Int) throws {
    let found = try conflict("'\(name)'")
    #expect(found.hasPrefix(name == "error" ? "nil\t10\t133020" : "true\t\(saved)\tnil"), "\(found)")
  }

  @Test func aFunctionDecidesForEachConflict() throws {
    #expect(
      try conflict(
        """
        function(conflict)
          local both = conflict.collisions[1]
          assert(conflict.kind == "changed" and conflict.object.n == 7 and both.property == "n")
          return { n = both.stored + both.object - both.original }
        end
        """) == "true\t12\tnil\tnil\n")
    #expect(try conflict("function() return 'object_trump' end") == "true\t7\tnil\tnil\n")
  }

  @Test(arguments: [
    ("function() error('no idea') end", "no idea"), ("function() end", "gave nil"),
    ("function() return 'object_trumps' end", "did you mean object_trump?"),
    ("function() return { m = 1, x = 2 } end", ""), ("function(c) c.object.n = 8 return 'error' end", ""),
  ])
  func whatTheFunctionDoesWrongFailsTheSave(_ function: String, _ message: String) throws {
    let found = try conflict(function)
    #expect(found.hasPrefix("nil\t10\t") && found.contains(message), "\(found)")
  }

  @Test func whatIsSetReadsAsItWasSetAndAllElseIsRefused() throws {
    let found = try output(
      """
      print(a.merge_policy, a.author, a.name)
      a.merge_policy, a.author, a.name = "overwrite", "me", "importer"
      print(a.merge_policy, a.author, a.name)
      local policy = function() end
      a.merge_policy, a.author, a.name = policy, nil, nil
      print(a.merge_policy == policy, a.author, a.name)
      print(pcall(function() a.merge_policy = "object" end))
      print(pcall(function() a.merge_policy = 5 end))
      print(pcall(function() a.author = {} end))
      """)
    let lines = found.split(separator: "\n")
    #expect(lines.prefix(3) == ["error\tnil\tnil", "overwrite\tme\timporter", "true\tnil\tnil"])
    #expect(lines.count == 6 && lines[3].contains("there is no merge policy object"), "\(lines)")
    #expect(lines.dropFirst(3).allSatisfy { $0.hasPrefix("false\t") }, "\(lines)")
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

  /// Sums and copies that an extension stores follow from the file's values at the time of writing, under any merge
  /// policy.
  @Test(arguments: ["error", "store_trump", "object_trump", "overwrite", "rollback"])
  func storedValuesAreComputedFromWhatTheFileHas(_ policy: String) throws {
    let bench = try Workbench()
    _ = try bench.write(
      """
      return { name = "sums", entities = { K = { derived = {
        mark = { inputs = { "dad.s" }, stored = true, get = function(s) return s end },
      } }, T = { derived = {
        total = { inputs = { "kids.@sum.n" }, stored = true, get = function(n) return n end },
      } } } }
      """, to: "sums.lua")
    let outcome = try bench.moonbase(
      "run", "-e",
      """
      local model = { entities = {
        T = { attributes = { s = "string", total = "integer64", sum = { "integer64", derivation = "kids.n.@sum" } },
              relationships = { kids = { to_many = "K", inverse = "dad" } } },
        K = { attributes = { n = "integer64", mark = "string", same = { "string", derivation = "dad.s" } },
              relationships = { dad = { to = "T", inverse = "kids" } } },
      } }
      local function open() return moonbase.open { store = "s.sqlite", model = model, extensions = { "sums.lua" } }.context end
      local a, b = open(), open()
      b.merge_policy = "\(policy)"
      local t = a:insert("T", { s = "a" })
      local one, two = a:insert("K", { n = 1, dad = t }), a:insert("K", { n = 1, dad = t })
      assert(a:save())
      local seen, other = b:object(t:id()), b:object(two:id())
      assert(seen.s == "a" and #seen.kids == 2 and b:object(one:id()).n == 1)
      t.s = "b"
      one.n = 10
      assert(a:save())
      local new = b:insert("K", { n = 100, dad = seen })
      assert(b:save())
      new.n = 1000
      assert(b:save())
      local file = open()
      local saved = file:object(t:id())
      for kid in saved.kids:each() do print(kid.n, kid.mark, kid.same) end
      print(saved.s, saved.total, saved.sum)
      """)
    #expect(outcome.output == "10\tb\tb\n1\tb\tb\n1000\tb\tb\nb\t1011\t1011\n", "\(outcome.complaints)")
  }
}
