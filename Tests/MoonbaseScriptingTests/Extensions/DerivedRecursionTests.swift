import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct DerivedRecursionTests {
  private func loadError(_ derived: String) -> ScriptError? {
    do {
      _ = try ThingBench.bench("derived = {\n\(derived)\n}")
      return nil
    } catch {
      return error as? ScriptError
    }
  }

  @Test func cyclesOfInputsAreErrorsOfTheFile() {
    let get = "get = function(v) return v end"
    for derived in [
      "a = { type = 'string', inputs = { 'a' }, \(get) }",
      "a = { type = 'string', inputs = { 'b' }, \(get) }, b = { type = 'string', inputs = { 'a' }, \(get) }",
      "a = { type = 'string', inputs = { 'q.a' }, pure = true, \(get) }",
    ] {
      let error = loadError(derived)
      #expect(error?.message.contains("P.a is derived from itself: P.a -> ") == true, "\(derived)")
      #expect(error?.location?.line == 2)
    }
    #expect(loadError("a = { type = 'string', inputs = { 's' }, \(get) }, b = { inputs = { 'a' }, \(get) }") == nil)
  }

  @Test func derivedNameMayNotBeARelationship() {
    #expect(loadError("fr = { get = function() end }")?.message.contains("P.fr is a relationship") == true)
  }

  @Test func recursionThroughRelationshipsWorksAndIsBounded() throws {
    let lines = try ThingBench.bench(
      "derived = { path = { type = 'string', inputs = { 'q.path', 's' }, get = function(q, s) return (q or '') .. '/' .. s end } }"
    ).lines(
      """
      local top = context:insert("P", { s = "top" })
      local p = context:insert("P", { s = "p", q = top })
      print(p.path)
      top.q = p
      local ok, err = pcall(function() return p.path end)
      print(ok, err.key, err.message:match("needs itself") ~= nil, #tostring(err) < 300)
      """, leavingChanges: true)
    #expect(lines == ["/top/p", "false\tpath\ttrue\ttrue"])
  }

  @Test func recursionWithoutInputsEndsWithOneShortError() throws {
    for hooks in [
      "derived = { a = { type = 'string', get = function(object) return object.a end } }",
      "derived = { a = { type = 'string', get = function(object) return object.b end }, b = { get = function(object) return object.a end } }",
    ] {
      let lines = try ThingBench.bench(hooks).lines(
        """
        local p = context:insert("P")
        local ok, err = pcall(function() return p.a end)
        print(ok, #tostring(err) < 400, err.key, err.message)
        """, leavingChanges: true)
      let way = hooks.contains("object.b") ? "P.a -> P.b -> P.a" : "P.a -> P.a"
      #expect(lines == ["false\ttrue\ta\tneeds itself: \(way)"])
    }
    let lines = try ThingBench.bench("awake_from_insert = function(object) moonbase.context:insert('P') end").lines(
      """
      local ok, err = pcall(context.insert, context, "P")
      print(ok, #tostring(err) < 400)
      """, leavingChanges: true)
    #expect(lines == ["false\ttrue"])
  }

  /// A cycle through several objects is reported where it closes, with and without inputs.
  @Test(arguments: [
    "get = function(o) return o.q and o.q.path or 'top' end",
    "inputs = { 'q.path' }, get = function(p) return p or 'top' end",
  ])
  func circlesOfObjectsNameTheAttributes(_ getter: String) throws {
    let lines = try ThingBench.bench("derived = { path = { type = 'string', \(getter) } }").lines(
      """
      local a, b = context:insert("P"), context:insert("P")
      b.q = a
      print(b.path)
      a.q = b
      for _ = 1, 2 do
        local ok, err = pcall(function() return b.path end)
        print(ok, err.key, err.message, select(2, err.traceback:gsub("\\n", "")) < 12)
      end
      a.q = nil
      print(b.path)
      """, leavingChanges: true)
    let refusal = "false\tpath\tneeds itself: P.path -> P.path -> P.path\ttrue"
    #expect(lines == ["top", refusal, refusal, "top"])
  }

  /// A stored value computed from itself would change at each save.
  @Test(
    arguments: StoreKind.allCases,
    [
      ("get = function(o) return (o.sum or 0) + 1 end", "P.sum -> P.sum"),
      ("get = function(o) return (o.twice or 0) + 1 end", "P.sum -> P.twice -> P.sum"),
      ("get = function(o) return o.q and o.q.echo + 1 or 1 end", "P.sum -> P.echo -> P.sum"),
      ("inputs = { 'q.echo' }, get = function(echo) return (echo or 0) + 1 end", "P.sum -> P.echo -> P.sum"),
      ("inputs = { 'q.sum' }, get = function(sum) return (sum or 0) + 1 end", "P.sum -> P.sum"),
    ])
  func aStoredValueThatReadsItselfIsAnErrorThatNamesTheWay(_ kind: StoreKind, _ getter: (code: String, way: String))
    throws
  {
    for isRead in [false, true] {
      let lines = try ThingBench.bench(
        kind,
        """
        derived = {
          sum = { stored = true, \(getter.code) },
          twice = { type = "double", get = function(o) return 2 * (o.sum or 0) end },
          echo = { type = "double", get = function(o)
            for p in o.qs:each() do return p.sum or 0 end
            return 0
          end },
        }
        """
      ).lines(
        """
        local p, q = context:insert("P"), context:insert("P")
        p.q, q.q = q, p
        \(isRead ? "print(p.twice, q.echo)" : "")
        local ok, err = context:save()
        print(ok, err.entity, err.key, tostring(err))
        p.q, q.q = nil, nil
        """, leavingChanges: true)
      let error = try #require(lines.last)
      #expect(error.hasPrefix("nil\tP\tsum\tP.sum: needs itself") && error.hasSuffix(getter.way), "\(lines)")
    }
  }

  /// A getter may read the stored value that it replaces as a primitive value.
  @Test(arguments: StoreKind.allCases) func theFormerValueIsReadAsAPrimitiveValue(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind, "derived = { sum = { stored = true, get = function(o) return (o:primitive('sum') or 0) + o.i end } }"
    ).lines(
      """
      local p = context:insert("P", { i = 2 })
      assert(context:save())
      p.i = 3
      assert(context:save())
      print(p.sum)
      """)
    #expect(lines == ["5.0"])
  }

  /// A chain may have any length: reading it from the end gives the same values as reading each value after its
  /// predecessor.
  @Test(
    arguments: StoreKind.allCases,
    [
      "get = function(o) return (o.q and o.q.path or '') .. '/' end",
      "get = function(o) local ok, path = pcall(function() return o.q and o.q.path or '' end) return ok and path .. '/' or nil end",
      "inputs = { 'q.path' }, get = function(path) return (path or '') .. '/' end",
      "inputs = { 'q' }, object = true, get = function(q, o) return (o.q == q and q and q.path or '') .. '/' end",
    ])
  func chainsOfAnyLengthAreReadFresh(_ kind: StoreKind, _ getter: String) throws {
    let lines = try ThingBench.bench(kind, "derived = { path = { type = 'string', \(getter) } }").lines(
      """
      local p
      for i = 1, 500 do p = context:insert("P", { i = i, q = p }) end
      print(#p.path)
      assert(context:save())
      context:reset()
      collectgarbage()
      p = context:fetch("P"):where("i = 500"):first()
      print(#p.path, #p.q.path, #context:fetch("P"):where("i = 250"):first().path)
      context:fetch("P"):where("i = 100"):first().q = nil
      print(#p.path)
      """, leavingChanges: true)
    #expect(lines == ["500", "500\t499\t250", "401"])
  }

  /// Also in a long chain an error names the object at fault, and a cycle is reported.
  @Test func longChainsTellWhatIsWrong() throws {
    let lines = try ThingBench.bench(
      "derived = { path = { type = 'string', inputs = { 'q.path', 's' }, get = function(path, s) return (path or '') .. s end } }"
    ).lines(
      """
      local first = context:insert("P")
      local p = first
      for _ = 1, 99 do p = context:insert("P", { s = "/", q = p }) end
      local ok, err = pcall(function() return p.path end)
      print(ok, err.key, err.id == first:id(), tostring(err):match("attempt to concatenate a nil value") ~= nil)
      first.s = "/"
      print(#p.path)
      first.q = p
      ok, err = pcall(function() return p.path end)
      print(ok, err.key, err.message:match("^needs itself: P.path %-> ") ~= nil, #tostring(err) < 300)
      first.q = nil
      print(#p.path)
      """, leavingChanges: true)
    #expect(lines == ["false\tpath\ttrue\ttrue", "100", "false\tpath\ttrue\ttrue", "100"])
  }

  @Test func notANumberIsRefusedWhereItWouldBeStored() throws {
    let lines = try ThingBench.bench(
      "derived = { ratio = { type = 'double', inputs = { 'd' }, get = function() return 0/0 end } }"
    ).lines(
      """
      local p = context:insert("P")
      for _, key in ipairs { "d", "f" } do
        local ok, err = pcall(function() p[key] = 0/0 end)
        print(ok, err.key, err.message:match("not%-a%-number") ~= nil)
      end
      print(pcall(function() p.day = moonbase.date.unix(0/0) end))
      p.d = math.huge
      assert(context:save())
      print(p.d, p.ratio ~= p.ratio)
      """, leavingChanges: true)
    #expect(lines[0] == "false\td\ttrue" && lines[1] == "false\tf\ttrue")
    #expect(lines[2].contains("NaN seconds are out of the range of dates"))
    #expect(lines[3] == "inf\ttrue")
    let stored = try ThingBench.bench("derived = { sum = { stored = true, get = function() return 0/0 end } }").lines(
      """
      context:insert("P")
      local ok, err = context:save()
      print(ok, err.key, err.message:match("not%-a%-number") ~= nil)
      """, leavingChanges: true)
    #expect(stored == ["nil\tsum\ttrue"])
  }
}
