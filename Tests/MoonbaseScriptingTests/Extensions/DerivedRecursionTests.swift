import MoonbaseModel
import MoonbaseScripting
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

  /// A circle through objects is found where it closes, with and without inputs.
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

  /// What is too deep for the script's stack, but no circle, says so in few words.
  @Test func chainsWithoutInputsEndWithOneShortError() throws {
    let lines = try ThingBench.bench(
      "derived = { path = { type = 'string', get = function(o) return (o.q and o.q.path or '') .. '/' end } }"
    ).lines(
      """
      local p
      for _ = 1, 50 do p = context:insert("P", { q = p }) end
      print(#p.path)
      for _ = 1, 100 do p = context:insert("P", { q = p }) end
      local ok, err = pcall(function() return p.path end)
      print(ok, err.key, err.message:match("^needs itself, or too much: %d+ scripts called each other$") ~= nil)
      """, leavingChanges: true)
    #expect(lines == ["50", "false\tpath\ttrue"])
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
