import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Extensions that misuse observers, children, undo and reloads. None of them crashes the program, ends more than its
/// own call, or leaves an unusable context.
@Suite struct HostileObserverTests {
  /// Actions of a hook with the context `c` of a new object `p`, and the error of the last save, or "nil" if it
  /// succeeds.
  private static let hooks: [(name: String, text: String, message: String)] = [
    ("will_save saves", "c:on('will_save', function() c:save() end)", "a save was begun while the same context saves"),
    ("did_save saves", "c:on('did_save', function() c:save() end)", "a save was begun while the same context saves"),
    (
      "did_save changes and saves",
      "c:on('did_save', function() once(function() p.i = p.i + 1 assert(c:save()) end) end)", "nil"
    ),
    (
      "did_save changes for ever", "c:on('did_save', function() p.i = p.i + 1 c:save() end)",
      "a save was begun while the same context saves"
    ),
    ("changes change for ever", "c:on('objects_did_change', function() p.i = p.i + 1 end)", "nil"),
    (
      "changes process changes", "c:on('objects_did_change', function() p.i = p.i + 1 c:process_pending_changes() end)",
      "nil"
    ),
    ("changes insert", "c:on('objects_did_change', function() c:insert('P') end)", "nil"),
    (
      "a value sets itself", "p:observe('i', function(v, o) o.i = v + 1 end)", "its observers change it again and again"
    ),
    ("a value deletes its object", "p:observe('i', function(v, o) o:context():delete(o) end)", "nil"),
    (
      "will_save rolls back", "c:on('will_save', function() c:rollback() end)",
      "a rollback was asked for while the same context saves"
    ),
    (
      "will_save resets", "c:on('will_save', function() c:reset() end)",
      "a reset was asked for while the same context saves"
    ),
    (
      "did_save resets", "c:on('did_save', function() c:reset() end)",
      "a reset was asked for while the same context saves"
    ),
    (
      "did_save rolls back", "c:on('did_save', function() p.i = 7 c:rollback() end)",
      "a rollback was asked for while the same context saves"
    ),
    ("changes reset", "c:on('objects_did_change', function() once(function() c:reset() end) end)", "nil"),
    (
      "will_save undoes", "c.undo_levels = 5 c:on('will_save', function() c:undo() c:redo() end)",
      "an undo was asked for while the same context saves"
    ),
    ("changes undo", "c.undo_levels = 5 c:on('objects_did_change', function() c:undo() end)", "nil"),
    (
      "undo in a group",
      "c.undo_levels = 5 c:on('objects_did_change', function() c:undo_group('x', function() c:undo() end) end)",
      "undo within undo_group: call it when"
    ),
    (
      "a transaction in will_save", "c:on('will_save', function() c:transaction(function() p.i = 8 end) end)",
      "a transaction was begun while the same context saves"
    ),
    (
      "a transaction in changes",
      "c:on('objects_did_change', function() once(function() c:transaction(function() p.i = 8 end) end) end)", "nil"
    ),
    ("a watch cancels itself", "local w w = c:on('did_save', function() w:cancel() w:cancel() end)", "nil"),
    (
      "a watch makes watches",
      "c:on('did_save', function() for i = 1, 100 do c:on('did_save', function() error('x') end) end end)",
      "100 errors after the data was saved"
    ),
    (
      "a watch raises what is no text",
      "c:on('will_save', function() error(setmetatable({}, { __tostring = function() error('y') end })) end)",
      "error object is a table value"
    ),
    (
      "a child is kept", "kept = kept or c:child() c:on('did_save', function() kept:insert('P') kept:save() end)",
      "the context is gone"
    ),
    (
      "a child of a child saves up",
      "c:on('did_save', function() once(function() local d = c:child():child() d:insert('P') d:save() d.parent:save() d.parent:close() end) end)",
      "nil"
    ),
    (
      "a child in a watch is closed in it",
      "c:on('did_save', function() local d = c:child() d:on('did_save', function() d:close() end) d:insert('P') d:save() end)",
      "nil"
    ),
    (
      "results cancel themselves", "local r = c:fetch('P'):sort('i'):follow() r:on_change(function() r:cancel() end)",
      "nil"
    ),
    ("results save", "local r = c:fetch('P'):sort('i'):follow() r:on_change(function() c:save() end)", "nil"),
    (
      "results delete",
      "local r = c:fetch('P'):sort('i'):follow() r:on_change(function() for _, o in ipairs(r:all()) do c:delete(o) end end)",
      "nil"
    ),
    ("a reload in did_save", "c:on('did_save', function() once(function() moonbase.reload() end) end)", "nil"),
    ("a reload in will_save", "c:on('will_save', function() once(function() moonbase.reload() end) end)", "nil"),
    ("a reload in changes", "c:on('objects_did_change', function() once(function() moonbase.reload() end) end)", "nil"),
    ("a reload where a value changes", "p:observe('i', function() once(function() moonbase.reload() end) end)", "nil"),
    (
      "a job", "c:on('did_save', function() moonbase.background('x') end)",
      "attempt to call a nil value (field 'background')"
    ),
    (
      "refreshes in will_save", "c:on('will_save', function() c:refresh(p, false) c:refresh_all() end)",
      "a refresh was asked for while the same context saves"
    ),
    (
      "recomputes in did_save", "c:on('did_save', function() c:recompute('P') end)", "P has no stored derived attribute"
    ),
    (
      "a batch in will_save", "c:on('will_save', function() c:fetch('P'):batch_delete() end)",
      "a batch delete was asked for while the same context saves"
    ),
    ("a merge policy that saves", "c.merge_policy = function() c:save() return 'overwrite' end", "nil"),
    (
      "a watch within a coroutine",
      "coroutine.wrap(function() c:on('did_save', function() coroutine.yield() end) end)()",
      "attempt to yield from outside a coroutine"
    ),
    (
      "a watch that is called by pcall",
      "c:on('will_save', function() while true do pcall(function() while true do end end) end end)",
      "extension hostile exceeded its limit of 300000 instructions in will_save"
    ),
  ]

