import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Spatial indexes: R-trees that triggers of the file maintain.
@Suite struct RTreeTests {
  private let store: MigratedStore

  init() throws { store = try MigratedStore() }

  private static func index(_ name: String, _ keys: String...) -> FetchIndexDescription {
    var index = FetchIndexDescription(name, elements: keys.map { FetchIndexDescription.Element($0) })
    for place in index.elements.indices { index.elements[place].kind = .rTree }
    return index
  }

  private static func model(_ change: (inout EntityDescription, inout EntityDescription) -> Void = { _, _ in })
    -> ManagedObjectModel
  {
    var place = EntityDescription("Place") {
      AttributeDescription("name", type: .string)
      AttributeDescription("x", type: .double)
      AttributeDescription("y", type: .float)
      AttributeDescription("opened", type: .date)
      AttributeDescription("level", type: .integer64)
      RelationshipDescription.toOne("near", destination: "Place", inverse: "around")
      RelationshipDescription.toMany("around", destination: "Place", inverse: "near")
    }
    place.attributes.append(Addresses.place)
    place.attributes[5].elements = [
      AttributeDescription("latitude", type: .double), AttributeDescription("longitude", type: .double),
    ]
    var park = EntityDescription("Park", parent: "Place") { AttributeDescription("trees", type: .integer32) }
    place.indexes = [index("byPoint", "x", "y"), index("byGeo", "place.latitude", "place.longitude")]
    park.indexes = [index("byTrees", "trees")]
    change(&place, &park)
    return ManagedObjectModel(entities: [place, park])
  }

  private func raw(_ sql: String) throws -> [String] { try RawDatabase(store.url).rows(sql) }
  private func change(_ sql: String) throws {
    try RawDatabase(store.url, trustsSchema: true).connection.executeScript(sql)
  }

  private func findings(_ model: ManagedObjectModel) throws -> [String] {
    var found: [String] = []
    try StoreCheck(storeAt: store.url, model: model.resolved()) {
      found.append("\($0.kind) \($0.place): \($0.message)")
    }
    .run()
    return found
  }

  private static let tree = "SELECT ZX_MIN, ZX_MAX, ZY_MIN, ZY_MAX FROM Z_RT_Place_byPoint ORDER BY 1"

  // MARK: The file

