import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Background saves of new objects while the context is in use.
@Suite struct NewObjectsAheadConcurrencyTests {
  private static let count = 100

  private func insertPeople(_ context: ManagedObjectContext, _ name: String) throws -> [ManagedObject] {
    try (0..<Self.count).map {
      try context.insert("Person", values: ["firstName": .string("\(name) \($0)"), "fullName": "transient"])
    }
  }

  @Test(arguments: StoreKind.withFolder) func newObjectsAreWrittenAhead(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    var all: [ManagedObject] = []
    for round in 0..<5 {
      all += try insertPeople(context, "round \(round)")
      let pages = all.suffix(Self.count).map(\.page)
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil)
      #expect(zip(all.suffix(Self.count), pages).allSatisfy { $0.page === $1 && $0.isFault })
    }
    try context.finishSave()
    #expect(context.writing.pendingSave == nil && !context.hasChanges && context.brokenInvariants() == [])
    #expect(all.allSatisfy { !$0.isInserted && !$0.objectID.isTemporaryID && !$0.isFault && $0.rowVersion == 1 })
    #expect(all[205]["firstName"] == "round 2 5" && all[205]["fullName"] == "transient")
    #expect(Set(all.map(\.objectID)).count == all.count)
    #expect(try Set(bench.saved("Person", "firstName")) == Set(all.map { $0["firstName"] }))
    // A chunk may contain new and changed objects.
    for person in all.prefix(Self.count) { person["lastName"] = "changed" }
    let new = try context.insert("Person", values: ["lastName": "new"])
    try context.saveAhead()
    #expect(context.writing.pendingSave != nil)
    #expect(new["lastName"] == "new" && context.writing.pendingSave == nil && all[3]["lastName"] == "changed")
    #expect(try bench.saved("Person", "lastName").filter { $0 == "new" }.count == 1)
  }

  /// Reading a result of the save waits for the save.
  @Test(arguments: StoreKind.allCases) func whoAsksWaits(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let questions: [(String, (ManagedObjectContext, ManagedObject) throws -> Bool)] = [
      ("the ID", { !$1.objectID.isTemporaryID }), ("whether it is new", { !$1.isInserted }),
      ("a value", { $1["firstName"] == "A 3" }), ("changes", { !$1.hasChanges }),
      ("changed values", { try $1.changedValues().isEmpty }), ("all changes", { context, _ in !context.hasChanges }),
      ("new objects", { context, _ in context.insertedObjects.isEmpty }),
      (
        "a fetch",
        { try $0.fetch(FetchRequest("Person", where: "firstName = 'A 3'")).contains($1) }
      ),
      ("a description", { !"\($1)".contains("/t") }),
      (
        "a new value",
        {
          try $1.setValue("A 3", forKey: "firstName")
          return !$1.hasChanges
        }
      ),
      (
        "a destination",
        { context, object in
          let department = try context.insert("Department")
          try object.setObject(department, forKey: "department")
          try context.save()
          return try department.objects(forKey: "employees") == [object]
        }
      ),
      (
        "a deletion",
        { context, object in
          try context.delete(object)
          try context.save()
          return object.managedObjectContext == nil
        }
      ),
      (
        "a rollback",
        { context, object in
          try context.rollback()
          return object["firstName"] == "A 3"
        }
      ),
      (
        "a save",
        { context, object in
          try context.save()
          return object["firstName"] == "A 3"
        }
      ),
    ]
    for (name, ask) in questions {
      let context = bench.contextSavingAhead()
      let people = try insertPeople(context, "A")
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil, "\(name)")
      let isAnswered = try ask(context, people[3])
      #expect(isAnswered, "\(name)")
      #expect(context.writing.pendingSave == nil && context.brokenInvariants() == [], "\(name)")
    }
  }

  /// Each call of the store fails in turn: the objects are new again, the next operation throws, and another save
  /// writes them.
  @Test(arguments: StoreKind.allCases) func failuresComeWithTheNextStep(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.contextSavingAhead()
    _ = try insertPeople(context, "first")
    try context.save()
    var expected = Self.count
    var people: [ManagedObject] = []
    try context.savesAhead(failingIn: store) {
      people = try insertPeople(context, "try \($0)")
    } checkChanges: { calls in
      #expect(context.insertedObjects.count == Self.count && people.allSatisfy(\.isInserted))
      #expect(people.allSatisfy { $0.objectID.isTemporaryID && !$0.isFault } && people[9]["fullName"] == "transient")
      #expect(people[9]["firstName"] == .string("try \(calls) 9"))
      people[9]["lastName"] = "set again"
    } checkOutcome: { _, isSaved in
      if isSaved { expected += Self.count }
      #expect(people.allSatisfy { ($0.managedObjectContext == nil) != isSaved && !$0.isInserted })
      let names = try bench.saved("Person", "firstName")
      #expect(names.count == expected)
    }
  }

  /// Two contexts insert the same unique value: the later one keeps its objects, all still new.
  @Test(arguments: StoreKind.allCases) func aTakenValueGivesTheObjectsBack(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    let people = try insertPeople(context, "A")
    people[7]["email"] = "a@b"
    let other = bench.context()
    try other.insert("Person", values: ["email": "a@b"])
    try other.save()
    try context.saveAhead()
    #expect(throws: GraphError.self) { try context.finishSave() }
    #expect(context.insertedObjects.count == Self.count && context.brokenInvariants() == [])
    people[7]["email"] = "c@d"
    try context.saveAhead()
    try context.finishSave()
    #expect(try bench.saved("Person", "email").filter { !$0.isNull } == ["a@b", "c@d"])
  }

  /// New objects with save hooks are saved synchronously.
  @Test(arguments: StoreKind.allCases) func whatHooksHearOfIsSavedAtOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var heard = 0
    let hooked = bench.context { $0.didSave = { _ in heard += 1 } }
    hooked.savesAhead = true
    _ = try insertPeople(hooked, "C")
    try hooked.saveAhead()
    #expect(heard == Self.count && hooked.writing.pendingSave == nil)
  }

  @Test(arguments: StoreKind.allCases) func aContextWaitsWhenItGoes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    try {
      let context = bench.contextSavingAhead()
      let people = try insertPeople(context, "A")
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil && people.count == Self.count)
    }()
    #expect(try bench.saved("Person", "firstName").count == Self.count)
  }
}
