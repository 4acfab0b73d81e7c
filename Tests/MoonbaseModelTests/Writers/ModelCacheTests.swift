import MoonbaseModel
import MoonbasePlatform
import Testing

@Suite("Writing the model cache")
struct ModelCacheTests {
  private func roundTrip(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel(modelCache: model.resolved().modelCache())
  }

  @Test func aRichModelSurvives() throws {
    let (left, right) = (SampleModels.rich.inOrderOfNames, try roundTrip(SampleModels.rich).inOrderOfNames)
    for (left, right) in zip(left.entities, right.entities) {
      for (left, right) in zip(left.attributes, right.attributes) { #expect(left == right) }
      #expect(left == right)
    }
    #expect(left.fetchRequestTemplates == right.fetchRequestTemplates)
    #expect(left == right)
    #expect(right.warnings == [])
  }

  @Test func whatCoreDataHasNoPlaceForSurvives() throws {
    let model = SampleModels.unusual
    let again = try roundTrip(model)
    let (left, right) = (model.inOrderOfNames, again.inOrderOfNames)
    for (left, right) in zip(left.entities, right.entities) {
      for (left, right) in zip(left.attributes, right.attributes) { #expect(left == right) }
      #expect(left == right)
    }
    for (name, request) in left.fetchRequestTemplates { #expect(right.fetchRequestTemplates[name] == request) }
    #expect(left == right)
    #expect(again.warnings == [])
    #expect(try roundTrip(again) == again)
  }

  @Test func whatNoArchiveCanHoldIsRefused() throws {
    let id = World.shared.people[0].predicateValue
    var model = SampleModels.unusual
    model.entities[0].userInfo["id"] = [id]
    #expect(throws: ModelError.self) { try roundTrip(model) }
    model = SampleModels.unusual
    model.fetchRequestTemplates["x"] = FetchRequest(
      "Thing", where: .comparison(.init(.keyPath("title"), .equal, .constant(id))))
    #expect(throws: ModelError.self) { try roundTrip(model) }
  }

  @Test(arguments: [
    ("NSSelector", PropertyList.string("madeUp:"), "madeUp: is not known here"),
    ("NSResultType", 99, "the result type 99"), ("NSDeleteRule", 17, "the delete rule 17"),
    ("NSFetchRequestFlags", 31, "the flags 31"), ("NSFlagsKey", 256, "storage flags 256"),
    ("NSKey", .uid(0), "sort descriptor without a key"), ("NSIndexName", .uid(0), "index without a name"),
    ("NSFilteringPredicate", "x", "the predicate that filters"), ("NSMadeUp", 1, "NSMadeUp of NSSortDescriptor"),
  ])
  func whatIsNotUnderstoodIsTold(_ key: String, _ value: PropertyList, _ warning: String) throws {
    guard case .dictionary(var archive) = try PropertyList(binary: SampleModels.rich.resolved().archive()),
      case .array(let objects)? = archive["$objects"]
    else {
      Issue.record("no archive")
      return
    }
    archive["$objects"] = .array(
      objects.map { object in
        guard case .dictionary(var fields) = object else { return object }
        if fields[key] != nil || key == "NSMadeUp" && fields["NSSelector"] != nil { fields[key] = value }
        return .dictionary(fields)
      })
    let model = try ManagedObjectModel(archive: PropertyList.dictionary(archive).binaryData)
    #expect(model.warnings.contains { $0.contains(warning) }, "\(model.warnings)")
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
