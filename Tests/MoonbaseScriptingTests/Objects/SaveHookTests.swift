import MoonbaseLua
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Operations permitted to hooks on their context, and the effect on a running save.
@Suite struct SaveHookTests {
  private static let calls = [
    "reset()", "rollback()", "refresh(object, false)", "refresh(object, true)", "save()", "transaction(function() end)",
  ]
  private static let hooks = [
    "validate = { s = function(v, object) %@ return true end }",
    "normalize = { s = function(v, object) %@ return v end }",
    "validate_for_insert = function(object) %@ return true end",
    "will_save = function(object) %@ end",
    "derived = { full = { stored = true, get = function(object) %@ return 'f' end } }",
    "derived = { other = { type = 'string', get = function(object) %@ return 'f' end } }, "
      + "will_save = function(object) local x = object.other end",
  ]

  @Test(arguments: StoreKind.allCases, hooks)
  func hookThatWouldPullTheGroundFromUnderASaveIsRefusedAndNothingIsLost(_ kind: StoreKind, _ hook: String) throws {
    for call in Self.calls { try expectRefusal(of: call, in: hook, kind) }
  }

  private func expectRefusal(of call: String, in hook: String, _ kind: StoreKind) throws {
    let body = "if not done then assert(moonbase.context:\(call)) end"
    let lines = try ThingBench.bench(kind, hook.replacing("%@", with: body)).lines(
      """
      local p = context:insert("P", { s = "a" })
      local ok, err = context:save()
      print(ok, #tostring(err) > 20, p:is_inserted(), p.s, context:fetch("P"):count())
      """, leavingChanges: true)
    #expect(lines == ["nil\ttrue\ttrue\ta\t1"], "\(call)")
  }

  @Test(arguments: StoreKind.allCases, calls)
  func didSaveHookIsRefusedToo(_ kind: StoreKind, _ call: String) throws {
    let lines = try ThingBench.bench(kind, "did_save = function(object) assert(moonbase.context:\(call)) end").lines(
      """
      local p = context:insert("P", { s = "a" })
      local ok, err = context:save()
      print(ok, #tostring(err) > 20, p:has_changes(), p.s, context:fetch("P"):count())
      """, leavingChanges: true)
    #expect(lines == ["true\ttrue\tfalse\ta\t1"])
  }

  @Test(arguments: StoreKind.allCases, ["reset()", "rollback()", "refresh(object, false)", "save()"])
  func hookOutsideOfASaveIsRefusedAndTheContextGoesOn(_ kind: StoreKind, _ call: String) throws {
    let lines = try ThingBench.bench(
      kind,
      "prepare_for_deletion = function(object) assert(moonbase.context:\(call)) end"
    ).lines(
      """
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      p.s = "b"
      local ok, err = pcall(context.delete, context, p)
      print(ok, tostring(err):match("while the context runs a hook") ~= nil, p:is_deleted(), p.s)
      print(context:save(), context:fetch("P"):where("s = 'b'"):count())
      """, leavingChanges: true)
    #expect(lines == ["false\ttrue\tfalse\tb", "true\t1"])
  }

  @Test(arguments: StoreKind.allCases) func ruleMayNotChangeAnything(_ kind: StoreKind) throws {
    let changes = [
      "moonbase.context:insert('P')", "moonbase.context:delete(object)", "object.i = 11",
      "object:set_primitive('i', 11)",
      "object.fr:add(object)", "object.q = object", "object.ord = { object }",
      "moonbase.object.set_primitive(object, 'f', 1)",
    ]
    for change in changes {
      let lines = try ThingBench.bench(
        kind,
        "validate = { s = function(v, object) \(change) return true end }"
      ).lines(
        """
        context:insert("P", { s = "a" })
        local ok, err = context:save()
        print(ok, err.message:match("a rule only looks") ~= nil, context:fetch("P"):count(), context:fetch("P"):first().i)
        """, leavingChanges: true)
      #expect(lines == ["nil\ttrue\t1\tnil"], "\(change)")
    }
  }

