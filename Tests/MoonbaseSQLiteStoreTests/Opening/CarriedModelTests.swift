import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// The model stored in a store's file.
@Suite struct CarriedModelTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel

  /// A model with a flag for which Core Data's archive has no known key.
  init() throws {
    folder = try TemporaryFolder()
    var model = ManagedObjectModel {
      EntityDescription("Thing") { AttributeDescription("title", type: .string) }
    }
    var request = FetchRequest("Thing")
    request.includesSubentities = false
    model.fetchRequestTemplates["own"] = request
    model.entities[0].attributes[0].usesScalarValueType = true
    self.model = model
    let store = try SQLiteStore(url: folder.file(), model: model.resolved())
    try store.setMetadata(["app": "theirs"])
  }

  @Test func theCarriedModelIsWholeThoughItsTableHasCoreDatasKeysAlone() throws {
    #expect(try SQLiteStore.cachedModel(ofStoreAt: folder.file()) == model)
    let database = try RawDatabase(folder.file())
    let statement = try database.connection.statement("SELECT Z_CONTENT FROM Z_MODELCACHE")
    defer { statement.reset() }
    #expect(try statement.step())
    let archive = try Deflate.inflate(statement.data(0))
    #expect(archive.range(of: Data("Moonbase".utf8)) == nil)
    let plain = try ManagedObjectModel(archive: archive)
    #expect(plain.fetchRequestTemplates["own"]?.includesSubentities == true)
    #expect(try plain.resolved().versionHashes == model.resolved().versionHashes)
  }

  /// A framework that does not know Moonbase's key writes only its own cache, so the model stored under that key is
  /// stale.
  @Test func theCarriedModelIsThatOfTheTableAfterAnotherProgramWroteThere() throws {
    var other = model
    other.entities[0].attributes.append(AttributeDescription("later", type: .string))
    let database = try RawDatabase(folder.file())
    let statement = try database.connection.statement("UPDATE Z_MODELCACHE SET Z_CONTENT = ?")
    statement.bind(try other.resolved().modelCache(), at: 1)
    try statement.run()
    let carried = try SQLiteStore.cachedModel(ofStoreAt: folder.file())
    #expect(carried.entities[0].attributes.map(\.name).contains("later"))
    #expect(carried.fetchRequestTemplates["own"]?.includesSubentities == true)
  }

  /// The hash that Apple computes for an entity with derived attributes is unknown: the model in the store tells
  /// whether the version differs.
  @Test func aModelThatDropsAnAttributeBesideADerivedOneIsAnotherVersion() throws {
    var old = ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("title", type: .string)
        AttributeDescription("place", type: .string)
        AttributeDescription("upper", type: .string).with { $0.derivationExpression = "uppercase:(title)" }
      }
      EntityDescription("Part", parent: "Thing") {}
    }
    let url = folder.file("derived.sqlite")
    _ = try SQLiteStore(url: url, model: old.resolved())
    try putForeignHashes(of: ["Thing", "Part"], in: url)
    _ = try SQLiteStore(url: url, model: old.resolved())
    old.entities[0].attributes.removeAll { $0.name == "place" }
    let new = try old.resolved()
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: url, model: new) }
    #expect(error?.code == .incompatibleVersionHash)
    #expect(error?.message.contains("differently declared: Part, Thing") == true, "\(error?.message ?? "")")
    #expect(try SQLiteStore.migrationPlan(forStoreAt: url, to: new).steps.count == 2)
    // Removing the derived attribute makes another version too.
    old.entities[0].attributes.removeAll { $0.name == "upper" }
    #expect(throws: GraphError.self) { try SQLiteStore(url: url, model: old.resolved()) }
    // Without the stored model the difference cannot be detected.
    try RawDatabase(url).connection.executeScript("DELETE FROM Z_MODELCACHE")
    _ = try SQLiteStore(url: url, model: new, options: SQLiteStoreOptions(readOnly: true))
  }

  /// Stores hashes that differ from Moonbase's, as Apple's framework would.
  private func putForeignHashes(of entities: [String], in url: URL) throws {
    let database = try RawDatabase(url)
    let select = try database.connection.statement("SELECT Z_PLIST FROM Z_METADATA")
    #expect(try select.step())
    var metadata = try #require(try PropertyList(binary: select.data(0)).dictionary)
    select.reset()
    var hashes = try #require(metadata["NSStoreModelVersionHashes"]?.dictionary)
    for name in entities { hashes[name] = .data(Data(repeating: 7, count: 32)) }
    metadata["NSStoreModelVersionHashes"] = .dictionary(hashes)
    let update = try database.connection.statement("UPDATE Z_METADATA SET Z_PLIST = ?")
    update.bind(PropertyList.dictionary(metadata).binaryData, at: 1)
    try update.run()
  }

  @Test func aCarriedModelThatCannotBeReadIsNamedWithItsFile() throws {
    try RawDatabase(folder.file()).connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00112233'")
    let error = #expect(throws: GraphError.self) { try SQLiteStore.cachedModel(ofStoreAt: folder.file()) }
    #expect(error?.code == .invalidStore)
    #expect(
      error?.message.contains("\(folder.file().lastPathComponent): the model that it carries (Z_MODELCACHE)") == true)
  }

  @Test func theCarriedModelIsNoPartOfTheMetadataThatProgramsSeeAndSurvivesTheirs() throws {
    let metadata = try SQLiteStore.metadata(ofStoreAt: folder.file())
    #expect(metadata["app"] == "theirs")
    #expect(!metadata.keys.contains { $0.hasPrefix("Moonbase") })
    let store = try SQLiteStore(url: folder.file(), model: model.resolved())
    try store.setMetadata(["app": "again"])
    #expect(try SQLiteStore.cachedModel(ofStoreAt: folder.file()) == model)
  }

  @Test func aModelThatCoreDataCanKeepNeedsNoKeyOfOurs() throws {
    let url = folder.file("plain.sqlite")
    let plain = ManagedObjectModel {
      EntityDescription("Thing") { AttributeDescription("title", type: .string) }
    }
    _ = try SQLiteStore(url: url, model: plain.resolved())
    let database = try RawDatabase(url)
    let statement = try database.connection.statement("SELECT Z_PLIST FROM Z_METADATA")
    defer { statement.reset() }
    #expect(try statement.step())
    let keys = try #require(try PropertyList(binary: statement.data(0)).dictionary).keys
    #expect(keys.allSatisfy { $0.hasPrefix("NS") || $0.hasPrefix("_NS") }, "\(keys)")
  }

  @Test func metadataNestedTooDeeplyIsRefused() throws {
    let store = try SQLiteStore(url: folder.file(), model: model.resolved())
    var deep = Value.int(1)
    for _ in 0..<1000 { deep = .list([deep]) }
    let made = deep
    #expect(throws: ModelError.self) { try store.setMetadata(["deep": made]) }
  }
}
