import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Background saves while the context is in use.
@Suite struct SaveAheadConcurrencyTests {
  private static let count = 100

  /// The model without limits for ages.
  private static var model: ManagedObjectModel {
    var model = People.model()
    let index = model.entities[0].attributes.firstIndex { $0.name == "age" } ?? 0
    model.entities[0].attributes[index] = AttributeDescription("age", type: .integer64)
    return model
  }

  /// A context that saves in the background, even on one core, with saved people of ages from 0.
  private func people(_ bench: StoreBench) throws -> (ManagedObjectContext, [ManagedObject]) {
    let context = bench.contextSavingAhead()
    let people = try (0..<Self.count).map { try context.insert("Person", values: ["age": .int(Int64($0))]) }
    try context.save()
    return (context, people)
  }

  private func age(_ people: [ManagedObject], _ ages: (Int) -> Int64) throws {
    for (index, person) in people.enumerated() { try person.setValue(.int(ages(index)), forKey: "age") }
  }

  private func storedAges(_ bench: StoreBench) throws -> [Int64] {
    let reader = bench.context()
    let people = try reader.fetch(FetchRequest("Person"))
    return withExtendedLifetime(reader) {
      people.compactMap { if case .int(let age) = $0["age"] { age } else { nil } }.sorted()
    }
  }

