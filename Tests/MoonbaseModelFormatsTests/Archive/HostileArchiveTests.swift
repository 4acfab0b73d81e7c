import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Manipulated archives: each must give an error or a model without delay.
@Suite struct HostileArchiveTests {
  private func read(_ objects: [PropertyList], root: UInt32 = 1) throws -> ManagedObjectModel {
    let archive: PropertyList = [
      "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(root)],
      "$objects": .array(["$null"] + objects),
    ]
    return try ManagedObjectModel(archive: archive.binaryData)
  }

  private func type(_ name: String) -> PropertyList { ["$classname": .string(name), "$classes": [.string(name)]] }

  @Test func onlyAModelIsRead() {
    let error = #expect(throws: ModelError.self) { try read([["$class": .uid(2)], type("NSFileManager")]) }
    #expect(error?.message == "the archive holds a NSFileManager, not a managed object model")
    #expect(throws: ModelError.self) { try read([], root: 7) }
    #expect(throws: ModelError.self) { try ManagedObjectModel(archive: PropertyList.dictionary([:]).binaryData) }
  }

  @Test func keysThatNobodyKnowsAreReported() throws {
    let model = try read([
      ["$class": .uid(2), "NSEntities": .uid(3), "NSFuture": 1], type("NSManagedObjectModel"),
      ["$class": .uid(4), "NS.keys": [], "NS.objects": []], type("NSDictionary"),
    ])
    #expect(model.warnings == ["the model: NSFuture of NSManagedObjectModel is not understood"])
  }

  @Test func entitiesThatAreSomethingElseAreRefused() {
    #expect(throws: ModelError.self) {
      try read([
        ["$class": .uid(2), "NSEntities": .uid(3)], type("NSManagedObjectModel"),
        ["$class": .uid(4), "NS.keys": [.uid(5)], "NS.objects": [.uid(1)]], type("NSDictionary"), "A",
      ])
    }
  }

  @Test func anEntityThatIsItsOwnAncestorIsRefused() throws {
    let model = try read([
      ["$class": .uid(2), "NSEntities": .uid(3)], type("NSManagedObjectModel"),
      ["$class": .uid(4), "NS.keys": [.uid(5)], "NS.objects": [.uid(6)]], type("NSDictionary"), "A",
      ["$class": .uid(7), "NSEntityName": .uid(5), "NSSuperentity": .uid(6)], type("NSEntityDescription"),
    ])
    #expect(throws: ModelError.self) { try model.resolved() }
  }

  @Test func aPredicateThatContainsItselfIsRefused() {
    let error = #expect(throws: ModelError.self) {
      try read([
        ["$class": .uid(2), "NSEntities": .uid(3), "NSFetchRequestTemplates": .uid(5)], type("NSManagedObjectModel"),
        ["$class": .uid(4), "NS.keys": [], "NS.objects": []], type("NSDictionary"),
        ["$class": .uid(4), "NS.keys": [.uid(6)], "NS.objects": [.uid(7)]], "x",
        ["$class": .uid(8), "NSEntityName": .uid(6), "NSPredicate": .uid(9)], type("NSFetchRequest"),
        ["$class": .uid(10), "NSCompoundPredicateType": 0, "NSSubpredicates": .uid(11)], type("NSCompoundPredicate"),
        ["$class": .uid(12), "NS.objects": [.uid(9)]], type("NSArray"),
      ])
    }
    #expect(error?.message.contains("nested too deeply") == true)
  }

  @Test(.timeLimit(.minutes(5))) func sharedObjectsDoNotUnfold() {
    // User info of thirty lists, each of which contains the next one ten times.
    var objects: [PropertyList] = [
      ["$class": .uid(2), "NSEntities": .uid(3)], type("NSManagedObjectModel"),
      ["$class": .uid(4), "NS.keys": [.uid(5)], "NS.objects": [.uid(6)]], type("NSDictionary"), "A",
      ["$class": .uid(7), "NSEntityName": .uid(5), "NSUserInfo": .uid(8)], type("NSEntityDescription"),
      ["$class": .uid(4), "NS.keys": [.uid(5)], "NS.objects": [.uid(10)]], type("NSArray"),
    ]
    for level in 0..<30 {
      let next = PropertyList.uid(UInt32(11 + level))
      objects.append(["$class": .uid(9), "NS.objects": .array(Array(repeating: next, count: 10))])
    }
    let error = #expect(throws: ModelError.self) { try read(objects) }
    #expect(error?.message == "the archive refers to its objects too often")
  }

  @Test func damagedArchivesNeverTrap() throws {
    let archive = try SampleModels.rich.resolved().archive()
    var state: UInt64 = 42
    for _ in 0..<300 {
      var damaged = archive
      for _ in 0..<3 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        damaged[Int(state >> 33) % damaged.count] = UInt8(truncatingIfNeeded: state >> 25)
      }
      if let model = try? ManagedObjectModel(archive: damaged) { _ = try? model.resolved() }
    }
  }

  @Test func aModelCacheThatUnfoldsIntoTooMuchIsRefused() throws {
    let bomb = try Deflate.deflate(Data(count: 80 << 20))
    #expect(throws: ModelError.self) { try ManagedObjectModel(modelCache: bomb) }
  }
}
