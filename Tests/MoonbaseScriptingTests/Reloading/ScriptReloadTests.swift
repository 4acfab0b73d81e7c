import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// `moonbase.reload()` called by scripts.
@Suite struct ScriptReloadTests {
  private typealias Bench = ReloadBench

  private func run(_ bench: Bench, _ script: String) throws -> String {
    let domain = try ScriptDomain()
    defer { domain.close() }
    let (coordinator, extensions) = (bench.coordinator, bench.extensions)
    try domain.installOpen { _ in StoreHandle(coordinator: coordinator, extensions: extensions) }
    try domain.setContext(domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions)))
    return try domain.state.load("local context = moonbase.context \(script)", name: "s.lua")().first?.textValue ?? ""
  }

  @Test(arguments: StoreKind.allCases) func aScriptReloadsBetweenItsSteps(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["a.lua": Bench.labelled(1)])
    try bench.write(Bench.labelled(2))
    #expect(
      try run(
        bench,
        """
        local p = context:insert("P", { s = "x" })
        local before = p.label
        moonbase.reload()
        return before .. " " .. p.label
        """) == "x1 x2")
  }

  /// Calls during other operations of the context: the extensions stay, and the error names the operation.
  @Test(arguments: [
    ("context:on('will_save', function() try() end) context:insert('P', { s = 'x' }) context:save()", "saves"),
    ("context:on('did_save', function() try() end) context:insert('P', { s = 'x' }) context:save()", "saves"),
    (
      "local p = context:insert('P', { s = 'x' }) p:observe('s', function() try() end) p.s = 'y'",
      "observers are called"
    ),
    (
      "context:on('objects_did_change', function() try() end) context:insert('P', { s = 'x' }) context:process_pending_changes()",
      "observers are called"
    ),
    (
      "local r = context:fetch('P'):sort('s'):follow{} r:on_change(function() try() end) context:insert('P', { s = 'x' }) context:process_pending_changes()",
      "observers are called"
    ),
    ("context:transaction(function() try() end)", "within a transaction"),
    ("local p = context:insert('P', { s = 'x' }) p:reloads()", "a function of an extension"),
    ("context:insert('P', { s = 'x', kept = 'normal' }) context:save()", "a function of an extension"),
    ("context:insert('P', { s = 'x', kept = 'rule' }) context:save()", "a function of an extension"),
    ("local p = context:insert('P', { s = 'x', kept = 'get' }) local _ = p.computed", "a function of an extension"),
  ])
  func aReloadInTheMiddleOfSomethingIsRefused(_ script: String, _ reason: String) throws {
    func file(_ version: Int) -> String {
      Bench.labelled(
        version,
        """
        methods = { reloads = function() local _, e = pcall(moonbase.reload) moonbase.log.info(tostring(e)) end },
        normalize = { kept = function(k) if k == "normal" then local _, e = pcall(moonbase.reload) moonbase.log.info(tostring(e)) end return k end },
        validate = { kept = function(k) if k == "rule" then local _, e = pcall(moonbase.reload) moonbase.log.info(tostring(e)) end return true end },
        """,
        derived: """
          computed = { type = "string", inputs = { "kept" }, get = function(k)
            if k == "get" then local _, e = pcall(moonbase.reload) moonbase.log.info(tostring(e)) end
            return k end },
          """)
    }
    let bench = try Bench(["a.lua": file(1)])
    try bench.write(file(2))
    let logged = Lock<[String]>([])
    let domain = try ScriptDomain()
    defer { domain.close() }
    domain.log = { entry in logged.withLock { $0.append(entry.message) } }
    let (coordinator, extensions) = (bench.coordinator, bench.extensions)
    try domain.installOpen { _ in StoreHandle(coordinator: coordinator, extensions: extensions) }
    try domain.setContext(domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions)))
    _ = try domain.state.load(
      """
      local context = moonbase.context
      local function try() local ok, err = pcall(moonbase.reload) moonbase.log.info(ok and "done" or tostring(err)) end
      \(script)
      """, name: "s.lua")()
    let told = logged.withLock { $0 }
    #expect(told.first?.contains(reason) == true, "\(told)")
    #expect(bench.extensions.loaded.map(\.version) == ["1.1"])
  }

  @Test func anErrorOfAHookLeavesAllContextsOfTheScriptAsTheyWere() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    try bench.write(Bench.labelled(2, top: "on_reload = function() error('no') end,"))
    #expect(
      try run(
        bench,
        """
        local p = context:insert("P", { s = "x" })
        local ok, err = pcall(moonbase.reload)
        return tostring(ok) .. " " .. p.label
        """) == "false x1")
    #expect(bench.extensions.loaded.map(\.version) == ["1.1"])
  }
}
