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

  /// Any number of destinations are read in one statement for 512 owners, and their rows are kept beside the lists.
  @Test func manyPrefetchedDestinationsComeWithTheirRows() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Walk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = ManagedObjectModel {
      EntityDescription("Box") { RelationshipDescription.toMany("items", destination: "Item", inverse: "box") }
      EntityDescription("Item") {
        AttributeDescription("number", type: .integer64)
        RelationshipDescription.toOne("box", destination: "Box", inverse: "items")
      }
    }
    let container = try PersistentContainer(
      model: model, store: .sqlite(folder.appendingPathComponent("store.sqlite")), extensions: [])
    let filling = try ManagedObjectContext(container.coordinator)
    for _ in 0..<40 {
      let box = try filling.insert("Box")
      for _ in 0..<900 { try filling.insert("Item", values: ["number": 1]).setObject(box, forKey: "box") }
    }
    try filling.save()
    let store = try #require(container.coordinator.persistentStores[0] as? SQLiteStore)
    let before = store.statements.statementCount
    let context = try ManagedObjectContext(container.coordinator)
    var request = FetchRequest("Box")
    request.relationshipKeyPathsForPrefetching = ["items"]
    var sum: Int64 = 0
    for box in try context.fetch(request) {
      for item in try box.objects(forKey: "items") {
        if case .int(let number) = item["number"] { sum += number }
      }
    }
    #expect(sum == 36_000 && context.pendingErrors.isEmpty)
    #expect(store.statements.statementCount - before <= 2, "\(store.statements.statementCount - before)")
    #expect(context.brokenInvariants() == [])
    // Values saved since are read: the list again, and its rows in one statement, although the prefetched rows are
    // still kept.
    let boxes = try context.fetch(request)
    let other = try ManagedObjectContext(container.coordinator)
    let changed = try #require(try other.existingObject(with: boxes[0].objectIDs(forRelationshipNamed: "items")[0]))
    try changed.setValue(5, forKey: "number")
    try other.save()
    _ = try context.insert("Box")
    try context.save()
    let again = store.statements.statementCount
    #expect(try boxes[0].objects(forKey: "items").map { try $0.value(forKey: "number") }.contains(5))
    #expect(store.statements.statementCount - again <= 2, "\(store.statements.statementCount - again)")
    let domain = try ScriptDomain()
    defer { domain.close() }
    try domain.setContext(try domain.context(of: container.opened))
    let beforeScript = store.statements.statementCount
    let script = """
      local n = 0
      for _, box in ipairs(moonbase.context:fetch('Box'):prefetch('items'):all()) do
        for _, item in ipairs(box.items:all()) do n = n + item.number end
      end
      assert(n == 36004)
      """
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(store.statements.statementCount - beforeScript <= 3)
  }

  /// A to-one relationship with more destinations than the row cache holds: the first fault of a batch of 512 reads the
  /// rows for all of them.
  @Test func manyPrefetchedDestinationsOfToOneAreReadTogether() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Walk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = ManagedObjectModel {
      EntityDescription("Lid") { AttributeDescription("number", type: .integer64) }
      EntityDescription("Pot") { RelationshipDescription.toOne("lid", destination: "Lid") }
    }
    let container = try PersistentContainer(
      model: model, store: .sqlite(folder.appendingPathComponent("store.sqlite")), extensions: [])
    let filling = try ManagedObjectContext(container.coordinator)
    for _ in 0..<17_000 {
      let lid = try filling.insert("Lid", values: ["number": 1])
      try filling.insert("Pot").setObject(lid, forKey: "lid")
    }
    try filling.save()
    let store = try #require(container.coordinator.persistentStores[0] as? SQLiteStore)
    let before = store.statements.statementCount
    let context = try ManagedObjectContext(container.coordinator)
    var request = FetchRequest("Pot")
    request.relationshipKeyPathsForPrefetching = ["lid"]
    var sum: Int64 = 0
    for pot in try context.fetch(request) {
      if case .int(let number)? = try pot.object(forKey: "lid")?.value(forKey: "number") { sum += number }
    }
    #expect(sum == 17_000)
    #expect(store.statements.statementCount - before <= 40, "\(store.statements.statementCount - before)")
  }

  private static let things = "return { entities = { Thing = { attributes = { name = 'string' } } } }"

  /// Runs a script over a store in memory or in a file; returns how it ended and its maximum memory.
  private func run(
    _ script: String, isStored: Bool, limits: LuaLimits = LuaLimits(), _ fill: (ManagedObjectContext) throws -> Void
  ) throws -> (outcome: ScriptRunner.Outcome, peak: Int) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Walk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.things))
    let file = folder.appendingPathComponent("store.sqlite")
    let container = try PersistentContainer(model: model, store: isStored ? .sqlite(file) : .inMemory, extensions: [])
    try fill(try ManagedObjectContext(container.coordinator, extensions: container.extensions))
    let domain = try ScriptDomain(limits: limits)
    defer { domain.close() }
    let opened = StoreHandle(coordinator: container.coordinator, extensions: container.extensions)
    try domain.setContext(try domain.context(of: opened))
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
    return (outcome, domain.state.memoryPeak)
  }

  /// Recursion over the batches would need a megabyte of stack for some thousand batches.
  @Test(arguments: [false, true])
  func aWalkPassesManyBatchesOfWhichAllIsGone(isStored: Bool) throws {
    let script = """
      local c = moonbase.context
      local walk = c:fetch("Thing"):batch(1):each()
      for thing in c:fetch("Thing"):each() do c:delete(thing) end
      assert(c:save())
      assert(walk() == nil)
      """
    let (outcome, _) = try run(script, isStored: isStored) { context in
      for _ in 0..<10_000 { try context.insert("Thing") }
      try context.save()
    }
    #expect(outcome.status == 0, "\(outcome)")
  }

  /// Inserts two hundred rows of 200 KB, which would be one batch.
  private func fillWithHeavyRows(_ context: ManagedObjectContext) throws {
    for index in 0..<200 {
      try context.insert("Thing", values: ["name": .string("\(index)" + String(repeating: "x", count: 200_000))])
    }
    try context.save()
  }

  @Test func aBatchOfHeavyRowsIsShort() throws {
    let script = "local n = 0 for thing in moonbase.context:fetch('Thing'):each() do n = n + 1 end assert(n == 200)"
    let (outcome, peak) = try run(script, isStored: true, fillWithHeavyRows)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(peak < 20 << 20)
  }

  /// The number of heavy rows read again after a script visited all of them.
  private func rowsReadAnew(after limits: LuaLimits) throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Walk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.things))
    let file = folder.appendingPathComponent("store.sqlite")
    let container = try PersistentContainer(model: model, store: .sqlite(file), extensions: [])
    try fillWithHeavyRows(try ManagedObjectContext(container.coordinator, extensions: container.extensions))
    let domain = try ScriptDomain(limits: limits)
    defer { domain.close() }
    try domain.setContext(try domain.context(of: container.opened))
    let script = """
      local c = moonbase.context
      for _, id in ipairs(c:fetch('Thing'):ids()) do assert(c:object(id).name) end
      """
    #expect(ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)]).status == 0)
    let store = try #require(container.coordinator.persistentStores[0] as? SQLiteStore)
    let reader = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let ids = try reader.fetchIDs(FetchRequest("Thing"))
    let before = store.statements.statementCount
    for id in ids { _ = try reader.existingObject(with: id) }
    return store.statements.statementCount - before
  }

  @Test func theRowsThatAreKeptTakeAPartOfTheMemoryOfAScript() throws {
    #expect(try rowsReadAnew(after: LuaLimits()) < 50)
    #expect(try rowsReadAnew(after: LuaLimits(memory: 32 << 20)) > 150)
  }

  /// Rows that the program reads of other stores meanwhile do not count for the script and stay in their cache.
  @Test func aScriptWithLittleMemoryLeavesTheRowsOfOthersInTheirCache() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Walk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.things))
    let container = try PersistentContainer(
      model: model, store: .sqlite(folder.appendingPathComponent("store.sqlite")), extensions: [])
    try fillWithHeavyRows(try ManagedObjectContext(container.coordinator))
    let store = try #require(container.coordinator.persistentStores[0] as? SQLiteStore)
    /// Reads a hundred rows one by one; returns the number of statements.
    func read() throws -> Int {
      let reader = try ManagedObjectContext(container.coordinator)
      let ids = try reader.fetchIDs(FetchRequest("Thing")).prefix(100)
      let before = store.statements.statementCount
      for id in ids { _ = try reader.existingObject(with: id) }
      return store.statements.statementCount - before
    }
    #expect(try read() == 100)
    #expect(try read() == 0)
    #expect(try rowsReadAnew(after: LuaLimits(memory: 32 << 20)) > 150)
    #expect(try read() == 0)
  }

  @Test func rowsCountWhileABatchIsRead() throws {
    let script = "pcall(function() return moonbase.context:fetch('Thing'):batch(200):all()[1].name end)"
    let (outcome, peak) = try run(script, isStored: true, limits: LuaLimits(memory: 4 << 20), fillWithHeavyRows)
    #expect(outcome.status == 3, "\(outcome)")
    #expect(peak < 12 << 20)
  }
}
