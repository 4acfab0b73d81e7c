// swift-format-ignore-file
// The lines are those of the documents.
import Moonbase
import MoonbaseLua
import MoonbasePlatform

/// The Swift code in the comments of `MoonbaseScripting`, compiled and not run. The code between `shown` and `end` is
/// that of a comment.
private enum CommentSamples {
  private static func findings(_ container: PersistentContainer) throws {
    // shown
    for finding in try container.extensions.check() { print(finding.file ?? "", finding.line ?? 0, finding.message) }
    // end
  }

  private static func decoding(person: ManagedObject) throws {
    // shown
    struct Color: Codable { var r, g, b, a: Double }
    let color = try person.value(forKey: "favoriteColor").decode(as: Color.self)
    // end
    _ = color
  }

  private static func domain(coordinator: PersistentStoreCoordinator, extensions: ScriptExtensions) throws {
    // shown
    let domain = try ScriptDomain()
    let context = ManagedObjectContext(coordinator, extensionRegistry: try extensions.makeRegistry(in: domain))
    try domain.setContext(context)
    _ = try domain.state.load("moonbase.context:insert('Person')", name: "example")()
    // end
  }

  private static func errors(at url: URL, for model: ManagedObjectModel) throws {
    // shown
    do {
      _ = try ScriptExtensions([.file(url)], for: model)
    } catch let error as ScriptError {
      print(error.location.map { "\($0)" } ?? "", error.message)
    }
    // end
  }

  private static func missing(modelURL: URL, storeURL: URL) throws {
    var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
    // shown
    description.missingExtensions = .refused()
    // end
    _ = description
  }

  private static func profile(modelURL: URL, storeURL: URL, colorsURL: URL) throws {
    // shown
    var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
    description.extensions = [.file(colorsURL)]
    let profile = ExtensionProfile()
    description.profile = profile
    // ... work with the container
    for entry in profile.entries { print(entry.function, entry.cost.calls, entry.cost.duration) }
    // end
  }

  private static func sources(colorsURL: URL) throws {
    // shown
    let extensions: [ExtensionSource] = [
      .file(colorsURL),
      .entity("Person") {
        var person = EntityExtension()
        person.validate["age"] = { age, _ in age == 13 ? .init("is unlucky") : nil }
        return person
      },
    ]
    // end
    _ = extensions
  }

  private static func codable(colorsURL: URL) throws {
    struct Color: Codable, Sendable { var r, g, b, a: Double }
    // shown
    // in Lua: Color.swift = "Color"
    let extensions: [ExtensionSource] = [.file(colorsURL), .codable("Color", Color.self)]
    // end
    _ = extensions
  }

  private static func limits(description: inout ContainerDescription, colorsURL: URL) throws {
    // shown
    let limits = ExtensionLimits(
      instructions: 1_000_000, memory: 16 << 20, time: .milliseconds(500), onExceeding: .disable)
    description.extensions = [.file(colorsURL, limits: limits)]
    // end
  }

  private static func extensions(colorsURL: URL, model: ManagedObjectModel) throws {
    // shown
    let extensions = try ScriptExtensions([.file(colorsURL)], for: model)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    let context = try ManagedObjectContext(coordinator, extensions: extensions)
    // end
    _ = context
  }

  private static func modelFile(at url: URL) throws {
    // shown
    let model = try ManagedObjectModel.read(ModelSource(contentsOf: url), readers: [LuaModelFile()])
    // end
    _ = model
  }

  private static func source() throws {
    // shown
    let script = ScriptSource(name: "hello.lua", text: "print('hello')")
    // end
    _ = script
  }

  private static func reload(container: PersistentContainer) throws {
    // shown
    let reload = try container.reloadExtensions()
    print(reload)      // reloaded colors 1.1
    // end
  }

  @MainActor private static func watch(container: PersistentContainer) throws {
    // shown
    let watch = container.watchExtensions { outcome in print(outcome) }
    // ... contexts follow by themselves
    watch.cancel()
    // end
  }

  private static func container(modelURL: URL, storeURL: URL, colorsURL: URL) throws {
    // shown
    var description = ContainerDescription(model: .file(modelURL), stores: [.sqlite(storeURL)])
    description.extensions = [.file(colorsURL)]
    let container = try PersistentContainer(description)
    // end
    _ = container
  }

  private static func function(in domain: ScriptDomain, person: ManagedObject, context: ManagedObjectContext) throws {
    // shown
    let function = try ObjectFunction(body: ScriptSource(name: "--do", text: "object.age = object.age + 1"), in: domain)
    try function.call(person, in: context)
    // end
  }

  private static func stores(peopleURL: URL, placesURL: URL) throws {
    // shown
    let stores: [PersistentStoreDescription] = [
      .sqlite(peopleURL, configuration: "Local"), .sqlite(placesURL, readOnly: true, configuration: "Shared"),
    ]
    // end
    _ = stores
  }

  private static func maker(scriptsURL: URL) throws {
    // shown
    var maker = ScriptDomainMaker()
    maker.limits.deadline = .seconds(60)
    maker.moduleFolders = [scriptsURL.path]
    let domain = try maker.make()
    defer { domain.close() }
    // end
    _ = domain
  }

  private static func runner(in domain: ScriptDomain, scriptURL: URL) throws {
    // shown
    let outcome = ScriptRunner(domain).run([try ScriptSource(contentsOf: scriptURL)], arguments: ["--all"])
    if let message = outcome.message { print(message) }
    exit(outcome.status)
    // end
  }

  private static func tests(model: ManagedObjectModel, colorsURL: URL, testURL: URL) throws {
    // shown
    let tests = try ScriptTests(model: model, extensions: [.file(colorsURL)])
    for result in try tests.run(ScriptSource(contentsOf: testURL)) where !result.isPassed {
      print(result.name, result.failure ?? "")
    }
    // end
  }

  private static func crew(maker: ScriptDomainMaker, parts: Parts) throws {
    // shown
    let crew = ScriptCrew()
    for _ in 0..<2 {
      crew.start { crew in
        let domain = try maker.make()
        defer { domain.close() }
        crew.add(domain.state.interrupter)
        while !crew.isStopping, let part = parts.next() { try work(part, in: domain) }
      }
    }
    try crew.wait()
    // end
  }

  private struct Parts: Sendable {
    func next() -> Int? { nil }
  }

  private static func work(_ part: Int, in domain: ScriptDomain) throws {}

  private static func reloads(container: PersistentContainer) async {
    // shown
    for await outcome in container.extensions.reloads { print(outcome) }
    // end
  }
}

private enum DecodedSample {
  // shown
  struct Color: Decodable { var r, g, b, a: Double }

  final class Person: ManagedObject {
    static let favoriteColor = DecodedAttribute<Person, Color>("favoriteColor")
  }
  // end

  static func color(of person: Person) throws {
    // shown
    let color = try person.decoded(Person.favoriteColor)
    // end
    _ = color
  }
}
