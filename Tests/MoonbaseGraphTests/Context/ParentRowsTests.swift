import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Rows that a context keeps for its children, and the cost of a child's save.
@Suite struct ParentRowsTests {
  private func family(_ kind: StoreKind, _ count: Int) throws -> (StoreBench, ManagedObjectContext, [ManagedObjectID]) {
    let bench = try StoreBench(kind)
    let parent = bench.context()
    let people = try (0..<count).map { try parent.insert("Person", values: ["firstName": .string("P\($0)")]) }
    try parent.save()
    return (bench, parent, people.map(\.objectID))
  }

  private func keptRows(of parent: ManagedObjectContext) -> Int {
    parent.lifetime.sourceOfChildren?.parentRows?.count ?? 0
  }

  /// A child that follows the parent's changes makes each change slower, but only while the child exists.
  @Test(arguments: StoreKind.allCases) func changesAreQuickAgainWhenNobodyFollowsThem(_ kind: StoreKind) throws {
    let (bench, parent, ids) = try family(kind, 20)
    #expect(parent.overwritesQuietly)
    var child: ManagedObjectContext? = ManagedObjectContext(parent: parent)
    try withExtendedLifetime(child?.object(with: ids[0]).value(forKey: "age")) {}
    #expect(!parent.overwritesQuietly)
    child = nil
    #expect(parent.overwritesQuietly)
    for end in [{ try parent.save() }, { try parent.rollback() }] {
      for id in ids { try parent.object(with: id).setValue("x", forKey: "lastName") }
      try #expect(parent.fetch(FetchRequest("Person", where: "lastName = 'x'")).count == 20)
      let isFollowed = parent.changedObjects.isFollowed
      try end()
      #expect(isFollowed && parent.overwritesQuietly)
      try parent.rollback()
      for id in ids { try parent.object(with: id).setValue("y", forKey: "lastName") }
      try parent.save()
    }
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.allCases) func rowsThatNoChildHasAreForgottenWhenTheParentIsSaved(
    _ kind: StoreKind
  ) throws {
    let (bench, parent, ids) = try family(kind, 200)
    let child = ManagedObjectContext(parent: parent)
    for round in 1...3 {
      for id in ids {
        try child.object(with: id).setValue(.int(Int64(round)), forKey: "age")
        try child.save()
      }
      #expect(keptRows(of: parent) == ids.count)
      try parent.save()
      #expect(keptRows(of: parent) == 0)
    }
    #expect(try bench.saved("Person", "age") == [Value](repeating: 3, count: 200))
    // The rows are released when the changes are rolled back or the context is reset.
    for end in [{ try parent.rollback() }, { try parent.reset() }] {
      for id in ids { try child.object(with: id).setValue(9, forKey: "age") }
      try child.save()
      #expect(keptRows(of: parent) == ids.count)
      try end()
      try child.reset()
      try parent.rollback()
      #expect(keptRows(of: parent) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases) func aRowThatAChildHasStaysKnownAcrossSavesOfTheParent(_ kind: StoreKind) throws
  {
    let (bench, parent, ids) = try family(kind, 3)
    let (child, other) = (ManagedObjectContext(parent: parent), ManagedObjectContext(parent: parent))
    let (mine, others) = (try child.object(with: ids[0]), try other.object(with: ids[0]))
    try mine.setValue("a", forKey: "lastName")
    try child.save()
    #expect(others["lastName"] == "a")
    try mine.setValue("b", forKey: "lastName")
    try child.save()
    try parent.save()
    #expect(keptRows(of: parent) == 1)
    // The child that saved has no conflict; its sibling still has the older row.
    try mine.setValue("c", forKey: "lastName")
    try child.save()
    try parent.save()
    try others.setValue("z", forKey: "firstName")
    let error = #expect(throws: GraphError.self) { try other.save() }
    #expect(error?.code == .mergeConflict)
    try other.refresh(others, mergeChanges: true)
    try other.save()
    try parent.save()
    #expect(try bench.saved("Person", "firstName").contains("z") && bench.saved("Person", "lastName").contains("c"))
  }

  /// The batches of a walk contain rows without objects.
  @Test(arguments: StoreKind.allCases) func aWalkOfAChildGoesOnWithWhatTheParentHasByThen(_ kind: StoreKind) throws {
    let (bench, parent, ids) = try family(kind, 100)
    let theirs = try parent.objects(with: ids)
    for object in theirs { try object.setValue("one", forKey: "lastName") }
    let child = ManagedObjectContext(parent: parent)
    var request = FetchRequest("Person")
    request.sortDescriptors = [.init("age")]
    let walk = try child.fetchedObjects(request)
    #expect(walk[0]["lastName"] == "one")
    for object in theirs { try object.setValue("two", forKey: "lastName") }
    try parent.save()
    let last = walk[99]
    #expect(last["lastName"] == "two")
    try last.setValue("three", forKey: "firstName")
    try child.save()
    try parent.save()
    #expect(try bench.saved("Person", "lastName") == [Value](repeating: "two", count: 100))
  }

  // MARK: What a read and a save cost

  @Test(arguments: StoreKind.allCases) func aReadAfterAnInsertionLooksAtWhatChangedSince(_ kind: StoreKind) throws {
    let (bench, parent, ids) = try family(kind, 20)
    for object in try parent.objects(with: ids) { try object.setValue("x", forKey: "lastName") }
    let child = ManagedObjectContext(parent: parent)
    #expect(try child.object(with: ids[0])["lastName"] == "x")
    for index in 0..<10 {
      let office = try parent.insert("Department", values: ["name": .string("\(index)")])
      // An object changed earlier refers to a new object.
      let person = try parent.object(with: ids[index])
      try person.setObject(office, forKey: "department")
      #expect(parent.changedObjects.recent.count == 2 && office.objectID.isTemporaryID)
      #expect(try child.object(with: ids[index + 1])["firstName"] == .string("P\(index + 1)"))
      #expect(parent.changedObjects.recent.isEmpty && !office.objectID.isTemporaryID)
      #expect(try person.objectIDs(forRelationshipNamed: "department") == [office.objectID])
    }
    #expect(parent.brokenInvariants() == [])
    try parent.save()
    #expect(try bench.saved("Department", "name").count == 10)
    let fresh = bench.stranger()
    #expect(try fresh.count(FetchRequest("Person", where: "department != nil")) == 10)
  }

  /// An object deleted before the child read it keeps its temporary ID, as do the references to it.
  @Test func aNewObjectThatComesBackGetsItsIDWithAllThatLeadsToIt() throws {
    let (bench, parent, ids) = try family(.memory, 2)
    parent.undoManager = UndoManager()
    parent.propagatesDeletesAtEndOfEvent = false
    let child = ManagedObjectContext(parent: parent)
    let person = try parent.object(with: ids[0])
    let office = try parent.insert("Department", values: ["name": "d"])
    try person.setObject(office, forKey: "department")
    try parent.processPendingChanges()
    try parent.delete(office)
    #expect(try child.object(with: ids[1])["firstName"] == "P1")
    try parent.undo()
    #expect(try child.object(with: ids[0]).object(forKey: "department")?["name"] == "d")
    #expect(try person.objectIDs(forRelationshipNamed: "department") == [office.objectID])
    #expect(!office.objectID.isTemporaryID && parent.brokenInvariants() == [])
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.allCases) func membersOfAnOrderedListStandWhereTheChildPutThem(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let parent = bench.context()
    let office = try parent.insert("Department", values: ["name": "d"])
    for index in 0..<100 {
      try office.add(parent.insert("Project", values: ["title": .string("\(index)")]), to: "projects")
    }
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let mine = try child.object(with: office.objectID)
    func new(_ title: String) throws -> ManagedObject {
      try child.insert("Project", values: ["title": .string(title)])
    }
    func titles(_ context: ManagedObjectContext) throws -> [String] {
      try context.object(with: office.objectID).objects(forKey: "projects").map { $0["title"].string ?? "" }
    }
    // Appended to a list that was not read, in an order other than that of insertion.
    let (a, b, c) = (try new("a"), try new("b"), try new("c"))
    for project in [c, a, b] { try mine.add(project, to: "projects") }
    try child.save()
    var expected = (0..<100).map(String.init) + ["c", "a", "b"]
    #expect(try titles(parent) == expected && titles(child) == expected)
    // Moved within a list that was read; the project added by the parent meanwhile stays.
    try office.add(parent.insert("Project", values: ["title": "parent's"]), to: "projects")
    try mine.mutableOrderedSetValue(forKey: "projects").move(from: 102, to: 0)
    try mine.mutableOrderedSetValue(forKey: "projects").move(from: 60, to: 20)
    try mine.mutableOrderedSetValue(forKey: "projects").insert(new("d"), at: 50)
    expected.insert(expected.remove(at: 102), at: 0)
    expected.insert(expected.remove(at: 60), at: 20)
    expected.insert("d", at: 50)
    #expect(try titles(child) == expected)
    try child.save()
    #expect(try titles(parent) == expected + ["parent's"])
    try parent.save()
    let fresh = bench.stranger()
    #expect(try titles(fresh) == expected + ["parent's"])
    #expect(parent.brokenInvariants() == [] && child.brokenInvariants() == [])
    withExtendedLifetime(fresh) {}
  }

  /// Applying a complete new order would cost the parent and its undo manager the whole list. In a many-to-many
  /// relationship both sides have an order, but only one side records the members that were removed and added again.
  @Test(arguments: StoreKind.allCases) func aMemberThatGoesAndComesBackStandsWhereTheChildPutIt(
    _ kind: StoreKind
  ) throws {
    for names in [("Item", "List"), ("List", "Item")] {
      let bench = try StoreBench(kind, .orderedOnBothSides(names.0, names.1))
      let parent = bench.context()
      let owner = try parent.insert(names.0)
      let members = try (0..<6).map { _ in try parent.insert(names.1) }
      try owner.setObjects(members, forKey: "others")
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let list = try child.object(with: owner.objectID).mutableOrderedSetValue(forKey: "others")
      let first = try child.object(with: members[0].objectID)
      try list.remove(first)
      try list.insert(first, at: 3)
      try child.save()
      let wanted = [1, 2, 3, 0, 4, 5].map { members[$0] }
      #expect(try owner.objects(forKey: "others") == wanted)
      try parent.save()
      let fresh = bench.stranger()
      let saved = try fresh.object(with: owner.objectID).objects(forKey: "others")
      #expect(saved.map(\.objectID) == wanted.map(\.objectID))
    }
  }

  /// References from an object that the parent deleted are cleared; new references from it are a conflict.
  @Test(arguments: StoreKind.allCases) func whatTheParentDeletedLosesAndGetsNoMember(_ kind: StoreKind) throws {
    for names in [("Item", "List"), ("List", "Item")] {
      let bench = try StoreBench(kind, .orderedOnBothSides(names.0, names.1))
      let parent = bench.context()
      let (owner, member, other) = (try parent.insert(names.0), try parent.insert(names.1), try parent.insert(names.1))
      try owner.setObjects([member], forKey: "others")
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let list = try child.object(with: owner.objectID).mutableOrderedSetValue(forKey: "others")
      try list.remove(child.object(with: member.objectID))
      try parent.delete(owner)
      try parent.processPendingChanges()
      try child.save()
      #expect(parent.brokenInvariants() == [] && child.brokenInvariants() == [])
      try list.append(child.object(with: other.objectID))
      let error = #expect(throws: GraphError.self) { try child.save() }
      #expect(error?.code == .mergeConflict && error?.property == "others", "\(error as Any)")
    }
  }

  @Test func aMemberThatIsAddedMovesNoOther() throws {
    let bench = try StoreBench(.memory)
    let parent = bench.context()
    let office = try parent.insert("Department")
    for _ in 0..<2000 { try office.add(parent.insert("Project"), to: "projects") }
    try parent.save()
    parent.undoManager = UndoManager()
    let child = ManagedObjectContext(parent: parent)
    let mine = try child.object(with: office.objectID)
    try mine.add(child.insert("Project"), to: "projects")
    try child.save()
    let former = parent.memory.weight
    for _ in 0..<50 {
      try mine.add(child.insert("Project"), to: "projects")
      try child.save()
    }
    #expect(parent.memory.weight - former < 50 * 8000)
    #expect(try office.objectIDs(forRelationshipNamed: "projects").count == 2051)
    for _ in 0..<51 { try parent.undo() }
    #expect(try office.objectIDs(forRelationshipNamed: "projects").count == 2000 && !parent.hasChanges)
  }
}

extension ManagedObjectModel {
  /// Two entities with ordered lists of each other's objects.
  fileprivate static func orderedOnBothSides(_ one: String, _ other: String) -> ManagedObjectModel {
    ManagedObjectModel {
      EntityDescription(one) {
        RelationshipDescription.toMany("others", destination: other, inverse: "others").ordered()
      }
      EntityDescription(other) {
        RelationshipDescription.toMany("others", destination: one, inverse: "others").ordered()
      }
    }
  }
}
