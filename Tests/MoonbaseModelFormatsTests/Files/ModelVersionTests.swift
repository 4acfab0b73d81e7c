import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Hashes that Apple's Core Data wrote into real stores.
@Suite(.enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"))
struct ModelVersionTests {
  struct Vectors: Decodable {
    struct Store: Decodable {
      var hashes: [String: String]
      var digest: String?
      var checksum: String?
    }
    var stores: [String: Store]

    static func read() throws -> Self {
      try JSONDecoder().decode(Self.self, from: Data(contentsOf: RealFiles.url("version-hash-vectors.json")))
    }
  }

  private func check(_ model: ManagedObjectModel, _ name: String) throws {
    let store = try #require(try Vectors.read().stores[name])
    let version = try model.resolved().version
    #expect(Set(version.hashes.keys) == Set(store.hashes.keys))
    for (entity, hash) in version.hashes where !version.unprovenEntities.contains(entity) {
      #expect(hash.map { String(format: "%02x", $0) }.joined() == store.hashes[entity], "\(entity)")
    }
    guard version.unprovenEntities.isEmpty else { return }
    if let digest = store.digest { #expect(version.digest == digest) }
    if let checksum = store.checksum { #expect(version.checksum == checksum) }
  }

  @Test(arguments: RealFiles.storesWithCache)
  func theModelInAStoreHasTheHashesOfTheStore(store: String) throws {
    try check(ManagedObjectModel(modelCache: RealFiles.modelCache(of: store)), store)
  }

  @Test(arguments: [
    ("ddg-BookmarksModel5", "Bookmarks_V5"), ("ddg-SyncMetadata3", "SyncMetadata_V3"),
    ("CoreDataPlus-SampleModel_V1", "CoreDataPlus-SampleModel_V1"),
    ("CoreDataPlus-SampleModel3_V1", "CoreDataPlus-SampleModel3_V1"),
    ("kodeco-SurfJournalModel", "SurfJournalModel"), ("LoopKit-Model_v1", "LoopKit-Model.v1"),
  ])
  func theXcodeModelHasTheHashesOfTheStore(model: String, store: String) throws {
    try check(RealFiles.model("\(model).contents.xml"), "\(store).sqlite")
  }

  @Test func onlyEntitiesWithDerivedAttributesAreUnproven() throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: "CoreDataPlus-SampleModel2_V1.sqlite"))
    #expect(try model.resolved().version.unprovenEntities == ["Book", "GraphicNovel"])
  }

  @Test(arguments: ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"])
  func compiledVersionsHaveTheHashesOfTheirList(name: String) throws {
    let list = try PropertyList(
      contents: Data(contentsOf: RealFiles.url("models/CoreDataPlus-momd/VersionInfo.plist")), file: "VersionInfo.plist"
    )
    let version = try RealFiles.model("CoreDataPlus-momd/\(name).mom").resolved().version
    let hashes = try #require(list["NSManagedObjectModel_VersionHashes"]?[name]?.dictionary)
    #expect(version.hashes == hashes.compactMapValues(\.data))
    #expect(version.checksum == list["NSManagedObjectModel_VersionChecksums"]?[name]?.string)
  }

  @Test func aStoreWithDerivedAttributesIsCompatibleWithItsOwnCopy() throws {
    let store = "CoreDataPlus-SampleModel2_V1.sqlite"
    let metadata = try RealFiles.metadata(of: store)
    let stored = try #require(metadata["NSStoreModelVersionHashes"]?.dictionary).compactMapValues(\.data)
    var model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: store))
    let cached = try model.resolved().version
    #expect(cached.isCompatible(withStored: stored, cached: cached))
    #expect(!cached.isCompatible(withStored: stored))
    let place = try #require(model.entities.firstIndex { $0.name == "Book" })
    model.entities[place].attributes.append(AttributeDescription("isbn", type: .string))
    #expect(try !model.resolved().version.isCompatible(withStored: stored, cached: cached))
  }
}
