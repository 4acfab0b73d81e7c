import Moonbase
import MoonbaseLua
import MoonbasePlatform
import Testing

@Suite struct WalkTests {
  @Test func aWalkReadsWhatIsPrefetchedBatchByBatch() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Walk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = """
      return { entities = {
        Box = { attributes = { name = "string" }, relationships = { items = { to_many = "Item", inverse = "box" } } },
        Item = { attributes = { name = "string" }, relationships = { box = { to = "Box", inverse = "items" } } },
      } }
      """
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: text))
    let container = try PersistentContainer(
      model: model, store: .sqlite(folder.appendingPathComponent("store.sqlite")), extensions: [])
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    for _ in 0..<60 {
      let box = try context.insert("Box")
      for _ in 0..<2 { try context.insert("Item").setObject(box, forKey: "box") }
    }
    try context.save()
    let store = try #require(container.coordinator.persistentStores[0] as? SQLiteStore)
    func statements(_ walk: String) throws -> Int {
      let domain = try ScriptDomain()
      defer { domain.close() }
      let opened = container.opened
      try domain.setContext(try domain.context(of: opened))
      let before = store.statements.statementCount
      let script = "local n = 0 for b in \(walk):each() do n = n + #b.items end assert(n == 120)"
      let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
      #expect(outcome.status == 0, "\(outcome)")
      return store.statements.statementCount - before
    }
    #expect(try statements("moonbase.context:fetch('Box'):batch(20)") > 60)
    #expect(try statements("moonbase.context:fetch('Box'):batch(20):prefetch('items')") <= 12)
  }
}
