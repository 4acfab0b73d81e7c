import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A container whose extensions are reloaded while it is in use.
@Suite struct ContainerReloadTests {
  private static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.attributes = [AttributeDescription("name", type: .string)]
      return person
    }()
  ])

  private static func file(_ version: Int) -> Data {
    Data(
      """
      return { name = "names", version = "\(version)", entities = { Person = { derived = {
        label = { type = "string", inputs = { "name" }, get = function(name) return name .. "\(version)" end } } } } }
      """.utf8)
  }

  private final class News: Sendable {
    private let waiting = DispatchSemaphore(value: 0)
    private let outcomes = Lock<[String]>([])

    func add(_ outcome: ExtensionOutcome) {
      outcomes.withLock { $0.append("\(outcome)") }
      waiting.signal()
    }

    func next() -> String {
      waiting.wait(timeout: .now() + 20) == .success ? outcomes.withLock { $0.removeFirst() } : "nothing"
    }
  }

  @Test @MainActor func threeLinesLoadAFolderAndWatchIt() async throws {
    let folder = try TemporaryFolder()
    try Self.file(1).write(to: folder.file("names.lua"))
    let news = News()
    let container = try PersistentContainer(model: Self.model, store: .inMemory, extensions: [.directory(folder.url)])
    let watch = container.watchExtensions(settling: .milliseconds(5)) { news.add($0) }
    let context = try container.viewContext
    let person = try context.insert("Person", values: ["name": "x"])
    #expect(person["label"] == "x1")
    var told: [Value] = []
    let observation = try person.observe("label") { told.append($0.new) }
    try Self.file(2).write(to: folder.file("names.lua"))
    #expect(news.next() == "reloaded names 2")
    // The view context adopts the version by itself, once the main actor is free.
    for _ in 0..<1000 where told.isEmpty { await Task.yield() }
    #expect(told == ["x2"])
    #expect(
      try await container.performBackgroundTask { try $0.insert("Person", values: ["name": "y"])["label"] } == "y2")
    withExtendedLifetime(observation) { watch.cancel() }
  }

  @Test @MainActor func aReloadOnDemandReachesTheViewContextAtOnce() throws {
    let folder = try TemporaryFolder()
    try Self.file(1).write(to: folder.file("names.lua"))
    let container = try PersistentContainer(
      model: Self.model, store: .inMemory, extensions: [.file(folder.file("names.lua"))])
    let person = try container.viewContext.insert("Person", values: ["name": "x"])
    try Self.file(2).write(to: folder.file("names.lua"))
    let reload = try container.reloadExtensions()
    #expect(reload.generation == 1 && reload.changes.map(\.name) == ["names"] && reload.changes[0].version == "2")
    if Thread.isMainThread { #expect(person["label"] == "x2") }
    try container.viewContext.processPendingChanges()
    #expect(person["label"] == "x2")
    try Data("return return".utf8).write(to: folder.file("names.lua"))
    #expect(throws: ScriptError.self) { try container.reloadExtensions() }
    #expect(person["label"] == "x2")
  }

  /// Contexts on several threads, with reloads at random: each reads values of one version, and no version is missed.
  @Test func contextsOfSeveralThreadsFollow() async throws {
    let folder = try TemporaryFolder()
    try Self.file(0).write(to: folder.file("names.lua"))
    let container = try PersistentContainer(model: Self.model, store: .inMemory, extensions: [.directory(folder.url)])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 {
        group.addTask {
          let background = try container.newBackgroundContext()
          for _ in 0..<40 {
            try await background.perform { context in
              let person = try context.insert("Person", values: ["name": .string("p\(number)")])
              #expect("\(person["label"])".contains("p\(number)"))
              try context.save()
            }
          }
          try await background.close()
        }
      }
      for version in 1...15 {
        try Self.file(version).write(to: folder.file("names.lua"))
        try container.reloadExtensions()
      }
      try await group.waitForAll()
    }
    let last = try await container.performBackgroundTask { try $0.insert("Person", values: ["name": "z"])["label"] }
    #expect(last == "z15")
  }
}
