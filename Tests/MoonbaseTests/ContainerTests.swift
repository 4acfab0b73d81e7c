import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import struct MoonbaseModel.SortDescriptor

@Suite struct ContainerTests {
  private let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.attributes = [AttributeDescription("name", type: .string), AttributeDescription("age", type: .integer16)]
      return person
    }()
  ])

  private func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Container-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test func storeOpenedAgainWithItsOwnModelFindsWhatWasWritten() async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("people.sqlite")
    let background = try PersistentContainer(model: model, store: .sqlite(store)).newBackgroundContext()
    try await background.perform { context in
      for age in 1...5 { try context.insert("Person", values: ["name": "p", "age": .int(Int64(age * 50))]) }
      try context.save()
    }
    let again = try PersistentContainer(model: ManagedObjectModel(contentsOf: store), store: .sqlite(store))
    let context = try ManagedObjectContext(again.coordinator)
    var request = FetchRequest("Person", where: try Predicate(format: "(age >= 100) AND (age <= 200)"))
    request.sortDescriptors = [SortDescriptor("age", ascending: false)]
    #expect(try context.fetch(request).map { $0["age"] } == [200, 150, 100])
  }

  @Test func aBackgroundTaskHasAContextThatGoesWithIt() async throws {
    let container = try PersistentContainer(model: model, store: .inMemory)
    let id = try await container.performBackgroundTask { context in
      let person = try context.insert("Person", values: ["name": "p"])
      try context.save()
      person["name"] = "given up"
      return person.objectID
    }
    await #expect(throws: GraphError.self) {
      try await container.performBackgroundTask { try $0.insert("Nobody").objectID }
    }
    let context = try ManagedObjectContext(container.coordinator)
    #expect(try context.object(with: id).value(forKey: "name") == "p")
  }

  @Test func readingTheModelOfAnOpenStoreKeepsItsLocks() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("people.sqlite")
    let container = try PersistentContainer(model: model, store: .sqlite(store))
    let context = try ManagedObjectContext(container.coordinator)
    try context.insert("Person", values: ["name": "p"])
    try context.save()
    #expect(try ManagedObjectModel(contentsOf: store).entities.map(\.name) == ["Person"])
    // Another process that closes the file removes the write-ahead log, unless the file is still open elsewhere.
    let other = try ChildProcess.run(named: "sqlite3", [store.path, "SELECT COUNT(*) FROM ZPERSON"])
    #expect(other.output == "1\n" && other.status == 0)
    #expect(FileManager.default.fileExists(atPath: store.path + "-wal"))
    try context.insert("Person", values: ["name": "q"])
    try context.save()
  }

  @Test func aScriptIsToldThatTwoConfigurationsNameOneFileOrItsCopy() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, copy) = (folder.appendingPathComponent("a.sqlite").path, folder.appendingPathComponent("b.sqlite").path)
    func open(_ other: String) throws -> ScriptRunner.Outcome {
      let script = """
        local m = { entities = { A = { attributes = { n = "string" } } }, configurations = { one = { "A" }, two = { "A" } } }
        moonbase.open{ store = { one = "\(path)" }, model = m }
        local ok, err = pcall(moonbase.open, { store = { one = "\(path)", two = "\(other)" }, model = m })
        assert(not ok and err.code == 134044, tostring(err))
        error(tostring(err), 0)
        """
      let domain = try ScriptDomain()
      defer { domain.close() }
      try domain.installOpen { try PersistentContainer($0).opened }
      return ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
    }
    #expect(try open("\(folder.path)/./a.sqlite").message?.contains("are one file") == true)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let message = try #require(try open(copy).message)
    #expect(message.contains(path) && message.contains(copy) && message.contains("are copies of one store"))
  }

  @Test func storeKeepsTheModelWithoutWhatExtensionsAdded() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("people.sqlite")
    var withTemplate = model
    withTemplate.fetchRequestTemplates["loud"] = FetchRequest(
      "Person", where: try Predicate(format: "shout == 'A'"))
    let text = """
      return { name = "x", entities = { Person = { derived = {
        shout = { type = "string", inputs = { "name" }, get = function(name) return name:upper() end } } } } }
      """
    for model in [model, withTemplate] {
      try? FileManager.default.removeItem(at: store)
      let container = try PersistentContainer(
        model: model, store: .sqlite(store), extensions: [.text(text, name: "x.lua")])
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      #expect(try context.insert("Person", values: ["name": "a"]).value(forKey: "shout") == "A")
      try context.save()
      let cached = try ManagedObjectModel(contentsOf: store)
      #expect(cached.entitiesByName["Person"]?.attributes.map(\.name).sorted() == ["age", "name"])
    }
  }

  @Test func aStoreOfAnotherModelIsMigratedUnlessTheDescriptionSaysOtherwise() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("people.sqlite")
    _ = try PersistentContainer(model: model, store: .sqlite(url))
    var other = model
    other.entities[0].attributes.append(AttributeDescription("email", type: .string))
    let container = try PersistentContainer(model: other, store: .sqlite(url))
    #expect(container.persistentStoreDescriptions[0].shouldMigrateStoreAutomatically)
    #expect(try ManagedObjectModel(contentsOf: url).entitiesByName["Person"]?.attributes.count == 3)
  }

  @Test func anotherModelIsRefusedAndTheFileStaysAsItWas() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appendingPathComponent("people.sqlite")
    _ = try PersistentContainer(model: model, store: .sqlite(store))
    let before = try Data(contentsOf: store)
    var other = model
    other.entities[0].attributes.append(AttributeDescription("email", type: .string))
    var description = PersistentStoreDescription.sqlite(store)
    description.shouldMigrateStoreAutomatically = false
    #expect { try PersistentContainer(model: other, store: description) } throws: {
      ($0 as? GraphError)?.code == .incompatibleVersionHash && "\($0)".contains("Person")
    }
    #expect(try Data(contentsOf: store) == before)
  }

  @Test func idsOfTheBackgroundBecomeObjectsOfTheViewContext() async throws {
    let container = try PersistentContainer(model: model, store: .inMemory)
    let ids = try await container.newBackgroundContext().perform { context in
      try context.insert("Person", values: ["age": 7])
      try context.save()
      return try context.fetchIDs(FetchRequest("Person"))
    }
    try await MainActor.run {
      let ages = try container.viewContext.objects(with: ids).map { $0["age"] }
      #expect(ages == [7])
    }
  }
}
