import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Relationships with too few or too many destinations, whichever side was changed.
@Suite struct RelationshipCountTests {
  /// A team has two or three players, ordered or not; a course has at most two students, who attend one or two courses.
  private static func model(isOrdered: Bool) -> ManagedObjectModel {
    var players = RelationshipDescription.toMany("players", destination: "Player", inverse: "team")
    (players.minCount, players.maxCount, players.isOrdered) = (2, 3, isOrdered)
    var students = RelationshipDescription.toMany("students", destination: "Player", inverse: "courses")
    students.maxCount = 2
    var courses = RelationshipDescription.toMany("courses", destination: "Course", inverse: "students")
    courses.maxCount = 2
    return ManagedObjectModel {
      EntityDescription("Team") {
        AttributeDescription("name", type: .string)
        players
      }
      EntityDescription("Player") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toOne("team", destination: "Team", inverse: "players")
        courses
      }
      EntityDescription("Course") { students }
    }
  }

  private static let orders = [false, true]

  /// A team of some players, saved by another context and not read here.
  private func saved(
    _ kind: StoreKind, isOrdered: Bool = false, players count: Int
  ) throws -> (bench: StoreBench, context: ManagedObjectContext, team: ManagedObject, players: [ManagedObject]) {
    let bench = try StoreBench(kind, Self.model(isOrdered: isOrdered))
    let first = bench.context()
    let team = try first.insert("Team", values: ["name": "a"])
    let players = try (0..<count).map { try first.insert("Player", values: ["name": .string("p\($0)")]) }
    try team.setObjects(players, forKey: "players")
    try first.save()
    let context = bench.stranger()
    return (
      bench, context, try context.object(with: team.objectID), try players.map { try context.object(with: $0.objectID) }
    )
  }

  private func expectFailure(
    _ code: ErrorCode, of object: ManagedObject, _ property: String, _ words: String,
    location: Testing.SourceLocation = #_sourceLocation
  ) throws {
    let context = try #require(object.managedObjectContext)
    let error = #expect(throws: GraphError.self, sourceLocation: location) { try context.save() }
    #expect(error?.code == code && error?.property == property, "\(error?.message ?? "")", sourceLocation: location)
    #expect(error?.objectID == object.objectID && error?.entity == object.entity.name, sourceLocation: location)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")", sourceLocation: location)
    #expect(context.hasChanges, sourceLocation: location)
    // Explicit validation finds the same, once delete rules are applied.
    try context.processPendingChanges()
    let told = #expect(throws: GraphError.self, sourceLocation: location) { try object.validate() }
    #expect(told?.code == code, sourceLocation: location)
  }

  // MARK: From the side that counts

  @Test(arguments: StoreKind.allCases, orders) func tooFewDestinationsFailTheSave(_ kind: StoreKind, _ isOrdered: Bool)
    throws
  {
    let (bench, context, team, players) = try saved(kind, isOrdered: isOrdered, players: 2)
    try team.remove(players[0], from: "players")
    try expectFailure(
      .relationshipLacksMinimumCount, of: team, "players", "Team.players has 1 destination and needs at least 2")
    #expect(try team.objects(forKey: "players") == [players[1]] && players[0].object(forKey: "team") == nil)
    try team.add(context.insert("Player", values: ["name": "new"]), to: "players")
    try context.save()
    let stranger = bench.stranger()
    #expect(try stranger.object(with: team.objectID).objects(forKey: "players").count == 2)
    // No destination at all is allowed, since the relationship is optional.
    try team.setObjects([], forKey: "players")
    try context.save()
  }

  @Test(arguments: StoreKind.allCases, orders) func tooManyDestinationsFailTheSave(_ kind: StoreKind, _ isOrdered: Bool)
    throws
  {
    let (bench, context, team, players) = try saved(kind, isOrdered: isOrdered, players: 3)
    try team.add(context.insert("Player"), to: "players")
    try expectFailure(
      .relationshipExceedsMaximumCount, of: team, "players", "Team.players has 4 destinations and may have at most 3")
    try team.remove(players[2], from: "players")
    try context.save()
    let stranger = bench.stranger()
    #expect(try stranger.object(with: team.objectID).objects(forKey: "players").count == 3)
  }

  /// Apple: a count of 0 means undefined, whether or not the relationship is optional.
  @Test(arguments: StoreKind.allCases) func anEmptyRelationshipThatIsRequiredIsValidWithoutAMinimum(_ kind: StoreKind)
    throws
  {
    for minimum in [0, 1] {
      var model = Self.model(isOrdered: false)
      model.entities[0].relationships[0].isOptional = false
      model.entities[0].relationships[0].minCount = minimum
      let bench = try StoreBench(kind, model)
      let context = bench.context()
      let team = try context.insert("Team")
      guard minimum == 0 else {
        try expectFailure(
          .relationshipLacksMinimumCount, of: team, "players", "Team.players has 0 destinations and needs at least 1")
        continue
      }
      try team.validate()
      try context.save()
      let player = try context.insert("Player", values: ["team": .objectID(team.objectID)])
      try context.save()
      try context.delete(player)
      try context.save()
      #expect(try team.objects(forKey: "players").isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases) func aNewObjectIsCountedToo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model(isOrdered: false))
    let context = bench.context()
    let team = try context.insert("Team")
    let players = try (0..<4).map { _ in try context.insert("Player") }
    try team.add(players[0], to: "players")
    try expectFailure(.relationshipLacksMinimumCount, of: team, "players", "needs at least 2")
    try team.setObjects(players, forKey: "players")
    try expectFailure(.relationshipExceedsMaximumCount, of: team, "players", "may have at most 3")
    try team.remove(players[3], from: "players")
    try context.save()
  }

  // MARK: From the other side

  @Test(arguments: StoreKind.allCases, orders)
  func aDestinationThatLeavesOnItsOwnMakesTooFew(_ kind: StoreKind, _ isOrdered: Bool) throws {
    let (bench, context, team, players) = try saved(kind, isOrdered: isOrdered, players: 2)
    defer { withExtendedLifetime(bench) {} }
    try players[1].setObject(nil, forKey: "team")
    try expectFailure(.relationshipLacksMinimumCount, of: team, "players", "has 1 destination ")
    try players[1].setObject(team, forKey: "team")
    try context.save()
  }

  @Test(arguments: StoreKind.allCases, orders)
  func aDestinationThatComesOnItsOwnMakesTooMany(_ kind: StoreKind, _ isOrdered: Bool) throws {
    let (bench, context, team, players) = try saved(kind, isOrdered: isOrdered, players: 3)
    defer { withExtendedLifetime(bench) {} }
    let new = try context.insert("Player", values: ["team": .objectID(team.objectID)])
    #expect(try team.hasFault(forRelationshipNamed: "players"))
    try expectFailure(.relationshipExceedsMaximumCount, of: team, "players", "has 4 destinations")
    #expect(try new.object(forKey: "team") == team && Set(team.objects(forKey: "players")) == Set(players + [new]))
    try context.delete(new)
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func aDestinationThatIsDeletedMakesTooFew(_ kind: StoreKind) throws {
    let (bench, context, team, players) = try saved(kind, players: 2)
    defer { withExtendedLifetime(bench) {} }
    try context.delete(players[0])
    try expectFailure(.relationshipLacksMinimumCount, of: team, "players", "has 1 destination ")
    #expect(players[0].isDeleted)
    try context.delete(players[1])
    try context.save()
    #expect(try team.objects(forKey: "players").isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func aDestinationThatMovesIsCountedWhereItWasAndWhereItIs(_ kind: StoreKind)
    throws
  {
    let (bench, context, team, players) = try saved(kind, players: 2)
    defer { withExtendedLifetime(bench) {} }
    let other = try context.insert("Team", values: ["name": "b"])
    for _ in 0..<3 { try context.insert("Player").setObject(other, forKey: "team") }
    try context.save()
    try players[0].setObject(other, forKey: "team")
    let error = #expect(throws: GraphError.self) { try context.save() }
    let details = Dictionary(grouping: error?.details ?? [], by: \.objectID).mapValues { $0.map(\.code) }
    #expect(error?.code == .multipleErrors)
    #expect(
      details == [team.objectID: [.relationshipLacksMinimumCount], other.objectID: [.relationshipExceedsMaximumCount]])
    try players[0].setObject(team, forKey: "team")
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func bothSidesOfAManyToManyRelationshipAreCounted(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model(isOrdered: false))
    let context = bench.context()
    let courses = try (0..<3).map { _ in try context.insert("Course") }
    let students = try (0..<3).map { _ in try context.insert("Player") }
    for student in students.prefix(2) { try courses[0].add(student, to: "students") }
    try context.save()
    // The course is full, whichever side adds a student.
    try students[2].add(courses[0], to: "courses")
    try expectFailure(.relationshipExceedsMaximumCount, of: courses[0], "students", "has 3 destinations")
    try students[2].remove(courses[0], from: "courses")
    try context.save()
    for course in courses.dropFirst() { try course.add(students[0], to: "students") }
    try expectFailure(.relationshipExceedsMaximumCount, of: students[0], "courses", "has 3 destinations")
    try context.delete(courses[0])
    try context.save()
  }

  /// A relationship that other contexts made invalid fails only saves that change it.
  @Test(arguments: StoreKind.allCases) func aChangeOfSomethingElseReadsNoDestinations(_ kind: StoreKind) throws {
    let (bench, context, team, players) = try saved(kind, players: 3)
    defer { withExtendedLifetime(bench) {} }
    try team.setValue("b", forKey: "name")
    try players[0].setValue("b", forKey: "name")
    try context.save()
    #expect(try team.hasFault(forRelationshipNamed: "players"))
  }
}
