import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// A value set by `awakeFromFetch` is no change: fetches evaluate the row.
@Suite struct AwakeValueTests {
  private func bench(_ kind: StoreKind) throws -> StoreBench {
    var thing = EntityDescription("Thing")
    var shown = AttributeDescription("shown", type: .string)
    shown.isTransient = true
    thing.attributes = [
      AttributeDescription("name", type: .string), AttributeDescription("rank", type: .integer64), shown,
    ]
    thing.relationships = [
      .toOne("boss", destination: "Thing", inverse: "staff"), .toMany("staff", destination: "Thing", inverse: "boss"),
    ]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [thing]))
    let context = bench.context()
    let boss = try context.insert("Thing", values: ["name": "b", "rank": 1])
    try context.insert("Thing", values: ["name": "a", "rank": 2]).setObject(boss, forKey: "boss")
    try context.save()
    return bench
  }

  private func context(_ bench: StoreBench) -> ManagedObjectContext {
    var entry = EntityExtension()
    entry.awakeFromFetch = { thing in
      thing["shown"] = .string("shown \(thing["name"].text ?? "")")
      try thing.setPrimitiveValue(thing["rank"] == 1 ? "awake" : "zzz", forKey: "name")
    }
    return bench.context(["Thing": [entry]])
  }

  @Test(arguments: StoreKind.allCases)
  func predicatesAndOrderSeeTheRowAndNotWhatAwakeFromFetchSet(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = context(bench)
    func ranks(_ format: String, _ sort: [SortDescriptor] = [SortDescriptor("name")]) throws -> [Value] {
      var request = FetchRequest("Thing", where: try Predicate(format: format))
      request.sortDescriptors = sort
      return try context.fetch(request).map { $0["rank"] }
    }
    // Without the objects, with the objects, and beside an unsaved change.
    for round in 0..<3 {
      let held = round == 0 ? [] : try context.fetch(FetchRequest("Thing"))
      if round == 2 { try context.insert("Thing", values: ["name": "other"]) }
      #expect(try ranks("name = 'awake' OR name = 'zzz'").isEmpty, "\(round)")
      #expect(try ranks("name = 'a' OR name = 'b'") == [2, 1], "\(round)")
      #expect(try ranks("boss.name = 'b'") == [2] && ranks("ANY staff.name = 'a'") == [1], "\(round)")
      #expect(try ranks("boss.name = 'awake' OR ANY staff.name = 'zzz'").isEmpty, "\(round)")
      // A transient value cannot be looked up in rows.
      #expect(try ranks("shown = 'shown a'") == [2], "\(round)")
      withExtendedLifetime(held) {}
      #expect(context.brokenInvariants().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases) func dictionariesShowTheRow(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = context(bench)
    var request = FetchRequest("Thing")
    request.sortDescriptors = [SortDescriptor("name")]
    request.propertiesToFetch = [FetchColumn("name"), FetchColumn("shown"), FetchColumn("boss.name")]
    let rows = try context.fetchDictionaries(request)
    #expect(rows == [["name": "a", "shown": "shown a", "boss.name": "b"], ["name": "b", "shown": "shown b"]])
  }

  @Test(arguments: StoreKind.allCases) func whatIsSavedForAnotherReasonIsWhatIsSeen(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = context(bench)
    let thing = try #require(
      try context.fetch(FetchRequest("Thing", where: try Predicate(format: "rank = 2"))).first)
    #expect(thing["name"] == "zzz")
    thing["rank"] = 3
    let request = FetchRequest("Thing", where: try Predicate(format: "name = 'zzz'"))
    #expect(try context.fetch(request) == [thing])
    try context.save()
    #expect(try context.fetch(request) == [thing])
  }
}