  @Test(arguments: StoreKind.allCases) func aGetterMayNeitherInsertNorDelete(_ kind: StoreKind) throws {
    for change in ["moonbase.context:insert('P')", "moonbase.context:delete(object)"] {
      let lines = try ThingBench.bench(
        kind, "derived = { other = { type = 'string', get = function(object) \(change) return 'f' end } }"
      ).lines(
        """
        local p = context:insert("P", { s = "a" })
        local ok, err = pcall(function() return p.other end)
        print(ok, err.message:match("a getter only computes") ~= nil, context:fetch("P"):count(), p:is_deleted())
        """, leavingChanges: true)
      #expect(lines == ["false\ttrue\t1\tfalse"], "\(change)")
    }
  }

  @Test(arguments: StoreKind.allCases) func willSaveMayInsertAndDelete(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      will_save = function(object)
        if object.s == "a" then
          object.s = "done"
          moonbase.context:insert("P", { s = "b" })
        elseif object.s == "old" and not object:is_deleted() then
          moonbase.context:delete(object)
        end
      end
      """
    ).lines(
      """
      context:insert("P", { s = "a" })
      context:insert("P", { s = "old" })
      assert(context:save())
      local found = {}
      for p in context:fetch("P"):sort("s"):each() do found[#found + 1] = p.s end
      print(table.concat(found, " "), context.has_changes)
      """, leavingChanges: true)
    #expect(lines == ["b done\tfalse"])
  }

  @Test(arguments: StoreKind.allCases) func willSaveThatInsertsForEverIsBounded(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(kind, "will_save = function() moonbase.context:insert('P') end")
    let lines = try bench.lines(
      """
      context:insert("P")
      local ok, err = context:save()
      print(ok, tostring(err):match("again and again"), context:fetch("P"):count())
      ok, err = context:save()
      print(ok, tostring(err):match("again and again"), context:fetch("P"):count() == 1)
      """, leavingChanges: true)
    #expect(lines == ["nil\tagain and again\t1", "nil\tagain and again\ttrue"])
  }

  @Test(arguments: StoreKind.allCases) func limitEndsAnEndlessSave(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(
      kind,
      "will_save = function() for i = 1, 100 do moonbase.context:insert('P') end end")
    let outcome = try bench.run(
      "moonbase.context:insert('P') moonbase.context:save()", limits: LuaLimits(instructions: 100_000))
    #expect(outcome.status == 3)
  }

  @Test(arguments: StoreKind.allCases) func errorOfDidSaveComesWithASaveThatIsDone(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(kind, "did_save = function(object) error('after ' .. object.s) end")
    let lines = try bench.lines(
      """
      local p = context:insert("P", { s = "a" })
      local ok, err = context:save()
      print(ok, tostring(err):match("after a"), err.traceback:match("extension1.lua:1") ~= nil)
      print(p:is_inserted(), context:save())
      """, leavingChanges: true)
    #expect(lines == ["true\tafter a\ttrue", "false\ttrue"])
    let outcome = try bench.run("moonbase.context:insert('P', { s = 'b' }) assert(moonbase.context:save())")
    #expect(outcome.status == 1)
    #expect(outcome.message?.contains(":1: the data is saved, but a did_save hook failed: ") == true)
    #expect(try bench.lines("print(context:fetch('P'):count())") == ["2"])
  }

  @Test(arguments: StoreKind.allCases) func objectWithAPendingDelayedValueCanBeDeleted(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      derived = { late = { type = "string", inputs = { "s" }, write = "delayed", get = function(s) return s end,
                           set = function(v, object) object.s = v end } }
      """
    ).lines(
      """
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      p.late = "b"
      context:delete(p)
      print(context:save(), context:fetch("P"):count())
      """, leavingChanges: true)
    #expect(lines == ["true\t0"])
  }

