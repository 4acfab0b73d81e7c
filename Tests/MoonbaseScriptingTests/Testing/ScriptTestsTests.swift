import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Test files written in Lua.
@Suite struct ScriptTestsTests {
  private func tests() throws -> ScriptTests {
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: ScriptBench.model))
    return try ScriptTests(model: model, extensions: [.text(ScriptBench.colors, name: "colors.lua")])
  }

  @Test func eachTestHasAContextOfItsOwn() throws {
    let results = try tests().run(
      ScriptSource(
        name: "people.lua",
        text: """
          local count = 0
          local function add(t)
            count = count + 1
            t.context:insert("Person", { firstName = "A", lastName = "B" })
            assert(t.context:save())
            t.equal(t.context:fetch("Person"):count(), 1)
            t.equal(moonbase.context, t.context)
            t.equal(count, 1)
          end
          return {
            ["b comes first"] = function(t) add(t) end,
            ["a comes second"] = function(t) add(t) end,
            ["tables and classes"] = function(t)
              t.equal({ 1, { a = "x" } }, { 1, { a = "x" } })
              t.equal(moonbase.classes.Color.new(1, 0, 0), moonbase.classes.Color.new(1, 0, 0))
            end,
            ["what fails"] = function(t)
              local p = t.context:insert("Person", { age = 13 })
              local err = t.fails(function() return t.context:save() end, 1550)
              t.equal(err.key, "age")
              t.fails(function() p.agee = 1 end, "did you mean age")
              t.fails(function() error("x") end)
            end,
          }
          """))
    #expect(results.map(\.name) == ["b comes first", "a comes second", "tables and classes", "what fails"])
    #expect(results.filter { !$0.isPassed } == [])
  }

  @Test func aFailureHasItsPlaceAndItsMessage() throws {
    let results = try tests().run(
      ScriptSource(
        name: "people.lua",
        text: """
          return {
            a = function(t) t.equal({ 1, b = "x" }, { 1, b = "y" }, "both") end,
            b = function(t)
              t.fails(function() end)
            end,
            c = function(t) t.fails(function() error("x") end, 1550) end,
            d = function(t) t.context:insert("Person", { age = 13 }) t.context:save() end,
            e = function(t) local p = nil; return p.x end,
            f = function(t) t.eqal(1, 1) end,
            g = function(t) t.snapshot(1) end,
          }
          """))
    let messages = [
      "both: { 1, b = \"x\" } is not { 1, b = \"y\" }", "it does not fail", "it fails with ", "a save failed",
      "attempt to index a nil value", "did you mean equal?", "there is no folder for snapshots",
    ]
    #expect(results.map(\.place) == [2, 4, 6, 7, 8, 9, 10].map { "people.lua:\($0)" })
    for (result, message) in zip(results, messages) {
      #expect(result.failure?.contains(message) == true, "\(result)")
    }
    for text in ["return 1", "return { a = 1 }", "return {"] {
      let error = #expect(throws: ScriptError.self) { try tests().run(ScriptSource(name: "x.lua", text: text)) }
      #expect(error?.description.hasPrefix("x.lua:") == true, "\(text)")
    }
  }

  @Test func snapshotsAreKept() throws {
    let folder = try TemporaryFolder()
    var tests = try tests()
    tests.snapshotFolder = folder.url.appendingPathComponent("snapshots")
    func run(_ value: String) throws -> String? {
      try tests.run(ScriptSource(name: "x.lua", text: "return { a = function(t) t.snapshot(\(value)) end }"))[0].failure
    }
    let first = try [run("{ b = 1, a = 2 }"), run("{ a = 2, b = 1 }"), run("{ a = 3 }")]
    #expect(first[0] == nil && first[1] == nil)
    #expect(first[2]?.contains("the value is { a = 3 }, and x.lua_a_1.txt has { a = 2, b = 1 }") == true)
    tests.updatesSnapshots = true
    let last = try run("{ a = 3 }")
    #expect(last == nil)
  }

  @Test func extensionsTellTheProgram() throws {
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: ScriptBench.model))
    let hook = "will_save = function(p) moonbase.log.notice('saves', { name = p.firstName }) end"
    let lines = Lock<[String]>([])
    let extensions = try ScriptExtensions(
      [
        .text(ScriptBench.colors, name: "colors.lua"),
        .text("return { entities = { Person = { \(hook) } } }", name: "x.lua"),
      ], for: model,
      log: { entry in lines.withLock { $0.append(entry.line) } })
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(InMemoryStore(model: extensions.resolvedModel))
    let context = try ManagedObjectContext(coordinator, extensions: extensions)
    try context.insert("Person").setValue("A\u{202E}B", forKey: "firstName")
    try context.save()
    #expect(lines.withLock { $0 }.count == 1)
    #expect(lines.withLock { $0 }.first?.contains("\u{202E}") == false)
    #expect(lines.withLock { $0 }.first?.hasPrefix("notice: saves (name: A\\u{202E}B") == true)
  }

  @Test func messagesGoToTheHandlerOfTheDomain() throws {
    let domain = try ScriptDomain()
    defer { domain.close() }
    var entries: [ScriptLogEntry] = []
    domain.log = { entries.append($0) }
    let outcome = ScriptRunner(domain).run([
      ScriptSource(
        name: "x.lua",
        text: """
          moonbase.log.info("done")
          moonbase.log.warning("row \\27[2J\\nskipped", { row = 3, reason = "no date" })
          for _, body in ipairs { function() moonbase.log.info("x", 1) end, function() moonbase.log.inf("x") end } do
            assert(not pcall(body))
          end
          """)
    ])
    #expect(outcome.status == 0 && outcome.message == nil, "\(outcome)")
    #expect(entries.map(\.level) == [.info, .warning])
    #expect(entries.map(\.line)[0] == "info: done")
    let line = entries.map(\.line)[1]
    #expect(line.hasPrefix("warning: row ") && line.hasSuffix("skipped (reason: no date, row: 3)"))
    #expect(!line.unicodeScalars.contains { $0.value < 32 })
  }
}
