import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Loaded extensions, and their cost where it is measured.
@Suite struct ExtensionListingTests {
  private static let file = """
    return {
      name = "x", version = "1.2",
      transformers = { T = { transform = function(v) return v end, reverse = function(b) return b end } },
      entities = { P = {
        normalize = { s = function(v) return v:lower() end },
        validate = { i = function(v) return v < 100, "is too much" end },
        will_save = function(p) if p.i == 50 then error("fifty") end end,
        derived = {
          twice = { type = "integer64", inputs = { "i" }, pure = true, get = function(i) return i * 2 end },
          text = { get = function(p) return p.s end, set = function(v, p) p.s = v end },
        },
        methods = { spin = function(p, n) local x = 0 for i = 1, n do x = x + i end return x end },
      } },
    }
    """

  private func bench(_ kind: StoreKind, profile: ExtensionProfile?) throws -> (
    ScriptExtensions, PersistentStoreCoordinator, TemporaryFolder
  ) {
    let model = try LuaModelFile().read(ScriptSource(name: "m.lua", text: ThingBench.model))
    let extensions = try ScriptExtensions([.text(Self.file, name: "x.lua")], for: model, profile: profile)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    let folder = try TemporaryFolder()
    try coordinator.add(kind.store(for: extensions.resolvedModel, in: folder))
    return (extensions, coordinator, folder)
  }

  private func work(_ extensions: ScriptExtensions, _ coordinator: PersistentStoreCoordinator) throws -> [String?] {
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
    try domain.setContext(context)
    return try domain.state.load(
      """
      local context = moonbase.context
      local p = context:insert("P", { s = "A", i = 1, tr = "x" })
      local q = context:insert("P", { i = 2, text = "B" })
      assert(context:save())
      context:refresh(p, false)
      local read = p.tr .. p.text .. p.twice
      p:spin(10000)
      moonbase.object.spin(q, 10)
      local found = context:fetch("P"):where("twice = 4"):count()
      p.i = 50
      local ok = context:save()
      p.i = 1
      p.i = 100
      local fails = context:save()
      context:rollback()
      local x = moonbase.extensions[1]
      local spin
      for _, entry in ipairs(x.functions) do if entry.name == "P.methods.spin" then spin = entry end end
      return read, tostring(found), tostring(ok), tostring(fails), x.name .. x.version .. x.entities[1], tostring(spin.calls)
      """, name: "s.lua")().map(\.textValue)
  }

  @Test(arguments: StoreKind.allCases) func withAProfileCallsAreCounted(_ kind: StoreKind) throws {
    let profile = ExtensionProfile()
    let (extensions, coordinator, folder) = try bench(kind, profile: profile)
    defer { withExtendedLifetime(folder) {} }
    let results = try work(extensions, coordinator)
    #expect(results[0] == "xa2" && results[1] == "1", "\(results)")
    let loaded = try #require(extensions.loaded.first)
    let costs = Dictionary(uniqueKeysWithValues: loaded.functions.map { ($0.name, $0.cost) })
    #expect(loaded.name == "x" && loaded.version == "1.2" && loaded.source == "x.lua" && loaded.entities == ["P"])
    #expect(costs.count == 9, "\(costs.keys)")
    #expect(costs["P.methods.spin"]?.calls == 2 && costs["P.methods.spin"]?.errors == 0)
    #expect((10_000..<100_000).contains(costs["P.methods.spin"]?.instructions ?? 0), "\(costs)")
    #expect(costs["P.will_save"]?.errors == 1 && costs["P.will_save"].map { $0.calls > 2 } == true)
    for name in costs.keys {
      #expect((costs[name]?.calls ?? 0) > 0 && (costs[name]?.duration ?? .zero) > .zero, "\(name)")
    }
    #expect(loaded.cost.calls == costs.values.reduce(0) { $0 + $1.calls })
    #expect(
      profile.entries.count == 9
        && profile.entries.map(\.cost.duration) == profile.entries.map(\.cost.duration).sorted(by: >))
    #expect(extensions.map(\.name) == ["x"])
    #expect(results[4] == "x1.2P" && results[5] == "2")
  }

  @Test func withoutOneNothingIsCounted() throws {
    let (extensions, coordinator, folder) = try bench(.memory, profile: nil)
    defer { withExtendedLifetime(folder) {} }
    _ = try work(extensions, coordinator)
    let loaded = try #require(extensions.loaded.first)
    #expect(loaded.functions.count == 9 && loaded.cost.calls == 0)
  }

  @Test func aReloadListsWhatIsThereNow() throws {
    let folder = try TemporaryFolder()
    func write(_ text: String) throws { try Data(text.utf8).write(to: folder.file("e.lua")) }
    try write("return { name = 'one', entities = { P = { will_save = print } } }")
    let model = try LuaModelFile().read(
      ScriptSource(name: "m.lua", text: ThingBench.model.replacing(", transformer = \"T\"", with: "")))
    let extensions = try ScriptExtensions([.directory(folder.url)], for: model)
    #expect(extensions.loaded.map(\.name) == ["one"] && extensions.loaded[0].functions.map(\.name) == ["P.will_save"])
    try write("return { name = 'two' }")
    try extensions.reload()
    #expect(extensions.loaded.map(\.name) == ["two"] && extensions.loaded[0].functions.isEmpty)
    try write("return {")
    #expect(throws: ScriptError.self) { try extensions.reload() }
    #expect(extensions.loaded.map(\.name) == ["two"])
  }

  @Test func aScriptWithoutAnyHasAnEmptyList() throws {
    let lines = try ScriptBench(.memory, model: ThingBench.model, extensions: ["return { \(ThingBench.transformer) }"])
      .lines(
        "print(#moonbase.extensions, moonbase.extensions[1].name, pcall(function() moonbase.extensions[1].name = 1 end))"
      )
    #expect(lines[0].hasPrefix("1\textension1.lua\tfalse"))
    let domain = try ScriptDomain()
    defer { domain.close() }
    #expect(try domain.state.load("return #moonbase.extensions", name: "s").first().integerValue == 0)
  }
}