  @Test(arguments: StoreKind.withFolder) func whatIsWrittenAheadIsSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let (context, people) = try people(bench)
    for round in 1...5 {
      try age(people) { Int64(round * 1000 + $0) }
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil && people.allSatisfy(\.isFault))
    }
    #expect(people[7]["age"] == .int(5007))
    #expect(context.writing.pendingSave == nil && !context.hasChanges && context.brokenInvariants() == [])
    try context.finishSave()
    #expect(try storedAges(bench) == (0..<Self.count).map { Int64(5000 + $0) })
    #expect(people.allSatisfy { $0.rowVersion.map { $0 == 6 } ?? true })
  }

  /// Reading a result of the save waits for the save.
  @Test(arguments: StoreKind.allCases) func whoReadsWaitsForTheSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let (context, people) = try people(bench)
    let all = people.map(\.objectID)
    let questions: [(String, () throws -> Bool)] = [
      ("a value", { people[3]["age"] == .int(1003) }),
      ("changes of an object", { !people[3].hasChanges && !people[3].isUpdated }),
      ("changed values", { try people[3].changedValues().isEmpty }),
      ("changes of the context", { !context.hasChanges }),
      ("a count", { try context.count(FetchRequest("Person", where: "age >= 1000")) == Self.count }),
      ("a fetch", { try context.fetch(FetchRequest("Person", where: "age = 1003")).first === people[3] }),
      ("the object", { try context.existingObject(with: all[3])?["age"] == .int(1003) }),
      ("the rows", { try context.loadObjects(with: all).count == Self.count }),
    ]
    let commands: [(String, () throws -> Void)] = [
      ("a new value", { try people[3].setValue(.int(1003), forKey: "age") }),
      ("a refresh", { try context.refresh(people[3], mergeChanges: true) }),
      ("a rollback", { try context.rollback() }),
      ("a save", { try context.save() }),
      ("a transaction", { try context.transaction { people[3]["age"] = .int(1003) } }),
    ]
    let tries = commands.map { name, body in
      (
        name,
        { () throws -> Bool in
          try body()
          return true
        }
      )
    }
    for (name, ask) in questions + tries {
      try age(people) { Int64($0) }
      try context.save()
      try age(people) { Int64(1000 + $0) }
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil, "\(name)")
      let isAnswered = try ask()
      #expect(isAnswered, "\(name)")
      #expect(context.writing.pendingSave == nil, "\(name)")
      #expect(try storedAges(bench).first == 1000, "\(name)")
      #expect(context.brokenInvariants() == [], "\(name)")
    }
  }

  /// Each call of the store fails in turn: the objects have their changes again, the next operation throws, and another
  /// save writes them.
  @Test(arguments: StoreKind.allCases) func failuresComeWithTheNextStep(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, Self.model)
    let (context, people) = try people(bench)
    try age(people) { Int64(500 + $0) }
    try context.saveAhead()
    try context.finishSave()
    func newAge(_ calls: Int) -> Int64 { Int64(1000 * (calls + 1)) }
    try context.savesAhead(failingIn: store) { calls in
      try age(people) { newAge(calls) + Int64($0) }
    } checkChanges: { calls in
      #expect(context.updatedObjects.count == Self.count && people.allSatisfy(\.isUpdated))
      #expect(people[9]["age"] == .int(newAge(calls) + 9))
    } checkOutcome: { calls, isSaved in
      #expect((people[9]["age"] == .int(newAge(calls) + 9)) == isSaved)
      let first = try storedAges(bench).first
      #expect((first == newAge(calls)) == isSaved)
    }
  }

  @Test(arguments: StoreKind.allCases) func conflictsGiveTheChangesBack(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let (context, people) = try people(bench)
    try age(people) { Int64(1000 + $0) }
    let other = bench.context()
    try other.object(with: people[50].objectID).setValue(.int(7), forKey: "age")
    try other.save()
    try context.saveAhead()
    try context.insert("Person", values: ["age": 1])
    #expect { try context.finishSave() } throws: { ($0 as? GraphError)?.code == .mergeConflict }
    #expect(context.updatedObjects.count == Self.count && context.insertedObjects.count == 1)
    try context.refresh(people[50], mergeChanges: true)
    try context.save()
    #expect(try storedAges(bench) == [1] + (0..<Self.count).map { Int64(1000 + $0) })
  }

  /// A savepoint opened meanwhile does not revert the returned changes.
  @Test(arguments: StoreKind.allCases) func aFailedInsertionLeavesWhatCameBack(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, Self.model)
    let (context, people) = try people(bench)
    try age(people) { Int64(1000 + $0) }
    store.fail(atCommit: true)
    try context.saveAhead()
    let insertion: GraphError? = #expect(throws: GraphError.self) {
      try context.undoingOnFailure {
        let new = try context.insert("Person")
        #expect(people[0]["age"] == .int(1000) && people[0].isUpdated)
        try new.setValue("text", forKey: "age")
      }
    }
    #expect(insertion != nil && context.updatedObjects.count == Self.count && context.insertedObjects.isEmpty)
    store.fail(atCommit: false)
    try context.save()
    #expect(try storedAges(bench) == (0..<Self.count).map { Int64(1000 + $0) })
  }

  /// Objects with save hooks, insertions, deletions and relationship changes are saved synchronously.
  @Test(arguments: StoreKind.allCases) func whatOthersHearOfIsSavedAtOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let (context, people) = try people(bench)
    func isSavedAtOnce(_ change: () throws -> Void) throws {
      try age(people) { Int64.random(in: 2000...9000) + Int64($0) }
      try change()
      try context.saveAhead()
      #expect(context.writing.pendingSave == nil && !context.hasChanges)
    }
    let department = try context.insert("Department", values: ["name": "A"])
    try context.save()
    _ = try context.insert("Person", values: ["age": 1])
    try context.save()
    try isSavedAtOnce { try context.delete(context.fetch(FetchRequest("Person", where: "age = 1"))[0]) }
    try isSavedAtOnce { try people[0].setObject(department, forKey: "department") }
    context.savesAhead = false
    try isSavedAtOnce {}
    var heard = 0
    let hooked = bench.context { $0.didSave = { _ in heard += 1 } }
    hooked.savesAhead = true
    for person in try hooked.fetch(FetchRequest("Person")) { try person.setValue(.int(3), forKey: "age") }
    try hooked.saveAhead()
    #expect(heard == Self.count && hooked.writing.pendingSave == nil)
  }

  /// The context is released while its save is running.
  @Test(arguments: StoreKind.allCases) func aContextWaitsWhenItGoes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    try {
      let (context, people) = try people(bench)
      try age(people) { Int64(1000 + $0) }
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil)
    }()
    #expect(try storedAges(bench).first == 1000)
  }
}