  @Test(arguments: StoreKind.allCases)
  func hooksThatFailGiveNilAndAnErrorWithPlaceAndTraceback(_ kind: StoreKind) throws {
    for hook in ["validate_for_insert = function(object) end", "will_save = function(object) error('broken') end"] {
      let lines = try ThingBench.bench(kind, hook).lines(
        """
        context:insert("P", { s = "a" })
        local ok, err = context:save()
        print(ok, err.code, err.entity, tostring(err):match("extension1.lua:1"))
        """, leavingChanges: true)
      #expect(lines == ["nil\t134043\tP\textension1.lua:1"])
    }
    let lines = try ThingBench.bench(kind, "derived = { full = { stored = true, get = function() return {} end } }")
      .lines(
        """
        context:insert("P", { s = "a" })
        local ok, err = context:save()
        print(ok, err.key, err)
        """, leavingChanges: true)
    #expect(lines == ["nil\tfull\tP.full: get: extension1.lua:1: wrong result: takes a string, not list"])
  }

  @Test(arguments: StoreKind.allCases) func ruleThatReturnsNothingIsNamedOnceWithItsPlace(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(kind, "validate = {\ns = function(v) end }").lines(
      """
      local p = context:insert("P", { s = "a" })
      local ok, err = p:validate("s", "b")
      print(err)
      """, leavingChanges: true)
    #expect(
      lines == ["P.s: validate: extension1.lua:2: its rule returned nothing: return true, or false and a message"])
  }

  @Test(arguments: StoreKind.allCases) func errorRaisedInARuleIsToldWithATraceback(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(kind, "validate = {\ns = function(v)\nerror('broken') end }")
    let outcome = try bench.run("moonbase.context:insert('P', { s = 'a' }) moonbase.context:save()")
    #expect(outcome.status == 1)
    #expect(outcome.message?.contains("stack traceback:\n") == true)
    #expect(outcome.message?.contains("extension1.lua:3: in function") == true)
  }

  @Test(arguments: StoreKind.allCases) func validateDoesNotSpeakOfSaving(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      "validate = { s = function() return false end, i = function() return false end }"
    ).lines(
      """
      local p = context:insert("P", { s = "a", i = 1 })
      local ok, err = p:validate()
      print(tostring(err):match("^[^\\n]*"))
      ok, err = context:save()
      print(tostring(err):match("^[^\\n]*"))
      """, leavingChanges: true)
    #expect(lines == ["2 validation failures", "2 validation failures; nothing was saved"])
  }

  /// The guide's setter of delayed values.
  @Test(arguments: StoreKind.allCases) func whatSetPrimitiveSetsInWillSaveIsInTheFile(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind, "will_save = function(object) object:set_primitive('full', 'of ' .. object.s) end"
    )
    .lines(
      """
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      p.s = "b"
      assert(context:save())
      context:reset()
      print(context:fetch("P"):first().full)
      local q = context:fetch("P"):first()
      q:set_primitive("sum", 1.5)
      print(q:has_changes(), context.has_changes, q:committed_values().sum)
      assert(context:save())
      context:reset()
      print(context:fetch("P"):first().sum, context.has_changes)
      """)
    #expect(lines == ["of b", "false\ttrue\tnull", "1.5\tfalse"])
  }

  @Test(arguments: StoreKind.allCases)
  func aFailedPrepareForDeletionInsertsAndDeletesNothing(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      """
      prepare_for_deletion = function(object)
        if object.s == "no" then moonbase.context:delete(object) error("not now") end
      end
      """
    ).lines(
      """
      local p = context:insert("P", { s = "no" })
      assert(context:save())
      print(pcall(context.delete, context, p))
      print(p:is_deleted(), context.has_changes, context:save())
      print(pcall(context.insert, context, "P", { s = "x", nosuch = 1 }))
      print(context.has_changes, context:fetch("P"):count())
      p.s = "yes"
      context:delete(p)
      print(context:save(), context:fetch("P"):count())
      """)
    #expect(lines.count == 5 && lines[0].hasPrefix("false") && lines[0].contains("not now"))
    #expect(lines[1] == "false\tfalse\ttrue" && lines[2].hasPrefix("false"))
    #expect(lines[3...] == ["false\t1", "true\t0"])
  }

  @Test(arguments: StoreKind.allCases) func saveEveryKeepsWhatDidSaveChanged(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind,
      "did_save = function(object) if object.i and not object.full then object.full = 'did ' .. object.i end end"
    ).lines(
      """
      for i = 1, 5 do context:insert("P", { s = "a" }) end
      assert(context:save())
      local i = 0
      for p in context:fetch("P"):save_every(2):each() do i = i + 1 p.i = i end
      print(context.has_changes, context:save())
      context:reset()
      local found = {}
      for p in context:fetch("P"):sort("i"):each() do found[#found + 1] = p.full or "lost" end
      print(table.concat(found, " "))
      """)
    #expect(lines == ["true\ttrue", "did 1 did 2 did 3 did 4 did 5"])
  }

  @Test(arguments: StoreKind.allCases) func errorOfDidSaveInAWalkIsToldAtTheEnd(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(
      kind, "did_save = function(object) if object.i == 2 then error('after two') end end")
    let outcome = try bench.run(
      """
      local context = moonbase.context
      for i = 1, 3 do context:insert("P", { s = "a" }) end
      assert(context:save())
      local i = 0
      for p in context:fetch("P"):save_every(1):each() do i = i + 1 p.i = i end
      """)
    #expect(outcome.status == 1)
    #expect(outcome.message?.contains(":5: the data is saved, but a did_save hook failed: ") == true)
    #expect(outcome.message?.contains("after two") == true)
    #expect(try bench.lines("print(context:fetch('P'):where('i > 0'):count())") == ["3"])
  }

  @Test func whoseHookChangesThingsAgainAndAgainIsNamed() throws {
    let model = """
      return { entities = {
        M = { attributes = { n = "integer64" }, relationships = { o = { to = "O", inverse = "ms" } } },
        O = { attributes = { n = "integer64" }, relationships = { ms = { to_many = "M", inverse = "o" } } },
      } }
      """
    let file =
      "return { name = 'x', entities = { O = { will_save = function(o) o.ms:add(moonbase.context:insert('M')) end } } }"
    let lines = try ScriptBench(.memory, model: model, extensions: [file]).lines(
      "context:insert('O') print(select(2, context:save()).message)", leavingChanges: true)
    #expect(lines.first?.hasPrefix("O: will_save changes or inserts objects again and again") == true, "\(lines)")
  }

  /// Computed values are validated like assigned ones.
  @Test(arguments: StoreKind.allCases) func rulesOfADerivedAttributeAreAsked(_ kind: StoreKind) throws {
    let model = """
      return { entities = { P = { attributes = {
        n = "integer64", needed = { "string", transient = true, optional = false }, short = { "string", transient = true, max_length = 3 }, ruled = { "string", transient = true },
      } } } }
      """
    let file = """
      return { name = 'x', entities = { P = {
        derived = {
          short = { inputs = { "n" }, get = function(n) return ("v"):rep(n) end },
          ruled = { inputs = { "n" }, get = function(n) return n == 2 and "no" or "yes" end },
          needed = { inputs = { "n" }, get = function(n) return n ~= 3 and "there" or nil end },
        },
        validate = { ruled = function(v) return v == "yes", "must be yes" end },
      } } }
      """
    let lines = try ScriptBench(kind, model: model, extensions: [file]).lines(
      """
      local p = context:insert("P", { n = 1 })
      print(p:validate(), context:save())
      for _, n in ipairs { 2, 4, 3 } do
        p.n = n
        local ok, err = context:save()
        print(p:validate(), ok, err.key, err.message)
      end
      """, leavingChanges: true)
    #expect(lines[0] == "true\ttrue", "\(lines)")
    #expect(lines[1].hasPrefix("false") || lines[1].hasPrefix("nil"), "\(lines)")
    #expect(lines[1].contains("ruled") && lines[1].contains("must be yes"), "\(lines)")
    #expect(lines[2].contains("short"), "\(lines)")
    #expect(lines[3].contains("needed") && lines[3].contains("is required and missing"), "\(lines)")
  }
}
