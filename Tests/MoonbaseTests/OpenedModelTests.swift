import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A script's view of an opened model is not confused with that of a released model.
@Suite struct OpenedModelTests {
  /// Models with different attributes under the same entity names, each opened repeatedly, so that released models'
  /// addresses are reused.
  private static let script = """
    local shapes = {
      { "city", "name" }, { "name", "zip" }, { "a", "b", "c", "name" }, { "name" }, { "name", "notes", "zip" },
    }
    for round = 1, 100 do
      local shape = shapes[1 + (round - 1) // 20]
      local attributes = {}
      for _, name in ipairs(shape) do attributes[name] = "string" end
      local context = moonbase.open { store = store(round), model = { entities = { E = { attributes = attributes } } } }.context
      local object = context:insert("E", { name = "Ann" })
      assert(object.name == "Ann", round)
      object.name = "Bob"
      assert(object.name == "Bob" and tostring(object):find('name = "Bob"', 1, true), tostring(object))
      assert(context:save())
      local saved = context:fetch("E"):where("name = 'Bob'"):first()
      for _, name in ipairs(shape) do assert(saved[name] == (name == "name" and "Bob" or nil), name) end
      assert(not pcall(function() return saved[round > 40 and "city" or "a"] end))
      saved, object = nil, nil
      collectgarbage()
    end
    """

  @Test(arguments: StoreKind.allCases) func objectsAreReadAndWrittenByTheSlotsOfTheirOwnModel(_ kind: StoreKind) throws
  {
    let folder = try TemporaryFolder()
    let domain = try ScriptDomain()
    defer { domain.close() }
    try domain.installOpen { try PersistentContainer($0).opened }
    let store = kind == .memory ? "nil" : "\"\(folder.url.path)/s\" .. round .. \".sqlite\""
    let text = "local function store(round) return \(store) end\n" + Self.script
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: text)])
    #expect(outcome.status == 0, "\(outcome)")
  }
}
