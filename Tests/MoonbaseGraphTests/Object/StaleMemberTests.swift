import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Lists that are read after the rows of their members, which somebody else has saved in between.
@Suite struct StaleMemberTests {
  private struct Scene {
    let bench: StoreBench
    let mine, theirs: ManagedObjectContext
    /// As the others see them.
    let departments: [ManagedObject]
    let person: ManagedObject
    /// As I see them: the row of the person is read.
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

    /// Whose list has the person, and where its row leads to, as the store has it.
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

  /// The list is older than the row of its member.
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

  /// What it changed goes by the row that it knows, and a newer one must not come in below without a word.
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
}
