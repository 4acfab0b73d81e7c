import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Batch deletions with delete rules in SQL, compared with the same deletions object by object.
@Suite struct BatchCascadeTests {
  /// A model with all kinds of relationships, also of a subentity and within one table, each with a random one of
  /// `rules`.
  private static func model(_ rules: [DeleteRule], _ random: inout SplitMix) -> ManagedObjectModel {
    func ruled(_ relationship: RelationshipDescription, isOrdered: Bool = false) -> RelationshipDescription {
      var relationship = relationship
      relationship.deleteRule = rules[Int.random(in: rules.indices, using: &random)]
      relationship.isOrdered = isOrdered
      return relationship
    }
    var thing = EntityDescription("Thing")
    thing.attributes = [
      AttributeDescription("name", type: .string).with { $0.preservesValueInHistoryOnDeletion = true }
    ]
    thing.relationships = [
      ruled(.toOne("parent", destination: "Thing", inverse: "children")),
      ruled(.toMany("children", destination: "Thing", inverse: "parent")),
      ruled(.toMany("parts", destination: "Part", inverse: "thing"), isOrdered: .random(using: &random)),
      ruled(.toMany("marks", destination: "Part", inverse: "marked"), isOrdered: .random(using: &random)),
      ruled(.toOne("partner", destination: "Part", inverse: "mate")),
      ruled(.toMany("friends", destination: "Thing", inverse: "friends")),
    ]
    var special = EntityDescription("Special")
    special.superentityName = "Thing"
    special.relationships = [ruled(.toMany("extras", destination: "Part", inverse: "special"))]
    special.attributes = [
      AttributeDescription("code", type: .integer32).with { $0.preservesValueInHistoryOnDeletion = true }
    ]
    var part = EntityDescription("Part")
    part.attributes = [AttributeDescription("n", type: .integer32)]
    part.relationships = [
      ruled(.toOne("thing", destination: "Thing", inverse: "parts")),
      ruled(.toMany("marked", destination: "Thing", inverse: "marks")),
      ruled(.toOne("mate", destination: "Thing", inverse: "partner")),
      ruled(.toOne("special", destination: "Special", inverse: "extras")),
    ]
    return ManagedObjectModel(entities: [thing, special, part])
  }

  private final class World {
    let people: PeopleStore
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext

    init(_ model: ManagedObjectModel, seed: UInt64, count: Int, tracksHistory: Bool, isLeftToGraph: Bool) throws {
      people = try PeopleStore(model, options: .init(tracksHistory: tracksHistory))
      coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      context = try ManagedObjectContext(coordinator)
      try fill(seed: seed, count: count)
      guard isLeftToGraph else { return }
      try raw.connection.executeScript(
        ["THING", "PART"].map { "CREATE TRIGGER idle\($0) AFTER DELETE ON Z\($0) BEGIN SELECT 1; END;" }.joined())
    }

    var raw: RawDatabase { get throws { try RawDatabase(people.folder.file()) } }

    private func fill(seed: UInt64, count: Int) throws {
      var random = SplitMix(seed)
      let things = try (0..<count).map { number in
        try context.insert(number % 3 == 2 ? "Special" : "Thing", values: ["name": .string("t\(number)")])
      }
      let parts = try (0..<count).map { try context.insert("Part", values: ["n": .int(Int64($0))]) }
      try context.save()
      func isWanted() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
      for (number, thing) in things.enumerated() {
        if number > 0, isWanted() {
          try thing.setObject(things[Int.random(in: 0..<number, using: &random)], forKey: "parent")
        }
        if isWanted() { try thing.setObject(parts[number], forKey: "partner") }
        if isWanted() { try thing.add(parts[Int.random(in: 0..<count, using: &random)], to: "marks") }
        if isWanted() { try thing.add(things[Int.random(in: 0..<count, using: &random)], to: "friends") }
      }
      let specials = things.filter { $0.entity.name == "Special" }
      for part in parts {
        if isWanted() { try part.setObject(things[Int.random(in: 0..<count, using: &random)], forKey: "thing") }
        if isWanted(), let special = specials.randomElement(using: &random) {
          try part.setObject(special, forKey: "special")
        }
        if isWanted() { try part.add(things[Int.random(in: 0..<count, using: &random)], to: "marked") }
      }
      try context.save()
    }

