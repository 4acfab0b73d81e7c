import Moonbase
import MoonbaseLua
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Stores record the extensions of their saves, for programs in Swift.
@Suite struct RememberingTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    model = ManagedObjectModel(entities: [
      EntityDescription("A") { AttributeDescription("name", type: .string) }, EntityDescription("B"),
    ])
  }

  private func container(
    _ extensions: [ExtensionSource] = [], _ policy: MissingExtensions = .ignored, readOnly: Bool = false
  ) throws -> PersistentContainer {
    var description = ContainerDescription(
      model: .value(model), stores: [.sqlite(folder.file("s.sqlite"), readOnly: readOnly)], extensions: extensions)
    description.missingExtensions = policy
    return try PersistentContainer(description)
  }

  private func save(_ container: PersistentContainer) throws {
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    try context.insert("A", values: ["name": "a"])
    try context.save()
    try context.insert("B")
    try context.save()
  }

  private let colors = ExtensionSource.text("return { name = 'colors', version = '1.0' }", name: "c.lua")
  private let nameless = ExtensionSource.text("return { entities = {} }", name: "folder/rules.lua")

  @Test func savesNoteNamesAndVersions() throws {
    let plain = try container()
    try save(plain)
    #expect(try plain.rememberedExtensions().isEmpty)
    let extended = try container([colors, nameless, .entity("A") { EntityExtension() }])
    #expect(try extended.rememberedExtensions().isEmpty)
    try save(extended)
    let remembered = try extended.rememberedExtensions()
    #expect(remembered.map(\.name) == ["colors", "rules"] && remembered.map(\.version) == ["1.0", nil])
    #expect(remembered.allSatisfy { !extended.lacks($0) })
    // The program's own metadata stay, and another version replaces the recorded one.
    let newer = try container([.text("return { name = 'colors', version = '1.1' }", name: "c.lua")])
    try save(newer)
    #expect(try newer.rememberedExtensions().map(\.version) == ["1.1", nil])
    #expect(try newer.rememberedExtensions().filter(newer.lacks).map(\.name) == ["rules"])
  }

  @Test func openingRefusesOrTellsWhatIsMissing() throws {
    try save(container([colors]))
    let error = #expect(throws: GraphError.self) { try container([], .refused()) }
    #expect(error?.code == .extensionConflict && error?.message.contains("extension colors") == true)
    _ = try container([colors], .refused())
    _ = try container([], .refused(but: ["colors"]))
    let told = Lock<[String]>([])
    _ = try container([], .refused(tell: { message in told.withLock { $0.append(message) } }), readOnly: true)
    #expect(told.withLock { $0.count == 1 && $0[0].contains("colors") })
    try container().forgetExtension("colors")
    _ = try container([], .refused())
  }

  /// A failed save records nothing, and a child context's extensions are recorded with the parent's save.
  @Test func failedSavesAndChildContexts() throws {
    let rule = ExtensionSource.text(
      "return { name = 'strict', entities = { A = { validate = { name = function(n) return n ~= 'bad', 'is bad' end } } } }",
      name: "s.lua")
    let container = try container([rule])
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let object = try context.insert("A", values: ["name": "bad"])
    #expect(throws: GraphError.self) { try context.save() }
    #expect(try container.rememberedExtensions().isEmpty)
    try object.setValue("good", forKey: "name")
    let child = ManagedObjectContext(parent: context)
    try child.insert("A", values: ["name": "c"])
    try child.save()
    #expect(try container.rememberedExtensions().isEmpty)
    try context.save()
    #expect(try container.rememberedExtensions().map(\.name) == ["strict"])
  }
}
