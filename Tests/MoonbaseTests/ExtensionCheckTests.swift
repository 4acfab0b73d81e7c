import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Information about an app's extensions: mistakes, generations and printed output.
@MainActor @Suite(.timeLimit(.minutes(20))) struct ExtensionCheckTests {
  private static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.attributes = [AttributeDescription("name", type: .string)]
      return person
    }()
  ])

  private let folder: TemporaryFolder
  private let file: URL

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("people.lua")
    try write("return {}")
  }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }

  @Test func mistakesAreValuesForAPerson() throws {
    let container = try PersistentContainer(model: Self.model, store: .inMemory, extensions: [.file(file)])
    #expect(try container.extensions.check().isEmpty)
    let told = Lock(0)
    let observation = container.extensions.observeReloads { _ in told.withLock { $0 += 1 } }
    try write(
      """
      return { entities = {
        Person = { validate = { nam = function() return true end } },
        Robot = {},
      } }
      """)
    let findings = try container.extensions.check()
    #expect(findings.count == 2 && findings.allSatisfy { $0.file?.hasSuffix("people.lua") == true && $0.line != nil })
    #expect(findings.contains { $0.message.contains("nam") && $0.message.contains("name") }, "\(findings)")
    // Findings can be encoded for another program and decoded.
    let data = try JSONEncoder().encode(findings)
    #expect(try JSONDecoder().decode([ExtensionFinding].self, from: data) == findings)
    try write("return {")
    let broken = try container.extensions.check()
    #expect(broken.count == 1 && broken[0].line == 1 && "\(broken[0])".contains("people.lua:1:"), "\(broken)")
    #expect(container.extensions.generation == 0 && told.withLock { $0 } == 0)
    observation.cancel()
  }

  @Test func everyContextFollowsAGeneration() async throws {
    let container = try PersistentContainer(model: Self.model, store: .inMemory, extensions: [.file(file)])
    let view = try container.viewContext
    let background = try container.newBackgroundContext()
    try await container.withContext { #expect($0.extensionGeneration == 0) }
    #expect(view.extensionGeneration == 0)
    try write("return { version = \"2\" }")
    try container.reloadExtensions()
    #expect(container.extensions.generation == 1)
    #expect(try await background.perform { $0.extensionGeneration } == 1)
    // A context of the pool, whose Lua state is reused.
    for _ in 0..<3 { #expect(try await container.withContext { $0.extensionGeneration } == 1) }
    try view.processPendingChanges()
    #expect(view.extensionGeneration == 1)
    try write("return {")
    #expect(throws: (any Error).self) { try container.reloadExtensions() }
    #expect(container.extensions.generation == 1)
    // A suspended closure keeps its version until its own work reaches a safe point.
    try write("return { version = \"3\" }")
    try await background.perform { context in
      try await MainActor.run { _ = try container.reloadExtensions() }
      #expect(context.extensionGeneration == 1)
      _ = try context.count(FetchRequest("Person"))
      #expect(context.extensionGeneration == 2)
    }
  }

  @Test func whatExtensionsPrintGoesWhereTheAppSays() async throws {
    try write(
      """
      print("loaded")
      return { entities = { Person = { will_save = function(p) print("saves", p.name) end } } }
      """)
    let printed = Lock("")
    var description = ContainerDescription(model: .value(Self.model), extensions: [.file(file)])
    description.printed = { text, isError in if !isError { printed.withLock { $0 += text } } }
    let container = try PersistentContainer(description)
    printed.withLock { $0 = "" }
    try await container.withContext { context in
      try context.insert("Person", values: ["name": "Ann"])
      try context.save()
    }
    #expect(printed.withLock { $0 } == "loaded\nsaves\tAnn\n")
  }

  @Test func limitsOfAnExtensionAreGivenInSwift() async throws {
    try write("return { name = \"people\", entities = { Person = { will_save = function() while true do end end } } }")
    let excesses = Lock<[ExtensionExcess]>([])
    var description = ContainerDescription(
      model: .value(Self.model),
      extensions: [.file(file, limits: ExtensionLimits(time: .milliseconds(20), onExceeding: .disable))])
    description.onExceeding = { excess in excesses.withLock { $0.append(excess) } }
    let container = try PersistentContainer(description)
    await #expect(throws: GraphError.self) {
      try await container.withContext { context in
        try context.insert("Person", values: ["name": "Ann"])
        try context.save()
      }
    }
    let told = excesses.withLock { $0 }
    #expect(told.count == 1 && told[0].limit == "0.02 seconds" && told[0].isDisabled, "\(told)")
  }
}
