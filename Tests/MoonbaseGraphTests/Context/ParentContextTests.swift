import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import struct MoonbaseModel.SortDescriptor

/// Child contexts: the values they read, and the effect of their saves.
@Suite struct ParentContextTests {
  /// A store with three people in a department, a context, and its child context.
  private final class Family {
    let bench: StoreBench
    let parent, child: ManagedObjectContext
    let people: [ManagedObject]
    let department: ManagedObject

    init(_ kind: StoreKind, _ configure: (inout EntityExtension) -> Void = { _ in }) throws {
      bench = try StoreBench(kind)
      parent = bench.context(configure)
      let parent = parent
      department = try parent.insert("Department", values: ["name": "d"])
      let office = Value.objectID(department.objectID)
      people = try ["a", "b", "c"].map {
        try parent.insert("Person", values: ["firstName": .string($0), "department": office])
      }
      try parent.save()
      child = ManagedObjectContext(parent: parent)
    }

    /// The child's object for a person of the parent.
    func mine(_ index: Int) throws -> ManagedObject { try child.object(with: people[index].objectID) }

    func saved() throws -> [Value] { try bench.saved("Person", "firstName") }

    func check() { #expect(parent.brokenInvariants() == [] && child.brokenInvariants() == []) }
  }

  private func names(_ context: ManagedObjectContext, _ condition: String? = nil) throws -> [Value] {
    var request = FetchRequest("Person")
    if let condition { request.predicate = try Predicate(format: condition) }
    request.sortDescriptors = [SortDescriptor("firstName")]
    return try context.fetch(request).map { $0["firstName"] }
  }

  // MARK: Reading

  @Test(arguments: StoreKind.withFolder) func aChildReadsTheUnsavedChangesOfItsParent(_ kind: StoreKind) throws {
    let family = try Family(kind)
    try family.people[0].setValue("x", forKey: "firstName")
    try family.parent.delete(family.people[1])
    let new = try family.parent.insert("Person", values: ["firstName": "new", "age": 40])
    try new.setObject(family.department, forKey: "department")
    #expect(try names(family.child) == ["c", "new", "x"])
    #expect(try names(family.child, "age > 30") == ["new"] && names(family.child, "firstName == 'a'").isEmpty)
    #expect(try names(family.child, "department.name == 'd'") == ["c", "new", "x"])
    #expect(try family.child.count(FetchRequest("Person", where: "firstName > 'd'")) == 2)
    #expect(
      try Set(family.child.fetchIDs(FetchRequest("Person")))
        == Set([0, 2].map { family.people[$0].objectID } + [new.objectID]))
    var window = FetchRequest("Person")
    window.sortDescriptors = [SortDescriptor("firstName", ascending: false)]
    (window.fetchLimit, window.fetchOffset) = (1, 1)
    #expect(try family.child.fetch(window).map { $0["firstName"] } == ["new"])
    #expect(try family.child.fetchedObjects(window).map { $0["firstName"] } == ["new"])
    window.propertiesToFetch = [FetchColumn("firstName")]
    #expect(try family.child.fetchDictionaries(window) == [["firstName": "new"]])
    #expect(!family.child.hasChanges && family.parent.hasChanges)
    #expect(try family.saved() == ["a", "b", "c"])
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func aChildFollowsRelationshipsAsTheyAreInItsParent(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let other = try family.parent.insert("Department", values: ["name": "other"])
    try family.people[0].setObject(other, forKey: "department")
    try family.people[1].add(family.people[2], to: "friends")
    let projects = try ["p", "q", "r"].map { try family.parent.insert("Project", values: ["title": .string($0)]) }
    for project in projects.reversed() { try other.add(project, to: "projects") }
    let mine = try family.mine(0)
    let office = try #require(try mine.object(forKey: "department"))
    #expect(office["name"] == "other")
    #expect(try office.objects(forKey: "projects").map { $0["title"] } == ["r", "q", "p"])
    let old = try family.child.object(with: family.department.objectID)
    #expect(try Set(old.objects(forKey: "employees").map { $0["firstName"] }) == ["b", "c"])
    #expect(try family.mine(2).objects(forKey: "friends").map { $0["firstName"] } == ["b"])
    var request = try FetchRequest("Department", where: "ANY employees.firstName == 'a'")
    request.relationshipKeyPathsForPrefetching = ["employees", "projects"]
    #expect(try family.child.fetch(request).map { $0["name"] } == ["other"])
    family.check()
  }

