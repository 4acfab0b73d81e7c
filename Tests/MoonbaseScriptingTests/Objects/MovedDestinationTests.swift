import MoonbaseTestSupport
import Testing

/// Destinations that are moved, restored or deleted with others, in loaded and unloaded relationships.
@Suite struct MovedDestinationTests {
  private static let model = """
    return { entities = {
      P = { attributes = { n = "integer32", tr = { "string", transient = true } }, relationships = {
        o = { to = "C", inverse = "ps" }, own = { to = "C", inverse = "kept" }, one = { to = "C", inverse = "only" },
        ordered = { to = "C", inverse = "list" }, all = { to_many = "C", inverse = "those" },
        k = { to_many = "P", transient = true, inverse = "l" }, l = { to_many = "P", transient = true, inverse = "k" },
        kids = { to_many = "P", transient = true, inverse = "par" }, par = { to = "P", transient = true, inverse = "kids" } } },
      C = { attributes = { n = "integer32" }, relationships = {
        ps = { to_many = "P", inverse = "o", delete = "cascade" }, kept = { to_many = "P", inverse = "own", delete = "deny" },
        only = { to = "P", inverse = "one", delete = "cascade" },
        list = { to_many = "P", inverse = "ordered", ordered = true },
        those = { to_many = "P", inverse = "all", delete = "cascade" } } },
    } }
    """

  /// An object of one owner that may be moved to the other.
  private static let owners =
    """
    local p, one, other = context:insert("P"), context:insert("C", { n = 1 }), context:insert("C", { n = 2 })
    """

  private func lines(_ kind: StoreKind, _ script: String) throws -> [String] {
    try ScriptBench(kind, model: Self.model, extensions: []).lines(script, leavingChanges: true)
  }

