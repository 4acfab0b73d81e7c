import MoonbaseModel
import MoonbasePlatform
import Testing

@Suite("Writing the model cache")
struct ModelCacheTests {
  private func roundTrip(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel(modelCache: model.resolved().modelCache())
  }

  @Test func aRichModelSurvives() throws {
    let (left, right) = (SampleModels.rich.comparable, try roundTrip(SampleModels.rich).comparable)
    for (left, right) in zip(left.entities, right.entities) {
      for (left, right) in zip(left.attributes, right.attributes) { #expect(left == right) }
      #expect(left == right)
    }
    #expect(left.fetchRequestTemplates == right.fetchRequestTemplates)
    #expect(left == right)
    #expect(right.warnings == [])
  }

  @Test func theHashesStay() throws {
    let model = SampleModels.rich
    #expect(try roundTrip(model).resolved().versionHashes == model.resolved().versionHashes)
  }

  @Test func equalModelsGiveEqualBytes() throws {
    #expect(try SampleModels.rich.resolved().archive() == SampleModels.rich.resolved().archive())
  }

  @Test func theArchiveHasTheFormOfAKeyedArchive() throws {
    let plist = try PropertyList(binary: SampleModels.rich.resolved().archive())
    #expect(plist["$archiver"] == "NSKeyedArchiver")
    #expect(plist["$version"] == 100_000)
    #expect(plist["$top"]?["root"] == .uid(1))
    #expect(plist["$objects"]?.array?.first == "$null")
  }

  @Test(
    .enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"),
    arguments: RealFiles.storesWithCache)
  func modelsOfRealStoresSurvive(store: String) throws {
    let model = try ManagedObjectModel(modelCache: RealFiles.modelCache(of: store))
    let again = try roundTrip(model)
    #expect(again.entities == model.entities)
    #expect(again == model)
  }

  /// Every class and key that we write is one that Core Data wrote, and of the classes we write no key is missing.
  @Test(
    .enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"),
    arguments: RealFiles.storesWithCache)
  func weWriteTheKeysThatCoreDataWrote(store: String) throws {
    let theirs = try Deflate.inflate(RealFiles.modelCache(of: store))
    let ours = try ManagedObjectModel(archive: theirs).resolved().archive()
    let (left, right) = (try keysByClass(theirs), try keysByClass(ours))
    for (name, keys) in right {
      #expect(keys.subtracting(left[name] ?? []) == [], "\(name): keys of our own")
      // Legacy indexes and compound indexes repeat what the fetch indexes say.
      let optional: Set = ["NSIsIndexed", "NSCompoundIndexes", "NSFetchIndexDescriptions"]
      #expect((left[name] ?? []).subtracting(keys).subtracting(optional) == [], "\(name): keys missing")
    }
  }

  private func keysByClass(_ archive: Data) throws -> [String: Set<String>] {
    let objects = try #require(try PropertyList(binary: archive)["$objects"]?.array)
    var result: [String: Set<String>] = [:]
    for object in objects {
      guard let fields = object.dictionary, case .uid(let index)? = fields["$class"],
        let name = objects[Int(index)]["$classname"]?.string
      else { continue }
      result[name, default: []].formUnion(fields.keys)
    }
    return result
  }
}
