import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Files and variables are granted to a single extension; no other extension has access.
@Suite struct ExtensionGrantTests {
  private static func file(_ name: String) -> String {
    """
    return { name = "\(name)", \(name == "one" ? ThingBench.transformer : "") entities = { P = { methods = {
      \(name) = function(p, path, mode, text)
        if not io then return "no io" end
        local file, message = io.open(path, mode)
        if not file then return message end
        local result = mode == "r" and file:read("a") or "written"
        if text then file:write(text) end
        file:close()
        return result
      end,
      \(name)_variable = function(p, name) return os.getenv and os.getenv(name) end,
    } } } }
    """
  }

  private func run(_ text: String, in folder: URL, of kind: StoreKind) throws -> [String?] {
    let model = try LuaModelFile().read(ScriptSource(name: "m.lua", text: ThingBench.model))
    let grants = LuaFileAccess(writable: [folder], variables: ["PATH"])
    let extensions = try ScriptExtensions(
      [
        .text(Self.file("one"), name: "one.lua", grants: grants), .text(Self.file("two"), name: "two.lua"),
      ], for: model)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    let stores = try TemporaryFolder()
    defer { withExtendedLifetime(stores) {} }
    try coordinator.add(kind.store(for: extensions.resolvedModel, in: stores))
    let domain = try ScriptDomain()
    defer { domain.close() }
    try domain.setContext(domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions)))
    let script = "local p = moonbase.context:insert('P')\nlocal folder = [[\(folder.path)]]\n\(text)"
    return try domain.state.load(script, name: "s.lua")().map(\.textValue)
  }

  @Test(arguments: StoreKind.allCases) func filesAreThoseOfOneExtension(_ kind: StoreKind) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Grants-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let results = try run(
      """
      return p:one(folder .. "/a.txt", "w", "hello"), p:one(folder .. "/a.txt", "r"), p:one("/etc/passwd", "r"),
        p:two(folder .. "/a.txt", "r"), tostring(io), p:one_variable("PATH") and "path", p:one_variable("HOME"),
        p:two_variable("PATH")
      """, in: folder, of: kind)
    #expect(results[0] == "written" && results[1] == "hello", "\(results)")
    #expect(results[2]?.contains("not granted for reading (the program grants files to extensions)") == true)
    #expect(results[3] == "no io" && results[4] == "nil", "\(results)")
    #expect(results[5] == "path" && results[6] == nil && results[7] == nil, "\(results)")
  }
}
