import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Inputs of derived attributes, and the times of their computation.
@Suite struct DerivedInputTests {
  /// Computing a later input calls the same function for another object; the earlier inputs must be kept.
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

  /// SQLite has no NaN, and a pure attribute is computed in SQLite.
  @Test(arguments: StoreKind.allCases, [true, false])
  func notANumberIsAMissingValueWhereverItIsComputed(_ kind: StoreKind, isPure: Bool) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = { v = { type = 'double', pure = \(isPure), inputs = { 'i' },
                        get = function(i) if i < 2 then return 0 / 0 elseif i > 2 then return i end end } }
      """
    ).lines(
      """
      for i = 1, 4 do context:insert("P", { i = i }) end
      assert(context:save())
      for _, text in ipairs { "v > 1", "v < 100", "v = NULL", "v != NULL", "NOT v = 3", "v IN {1, NULL}", "v = v" } do
        print(text, context:fetch("P"):where(text):count())
      end
      for _, key in ipairs { "v", "-v" } do
        local found = {}
        for p in context:fetch("P"):sort(key, "-i"):each() do found[#found + 1] = p.i end
        print(table.concat(found, " "))
      end
      print(context:fetch("P"):where("i = 1"):first().v ~= 0)
      """)
    #expect(
      lines == [
        "v > 1\t2", "v < 100\t2", "v = NULL\t2", "v != NULL\t2", "NOT v = 3\t1", "v IN {1, NULL}\t2", "v = v\t2",
        "2 1 3 4", "4 3 2 1", "true",
      ])
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func anErrorOfAGetterNamesTheAttributeWhereverItIsComputed(_ kind: StoreKind, isPure: Bool) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = {
        v = { type = 'string', pure = \(isPure), inputs = { 's' }, get = function(s) return 'a' .. s end },
        w = { type = 'double', pure = \(isPure), inputs = { 's' }, get = function(s) return 'a' end },
        x = { type = 'binary', pure = \(isPure), inputs = { 's' }, get = function(s) return 'ab' end },
      }
      """
    ).lines(
      """
      context:insert("P")
      assert(context:save())
      for _, text in ipairs { "v = 'a'", "w > 1" } do
        local _, err = pcall(function() return context:fetch("P"):where(text):count() end)
        print(err.code, err.entity, err.key, tostring(err):match("P%.%w: get: extension1.lua:%d: ") ~= nil)
      end
      print(context:fetch("P"):where("x != NULL"):count())
      """)
    #expect(lines == ["134043\tP\tv\ttrue", "134043\tP\tw\ttrue", "1"])
  }

  /// An owner with an unchanged value is released at once, and the next owner may get its address.
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

  /// A to-many relationship gives a list of objects, a path through it a list of values, each in the order of the
  /// relationship.
  @Test(arguments: StoreKind.allCases) func inputsMayLeadToMany(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = {
        names = { type = 'string', inputs = { 'ord.s', 's' },
                  get = function(all, s)
                    for i, name in ipairs(all) do all[i] = name == moonbase.null and '-' or name end
                    return s .. ':' .. table.concat(all, ',')
                  end },
        count = { type = 'integer64', inputs = { 'ord', 'q', 'ord.q' }, object = true,
                  get = function(all, one, others, object)
                    assert(object.entity == 'P' and (one == nil or one == object.q) and #others <= #all)
                    for i, other in ipairs(all) do assert(other == object.ord[i] and other.ordOf == object) end
                    return #all
                  end },
      }
      """
    ).lines(
      """
      local a, b, c = context:insert("P", { s = "a" }), context:insert("P"), context:insert("P", { s = "c" })
      local p = context:insert("P", { s = "p", ord = { c, a, b }, q = a })
      a.q = p
      print(p.names, p.count, context:insert("P", { s = "" }).names)
      p.ord:move(1, 3)
      c.s = "d"
      print(p.names)
      context:delete(a)
      assert(context:save())
      print(p.names, p.count)
      print(context:fetch("P"):where("names = 'p:-,d' AND count = 2"):count())
      """)
    #expect(lines == ["p:c,a,-\t3\t:", "p:a,-,d", "p:-,d\t2", "1"])
  }

  /// A value stored by an earlier run follows changes of the objects that its inputs reach, however the path is
  /// written.
  @Test(
    arguments: StoreKind.allCases,
    [
      "inputs = { 'fr.s' }, get = function(names) table.sort(names) return table.concat(names, ',') end",
      "inputs = { 'fr.s' }, object = true, get = names",
      "inputs = { 'fr' }, get = function(friends) return names(nil, { fr = { all = function() return friends end } }) end",
      "inputs = { 'fr.own' }, get = function(names) table.sort(names) return table.concat(names, ',') end",
    ])
  func whatIsStoredFollowsManyInLaterRuns(_ kind: StoreKind, _ derived: String) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = { full = { type = 'string', stored = true, \(derived) },
                  own = { type = 'string', inputs = { 's' }, get = function(s) return s end } }
      """,
      before: """
        local function names(_, object)
          local all = {}
          for _, friend in ipairs(object.fr:all()) do all[#all + 1] = friend.s end
          table.sort(all)
          return table.concat(all, ',')
        end
        """
    ).lines(
      """
      local a, b = context:insert("P", { s = "a" }), context:insert("P", { s = "b" })
      context:insert("P", { s = "book", fr = { a, b } })
      assert(context:save())
      local function full()
        context:reset()
        a, b = nil, nil
        collectgarbage()
        return context:fetch("P"):where("s = 'book'"):dictionaries { "full" }[1].full
      end
      print(full())
      context:fetch("P"):where("s = 'a'"):first().s = "z"
      assert(context:save())
      print(full())
      context:delete(context:fetch("P"):where("s = 'b'"):first())
      assert(context:save())
      print(full())
      context:fetch("P"):where("s = 'book'"):first().fr:add(context:insert("P", { s = "c" }))
      assert(context:save())
      print(full())
      """)
    #expect(lines == ["a,b", "b,z", "z", "c,z"])
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

  /// Inputs read before a missing one are released; kept texts of a megabyte would need gigabytes.
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