  @Test func aTemporaryIDOfTheParentLeadsToTheObject() throws {
    let family = try Family(.memory)
    let new = try family.parent.insert("Person", values: ["firstName": "new"])
    let temporary = new.objectID
    #expect(try family.child.object(with: temporary)["firstName"] == "new")
    #expect(!new.objectID.isTemporaryID)
    let mine = try #require(try family.child.existingObject(with: new.objectID))
    #expect(mine.objectID == new.objectID)
    let stranger = try ManagedObjectContext(family.bench.coordinator).insert("Person").objectID
    #expect(throws: GraphError.self) { try family.child.object(with: stranger) }
  }

  @Test func aChildSharesCoordinatorAndExtensionsWithItsParent() throws {
    let family = try Family(.memory)
    let grandchild = ManagedObjectContext(parent: family.child)
    #expect(family.child.parent === family.parent && family.parent.parent == nil)
    #expect(
      grandchild.coordinator === family.parent.coordinator
        && grandchild.extensionRegistry === family.parent.extensionRegistry)
  }

  @Test(arguments: StoreKind.allCases) func aRefreshTakesInWhatTheParentChangedSince(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let mine = try family.mine(0)
    #expect(mine["firstName"] == "a")
    try mine.setValue("mine", forKey: "lastName")
    try family.people[0].setValue("x", forKey: "firstName")
    #expect(mine["firstName"] == "a")
    try family.child.refresh(mine, mergeChanges: true)
    #expect(mine["firstName"] == "x" && mine["lastName"] == "mine")
    try family.child.refresh(mine, mergeChanges: false)
    #expect(mine["firstName"] == "x" && mine["lastName"] == .null && !family.child.hasChanges)
  }

  // MARK: Saving

