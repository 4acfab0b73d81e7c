import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Telemetry of a container: saves, fetches, and calls of extension functions.
@Suite struct TelemetryTests {
  static let model = ManagedObjectModel(entities: [
    {
      var person = EntityDescription("Person")
      person.attributes = [AttributeDescription("name", type: .string)]
      return person
    }()
  ])

  static let extensionText = """
    return { name = "names", entities = { Person = {
      validate = { name = function(name) return name ~= "nobody", "is taken" end },
      normalize = { name = function(name)
        moonbase.log.warning("normalized", { name = name, list = { 1, "b" }, map = { a = true } })
        if name == "bad" then error("no") end
        return name
      end },
    } } }
    """

  private final class Recorder: GraphMeter {
    let operations = Lock<[GraphOperation]>([])
    func record(_ operation: GraphOperation) { operations.withLock { $0.append(operation) } }
  }

  @Test func aMeterIsToldOfSavesAndFetches() throws {
    let recorder = Recorder()
    var description = ContainerDescription(
      model: .value(Self.model), extensions: [.text(Self.extensionText, name: "names.lua")])
    description.meter = recorder
    description.log = { _ in }
    let container = try PersistentContainer(description)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let person = try context.insert("Person", values: ["name": "a"])
    try context.save()
    try person.setValue("nobody", forKey: "name")
    #expect(throws: GraphError.self) { try context.save() }
    _ = try context.fetch(FetchRequest("Person"))
    _ = try context.count(FetchRequest("Person"))
    #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Nobody")) }
    // A child saves into its parent, not into a store.
    let child = ManagedObjectContext(parent: context)
    try child.insert("Person", values: ["name": "b"])
    try child.save()
    let told = recorder.operations.withLock { $0 }
    #expect(told.map(\.kind) == [.save, .save, .fetch, .count, .fetch])
    #expect(told.map { $0.error == nil } == [true, false, true, true, false])
    #expect(told.map(\.entity) == [nil, nil, "Person", "Person", "Nobody"])
    #expect(told.allSatisfy { $0.duration >= .zero && $0.duration < .seconds(60) })
  }

  @Test func aMeterIsToldOfRowsThatFaultsRead() throws {
    let folder = try TemporaryFolder()
    let recorder = Recorder()
    var description = ContainerDescription(model: .value(Self.model), stores: [.sqlite(folder.file())])
    description.meter = recorder
    let container = try PersistentContainer(description)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    try context.insert("Person", values: ["name": "a"])
    try context.save()
    let ids = try context.fetchIDs(FetchRequest("Person"))
    try context.reset()
    recorder.operations.withLock { $0 = [] }
    let person = try context.object(with: ids[0])
    #expect(person["name"] == "a" && person["name"] == "a")
    // Another context finds the row in the cache.
    let other = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    #expect(try other.object(with: ids[0])["name"] == "a")
    let told = recorder.operations.withLock { $0 }
    #expect(told.map(\.kind) == [.fault] && told[0].entity == "Person", "\(told)")
  }

  @Test func aProfileTellsOfEachCall() throws {
    let entries = Lock<[ExtensionProfile.Entry]>([])
    var description = ContainerDescription(
      model: .value(Self.model), extensions: [.text(Self.extensionText, name: "names.lua")])
    description.profile = ExtensionProfile { entry in entries.withLock { $0.append(entry) } }
    description.log = { _ in }
    let container = try PersistentContainer(description)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    try context.insert("Person", values: ["name": "bad"])
    #expect(throws: GraphError.self) { try context.save() }
    let told = entries.withLock { $0 }
    #expect(told.map(\.function) == ["Person.normalize.name"] && told[0].cost.errors == 1 && told[0].cost.calls == 1)
  }
}
