import MoonbaseLua
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Random scripts with undo, children, jobs on other threads and observers, compared with a naive reference in Lua
/// tables.
@Suite struct RandomFamilyTests {
  private static let model = """
    return { entities = {
      Item = { attributes = { key = "string", n = { "integer64", default = 0 } },
        relationships = { group = { to = "Group", inverse = "items" } } },
      Group = { attributes = { key = "string" }, relationships = { items = { to_many = "Item", inverse = "group" } } },
    } }
    """

  private static let modules = [
    "family_job": """
    return function(context, job)
      local item = context:find("Item", { key = job.key })
      item.n = job.n
      if job.fails then error("no", 0) end
      assert(context:save())
      return item.n
    end
    """,
    "family_part": """
    return function(context, ids, by)
      for _, id in ipairs(ids) do
        local item = context:object(id)
        item.n = item.n + by
      end
      assert(context:save())
      return #ids
    end
    """,
  ]

  @Test(arguments: StoreKind.allCases) func contextsAgreeWithPlainTables(_ kind: StoreKind) throws {
    let text = try String(contentsOf: ScriptModuleTests.folder.appendingPathComponent("family.lua"), encoding: .utf8)
    let bench = try ScriptBench(kind, model: Self.model, extensions: [])
    let folder = try TemporaryFolder()
    for (name, text) in Self.modules { try Data(text.utf8).write(to: folder.url.appendingPathComponent("\(name).lua")) }
    let printed = Lock("")
    var maker = ScriptDomainMaker(limits: LuaLimits())
    maker.moduleFolders = [folder.url.path, ScriptModuleTests.folder.path]
    maker.makeOutput = {
      LuaOutput { bytes, _ in printed.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    }
    let domain = try maker.make()
    defer { domain.close() }
    try domain.setContext(
      domain.context(of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions)))
    let arguments = ["\(TestLength.firstSeed ?? 1)", "\(Repetition.scriptSequences.seeds)"]
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "family.lua", text: text)], arguments: arguments)
    #expect(outcome.status == 0 && printed.withLock { $0 } == "done\n", "\(outcome)")
  }
}