  @Test(arguments: StoreKind.withFolder) func aSaveOfAChildChangesItsParentAndNoStore(_ kind: StoreKind) throws {
    let family = try Family(kind)
    try family.mine(0).setValue("x", forKey: "firstName")
    try family.child.delete(family.mine(1))
    let new = try family.child.insert("Person", values: ["firstName": "new"])
    try new.setObject(family.child.object(with: family.department.objectID), forKey: "department")
    #expect(family.people[0]["firstName"] == "a" && !family.parent.hasChanges)
    try family.child.save()
    #expect(!family.child.hasChanges && family.parent.hasChanges)
    #expect(family.people[0]["firstName"] == "x" && family.people[1].isDeleted)
    let theirs = try #require(family.parent.registeredObject(for: new.objectID))
    #expect(theirs.isInserted && theirs["firstName"] == "new" && !new.isInserted)
    #expect(
      try family.department.objects(forKey: "employees").map { $0["firstName"] }.sorted { "\($0)" < "\($1)" } == [
        "c", "new", "x",
      ])
    #expect(try family.saved() == ["a", "b", "c"])
    family.check()
    try family.parent.save()
    #expect(try family.saved() == ["c", "new", "x"] && theirs.objectID == new.objectID)
    // The child can save again.
    try new.setValue("newer", forKey: "firstName")
    try family.mine(0).setValue("y", forKey: "firstName")
    try family.child.save()
    try family.mine(0).setValue("z", forKey: "firstName")
    try family.child.save()
    try family.parent.save()
    try family.mine(0).setValue("zz", forKey: "firstName")
    try family.child.save()
    try family.parent.save()
    #expect(try family.saved() == ["c", "newer", "zz"])
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func relationshipsOfAChildBecomeThoseOfItsParent(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let office = try family.child.object(with: family.department.objectID)
    let projects = try ["p", "q", "r", "s"].map { try family.child.insert("Project", values: ["title": .string($0)]) }
    for project in projects { try office.add(project, to: "projects") }
    try family.mine(0).add(family.mine(1), to: "friends")
    try family.mine(0).add(family.mine(2), to: "friends")
    try family.mine(2).setObject(nil, forKey: "department")
    try family.child.save()
    func titles() throws -> [Value] { try family.department.objects(forKey: "projects").map { $0["title"] } }
    #expect(try titles() == ["p", "q", "r", "s"])
    #expect(try family.people[1].objects(forKey: "friends") == [family.people[0]])
    #expect(try family.department.objects(forKey: "employees").count == 2)
    try office.mutableOrderedSetValue(forKey: "projects").move(from: 3, to: 0)
    try family.mine(0).remove(family.mine(1), from: "friends")
    try family.child.delete(projects[1])
    try family.child.save()
    #expect(try titles() == ["s", "p", "r"] && family.people[1].objects(forKey: "friends").isEmpty)
    try family.parent.save()
    let stranger = family.bench.stranger()
    let fresh = try stranger.object(with: family.department.objectID)
    #expect(try fresh.objects(forKey: "projects").map { $0["title"] } == ["s", "p", "r"])
    #expect(try fresh.objects(forKey: "employees").count == 2 && !stranger.hasChanges)
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func aChildValidatesWhatItSaves(_ kind: StoreKind) throws {
    let family = try Family(kind) {
      $0.validateForUpdate = { person in
        if person["lastName"] == "bad" { throw GraphError(.validation, message: "bad") }
        return nil
      }
    }
    let mine = try family.mine(0)
    try mine.setValue("bad", forKey: "lastName")
    try family.child.insert("Person", values: ["firstName": "new"])
    #expect(throws: GraphError.self) { try family.child.save() }
    #expect(!family.parent.hasChanges && family.child.hasChanges && mine["lastName"] == "bad")
    try mine.setValue("good", forKey: "lastName")
    try family.child.save()
    #expect(family.people[0]["lastName"] == "good" && family.parent.insertedObjects.count == 1)
  }

  @Test func hooksAreCalledWhereSomethingIsDone() throws {
    var calls: [String] = []
    var family: Family?
    func note(_ name: String) -> (ManagedObject) throws -> Void {
      { calls.append(name + ($0.managedObjectContext === family?.child ? " child" : " parent")) }
    }
    let new = try Family(.memory) {
      $0.awakeFromInsert = note("awakeFromInsert")
      $0.prepareForDeletion = note("prepareForDeletion")
      $0.willSave = note("willSave")
      $0.didSave = note("didSave")
    }
    family = new
    calls = []
    try new.child.insert("Person")
    try new.child.delete(new.mine(0))
    #expect(calls == ["awakeFromInsert child", "prepareForDeletion child"])
    calls = []
    try new.child.save()
    #expect(Set(calls) == ["willSave child", "didSave child"])
    calls = []
    try new.parent.save()
    #expect(Set(calls) == ["willSave parent", "didSave parent"])
  }

  @Test(arguments: StoreKind.allCases) func aSaveOfAChildIsOneUndoStepOfItsParent(_ kind: StoreKind) throws {
    let family = try Family(kind)
    family.parent.undoManager = UndoManager()
    try family.people[2].setValue("before", forKey: "lastName")
    try family.mine(0).setValue("x", forKey: "firstName")
    try family.child.insert("Person", values: ["firstName": "new"])
    try family.child.delete(family.mine(1))
    try family.child.save()
    try family.parent.undo()
    #expect(try names(family.parent) == ["a", "b", "c"] && family.people[2]["lastName"] == "before")
    try family.parent.redo()
    #expect(try names(family.parent) == ["c", "new", "x"])
    try family.parent.undo()
    try family.parent.undo()
    #expect(family.people[2]["lastName"] == .null && !family.parent.hasChanges)
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func aSaveThatFailsInTheParentLeavesBothAsTheyWere(_ kind: StoreKind) throws {
    var fails = false
    weak var parent: ManagedObjectContext?
    let family = try Family(kind) {
      $0.awakeFromFetch = {
        if fails, $0.managedObjectContext === parent { throw GraphError(.validation, message: "no") }
      }
    }
    parent = family.parent
    let (first, second) = (try family.mine(0), try family.mine(1))
    try first.setValue("x", forKey: "firstName")
    try second.setValue("y", forKey: "firstName")
    try family.parent.refresh(family.people[1], mergeChanges: false)
    fails = true
    #expect(throws: GraphError.self) { try family.child.save() }
    #expect(family.child.updatedObjects.count == 2 && first["firstName"] == "x")
    #expect(!family.parent.hasChanges && family.people[0]["firstName"] == "a")
    fails = false
    try family.child.save()
    #expect(family.people.map { $0["firstName"] } == ["x", "y", "c"])
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func aSaveThatFailsLeavesTheOpenUndoGroupOfTheParentOpen(_ kind: StoreKind)
    throws
  {
    let family = try Family(kind)
    let undo = UndoManager()
    family.parent.undoManager = undo
    let mine = try family.mine(0)
    try mine.setValue("mine", forKey: "firstName")
    try family.people[0].setValue("theirs", forKey: "firstName")
    try family.people[2].setValue("one", forKey: "lastName")
    let error = #expect(throws: GraphError.self) { try family.child.save() }
    #expect(error?.code == .mergeConflict)
    try family.people[1].setValue("two", forKey: "lastName")
    // Changes before and after the failed save are one event, and so one undo step.
    try undo.undo()
    #expect(family.people[0]["firstName"] == "a" && family.people.allSatisfy { $0["lastName"] == .null })
    #expect(!undo.canUndo && !family.parent.hasChanges)
    try undo.redo()
    #expect(family.people[0]["firstName"] == "theirs" && family.people.map { $0["lastName"] } == [.null, "two", "one"])
    // A successful child save is an undo step of its own, after the changes made before it.
    try family.people[1].setValue("three", forKey: "lastName")
    family.child.mergePolicy = .mergeByPropertyObjectTrump
    try family.child.save()
    #expect(family.people[0]["firstName"] == "mine")
    try undo.undo()
    #expect(family.people[0]["firstName"] == "theirs" && family.people[1]["lastName"] == "three")
    try undo.undo()
    #expect(family.people[1]["lastName"] == "two" && undo.canUndo)
    family.check()
  }

  @Test func aChildIsNotSavedIntoAHookOfItsParent() throws {
    var codes: [GraphError.Code] = []
    var child: ManagedObjectContext?
    let family = try Family(.memory) {
      $0.willSave = { object in
        guard let child, object.managedObjectContext !== child else { return }
        do { try child.save() } catch let error as GraphError { codes.append(error.code) }
      }
    }
    child = family.child
    try family.mine(1).setValue("x", forKey: "firstName")
    try family.people[0].setValue("y", forKey: "firstName")
    try family.parent.save()
    #expect(codes == [.recursiveSave] && family.child.hasChanges)
    try family.child.save()
    #expect(family.people[1]["firstName"] == "x")
  }

  // MARK: Conflicts

  @Test(arguments: StoreKind.allCases) func whatTheParentChangedMeanwhileIsAConflict(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let mine = try family.mine(0)
    try mine.setValue("mine", forKey: "firstName")
    try family.people[0].setValue("theirs", forKey: "firstName")
    try family.people[0].setValue("more", forKey: "lastName")
    let error = #expect(throws: GraphError.self) { try family.child.save() }
    #expect(error?.code == .mergeConflict && family.people[0]["firstName"] == "theirs" && mine["firstName"] == "mine")
    family.child.mergePolicy = .mergeByPropertyObjectTrump
    try family.child.save()
    #expect(
      family.people[0]["firstName"] == "mine" && family.people[0]["lastName"] == "more" && mine["lastName"] == "more")
    try mine.setValue("again", forKey: "firstName")
    try family.people[0].setValue("theirs", forKey: "firstName")
    family.child.mergePolicy = .mergeByPropertyStoreTrump
    try family.child.save()
    #expect(mine["firstName"] == "theirs")
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func whatTheParentDeletedMeanwhileIsAConflict(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let mine = try family.mine(0)
    try mine.setValue("mine", forKey: "firstName")
    try family.parent.delete(family.people[0])
    #expect(throws: GraphError.self) { try family.child.save() }
    family.child.mergePolicy = .rollback
    try family.child.save()
    #expect(family.people[0].isDeleted && !family.child.hasChanges)
    // The destination has been deleted.
    family.child.mergePolicy = .error
    let new = try family.child.insert("Person")
    try new.setObject(family.child.object(with: family.department.objectID), forKey: "department")
    try family.parent.delete(family.department)
    let error = #expect(throws: GraphError.self) { try family.child.save() }
    #expect(error?.code == .mergeConflict || error?.code == .objectNotFound)
    family.child.mergePolicy = .mergeByPropertyObjectTrump
    try family.child.save()
    #expect(try new.object(forKey: "department") == nil && family.parent.insertedObjects.count == 1)
    family.check()
  }

  // MARK: Generations and siblings

  @Test(arguments: StoreKind.allCases) func savesOfGrandchildrenGoUpOneByOne(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let grandchild = ManagedObjectContext(parent: family.child)
    try family.mine(1).setValue("y", forKey: "firstName")
    let unsaved = try family.child.insert("Person", values: ["firstName": "child's"])
    #expect(try names(grandchild) == ["a", "c", "child's", "y"])
    try grandchild.object(with: unsaved.objectID).setValue("grandchild's", forKey: "firstName")
    let new = try grandchild.insert("Person", values: ["firstName": "new"])
    try grandchild.save()
    #expect(unsaved["firstName"] == "grandchild's" && !family.parent.hasChanges)
    try family.child.save()
    #expect(try names(family.parent) == ["a", "c", "grandchild's", "new", "y"] && family.saved() == ["a", "b", "c"])
    try family.parent.save()
    #expect(try family.saved() == ["a", "c", "grandchild's", "new", "y"])
    #expect(new["firstName"] == "new" && grandchild.brokenInvariants() == [])
    family.check()
  }

  @Test(arguments: StoreKind.allCases) func childrenTakeInWhatOthersSaveWhereThatIsAskedFor(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let sibling = ManagedObjectContext(parent: family.parent)
    family.child.automaticallyMergesChangesFromParent = true
    let mine = try family.mine(0)
    let office = try family.child.object(with: family.department.objectID)
    #expect(try mine["firstName"] == "a" && office.objects(forKey: "employees").count == 3)
    // Changes of a sibling context.
    try sibling.object(with: mine.objectID).setValue("sibling's", forKey: "firstName")
    try sibling.object(with: family.people[1].objectID).setObject(nil, forKey: "department")
    try sibling.save()
    try family.child.processPendingChanges()
    #expect(try mine["firstName"] == "sibling's" && office.objects(forKey: "employees").count == 2)
    // Changes of the parent.
    try family.people[0].setValue("parent's", forKey: "firstName")
    try family.child.processPendingChanges()
    #expect(mine["firstName"] == "sibling's")
    try family.parent.save()
    try family.child.processPendingChanges()
    #expect(mine["firstName"] == "parent's")
    // Changes of another context, which reach the child through the parent.
    family.parent.automaticallyMergesChangesFromParent = true
    let other = family.bench.context()
    try other.object(with: mine.objectID).setValue("other's", forKey: "firstName")
    try other.save()
    try family.child.processPendingChanges()
    #expect(mine["firstName"] == "other's" && !family.child.hasChanges)
    try mine.setValue("mine", forKey: "firstName")
    try family.child.save()
    try family.parent.save()
    #expect(try family.saved() == ["b", "c", "mine"])
    family.check()
  }

  // MARK: Parents that give up or go

  @Test(arguments: StoreKind.allCases) func whatAParentGivesUpIsGoneForItsChildren(_ kind: StoreKind) throws {
    let family = try Family(kind)
    let new = try family.child.insert("Person", values: ["firstName": "new"])
    let mine = try family.mine(0)
    try mine.setValue("x", forKey: "firstName")
    try family.child.save()
    try family.parent.rollback()
    #expect(new["firstName"] == "new" && mine["firstName"] == "x" && !family.child.hasChanges)
    #expect(try names(family.child).count == 3 && family.child.existingObject(with: family.people[0].objectID) != nil)
    try new.setValue("newer", forKey: "firstName")
    let error = #expect(throws: GraphError.self) { try family.child.save() }
    #expect(error?.code == .mergeConflict)
    try family.child.rollback()
    try family.child.refreshAllObjects()
    #expect(mine["firstName"] == "a")
    try mine.setValue("y", forKey: "firstName")
    try family.child.save()
    try family.parent.reset()
    #expect(mine["firstName"] == "y")
    try family.child.refresh(mine, mergeChanges: false)
    #expect(mine["firstName"] == "a")
    try mine.setValue("z", forKey: "firstName")
    try family.child.save()
    try family.parent.save()
    #expect(try family.saved() == ["b", "c", "z"])
    family.check()
  }

  @Test func aParentLivesAsLongAsItsChildren() throws {
    let bench = try StoreBench(.memory)
    var parent: ManagedObjectContext? = bench.context()
    weak let weakParent = parent
    var child: ManagedObjectContext? = try ManagedObjectContext(parent: #require(parent))
    parent = nil
    try child?.insert("Person", values: ["firstName": "new"])
    try child?.save()
    try weakParent?.save()
    #expect(try bench.saved("Person", "firstName") == ["new"])
    child = nil
    #expect(weakParent == nil)
  }
}