  @Test func aTreeHasTheFormOfPublishedListings() throws {
    try store.fill(Self.model()) { _ in }
    let file = try RawDatabase(store.url)
    #expect(
      try file.schema("Z_RT_Place_byPoint")
        == "CREATE VIRTUAL TABLE Z_RT_Place_byPoint USING RTREE (Z_PK INTEGER PRIMARY KEY, ZX_MIN FLOAT, ZX_MAX FLOAT, ZY_MIN FLOAT, ZY_MAX FLOAT)"
    )
    #expect(
      try file.schema("Z_RT_Place_byGeo")?.contains("ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN") == true)
    #expect(
      try file.rows("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'Z_RT_Park%' ORDER BY 1")
        == ["Z_RT_Park_byTrees_DELETE", "Z_RT_Park_byTrees_INSERT", "Z_RT_Park_byTrees_UPDATE"])
    #expect(try SQLiteStore(url: store.url, model: Self.model().resolved()).missingFeatures == [])
    let facts = try SQLiteStore.facts(ofStoreAt: store.url, model: Self.model().resolved())
    #expect(facts.foreignTables == [])
  }

  @Test func savesKeepTheTree() throws {
    try store.fill(Self.model()) { context in
      _ = try context.insert("Place", values: ["name": "a", "x": 1, "y": 2])
      _ = try context.insert("Park", values: ["name": "b", "x": 3, "y": 4, "trees": 5])
      _ = try context.insert("Place", values: ["name": "c", "x": 5])
    }
    #expect(try raw("SELECT COUNT(*) FROM Z_RT_Place_byPoint") == ["2"])
    #expect(try raw("SELECT ZTREES_MIN FROM Z_RT_Park_byTrees") == ["5.0"])
    try store.using(Self.model()) { context in
      for place in try context.fetch(FetchRequest("Place")) {
        switch try place.value(forKey: "name") {
        case "a": try place.setValue(.null, forKey: "x")
        case "c": try place.setValue(9, forKey: "y")
        default: try place.setValue(-3.5, forKey: "x")
        }
      }
      try context.save()
    }
    #expect(
      try raw("SELECT ZX_MIN, ZX_MAX, ZY_MIN FROM Z_RT_Place_byPoint ORDER BY 1") == ["-3.5|-3.5|4.0", "5.0|5.0|9.0"])
    try store.using(Self.model()) { context in
      for place in try context.fetch(FetchRequest("Place", where: "name == 'c'")) { try context.delete(place) }
      try context.save()
    }
    #expect(try raw("SELECT ZX_MIN FROM Z_RT_Place_byPoint") == ["-3.5"])
    #expect(try findings(Self.model()) == [])
  }

  @Test(arguments: [
    (index("a", "name"), "its element name is a string: an R-tree is of numbers (no decimals) and dates"),
    (index("a", "near"), "its element near is no attribute, of which alone an R-tree is made"),
    (
      index("a", "x", "y", "opened", "level", "place.latitude", "place.longitude"), "an R-tree has 5 dimensions at most"
    ),
    (
      index("a", "x").with { $0.elements.append(FetchIndexDescription.Element("y")) },
      "its element y is of another kind than the R-tree"
    ), (index("a", "x").with { $0.partialIndexPredicate = "x > 1" }, "its condition x > 1: an R-tree has all rows"),
  ])
  func aTreeThatCannotBeIsAWarning(_ index: FetchIndexDescription, _ reason: String) throws {
    let model = Self.model { place, _ in place.indexes = [index] }
    let warnings = try model.resolved().warnings.filter { $0.contains("its index") }
    #expect(warnings.count == 1 && warnings[0].contains("is made in no store here: \(reason)"), "\(warnings)")
    try store.fill(model) { _ in }
    #expect(try raw("SELECT name FROM sqlite_master WHERE name LIKE 'Z_RT_Place%'") == [])
  }

  @Test func aBuildOfSQLiteWithoutTreesIsANamedObstacle() throws {
    let model = try Self.model().resolved()
    let place = try #require(model.entity("Place"))
    #expect(SQLiteStore.unmadeIndexes(of: place).isEmpty)
    let reasons = SQLiteStore.unmadeIndexes(of: place, keepsRTrees: false).map(\.reason)
    #expect(reasons.count == 2 && reasons[0].contains("has no R-trees"))
  }

  // MARK: Questions

  private static let questions = [
    "x BETWEEN {-5, 5} AND y BETWEEN {-5, 5}", "x >= -2 AND x <= 3 AND y > 0 AND y < 7", "x < 4 AND y < 4",
    "x > 0.1 AND x < 0.1 AND y < 9", "x == 1 AND y == 0.1", "x BETWEEN {0, 1e39} AND y <= 5",
    "x <= 3 AND y <= 1e300", "10 >= x AND 0.1 >= y AND -10 <= y AND name != NULL",
    "place.latitude BETWEEN {-3, 3} AND place.longitude BETWEEN {0, 9}", "x BETWEEN {-5, 5} AND y >= 1",
    "x <= 5 OR y <= 5", "NOT (x <= 5 AND y <= 5)", "near.x <= 5 AND near.y <= 5", "x <= level AND y <= 5",
    "SUBQUERY(around, $p, $p.x <= 5 AND $p.y <= 5).@count > 0",
  ]

  private func benches() throws -> [StoreBench] {
    try StoreKind.allCases.map { kind in
      let bench = try StoreBench(kind, Self.model())
      let context = bench.context()
      var random = SplitMix(7)
      let edges: [Value] = [.null, 0, 0.1, 1, 5, -5, 1e300, -1e300, 3.5e38, 16_777_217, .double(.infinity)]
      func number() -> Value {
        random.next(4) == 0 ? edges[random.next(edges.count)] : .double(Double(random.next(2_000)) / 100 - 10)
      }
      var places: [ManagedObject] = []
      for name in 0..<400 {
        let place = try context.insert(name % 5 == 0 ? "Park" : "Place", values: ["name": .string("\(name)")])
        try place.setValue(number(), forKey: "x")
        try place.setValue(
          random.next(6) == 0 ? .null : .double(Double(Float(random.next(200)) / 10 - 10)), forKey: "y")
        try place.setValue(["latitude": number(), "longitude": number()], forKey: "place")
        try place.setValue(.int(Int64(random.next(9))), forKey: "level")
        if let near = places.last, random.next(2) == 0 { try place.setObject(near, forKey: "near") }
        places.append(place)
      }
      try context.save()
      return bench
    }
  }

  @Test(arguments: questions)
  func bothStoresFindTheSamePlaces(_ format: String) throws {
    let benches = try self.benches()
    for entity in ["Place", "Park"] {
      let request = FetchRequest(entity, where: try Predicate(format: format))
      let found = try benches.map { try $0.stranger().fetch(request).map(\.objectID.key) }
      #expect(found[0] == found[1], "\(entity) \(format)")
    }
  }

  @Test func randomBoxesFindWhatMemoryFinds() throws {
    var random = SplitMix(11)
    let benches = try self.benches()
    let contexts = benches.map { $0.stranger() }
    for _ in 0..<150 {
      func end() -> Value { .double(Double(random.next(2_400)) / 100 - 12) }
      let format =
        random.next(2) == 0
        ? "x >= %@ AND x < %@ AND y > %@ AND y <= %@"
        : "place.latitude BETWEEN {%@, %@} AND place.longitude BETWEEN {%@, %@}"
      let request = FetchRequest(
        "Place", where: try Predicate(format: format, arguments: [end(), end(), end(), end()]))
      let found = try contexts.map { try $0.fetch(request).map(\.objectID.key) }
      #expect(found[0] == found[1])
    }
  }

  /// SQLite looks up the rows that the tree found.
  @Test(
    arguments: [
      ("Place", "x BETWEEN {1, 2} AND y BETWEEN {1, 2}", "Z_RT_Place_byPoint"),
      ("Park", "x < 2 AND y <= 2", "Z_RT_Place_byPoint"),
      ("Park", "trees BETWEEN {1, 2}", "Z_RT_Park_byTrees"),
      ("Place", "place.latitude < 3 AND place.longitude < 3 AND name == 'a'", "Z_RT_Place_byGeo"),
      ("Place", "x > 2 AND y > 2", nil), ("Place", "x < 2", nil), ("Place", "x < 2 OR y < 2", nil),
      ("Place", "x < 1e39 AND y < 2", nil),
    ] as [(String, String, String?)])
  func aConditionThatBoundsAllDimensionsGoesThroughTheTree(_ entity: String, _ format: String, _ tree: String?) throws {
    let bench = try benches()[1]
    let lines = try bench.stranger().explain(FetchRequest(entity, where: Predicate(format: format)))
    #expect(!lines.contains("the context"))
    if let tree {
      // The rows of a subentity may be looked up by its number too.
      let isLookup = lines.contains(/SEARCH t0 USING [A-Z_ ]+\((Z_ENT=\? AND )?rowid=\?\)/)
      #expect(isLookup && lines.contains("SCAN \(tree) VIRTUAL TABLE"), "\(lines)")
    } else {
      #expect(!lines.contains("VIRTUAL TABLE"), "\(lines)")
    }
  }

  @Test func batchRequestsKeepTheTreeAndAskIt() throws {
    let model = Self.model()
    try store.fill(model) { context in
      for x in 0..<20 { _ = try context.insert("Place", values: ["name": "a", "x": .int(Int64(x)), "y": 1]) }
    }
    try store.using(model) { context in
      var update = BatchUpdateRequest("Place", where: try Predicate(format: "x BETWEEN {0, 9} AND y <= 2"))
      update.propertiesToUpdate["x"] = try Expression(format: "x + 100")
      try context.execute(update)
      try context.execute(BatchDeleteRequest(FetchRequest("Place", where: "x BETWEEN {0, 15} AND y <= 2")))
      #expect(try context.count(FetchRequest("Place", where: "x BETWEEN {100, 200} AND y <= 2")) == 10)
    }
    #expect(try raw("SELECT MIN(ZX_MIN), MAX(ZX_MAX), COUNT(*) FROM Z_RT_Place_byPoint") == ["16.0|109.0|14"])
    #expect(try findings(model) == [])
  }

  // MARK: Damage, other programs and other versions

  @Test func theDoctorFindsPlacesThatAreNotThoseOfTheRowsAndMendsThem() throws {
    try store.fill(Self.model()) { context in
      for x in 0..<3 { _ = try context.insert("Place", values: ["x": .double(Double(x)), "y": 1]) }
    }
    try change(
      """
      DELETE FROM Z_RT_Place_byPoint WHERE ZX_MIN = 0;
      UPDATE Z_RT_Place_byPoint SET ZX_MIN = 7, ZX_MAX = 8 WHERE ZX_MIN = 1;
      INSERT INTO Z_RT_Place_byPoint VALUES (99, 1, 1, 1, 1);
      """)
    let found = try findings(Self.model())
    #expect(found.count == 3 && found.allSatisfy { $0.hasPrefix("index Place/") }, "\(found)")
    try StoreRepair.run(storeAt: store.url, model: Self.model().resolved(), allowsCloudKit: false)
    #expect(try findings(Self.model()) == [])
    #expect(try raw("SELECT COUNT(*) FROM Z_RT_Place_byPoint") == ["3"])
  }

  /// An R-tree that another program changed or does not maintain is not used.
  @Test(arguments: [
    "DROP TRIGGER Z_RT_Place_byPoint_UPDATE",
    "DROP TABLE Z_RT_Place_byPoint; CREATE VIRTUAL TABLE Z_RT_Place_byPoint USING rtree(id, a, b)",
  ])
  func aTreeOfAnotherFormIsNotAsked(_ changes: String) throws {
    try store.fill(Self.model()) { _ in }
    try change(changes)
    try store.using(Self.model()) { context in
      let lines = try context.explain(FetchRequest("Place", where: "x < 1 AND y < 1"))
      #expect(!lines.contains("VIRTUAL"), "\(lines)")
    }
  }

  @Test func aTriggerThatGoesWhileTheStoreIsOpenIsTold() throws {
    let resolved = try Self.model().resolved()
    let opened = try SQLiteStore(url: store.url, model: resolved)
    let coordinator = PersistentStoreCoordinator(model: resolved)
    try coordinator.add(opened)
    let context = try ManagedObjectContext(coordinator)
    try change("DROP TRIGGER Z_RT_Place_byPoint_UPDATE")
    _ = try context.insert("Place", values: ["x": 1, "y": 1])
    #expect { try context.save() } throws: {
      "\($0)".contains("the R-tree Z_RT_Place_byPoint is gone, or its triggers")
    }
  }

  @Test func aMigrationMakesFillsAndDropsTrees() throws {
    let bare = Self.model { place, park in (place.indexes, park.indexes) = ([], []) }
    try store.fill(bare) { context in
      _ = try context.insert("Place", values: ["x": 1, "y": 2])
      _ = try context.insert("Park", values: ["x": 3, "y": 4, "trees": 7])
      _ = try context.insert("Place", values: ["x": 3])
    }
    // Indexes are no part of a model's version, so another change is made.
    let more = Self.model { place, _ in place.attributes.append(AttributeDescription("more", type: .string)) }
    try store.migrate(to: more)
    #expect(try raw(Self.tree) == ["1.0|1.0|2.0|2.0", "3.0|3.0|4.0|4.0"])
    #expect(try raw("SELECT ZTREES_MIN FROM Z_RT_Park_byTrees") == ["7.0"])
    #expect(try findings(more) == [])
    try store.using(more) { context in
      for park in try context.fetch(FetchRequest("Park", where: "x < 4 AND y < 5")) {
        try park.setValue(8, forKey: "x")
      }
      try context.save()
    }
    #expect(try raw(Self.tree) == ["1.0|1.0|2.0|2.0", "8.0|8.0|4.0|4.0"])
    let renamed = more.changed { model in
      for place in 0..<2 {
        model.entities[place].name = ["Spot", "Yard"][place];
        model.entities[place].renamingIdentifier = ["Place", "Park"][place]
      }
      model.entities[1].superentityName = "Spot"
      for place in 0..<2 { model.entities[0].relationships[place].destinationEntityName = "Spot" }
    }
    try store.migrate(to: renamed)
    #expect(try raw("SELECT ZX_MIN FROM Z_RT_Spot_byPoint ORDER BY 1") == ["1.0", "8.0"])
    #expect(try raw("SELECT name FROM sqlite_master WHERE name LIKE 'Z_RT_Pla%' OR name LIKE 'Z_RT_Par%'") == [])
    let none = renamed.changed { model in
      for place in 0..<2 { model.entities[place].indexes = [] }
      model.entities[0].attributes.append(AttributeDescription("last", type: .string))
    }
    try store.migrate(to: none)
    #expect(try raw("SELECT name FROM sqlite_master WHERE name LIKE 'Z_RT_%'") == [])
    try store.using(none) { context in
      _ = try context.insert("Yard", values: ["x": 1])
      try context.save()
    }
    #expect(try raw("PRAGMA integrity_check") == ["ok"])
  }

  @Test func aCopyAndABackupHaveTheTree() throws {
    try store.fill(Self.model()) { context in _ = try context.insert("Place", values: ["x": 1, "y": 2]) }
    let copy = store.folder.file("copy.sqlite")
    try SQLiteStore.backUp(storeAt: store.url, to: copy)
    let other = try RawDatabase(copy)
    #expect(try other.rows(Self.tree) == ["1.0|1.0|2.0|2.0"])
  }
}
