import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import struct MoonbaseModel.SortDescriptor

/// Kinds of properties, stores and requests between a child context and its parent.
@Suite struct ParentPropertyTests {
  private static let notes = ManagedObjectModel {
    EntityDescription("Note") {
      AttributeDescription("text", type: .string)
      AttributeDescription("tags", type: .transformable)
      AttributeDescription("mood", type: .string).with { $0.isTransient = true }
    }
  }

  @Test(arguments: StoreKind.allCases) func transformedAndTransientValues(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.notes)
    let parent = bench.context()
    let note = try parent.insert("Note", values: ["text": "a", "tags": ["x"], "mood": "good"])
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let mine = try child.object(with: note.objectID)
    #expect(note["tags"] == ["x"] && mine["tags"] == ["x"] && mine["mood"] == .null)
    var told: [Value] = []
    let observation = try note.observe("tags") { _ in told.append(note["tags"]) }
    try mine.setValue(["y", "z"], forKey: "tags")
    try mine.setValue("bad", forKey: "mood")
    try child.save()
    #expect(note["tags"] == ["y", "z"] && told == [["y", "z"]])
    // Rows have no transient values.
    #expect(note["mood"] == "good" && mine["mood"] == "bad")
    #expect(try child.fetch(FetchRequest("Note", where: Predicate(format: "mood == 'bad'"))) == [mine])
    try note.setValue(["p"], forKey: "tags")
    try child.refresh(mine, mergeChanges: false)
    #expect(mine["tags"] == ["p"])
    withExtendedLifetime(observation) {}
  }

  private static func firstName(of person: ManagedObject, and end: String) throws -> Value {
    guard case .string(let name) = try person.value(forKey: "firstName") else { return .null }
    return .string(name + end)
  }

  @Test(arguments: StoreKind.allCases) func derivedValuesFollowInBoth(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let parent = bench.context {
      $0.derived = [
        DerivedAttribute("fullName", ownInputs: ["firstName"], get: { try Self.firstName(of: $0, and: "!") }),
        DerivedAttribute("lastName", ownInputs: ["firstName"], get: { try Self.firstName(of: $0, and: "?") }),
      ]
    }
    let person = try parent.insert("Person", values: ["firstName": "a"])
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    try person.setValue("b", forKey: "firstName")
    let found = try child.fetch(
      FetchRequest("Person", where: Predicate(format: "fullName == 'b!' AND firstName == 'b'")))
    #expect(found.map(\.objectID) == [person.objectID])
    try child.object(with: person.objectID).setValue("c", forKey: "firstName")
    try child.save()
    #expect(person["fullName"] == "c!" && person["lastName"] == "c?")
    try parent.save()
    #expect(!parent.hasChanges && person["lastName"] == "c?")
  }

  @Test(arguments: [[StoreKind.memory, .sqlite], [.sqlite, .memory]]) func objectsOfSeveralStores(
    _ kinds: [StoreKind]
  ) throws {
    var model = ManagedObjectModel(
      entities: ["Base", "A", "B"].map { name in
        var entity = EntityDescription(name)
        if name == "Base" { entity.attributes = [AttributeDescription("s", type: .string)] }
        if name != "Base" { entity.superentityName = "Base" }
        return entity
      })
    model.configurations = ["One": ["Base", "A"], "Two": ["Base", "B"]]
    let resolved = try model.resolved()
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    for (kind, name) in zip(kinds, ["One", "Two"]) {
      try coordinator.add(kind.store(for: resolved, configuration: name, in: folder))
    }
    let parent = try ManagedObjectContext(coordinator)
    let (a, b) = (try parent.insert("A", values: ["s": "a"]), try parent.insert("B", values: ["s": "b"]))
    try parent.save()
    try a.setValue("aa", forKey: "s")
    let child = ManagedObjectContext(parent: parent)
    var request = FetchRequest("Base")
    request.sortDescriptors = [SortDescriptor("s", ascending: false)]
    #expect(try child.fetch(request).map(\.objectID) == [b.objectID, a.objectID])
    #expect(try child.count(request) == 2 && child.fetchIDs(request).count == 2)
    try child.object(with: a.objectID).setValue("x", forKey: "s")
    try child.object(with: b.objectID).setValue("y", forKey: "s")
    let new = try child.insert("B", values: ["s": "z"])
    try b.setValue("other", forKey: "s")
    // A conflict in one of two stores: no change for the other store reaches the parent.
    #expect(throws: GraphError.self) { try child.save() }
    #expect(a["s"] == "aa" && b["s"] == "other" && parent.insertedObjects.isEmpty)
    child.mergePolicy = .mergeByPropertyObjectTrump
    try child.save()
    #expect(a["s"] == "x" && b["s"] == "y" && parent.registeredObject(for: new.objectID) != nil)
    try parent.save()
    let fresh = try ManagedObjectContext(coordinator)
    #expect(try fresh.fetch(request).map { $0["s"] } == ["z", "y", "x"] && !fresh.hasChanges)
  }

  @Test(arguments: StoreKind.allCases) func aTransactionOfTheParentTakesWhatAChildSaves(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let parent = bench.context()
    let person = try parent.insert("Person", values: ["firstName": "a"])
    try parent.save()
    struct Stop: Error {}
    func work(_ fails: Bool) throws {
      try parent.transaction {
        let child = ManagedObjectContext(parent: parent)
        try child.object(with: person.objectID).setValue("b", forKey: "firstName")
        try child.insert("Person", values: ["firstName": "new"])
        try child.save()
        #expect(person["firstName"] == "b")
        if fails { throw Stop() }
      }
    }
    #expect(throws: Stop.self) { try work(true) }
    #expect(person["firstName"] == "a" && !parent.hasChanges)
    try work(false)
    #expect(try bench.saved("Person", "firstName") == ["b", "new"] && parent.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func deleteRulesOfTheParentReachWhatAChildHasNotSeen(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let parent = bench.context()
    let department = try parent.insert("Department", values: ["name": "d"])
    try department.add(parent.insert("Project", values: ["title": "old"]), to: "projects")
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let mine = try child.object(with: department.objectID)
    #expect(try mine.objects(forKey: "projects").count == 1)
    let unseen = try parent.insert("Project", values: ["title": "unseen"])
    try department.add(unseen, to: "projects")
    try child.delete(mine)
    try child.save()
    #expect(department.isDeleted && (unseen.managedObjectContext == nil || unseen.isDeleted))
    try parent.save()
    #expect(try bench.saved("Project", "title").isEmpty && parent.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aChildUndoesWhatItSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let parent = bench.context()
    let people = try ["a", "b"].map { try parent.insert("Person", values: ["firstName": .string($0)]) }
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    child.undoManager = UndoManager()
    let mine = try people.map { try child.object(with: $0.objectID) }
    try mine[0].setValue("x", forKey: "firstName")
    try child.delete(mine[1])
    try child.insert("Person", values: ["firstName": "new"])
    try child.save()
    try child.undo()
    try child.save()
    #expect(try Set(parent.fetch(FetchRequest("Person")).map { $0["firstName"] }) == ["a", "b"])
    try child.redo()
    try child.save()
    try parent.save()
    #expect(try bench.saved("Person", "firstName") == ["new", "x"] && child.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func valuesThatMustBeUniqueAreLookedAtByTheParentsSave(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let parent = bench.context()
    try parent.insert("Person", values: ["firstName": "old", "email": "e"])
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    try child.insert("Person", values: ["firstName": "new", "email": "e"])
    try child.save()
    #expect(throws: GraphError.self) { try parent.save() }
    parent.mergePolicy = .mergeByPropertyObjectTrump
    try parent.save()
    #expect(try bench.saved("Person", "firstName") == ["new"])
  }

  @Test func aClosedParentIsNeitherReadNorSavedInto() throws {
    let bench = try StoreBench(.memory)
    let background = try BackgroundContext(bench.coordinator)
    try background.performAndWait { parent in
      let child = ManagedObjectContext(parent: parent)
      try child.insert("Person")
      try parent.close()
      #expect(throws: GraphError.self) { try child.fetch(FetchRequest("Person")) }
      #expect(throws: GraphError.self) { try child.save() }
      #expect(child.hasChanges)
    }
  }

  /// The time of some hundred child saves of one new object each, beside as many unsaved changes of the parent.
  @Test func savesOfAChildTakeNoLongerBesideManyChangesOfTheParent() throws {
    func seconds(_ count: Int) throws -> Double {
      let parent = try StoreBench(.memory).context()
      for number in 0..<count { try parent.insert("Person", values: ["age": .int(Int64(number % 100))]) }
      let child = ManagedObjectContext(parent: parent)
      #expect(try child.count(FetchRequest("Department")) == 0)
      return try processorSeconds {
        for _ in 0..<300 {
          let new = try child.insert("Person", values: ["firstName": "new"])
          try child.save()
          try new.setValue("newer", forKey: "firstName")
          try child.save()
        }
      }
    }
    let few = try #require((0..<3).map { _ in try seconds(100) }.min())
    let many = try #require((0..<3).map { _ in try seconds(10_000) }.min())
    #expect(many < few * 4, "\(few), \(many)")
  }
}