  @Test(arguments: StoreKind.allCases) func whatWasMovedAwayFromADeletedOwnerStays(_ kind: StoreKind) throws {
    let anew =
      "context:reset() p = context:fetch('P'):first() one, other = context:find('C', { n = 1 }), context:find('C', { n = 2 })"
    for lookup in ["", anew] {
      for (move, count) in [
        ("p.o = other", 1), ("p.o = nil", 0), ("other.ps = { p }", 1), ("other.ps:add(p)", 1),
      ] {
        let found = try lines(
          kind,
          """
          \(Self.owners)
          p.o = one
          assert(context:save())
          \(lookup)
          context:delete(one)
          \(move)
          print(#one.ps, #other.ps)
          assert(context:save())
          print(p:is_deleted(), context:fetch("P"):count(), #other.ps)
          """)
        #expect(found == ["0\t\(count)", "false\t1\t\(count)"], "\(move) \(lookup)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func theOneThatWasMovedAwayFromADeletedOwnerStays(_ kind: StoreKind) throws {
    for move in ["p.one = other", "other.only = p", "p.one = nil"] {
      let found = try lines(
        kind,
        """
        \(Self.owners)
        p.one = one
        assert(context:save())
        context:delete(one)
        \(move)
        assert(context:save())
        print(p:is_deleted(), context:fetch("P"):count(), (other.only == p) == (p.one == other))
        """)
      #expect(found == ["false\t1\ttrue"], "\(move)")
    }
  }

  @Test(arguments: StoreKind.allCases) func whatWasMovedAwayDeniesNothing(_ kind: StoreKind) throws {
    for move in ["p.own = other", "p.own = nil", "other.kept = { p }"] {
      let found = try lines(
        kind,
        """
        \(Self.owners)
        p.own = one
        assert(context:save())
        context:delete(one)
        \(move)
        print(context:save())
        print(context:fetch("C"):count(), context:fetch("P"):count())
        """)
      #expect(found == ["true", "1\t1"], "\(move)")
    }
  }

  @Test(arguments: StoreKind.allCases) func anOwnerThatLetsADeletedObjectGoDeniesNothing(_ kind: StoreKind) throws {
    let model = """
      return { entities = {
        P = { attributes = { n = "integer32" }, relationships = { o = { to = "C", inverse = "x", delete = "deny" } } },
        C = { attributes = { n = "integer32" }, relationships = { x = { to_many = "P", inverse = "o" } } },
      } }
      """
    let found = try ScriptBench(kind, model: model, extensions: []).lines(
      """
      local p, a = context:insert("P"), context:insert("C")
      p.o = a
      assert(context:save())
      context:delete(p)
      a.x:remove(p)
      print(context:save())
      print(context:fetch("P"):count(), #a.x)
      """)
    #expect(found == ["true", "0\t0"])
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func whatComesBackIntoAnOrderedRelationshipStandsAtItsEnd(_ kind: StoreKind, isRead: Bool) throws {
    let found = try lines(
      kind,
      """
      local c, p = context:insert("C"), {}
      for i = 1, 3 do p[i] = context:insert("P", { n = i }) end
      c.list = { p[1] }
      assert(context:save())
      context:reset()
      c = context:fetch("C"):first()
      for i = 1, 3 do p[i] = context:find("P", { n = i }) end
      if \(isRead) then print(#c.list) else print(1) end
      p[1].ordered = nil
      c.list:add(p[2], p[3])
      c.list:add(p[1])
      print(c.list[1].n, c.list[2].n, c.list[3].n)
      assert(context:save())
      context:reset()
      c = context:fetch("C"):first()
      print(c.list[1].n, c.list[2].n, c.list[3].n)
      """)
    #expect(found == ["1", "2\t3\t1", "2\t3\t1"])
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func whatWentAndCameAndWentAgainIsGone(_ kind: StoreKind, isRead: Bool) throws {
    let found = try lines(
      kind,
      """
      local c, p = context:insert("C"), {}
      for i = 1, 3 do p[i] = context:insert("P", { n = i }) end
      c.list = p
      assert(context:save())
      context:reset()
      c = context:fetch("C"):first()
      for i = 1, 3 do p[i] = context:find("P", { n = i }) end
      if \(isRead) then print(#c.list) else print(3) end
      p[1].ordered = nil
      p[1].ordered = c
      p[1].ordered = nil
      assert(context:save())
      context:reset()
      c = context:fetch("C"):first()
      print(#c.list, c.list[1].n, c.list[2].n)
      """)
    #expect(found == ["3", "2\t2\t3"])
  }

  @Test(arguments: StoreKind.allCases) func transientRelationshipsThatWereNotReadKeepTheirMembers(_ kind: StoreKind)
    throws
  {
    let found = try lines(
      kind,
      """
      context:insert("P", { n = 1 }) context:insert("P", { n = 2 })
      assert(context:save())
      context:reset()
      local a, b = context:find("P", { n = 1 }), context:find("P", { n = 2 })
      a.k:add(b)
      b.par = a
      assert(context:save())
      print(#a.k, #b.l, #a.kids, b.par == a)
      a.n = 7
      context:refresh(a, true)
      context:refresh(b, true)
      print(#a.k, #b.l, #a.kids, b.par == a)
      context:refresh(a, false)
      print(#a.k, #b.l, #a.kids, b.par == a)
      """)
    #expect(found == ["1\t1\t1\ttrue", "1\t1\t1\ttrue", "0\t0\t0\tfalse"])
  }

  @Test(arguments: StoreKind.allCases) func aFailedTransactionLeavesTransientValues(_ kind: StoreKind) throws {
    let found = try lines(
      kind,
      """
      local a, b = context:insert("P", { n = 1 }), context:insert("P", { n = 2 })
      a.tr = "t" a.k = { b } b.par = a
      assert(context:save())
      local function show() print(a.n, a.tr, #a.k, #b.l, #a.kids, b.par == a, context.has_changes) end
      local ok, err = context:transaction(function()
        a.n = 5 a.tr = "u" a.k = {} b.par = nil b.n = 9
        context:insert("P")
        error("stop")
      end)
      print(ok, tostring(err) ~= "")
      show()
      ok, err = context:transaction(function() context:delete(b) a.n = 3 error("stop") end)
      print(ok, tostring(err) ~= "")
      show()
      print(context:transaction(function() a.n = 6 end))
      show()
      """)
    let before = "1\tt\t1\t1\t1\ttrue\tfalse"
    #expect(found == ["nil\ttrue", before, "nil\ttrue", before, "true", "6\tt\t1\t1\t1\ttrue\tfalse"])
  }

  @Test(arguments: StoreKind.allCases) func aRollbackTakesTransientRelationshipsFromBothSides(_ kind: StoreKind) throws
  {
    let found = try lines(
      kind,
      """
      local a, b = context:insert("P", { n = 1 }), context:insert("P", { n = 2 })
      a.k = { b } b.par = a
      assert(context:save())
      a.n = 7
      context:rollback()
      print(#a.k, #b.l, #a.kids, b.par == a)
      """)
    #expect(found == ["0\t0\t0\tfalse"])
  }

  @Test(arguments: StoreKind.allCases)
  func anObjectThatIsNotToGoAfterAllLeadsToNothingThatGoes(_ kind: StoreKind) throws {
    let found = try lines(
      kind,
      """
      local p, c = context:insert("P", { n = 1 }), context:insert("C", { n = 1 })
      c.those = { p }
      assert(context:save())
      context:delete(c)
      context:process_pending_changes()
      context:refresh(c, false)
      print(c:is_deleted(), p:is_deleted(), #c.those)
      c.n = 2
      assert(context:save())
      print(#c.those, context:fetch("P"):count())
      """)
    #expect(found == ["false\ttrue\t0", "0\t0"])
  }
}
