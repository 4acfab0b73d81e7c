import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Extensions have no access to files, whatever the script has. They have modules of their own and cannot change the
/// classes of other extensions.
@Suite struct ExtensionScopeTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    var entity = EntityDescription("P")
    entity.attributes = [AttributeDescription("s", type: .string), AttributeDescription("n", type: .integer64)]
    var model = ManagedObjectModel()
    model.entities = [entity]
    self.model = model
    for name in ["a", "b"] { mkdir(folder.file(name).path, 0o755) }
  }

  private func write(_ text: String, to name: String) throws -> URL {
    let url = folder.file(name)
    try Data(text.utf8).write(to: url)
    return url
  }

  /// A context whose extensions run in the state of a script with access to all files.
  private func context(
    _ sources: [URL], preset: LuaPreset = .standard, _ domain: ScriptDomain? = nil
  ) throws -> (ManagedObjectContext, ScriptDomain, ScriptExtensions) {
    let extensions = try ScriptExtensions(sources.map { .file($0) }, for: model)
    let domain = try domain ?? ScriptDomain(preset: preset)
    let access = LuaFileAccess(readablePaths: ["/"], writablePaths: ["/"], variables: ["HOME"])
    try domain.state.openFiles(access)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(InMemoryStore(model: extensions.resolvedModel))
    let context = ManagedObjectContext(coordinator, extensionRegistry: try extensions.makeRegistry(in: domain))
    try domain.setContext(context)
    return (context, domain, extensions)
  }

  /// The result of code in a hook of an extension, as text.
  private func answer(_ code: String, preset: LuaPreset = .standard) throws -> String {
    let url = try write(
      "return { entities = { P = { normalize = { s = function(value) \(code) end } } } }", to: "a/e.lua")
    let (context, domain, _) = try context([url], preset: preset)
    defer { domain.close() }
    let object = try context.insert("P")
    object["s"] = "x"
    try context.save()
    guard case .string(let text) = object["s"] else { return "nothing" }
    return text
  }

  @Test(arguments: LuaPreset.allCases) func noPresetGivesAnExtensionFiles(_ preset: LuaPreset) throws {
    let doors = [
      "return tostring(io)", "return tostring(os and os.remove)", "return tostring(os and os.execute)",
      "return tostring(os and os.getenv and os.getenv('HOME'))", "return tostring(moonbase.open)",
      "return tostring(dofile)", "return tostring(loadfile)", "return tostring(package and package.loadlib)",
      "return tostring(debug and (debug.getregistry or debug.getupvalue or debug.sethook and nil))",
      "return tostring(select(2, pcall(require, 'io')) == nil or nil)", "return tostring(string.dump)",
      "return tostring(load('return 1', 'x', 'b') or nil)", "return tostring(_G.io)",
      "return tostring(getmetatable('') or nil)",
    ]
    for door in doors { #expect(try answer(door, preset: preset) == "nil", "\(preset): \(door)") }
    // Functions that need no files are available.
    #expect(
      try answer("return string.rep('a', 2) .. (load('return 7')()) .. #table.pack(1, 2)", preset: preset) == "aa72")
    #expect(try answer("return require('moonbase.text').trim and 'yes' or 'no'", preset: preset) == "yes")
  }

  /// A trusted script keeps its own libraries, and the methods of strings.
  @Test func aTrustedScriptKeepsAllOfLuaBesideAnExtension() throws {
    let url = try write("return {}", to: "a/e.lua")
    let (_, domain, _) = try context([url], preset: .trusted)
    defer { domain.close() }
    let code = """
      function string.twice(s) return s .. s end
      return ("x"):twice() .. tostring(io ~= nil and package.loaded.io == io and debug.getinfo ~= nil)
        .. tostring(getmetatable("").__index == string)
      """
    #expect(try domain.state.load(code, name: "s")().first?.textValue == "xxtruetrue")
  }

  @Test func eachExtensionHasTheModulesOfItsOwnFolder() throws {
    _ = try write("return { mark = 'a' }", to: "a/util.lua")
    _ = try write("local inner = require('inner') return { mark = 'b' .. inner }", to: "b/util.lua")
    _ = try write("return 'i'", to: "b/inner.lua")
    let rule =
      "local util = require('util') return { entities = { P = { normalize = { KEY = function(v) return VALUE end } } } }"
    let a = try write(rule.replacing("KEY", with: "s").replacing("VALUE", with: "util.mark"), to: "a/e.lua")
    let b = try write(rule.replacing("KEY", with: "n").replacing("VALUE", with: "#util.mark"), to: "b/e.lua")
    let (context, domain, _) = try context([a, b])
    defer { domain.close() }
    domain.state.modules.rootPaths = [folder.file("b").path]
    // A script's own module with the same name is separate.
    #expect(try domain.state.load("return require('util').mark", name: "s")().first?.textValue == "bi")
    let object = try context.insert("P")
    (object["s"], object["n"]) = ("x", 0)
    try context.save()
    #expect(object["s"] == "a" && object["n"] == 2)
  }

  /// Two folders may each have a module with the same name.
  @Test func anErrorOfAModuleNamesItsFolder() throws {
    for name in ["a", "b"] { _ = try write("return function() error('broken') end", to: "\(name)/util.lua") }
    let rule =
      "local fail = require('util') return { entities = { P = { normalize = { KEY = function() fail() end } } } }"
    let a = try write(rule.replacing("KEY", with: "s"), to: "a/e.lua")
    let b = try write(rule.replacing("KEY", with: "n"), to: "b/e.lua")
    let (context, domain, _) = try context([a, b])
    defer { domain.close() }
    let object = try context.insert("P")
    for (key, value, place) in [("s", Value.string("x"), "a/util.lua:1"), ("n", .int(1), "b/util.lua:1")] {
      try object.setValue(value, forKey: key)
      #expect { try context.save() } throws: { "\($0)".contains(place) }
      try object.setValue(.null, forKey: key)
    }
  }

  /// Contexts made later run the modules loaded with the extension until it is reloaded.
  @Test func modulesBelongToTheGenerationOfTheirExtension() throws {
    _ = try write("return { 'one' }", to: "a/names.lua")
    let url = try write(
      """
      local derived = {}
      for _, name in ipairs(require('names')) do
        derived[name] = { type = "string", inputs = { "s" }, pure = true, get = function(s) return require('late') .. (s or '') end }
      end
      return { entities = { P = { derived = derived } } }
      """, to: "a/e.lua")
    _ = try write("return 'old'", to: "a/late.lua")
    let (context, domain, extensions) = try context([url])
    defer { domain.close() }
    let object = try context.insert("P")
    object["s"] = "x"
    #expect(object["one"] == "oldx")
    _ = try write("return { 'one', 'two' }", to: "a/names.lua")
    _ = try write("return 'new'", to: "a/late.lua")
    let later = ManagedObjectContext(context.coordinator, extensionRegistry: try extensions.makeRegistry())
    let other = try later.insert("P")
    other["s"] = "y"
    #expect(other["one"] == "oldy")
    try extensions.reload()
    try later.reloadExtensions()
    #expect(other["one"] == "newy" && other["two"] == "newy")
    #expect(object["one"] == "oldx")
    try context.reloadExtensions()
    #expect(object["two"] == "newx")
  }

  @Test func aClassOfAnotherExtensionCannotBeChanged() throws {
    let a = try write(
      """
      local Color = { parts = { 1 } }
      Color.__index = Color
      function Color.new(r) return setmetatable({ r = r }, Color) end
      function Color.is(v) return getmetatable(v) == Color end
      return { classes = { Color = Color } }
      """, to: "a/e.lua")
    let attack = """
      local C = moonbase.classes.Color
      local value = C.new(5)
      local tries = {
        function() C.new = nil end, function() C.__index.new = nil end, function() C.parts[1] = 2 end,
        function() getmetatable(value).new = nil end, function() getmetatable(value).__index.new = nil end,
        function() rawset(C, "new", 1) end, function() rawset(getmetatable(value), "new", 1) end,
        function() setmetatable(C, {}) end, function() moonbase.classes.Color = nil end,
        function() rawget(C, "__index").new = nil end, function() table.insert(C.parts, 1, 7) end,
      }
      local done = 0
      for _, try in ipairs(tries) do if pcall(try) then done = done + 1 end end
      return done .. value.r .. C.new(6).r .. tostring(C.is(value)) .. C.parts[1]
      """
    let b = try write(
      "return { entities = { P = { normalize = { s = function() \(attack) end } } } }", to: "b/e.lua")
    let (context, domain, _) = try context([a, b])
    defer { domain.close() }
    let object = try context.insert("P")
    object["s"] = "x"
    try context.save()
    #expect(object["s"] == "056true1")
  }

  /// If a context cannot adopt the new files, all contexts keep the old ones.
  @Test func aReloadOfSeveralContextsIsAllOrNothing() throws {
    let good = try write(
      "return { entities = { P = { normalize = { s = function() return 'old' end } } } }", to: "a/e.lua")
    let other = try write(
      "return { entities = { P = { normalize = { s = function() return 'old' end } } } }", to: "b/e.lua")
    let domain = try ScriptDomain()
    let (first, _, _) = try context([good], domain)
    let (second, _, _) = try context([other], domain)
    defer { domain.close() }
    try domain.installOpen { _ in throw GraphError(.invalidRequest, message: "none") }
    func normalized(_ context: ManagedObjectContext) throws -> Value {
      let object = try context.insert("P")
      object["s"] = "x"
      try context.save()
      return object["s"]
    }
    _ = try write("return { entities = { P = { normalize = { s = function() return 'new' end } } } }", to: "a/e.lua")
    _ = try write("return { entities = { P = { normalise = {} } } }", to: "b/e.lua")
    let reload = try domain.state.load("return pcall(moonbase.reload)", name: "s")
    #expect(try reload().first?.description == "false")
    #expect(try normalized(first) == "old" && normalized(second) == "old")
    _ = try write("return { entities = { P = { normalize = { s = function() return 'new' end } } } }", to: "b/e.lua")
    #expect(try reload().first?.description == "true")
    #expect(try normalized(first) == "new" && normalized(second) == "new")
  }
}