  private static func file(_ hook: String) -> String {
    """
    local done, kept = false, nil
    local function once(body) if not done then done = true body() end end
    return { name = "hostile", \(ThingBench.transformer) entities = { P = { awake_from_insert = function(p)
      local c = p:context()
      if done or c.parent then return end
      \(hook)
    end } } }
    """
  }

  private static let script = """
    local p = context:insert("P", { i = 1 })
    pcall(function() p.i = 2 end)
    pcall(function() context:process_pending_changes() end)
    local last
    for i = 1, 3 do
      pcall(function() p.i = 10 + i end)
      local ok, err = context:save()
      last = tostring(err)
    end
    context:rollback()
    return "through", last
    """

  @Test(arguments: StoreKind.allCases, 0..<hooks.count) func nothingBreaksAndEachErrorIsTold(
    _ kind: StoreKind, _ index: Int
  ) throws {
    let hook = Self.hooks[index]
    let bench = try LimitBench(
      kind, ["hostile": (Self.file(hook.text), ExtensionLimits(instructions: 300_000, memory: 16 << 20))])
    let limits = LuaLimits(instructions: 3_000_000, deadline: .seconds(20), memory: 64 << 20)
    let results = try bench.run(Self.script, limits: limits)
    #expect(results[0] == "through" && results[1]?.contains(hook.message) == true, "\(hook.name): \(results)")
    // The store contains the saves of a plain context.
    let context = try ManagedObjectContext(bench.coordinator)
    let before = try context.count(FetchRequest("P"))
    try context.insert("P", values: ["i": 1])
    try context.save()
    #expect(try context.count(FetchRequest("P")) == before + 1, "\(hook.name)")
  }

  /// A child that outlives its parent, and the child's objects, raise errors.
  @Test(arguments: StoreKind.allCases) func whatOutlivesItsContextRaises(_ kind: StoreKind) throws {
    let file = """
      local kept
      return { name = "x", \(ThingBench.transformer) entities = { P = { methods = {
        keep = function(p) kept = { context = p:context(), child = p:context():child(), object = p } return true end,
        use = function()
          local messages = {}
          for _, body in ipairs {
            function() return kept.object.i end, function() return kept.context:insert("P") end,
            function() return kept.child:insert("P") end, function() return kept.child:save() end,
            function() return kept.child.parent:fetch("P"):all() end,
          } do
            local ok, err = pcall(body)
            messages[#messages + 1] = ok and "ok" or "raised"
            local _ = tostring(err)
          end
          return table.concat(messages, " ")
        end,
      } } } }
      """
    let bench = try LimitBench(kind, ["x": (file, nil)])
    let domain = try ScriptDomain(limits: LuaLimits(deadline: .seconds(20)))
    defer { domain.close() }
    let opened = StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions)
    var first: ManagedObjectContext? = try domain.context(of: opened)
    try first?.insert("P", values: ["i": 1]).call("keep")
    try first?.close()
    first = nil
    let second = try domain.context(of: opened)
    let result = try second.insert("P").call("use")
    #expect(result == "raised raised raised raised raised", "\(result)")
  }
}
