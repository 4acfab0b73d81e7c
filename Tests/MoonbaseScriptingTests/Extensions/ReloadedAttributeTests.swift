import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Extension files reloaded while scripts hold objects: attributes that the model lacks are added, removed and retyped.
@Suite struct ReloadedAttributeTests {
  /// A script that holds objects, and extension files that change.
  private final class Bench {
    let folder: TemporaryFolder
    let extensions: ScriptExtensions
    let coordinator: PersistentStoreCoordinator
    let domain: ScriptDomain
    let context: ManagedObjectContext

    init(_ kind: StoreKind, _ files: [String: String], model: String = Bench.model) throws {
      folder = try TemporaryFolder()
      for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
      let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: model))
      extensions = try ScriptExtensions([.directory(folder.url)], for: model)
      coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
      try coordinator.add(kind.store(for: extensions.resolvedModel, in: folder))
      domain = try ScriptDomain()
      context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
      try domain.setContext(context)
    }

    deinit { domain.close() }

    static let model = """
      return {
        entities = {
          P = {
            attributes = { s = "string", i = "integer64" },
            relationships = { q = { to = "P", inverse = "qs" }, qs = { to_many = "P", inverse = "q" } },
          },
          C = { parent = "P", attributes = { own = "string" } },
        },
        fetch_requests = { all = { "P", "i >= 0" } },
      }
      """

    static func derived(_ text: String, entity: String = "P") -> String {
      "return {\n  entities = {\n    \(entity) = {\n      derived = {\n        \(text)\n      } } } }"
    }

    /// Writes a file and reloads the context's extensions.
    func reload(_ text: String, to name: String = "e.lua") throws {
      try Data(text.utf8).write(to: folder.file(name))
      try extensions.reload()
      try context.reloadExtensions()
    }

    /// A script function that evaluates an expression. It holds an object `p` of P with `s = "a"` and `i = 1`, and an
    /// object `c` of C.
    func script() throws -> (String) throws -> String {
      let made = try domain.state.load(
        """
        local context = moonbase.context
        local p = context:insert("P", { s = "a", i = 1 })
        local c = context:insert("C", { s = "b", i = 2, q = p })
        assert(context:save())
        return function(text)
          local f = assert(load("local context, p, c = ... " .. text))
          local results = table.pack(pcall(f, context, p, c))
          for i = 1, results.n do results[i] = tostring(results[i]) end
          return table.concat(results, " ", results[1] == "true" and 2 or 1)
        end
        """, name: "script.lua")()
      guard case .function(let check)? = made.first else { throw ScriptBenchError() }
      return { text in try check.call([.text(text)]).first?.textValue ?? "nothing" }
    }
  }

  private struct ScriptBenchError: Error {}

  @Test(arguments: StoreKind.allCases) func handlesKnowWhatAReloadAddsAndNotWhatItTakesAway(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["e.lua": "return {}"])
    let run = try bench.script()
    #expect(try run("return p.label").contains("P has no property label"))
    try bench.reload(
      Bench.derived("label = { type = 'string', inputs = { 's' }, get = function(s) return s .. '!' end },"))
    #expect(try run("return p.label, c.label, p.qs, #p.qs").hasPrefix("a! b! "))
    #expect(try run("p.s = 'x' return p.label") == "x!")
    #expect(try run("return context:fetch('P'):where('label = %s', 'b!'):count()") == "1")
    #expect(try run("return context:fetch('P'):where('ANY qs.label = %s', 'b!'):first().label") == "x!")
    #expect(try run("return context:fetch('P'):sort('-label'):first().label") == "x!")
    #expect(try run("local t = {} for k, v in pairs(c) do t[#t + 1] = k end return t[#t]") == "label")
    #expect(try run("return moonbase.model.entities.C.attributes.label.type") == "string")
    #expect(try run("c.label = 'y'").contains("it is derived and nothing says how to write it"))
    #expect(try run("return context:save()") == "true")

    try bench.reload(Bench.derived("other = { type = 'string', get = function() return 'o' end },"))
    let place = "\(bench.folder.file("e.lua").path):5"
    let gone =
      "P has no property label: an extension declared it (\(place)), and generation 2 of the extensions does not"
    #expect(try run("return p.label").contains(gone))
    #expect(try run("p.label = 1").contains(gone))
    #expect(try run("return context:fetch('P'):where('label = %s', 'b!'):count()").contains(gone))
    #expect(try run("return moonbase.model.entities.C.attributes.label").contains("C has no attribute"))
    #expect(try run("return p.other, c.other") == "o o")
    try bench.reload(
      Bench.derived("label = { type = 'integer64', inputs = { 'i' }, get = function(i) return i * 10 end },"))
    #expect(try run("return p.label, c.label") == "10 20")
    #expect(try run("return context:fetch('P'):where('label > 10'):first().s") == "b")
    #expect(try run("return p.other").contains("generation 3 of the extensions does not"))
  }

  /// A file that returns another table within the context than in the check.
  @Test(arguments: StoreKind.allCases) func anAdoptionThatFailsLeavesClassesAndHooksAsTheyWere(_ kind: StoreKind) throws
  {
    func file(_ derived: String, hook: String, classes: String = "") -> String {
      """
      local found, context = pcall(function() return moonbase.context end)
      local isInside = found and context ~= nil
      return {
        name = "e", classes = { \(classes) },
        version = "\(hook == "first" ? 1 : 2)",
        on_reload = function(old) moonbase.context:insert("P", { s = (old.version == "1" and "first" or "second") .. "\(hook)" }) end,
        entities = { P = { derived = { \(derived) } } },
      }
      """
    }
    let label = "label = { type = 'string', inputs = { 's' }, get = function(s) return s .. '!' end },"
    let failing =
      "x = { type = 'string', inputs = isInside and { 'gone' } or { 's' }, get = function(s) return s end },"
    let bench = try Bench(kind, ["e.lua": file(label, hook: "first", classes: "Kept = { mark = 1 }")])
    let run = try bench.script()
    let hooked = "return context:fetch('P'):where(\"s BEGINSWITH 'first' OR s BEGINSWITH 'second'\"):count()"
    #expect(try run("return moonbase.classes.Kept.mark") == "1")
    let other = file(failing, hook: "second", classes: "Kept = { mark = 2 }, New = {}")
    #expect(throws: (any Error).self) { try bench.reload(other) }
    #expect(try run("return moonbase.classes.Kept.mark, moonbase.classes.New") == "1 nil")
    #expect(try run("return p.label") == "a!" && run(hooked) == "0")
    #expect(try run("return p.x").contains("P has no property x"))
    // `on_reload` receives the former extension; a file without the hook calls none.
    try bench.reload(file(label, hook: "second"))
    #expect(try run(hooked) == "1" && run("return context:fetch('P'):where(\"s = 'firstsecond'\"):count()") == "1")
    try bench.reload(Bench.derived(label))
    try bench.reload(Bench.derived(label))
    #expect(try run(hooked) == "1" && run("return p.label") == "a!")
  }

  @Test(arguments: StoreKind.allCases) func aReloadThatFailsLeavesAllAsItWas(_ kind: StoreKind) throws {
    let label = "label = { type = 'string', inputs = { 's' }, get = function(s) return s .. '!' end },"
    let bench = try Bench(kind, ["e.lua": Bench.derived(label)])
    let run = try bench.script()
    #expect(try run("return p.label") == "a!")
    let failing = [
      ("return return", "e.lua"), (Bench.derived("x = { type = 'strin', get = print },"), "did you mean string?"),
      (Bench.derived("own = { get = print },"), "declares own and inherits it from P"),
      (
        Bench.derived("x = { type = 'string', stored = true, get = print },"),
        "is to be stored, and the model has no such"
      ),
      (Bench.derived("x = { inputs = { 'y' }, get = print },"), "P has no property y"),
      (Bench.derived("i = { get = print },"), "is a persistent attribute of the model"),
      (Bench.derived("q = { get = print },"), "is a relationship"),
      ("return { entities = { P = { validate = { gone = print } } } }", "P has no property gone"),
    ]
    for (text, message) in failing {
      let error = #expect(throws: (any Error).self) { try bench.reload(text) }
      #expect("\(error as Any)".contains(message), "\(error as Any)")
      #expect(try run("return p.label") == "a!")
      #expect(try run("return p.x").contains("P has no property x"))
      #expect(try run("return context:fetch('P'):where('label = %s', 'b!'):count()") == "1")
    }
    // A new context has the latest version too.
    #expect(
      try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
        .fetch(FetchRequest("P", where: "label == 'a!'")).count == 1)
    try bench.reload(Bench.derived(label + " x = { type = 'string', get = function() return 'now' end },"))
    #expect(try run("return p.label, p.x") == "a! now")
  }

  @Test(arguments: StoreKind.allCases) func twoFilesMayNotAddTheSame(_ kind: StoreKind) throws {
    let label = "label = { type = 'string', get = function() return 'a' end },"
    let bench = try Bench(kind, ["e.lua": Bench.derived(label)])
    let run = try bench.script()
    #expect(throws: ScriptError.self) { try bench.reload(Bench.derived(label), to: "f.lua") }
    #expect(try run("return p.label") == "a")
    // A subentity may have another getter in another file, with the same type.
    let error = #expect(throws: ScriptError.self) {
      try bench.reload(Bench.derived("label = { type = 'date', get = print },", entity: "C"), to: "f.lua")
    }
    #expect(error?.message.contains("C.label is a date, and P.label, which it overrides, is a string") == true)
    #expect(error?.location?.description.hasSuffix("f.lua:5") == true, "\(error as Any)")
    try bench.reload(Bench.derived("label = { get = function() return 'c' end },", entity: "C"), to: "f.lua")
    #expect(try run("return p.label, c.label") == "a c")
    #expect(try run("return context:fetch('P'):where('label = %s', 'c'):first().s") == "b")
  }

  /// A property takes precedence over a method while the property exists.
  @Test func aPropertyWithTheNameOfAMethodHidesItWhileItIsThere() throws {
    let bench = try Bench(.memory, ["e.lua": "return {}"])
    let run = try bench.script()
    #expect(try run("return p:has_changes()") == "false")
    for _ in 0..<3 {
      try bench.reload(Bench.derived("has_changes = { type = 'string', get = function() return 'mine' end },"))
      #expect(try run("return p.has_changes, moonbase.object.has_changes(p)") == "mine false")
      try bench.reload("return {}")
      #expect(try run("return p:has_changes()") == "false")
    }
  }

  @Test func aPureAttributeThatIsAddedRunsInTheFile() throws {
    let bench = try Bench(.sqlite, ["e.lua": "return {}"])
    let run = try bench.script()
    try bench.reload(
      Bench.derived(
        "twice = { type = 'integer64', inputs = { 'i' }, pure = true, get = function(i) return i * 2 end },"))
    #expect(try run("return context:fetch('P'):where('twice = 4'):first().s") == "b")
    #expect(try bench.context.explain(FetchRequest("P", where: "twice == 4")).contains("WHERE"))
    #expect(!(try bench.context.explain(FetchRequest("P", where: "twice == 4")).contains("the context judges")))
    try bench.reload(
      Bench.derived(
        "twice = { type = 'integer64', inputs = { 'i' }, pure = true, get = function(i) return i * 3 end },"))
    #expect(try run("return context:fetch('P'):where('twice = 6'):first().s") == "b")
    try bench.reload("return {}")
    #expect(try run("return context:fetch('P'):where('twice = 6'):first()").contains("generation 3"))
  }

  @Test func aModelMayNameWhatExtensionsAdd() throws {
    let model = Bench.model.replacingOccurrences(of: "\"i >= 0\"", with: "\"label = 'a!'\"")
    let label = "label = { type = 'string', inputs = { 's' }, get = function(s) return s .. '!' end },"
    let bench = try Bench(.sqlite, ["e.lua": Bench.derived(label)], model: model)
    let run = try bench.script()
    #expect(try run("return context:fetch_template('all'):first().s") == "a")
    let error = #expect(throws: (any Error).self) { try bench.reload("return {}") }
    #expect("\(error as Any)".contains("label"), "\(error as Any)")
    #expect(try run("return context:fetch_template('all'):first().label") == "a!")
  }

  @Test func aBackgroundContextTakesANewGenerationWherePerformBegins() async throws {
    let bench = try Bench(.memory, ["e.lua": "return {}"])
    let run = try bench.script()
    let background = try BackgroundContext(bench.coordinator, extensions: bench.extensions)
    try bench.reload(
      Bench.derived("label = { type = 'string', inputs = { 's' }, get = function(s) return s .. '!' end },"))
    #expect(try run("return p.label") == "a!")
    let after = try await background.perform { context in
      let held = try context.fetch(FetchRequest("P", where: "s == 'a'"))
      return (try context.count(FetchRequest("P", where: "label == 'a!'")), try held[0].value(forKey: "label"))
    }
    #expect(after.0 == 1 && after.1 == "a!")
    try await background.close()
  }
}
