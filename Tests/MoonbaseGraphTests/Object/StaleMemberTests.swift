import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Relationship lists read after their members' rows, with a save of another context in between.
@Suite struct StaleMemberTests {
  private struct Scene {
    let bench: StoreBench
    let mine, theirs: ManagedObjectContext
    /// The objects of the other context.
    let departments: [ManagedObject]
    let person: ManagedObject
    /// The tested context's copies of these objects; the person's row is read.
    let seenDepartments: [ManagedObject]
    let seen: ManagedObject

    init(_ kind: StoreKind, in first: Int?) throws {
      bench = try StoreBench(kind)
      let theirs = bench.stranger()
      let mine = bench.context()
      let departments = try (0..<2).map { _ in try theirs.insert("Department") }
      person = try theirs.insert("Person", values: ["firstName": "Ann"])
      try person.setObject(first.map { departments[$0] }, forKey: "department")
      try theirs.save()
      seen = try mine.object(with: person.objectID)
      #expect(seen["firstName"] == "Ann")
      seenDepartments = try departments.map { try mine.object(with: $0.objectID) }
      (self.mine, self.theirs, self.departments) = (mine, theirs, departments)
    }

    /// Expects the person in the list of one department only, and the row to refer to that department.
    func check(_ place: Int?) throws {
      let fresh = bench.stranger()
      for (index, department) in departments.enumerated() {
        let list = try fresh.object(with: department.objectID).objectIDs(forRelationshipNamed: "employees")
        #expect(list.isEmpty == (index != place), "\(index)")
      }
      let destination = try fresh.object(with: person.objectID).object(forKey: "department")?.objectID
      #expect(destination == place.map { departments[$0].objectID })
      #expect(mine.brokenInvariants().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aMemberWhoseRowIsOlderThanTheListIsRemoved(_ kind: StoreKind, assigning: Bool) throws {
    let scene = try Scene(kind, in: nil)
    try scene.person.setObject(scene.departments[0], forKey: "department")
    try scene.theirs.save()
    let list = scene.seenDepartments[0]
    #expect(try list.objects(forKey: "employees") == [scene.seen])
    if assigning {
      try list.setObjects([], forKey: "employees")
    } else {
      try list.remove(scene.seen, from: "employees")
    }
    try scene.mine.save()
    try scene.check(nil)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func whoWasMovedAwaySinceItsRowWasReadIsAdded(_ kind: StoreKind, isRead: Bool) throws {
    let scene = try Scene(kind, in: 0)
    try scene.person.setObject(scene.departments[1], forKey: "department")
    try scene.theirs.save()
    let list = scene.seenDepartments[0]
    if isRead { #expect(try list.objects(forKey: "employees").isEmpty) }
    try list.add(scene.seen, to: "employees")
    #expect(try list.objects(forKey: "employees") == [scene.seen])
    try scene.mine.save()
    try scene.check(0)
  }

  /// The list is older than its member's row.
  private func olderList(_ kind: StoreKind) throws -> (Scene, mine: ManagedObjectContext, list: ManagedObject) {
    let scene = try Scene(kind, in: 0)
    let mine = scene.bench.stranger()
    let list = try mine.object(with: scene.departments[0].objectID)
    #expect(try list.objects(forKey: "employees").count == 1)
    try scene.person.setObject(scene.departments[1], forKey: "department")
    try scene.theirs.save()
    return (scene, mine, list)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func whoWasMovedAwaySinceTheListWasReadIsAdded(_ kind: StoreKind, assigning: Bool) throws {
    let (scene, mine, list) = try olderList(kind)
    let seen = try mine.object(with: scene.person.objectID)
    #expect(try seen.object(forKey: "department")?.objectID == scene.departments[1].objectID)
    if assigning {
      try list.setObjects([seen], forKey: "employees")
    } else {
      try list.add(seen, to: "employees")
    }
    #expect(try seen.object(forKey: "department") == list)
    try mine.save()
    #expect(try list.objects(forKey: "employees") == [seen])
    try scene.check(0)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func whoWasMovedAwaySinceTheListWasReadIsNotDeletedWithItsOwner(_ kind: StoreKind, isRead: Bool) throws {
    let bench = try StoreBench(kind)
    let (theirs, mine) = (bench.stranger(), bench.context())
    let departments = try (0..<2).map { _ in try theirs.insert("Department") }
    let project = try theirs.insert("Project", values: ["title": "P"])
    try project.setObject(departments[0], forKey: "department")
    try theirs.save()
    let owner = try mine.object(with: departments[0].objectID)
    #expect(try owner.objects(forKey: "projects").count == 1)
    try project.setObject(departments[1], forKey: "department")
    try theirs.save()
    if isRead { #expect(try mine.object(with: project.objectID)["title"] == "P") }
    try mine.delete(owner)
    try mine.save()
    let fresh = bench.stranger()
    #expect(
      try fresh.fetch(FetchRequest("Project")).map { try $0.object(forKey: "department")?.objectID } == [
        departments[1].objectID
      ])
    #expect(mine.brokenInvariants().isEmpty)
  }

  /// A change is based on the row that the object has. A newer row must cause a conflict instead of replacing that row
  /// silently.
  @Test(arguments: StoreKind.allCases)
  func aChangedMemberWhoseRowIsOlderIsAConflict(_ kind: StoreKind) throws {
    let scene = try Scene(kind, in: nil)
    try scene.person.setObject(scene.departments[0], forKey: "department")
    try scene.theirs.save()
    scene.seen["firstName"] = "Bob"
    let list = scene.seenDepartments[0]
    #expect(try list.objects(forKey: "employees").count == 1)
    try list.remove(scene.seen, from: "employees")
    let error = #expect(throws: GraphError.self) { try scene.mine.save() }
    #expect(error?.code == .mergeConflict)
    try scene.check(0)
  }

  @Test(arguments: StoreKind.allCases) func aMemberThatIsGoneCannotBeAddedAndCanBeRemoved(_ kind: StoreKind) throws {
    let scene = try Scene(kind, in: 0)
    try scene.theirs.delete(scene.person)
    try scene.theirs.save()
    let list = scene.seenDepartments[0]
    let error = #expect(throws: GraphError.self) { try list.add(scene.seen, to: "employees") }
    #expect(error?.code == .objectNotFound)
    #expect(try list.objects(forKey: "employees").isEmpty)
    #expect(!scene.mine.hasChanges)
  }

  // MARK: One context reads two sides at different times

  /// A list read before a member was added, and the member, whose row was read afterwards.
  private func newerRow(_ kind: StoreKind) throws -> (
    Scene, mine: ManagedObjectContext, list: ManagedObject, seen: ManagedObject
  ) {
    let scene = try Scene(kind, in: nil)
    let mine = scene.bench.stranger()
    let list = try mine.object(with: scene.departments[0].objectID)
    #expect(try list.objects(forKey: "employees").isEmpty)
    try scene.person.setObject(scene.departments[0], forKey: "department")
    try scene.theirs.save()
    return (scene, mine, list, try mine.object(with: scene.person.objectID))
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aListLearnsOfWhoCameSinceWhenTheRowIsRead(_ kind: StoreKind, fetching: Bool) throws {
    let (scene, mine, list, seen) = try newerRow(kind)
    if fetching { _ = try mine.fetch(FetchRequest("Person")) } else { _ = seen["firstName"] }
    #expect(try list.objects(forKey: "employees") == [seen])
    try list.setObjects([], forKey: "employees")
    try mine.save()
    try scene.check(nil)
  }

  @Test(arguments: StoreKind.allCases) func whoCameSinceTheListWasReadIsRemoved(_ kind: StoreKind) throws {
    let (scene, mine, list, seen) = try newerRow(kind)
    try list.remove(seen, from: "employees")
    #expect(try list.objects(forKey: "employees").isEmpty && seen.object(forKey: "department") == nil)
    try mine.save()
    try scene.check(nil)
  }

  /// The list is newer than the row, and the row already has the assigned destination.
  @Test(arguments: StoreKind.allCases, [nil, 0, 1])
  func aDestinationThatAnOldRowHasIsAssigned(_ kind: StoreKind, to place: Int?) throws {
    let scene = try Scene(kind, in: place)
    let other = place == 0 ? 1 : 0
    #expect(try scene.seen.object(forKey: "department")?.objectID == place.map { scene.departments[$0].objectID })
    try scene.person.setObject(scene.departments[other], forKey: "department")
    try scene.theirs.save()
    #expect(try scene.seenDepartments[other].objects(forKey: "employees") == [scene.seen])
    #expect(try scene.seen.object(forKey: "department") == scene.seenDepartments[other])
    try scene.seen.setObject(place.map { scene.seenDepartments[$0] }, forKey: "department")
    try scene.mine.save()
    try scene.check(place)
  }

  /// Only the former owner's list was read: it lacks the object that the old row puts there.
  @Test(arguments: StoreKind.allCases) func aDestinationWhoseListLacksTheObjectIsAssigned(_ kind: StoreKind) throws {
    let scene = try Scene(kind, in: 1)
    #expect(try scene.seen.object(forKey: "department") == scene.seenDepartments[1])
    try scene.person.setObject(scene.departments[0], forKey: "department")
    try scene.theirs.save()
    #expect(try scene.seenDepartments[1].objects(forKey: "employees").isEmpty)
    try scene.seen.setObject(scene.seenDepartments[1], forKey: "department")
    try scene.mine.save()
    try scene.check(1)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aRefreshedObjectThatWasNeverReadLeavesTheListOfItsOldOwner(_ kind: StoreKind, merging: Bool) throws {
    let scene = try Scene(kind, in: 0)
    let mine = scene.bench.stranger()
    let departments = try scene.departments.map { try mine.object(with: $0.objectID) }
    let seen = try #require(try departments[0].objects(forKey: "employees").first)
    try scene.person.setObject(scene.departments[1], forKey: "department")
    try scene.theirs.save()
    try mine.refresh(seen, mergeChanges: merging)
    #expect(try departments[0].objects(forKey: "employees").isEmpty)
    #expect(try departments[1].objects(forKey: "employees") == [seen])
    #expect(try seen.object(forKey: "department") == departments[1])
    #expect(mine.brokenInvariants().isEmpty)
  }

  // MARK: Pairs

  /// Two friends, or two people who are not. The first list was read before another context changed the relationship,
  /// the second list afterwards.
  private func pair(
    _ kind: StoreKind, areFriends: Bool
  ) throws -> (bench: StoreBench, mine: ManagedObjectContext, old: ManagedObject, new: ManagedObject) {
    let bench = try StoreBench(kind)
    let theirs = bench.stranger()
    let people = try ["Ann", "Bob"].map { try theirs.insert("Person", values: ["firstName": .string($0)]) }
    if !areFriends { try people[0].add(people[1], to: "friends") }
    try theirs.save()
    let mine = bench.stranger()
    let seen = try people.map { try mine.object(with: $0.objectID) }
    #expect(try seen[0].objects(forKey: "friends").count == (areFriends ? 0 : 1))
    if areFriends {
      try people[0].add(people[1], to: "friends")
    } else {
      try people[0].remove(people[1], from: "friends")
    }
    try theirs.save()
    #expect(try seen[1].objects(forKey: "friends").count == (areFriends ? 1 : 0))
    return (bench, mine, seen[0], seen[1])
  }

  private func friendCounts(_ bench: StoreBench) throws -> [Int] {
    let fresh = bench.stranger()
    return try withExtendedLifetime(fresh) {
      try fresh.fetch(FetchRequest("Person")).map { try $0.objectIDs(forRelationshipNamed: "friends").count }
    }
  }

  @Test(arguments: StoreKind.allCases, ["remove", "set", "delete"])
  func aPairThatCameSinceTheFirstSideWasReadGoes(_ kind: StoreKind, how: String) throws {
    let (bench, mine, old, new) = try pair(kind, areFriends: true)
    switch how {
    case "remove": try old.remove(new, from: "friends")
    case "set": try old.setObjects([], forKey: "friends")
    default: try mine.delete(old)
    }
    try mine.save()
    #expect(try new.objects(forKey: "friends").isEmpty)
    #expect(try friendCounts(bench).allSatisfy { $0 == 0 })
    #expect(mine.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aPairThatWentSinceTheFirstSideWasReadIsMadeAgain(_ kind: StoreKind, assigning: Bool) throws {
    let (bench, mine, old, new) = try pair(kind, areFriends: false)
    if assigning { try old.setObjects([new], forKey: "friends") } else { try old.add(new, to: "friends") }
    try mine.save()
    #expect(try old.objects(forKey: "friends") == [new] && new.objects(forKey: "friends") == [old])
    #expect(try friendCounts(bench) == [1, 1])
    #expect(mine.brokenInvariants().isEmpty)
  }

  // MARK: One-to-one

  /// The first row was read before another context separated the two objects, the second row afterwards. Each side is
  /// set in turn.
  @Test(arguments: StoreKind.allCases, [false, true])
  func twoThatWereSeparatedSinceOneRowWasReadAreBothSaved(_ kind: StoreKind, settingOlder: Bool) throws {
    for key in ["seat", "sitter"] { try setOneToOne(key, kind, settingOlder: settingOlder) }
  }

  private func setOneToOne(_ key: String, _ kind: StoreKind, settingOlder: Bool) throws {
    let inverse = try #require(Pairs.inverses[key])
    let bench = try StoreBench(kind, Pairs.model())
    let theirs = bench.stranger()
    let (one, two) = (
      try theirs.insert("Node", values: ["name": "1"]), try theirs.insert("Node", values: ["name": "2"])
    )
    try one.setObject(two, forKey: key)
    try theirs.save()
    let mine = bench.stranger()
    let (older, newer) = (try mine.object(with: one.objectID), try mine.object(with: two.objectID))
    #expect(older["name"] == "1")
    try one.setObject(nil, forKey: key)
    try theirs.save()
    #expect(newer["name"] == "2")
    if settingOlder { try older.setObject(newer, forKey: key) } else { try newer.setObject(older, forKey: inverse) }
    #expect(try older.object(forKey: key) == newer && newer.object(forKey: inverse) == older)
    try mine.save()
    #expect(mine.brokenInvariants().isEmpty)
    #expect(try Pairs.links(in: bench.stranger())["1"]?[key] == ["2"])
    #expect(try Pairs.broken(in: bench.stranger()) == [])
  }

  // MARK: Delete rules

  /// An owner with a delete rule `to` its things. Their relationship `back` is to-one, to-many or missing.
  private static func owners(_ rule: DeleteRule, back: String) -> ManagedObjectModel {
    var to = RelationshipDescription.toMany("to", destination: "Thing", inverse: back == "none" ? nil : "back")
    to.deleteRule = rule
    var thing = EntityDescription("Thing")
    thing.attributes = [AttributeDescription("name", type: .string)]
    switch back {
    case "one": thing.relationships = [.toOne("back", destination: "Owner", inverse: "to")]
    case "many": thing.relationships = [.toMany("back", destination: "Owner", inverse: "to")]
    default: break
    }
    var owner = EntityDescription("Owner")
    owner.relationships = [to]
    return ManagedObjectModel(entities: [owner, thing])
  }

  /// An owner whose list was read before another context removed its only thing, and perhaps gave the thing to another
  /// owner.
  private func emptiedList(
    _ kind: StoreKind, _ rule: DeleteRule, back: String, isMoved: Bool
  ) throws -> (bench: StoreBench, mine: ManagedObjectContext, owner: ManagedObject, thing: ManagedObjectID) {
    let bench = try StoreBench(kind, Self.owners(rule, back: back))
    let (theirs, mine) = (bench.stranger(), bench.stranger())
    let owners = try (0..<2).map { _ in try theirs.insert("Owner") }
    let thing = try theirs.insert("Thing", values: ["name": "t"])
    try owners[0].add(thing, to: "to")
    try theirs.save()
    let owner = try mine.object(with: owners[0].objectID)
    #expect(try owner.objectIDs(forRelationshipNamed: "to") == [thing.objectID])
    try owners[0].remove(thing, from: "to")
    if isMoved { try owners[1].add(thing, to: "to") }
    try theirs.save()
    return (bench, mine, owner, thing.objectID)
  }

  /// A many-to-many pair is in no row, so no newer row reveals its removal.
  @Test(arguments: StoreKind.allCases, ["one", "many", "none"])
  func whoWasTakenOutSinceTheListWasReadStaysWhenTheOwnerGoes(_ kind: StoreKind, back: String) throws {
    for rule in [DeleteRule.cascade, .nullify] {
      for (isMoved, isRead) in [(false, false), (false, true), (true, false), (true, true)] {
        let (bench, mine, owner, thing) = try emptiedList(kind, rule, back: back, isMoved: isMoved)
        if isRead { #expect(try mine.object(with: thing)["name"] == "t") }
        try mine.delete(owner)
        try mine.save()
        #expect(try bench.saved("Thing", "name") == ["t"], "\(rule), moved \(isMoved), read \(isRead)")
        let fresh = bench.stranger()
        let others = try fresh.fetch(FetchRequest("Owner"))
        #expect(try others.map { try $0.objectIDs(forRelationshipNamed: "to") } == [isMoved ? [thing] : []])
        #expect(mine.brokenInvariants().isEmpty)
      }
    }
  }

  /// The list is older than the row of its member, which has another owner now.
  @Test(arguments: StoreKind.allCases, [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst])
  func theRuleDenyDoesNotCountWhoLeadsElsewhereByNow(
    _ kind: StoreKind, _ order: ManagedObjectContext.SaveOrder
  ) throws {
    for (isMoved, isRead) in [(false, false), (false, true), (true, false), (true, true)] {
      let (bench, mine, owner, thing) = try emptiedList(kind, .deny, back: "one", isMoved: isMoved)
      mine.saveOrder = order
      if isRead { #expect(try mine.object(with: thing)["name"] == "t") }
      try mine.delete(owner)
      try mine.save()
      #expect(try bench.stranger().count(FetchRequest("Owner")) == 1)
      #expect(try bench.saved("Thing", "name") == ["t"])
      #expect(mine.brokenInvariants().isEmpty)
    }
  }
}
