import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Writing the model cache.
@Suite struct ModelCacheTests {
  private func roundTrip(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    let caches = try model.resolved().modelCaches()
    return try ManagedObjectModel(modelCache: caches.complete ?? caches.plain)
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

  /// Moonbase's keys are beside Core Data's, whose values they do not change.
  @Test(arguments: [SampleModels.rich, SampleModels.unusual])
  func withoutOurKeysTheArchiveIsCoreDatas(model: ManagedObjectModel) throws {
    let resolved = try model.resolved()
    let caches = try resolved.modelCaches()
    #expect(try caches.plain == resolved.modelCache())
    let cache = try Deflate.inflate(caches.plain)
    #expect(try keysByClass(cache).values.allSatisfy { !$0.contains { $0.hasPrefix("Moonbase") } })
    let (plain, complete) = (try objects(cache), try objects(resolved.archive()))
    #expect(plain.count == complete.count)
    for (one, two) in zip(plain, complete) {
      #expect(one == two.filter { !$0.key.hasPrefix("Moonbase") })
    }
    let again = try ManagedObjectModel(modelCache: caches.plain)
    #expect(try again.resolved().version.hashes.keys == resolved.version.hashes.keys)
    #expect(again.warnings == [])
    #expect(
      (caches.complete != nil) == complete.contains { $0.keys.contains { $0.hasPrefix("Moonbase") } })
  }

  @Test func onlyTheUnusualNeedsOurKeys() throws {
    #expect(try SampleModels.unusual.resolved().modelCaches().complete != nil)
    let plain = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", type: .string)
        AttributeDescription("salary", type: .decimal)
        AttributeDescription("extra", type: .transformable)
        RelationshipDescription.toMany("children", destination: "Person").ordered()
        RelationshipDescription.toOne("boss", destination: "Person")
      }
    }
    #expect(try plain.resolved().modelCaches().complete == nil)
  }

  @Test func whatNoArchiveCanHoldIsRefused() throws {
    let id = Value.objectID(ManagedObjectID(store: StoreNumber("W"), entity: Symbol("Person"), key: 1))
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
    // The order of a dictionary's keys depends on its size.
    let keys = (0..<20).map { "key \($0)" }
    var (small, large) = (SampleModels.rich, SampleModels.rich)
    large.entities[1].userInfo = Dictionary(minimumCapacity: 1000)
    small.entities[1].userInfo = [:]
    for key in keys { small.entities[1].userInfo[key] = .string(key) }
    for key in keys.reversed() { large.entities[1].userInfo[key] = .string(key) }
    #expect(Array(small.entities[1].userInfo.keys) != Array(large.entities[1].userInfo.keys))
    #expect(try small.resolved().archive() == large.resolved().archive())
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

  /// Every class and key written here is one that Core Data writes, and the written classes lack no key.
  @Test(
    .enabled(if: RealFiles.areThere, "the real stores are not beside the checkout"),
    arguments: RealFiles.storesWithCache)
  func weWriteTheKeysThatCoreDataWrote(store: String) throws {
    let theirs = try Deflate.inflate(RealFiles.modelCache(of: store))
    let ours = try ManagedObjectModel(archive: theirs).resolved().archive()
    let (left, right) = (try keysByClass(theirs), try keysByClass(ours))
    for (name, keys) in right {
      #expect(keys.subtracting(left[name] ?? []) == [], "\(name): keys of our own")
      // Legacy indexes and compound indexes repeat the fetch indexes.
      let optional: Set = ["NSIsIndexed", "NSCompoundIndexes", "NSFetchIndexDescriptions"]
      #expect((left[name] ?? []).subtracting(keys).subtracting(optional) == [], "\(name): keys missing")
    }
  }

  /// The objects of an archive with the direct values of their references, so that two archives with other object
  /// numbers can be compared.
  private func objects(_ archive: Data) throws -> [[String: PropertyList]] {
    let objects = try #require(try PropertyList(binary: archive)["$objects"]?.array)
    func target(_ value: PropertyList) -> PropertyList {
      guard case .uid(let number) = value else { return value }
      let object = objects[Int(number)]
      guard let fields = object.dictionary else { return object }
      let name = fields["$classname"] ?? fields["NSPropertyName"] ?? fields["NSEntityName"]
      if case .uid(let number)? = name { return objects[Int(number)] }
      return name ?? "object"
    }
    return objects.compactMap(\.dictionary).filter { $0["$class"] != nil }.map { fields in
      fields.mapValues { $0.array.map { .array($0.map(target)) } ?? target($0) }
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