    /// The contents of the file, without values from a clock or a random generator.
    func contents() throws -> [String] {
      let raw = try raw
      let tables = try raw.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1").filter {
        !["Z_METADATA", "Z_MODELCACHE", "ATRANSACTION", "ACHANGE", "sqlite_stat1"].contains($0)
      }
      var contents = try tables.flatMap { table in
        try raw.rows("SELECT * FROM \(table) ORDER BY 1, 2").map { "\(table): \($0)" }
      }
      if try !raw.rows("SELECT 1 FROM sqlite_master WHERE name = 'ACHANGE'").isEmpty {
        contents += try raw.rows("SELECT COUNT(*) FROM ATRANSACTION")
        contents += try raw.rows(
          "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, hex(ZCOLUMNS), ZTOMBSTONE0, ZTOMBSTONE1 FROM ACHANGE ORDER BY 1, 2, 3, 4, 5"
        )
      }
      return contents
    }

    /// The result of a batch deletion, or its error.
    func delete(_ format: String, _ entity: String, _ type: BatchResultType) -> [String] {
      do {
        var request = BatchDeleteRequest(try FetchRequest(entity, where: format))
        request.resultType = type
        let result = try context.execute(request)
        func names(_ ids: [ManagedObjectID]?) -> String { "\(ids?.map { "\($0.entityName)\($0.key)" }.sorted() ?? [])" }
        return ["\(result.count ?? -1)", names(result.objectIDs), names(result.changes?.deleted)]
      } catch let error as GraphError {
        return ["\(error.code)"]
      } catch {
        return ["\(error)"]
      }
    }
  }

  /// A remaining row whose version cannot rise: an error as in the graph, and the file is unchanged.
  @Test(arguments: ["'x'", "1.5", "9223372036854775807"]) func aRowThatStaysWhoseVersionCannotRiseIsAnError(
    _ version: String
  ) throws {
    var random = SplitMix(3)
    let world = try World(
      Self.model([.nullify], &random), seed: 3, count: 12, tracksHistory: false, isLeftToGraph: false)
    try world.raw.connection.execute("UPDATE ZPART SET Z_OPT = \(version) WHERE ZTHING NOT NULL")
    let before = try world.contents()
    let context = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: world.coordinator))
    let error = #expect(throws: GraphError.self) {
      try context.execute(BatchDeleteRequest(FetchRequest("Thing")))
    }
    #expect(error?.code == .invalidStore && error?.message.contains("Z_OPT") == true, "\(error as Any)")
    #expect(try world.contents() == before)
  }

  @Test(arguments: 0..<UInt64(Repetition.cascadeSeeds.count)) func randomGraphsAreLeftAsTheGraphLeavesThem(
    _ seed: UInt64
  ) throws {
    var random = SplitMix(seed)
    let rules: [DeleteRule] =
      seed % 4 == 0
      ? [.nullify, .cascade, .deny, .noAction] : seed % 4 == 1 ? [.nullify] : [.nullify, .cascade, .nullify, .noAction]
    let model = Self.model(rules, &random)
    let tracksHistory = seed % 2 == 1
    let worlds = try [false, true].map {
      try World(model, seed: seed, count: 24, tracksHistory: tracksHistory, isLeftToGraph: $0)
    }
    #expect(try worlds[0].contents() == worlds[1].contents())
    for (format, entity, type) in [
      ("name ENDSWITH '3'", "Thing", BatchResultType.objectIDs), ("n IN {2, 9, 16, 23}", "Part", .count),
      ("parent != nil", "Special", .statusOnly), ("SUBQUERY(marks, $p, $p.n > 10).@count > 0", "Thing", .objectIDs),
    ] {
      var told: [[String]] = []
      var statements: [[String]] = []
      for world in worlds {
        statements.append(try world.people.statements { told.append(world.delete(format, entity, type)) })
      }
      // Only denied deletions are left to the graph.
      let isBySets = statements.map { $0.contains { $0.hasPrefix("INSERT INTO temp.moonbase_going") } }
      #expect(isBySets == [true, false], "\(format)")
      #expect(rules.contains(.deny) || !statements[0].contains("ROLLBACK"), "\(format)")
      #expect(told[0] == told[1], "\(format)")
      #expect(try worlds[0].contents() == worlds[1].contents(), "\(format)")
    }
    #expect(worlds[0].context.brokenInvariants() == [])
  }

  /// A statement for each table and relationship, however many rows there are.
  @Test(arguments: [10, 200]) func theNumberOfStatementsIsThatOfRelationships(_ count: Int) throws {
    var random = SplitMix(1)
    var model = Self.model([.nullify], &random)
    model.entities[0].relationships[2].deleteRule = .cascade
    let world = try World(model, seed: 1, count: count, tracksHistory: false, isLeftToGraph: false)
    let statements = try world.people.statements { _ = world.delete("name != nil", "Thing", .statusOnly) }.filter {
      sql in
      ["INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) }
    }
    #expect(statements.count == 13, "\(statements)")
    #expect(try world.raw.rows("SELECT COUNT(*) FROM ZTHING") == ["0"])
    #expect(try world.raw.rows("SELECT COUNT(*) FROM ZPART WHERE ZTHING NOT NULL OR ZMATE NOT NULL") == ["0"])
  }

  /// As many levels as there are rows.
  @Test func aChainOfRowsGoesLinkByLink() throws {
    var random = SplitMix(1)
    var model = Self.model([.nullify], &random)
    model.entities[0].relationships[1].deleteRule = .cascade
    let world = try World(model, seed: 1, count: 3, tracksHistory: false, isLeftToGraph: false)
    var last: ManagedObject?
    for number in 0..<2000 {
      let thing = try world.context.insert("Thing", values: ["name": .string("link \(number)")])
      try thing.setObject(last, forKey: "parent")
      last = thing
    }
    try world.context.save()
    #expect(world.delete("name == 'link 0'", "Thing", .count)[0] == "1")
    #expect(try world.raw.rows("SELECT COUNT(*) FROM ZTHING WHERE ZNAME LIKE 'link%'") == ["0"])
  }

  /// Contexts that are notified of entities instead of rows remove the deleted objects from their lists.
  @Test func listsOfOtherContextsLoseWhatWent() throws {
    var random = SplitMix(1)
    let world = try World(
      Self.model([.nullify], &random), seed: 1, count: 3, tracksHistory: false, isLeftToGraph: false)
    let thing = try world.context.insert("Thing", values: ["name": "kept"])
    for number in 100..<110 {
      let part = try world.context.insert("Part", values: ["n": .int(Int64(number))])
      try part.setObject(thing, forKey: "thing")
      try part.add(thing, to: "marked")
    }
    try world.context.save()
    let other = try ManagedObjectContext(world.coordinator)
    other.automaticallyMergesChangesFromParent = true
    let mine = try other.object(with: thing.objectID)
    #expect(try mine.objects(forKey: "parts").count == 10 && mine.objects(forKey: "marks").count == 10)
    #expect(world.delete("n >= 104", "Part", .statusOnly) == ["-1", "[]", "[]"])
    try other.processPendingChanges()
    #expect(try mine.objects(forKey: "parts").count == 4 && mine.objects(forKey: "marks").count == 4)
  }

  /// External files of values are deleted with their rows.
  @Test func filesOfValuesGoWithTheirRows() throws {
    var model = ManagedObjectModel {
      EntityDescription("Album") {
        RelationshipDescription.toMany("photos", destination: "Photo", inverse: "album").onDelete(.cascade)
      }
      EntityDescription("Photo") {
        AttributeDescription("bytes", type: .binaryData)
        RelationshipDescription.toOne("album", destination: "Album", inverse: "photos")
      }
    }
    model.entities[1].attributes[0].allowsExternalBinaryDataStorage = true
    let people = try PeopleStore(model)
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(people.store)
    try {
      let context = try ManagedObjectContext(coordinator)
      for number in 0..<4 {
        let album = try context.insert("Album")
        let photo = try context.insert(
          "Photo", values: ["bytes": .data(Data(repeating: UInt8(number), count: 200_000))])
        try photo.setObject(album, forKey: "album")
      }
      try context.save()
    }()
    func files() throws -> Int {
      try FileManager.default.subpathsOfDirectory(atPath: people.folder.url.path).filter {
        $0.contains("_EXTERNAL_DATA/")
      }.count
    }
    #expect(try files() == 4)
    let context = try ManagedObjectContext(coordinator)
    var window = FetchRequest("Album")
    window.fetchLimit = 3
    let statements = try people.statements { try context.execute(BatchDeleteRequest(window)) }
    #expect(statements.contains { $0.contains("moonbase_going") })
    #expect(try files() == 1)
  }
}
