import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// The life cycle hooks of an object, as Core Data documents them.
@Suite struct LifecycleTests {
  private struct Refused: Error {}

  /// Records the calls of its hooks.
  final class Witness: ManagedObject {
    var seen: [String] = []
    var refuses = false

    private func note(_ text: String) throws {
      seen.append(text)
      if refuses { throw Refused() }
    }

    override func didSave() throws {
      try note("didSave \(isDeleted) \(try value(forKey: "firstName")) \(managedObjectContext != nil)")
    }

    override func awake(fromSnapshotEvents events: SnapshotEventType) throws {
      try note("snapshot \(events.rawValue)")
      try setPrimitiveValue(.string("of \(try value(forKey: "firstName"))"), forKey: "fullName")
    }

    override func prepareForDeletion() throws { try note("prepareForDeletion") }
  }

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Witness"
    let bench = try StoreBench(kind, model)
    bench.coordinator.register(Witness.self, forClassName: "Witness")
    return bench
  }

  private func person(_ context: ManagedObjectContext) throws -> Witness {
    let person = try #require(try context.insert("Person", values: ["firstName": "Ann"]) as? Witness)
    try context.save()
    person.seen = []
    return person
  }

  // MARK: After a save

  @Test(arguments: StoreKind.allCases) func didSaveIsCalledForADeletedObjectWhichStillHasItsValues(_ kind: StoreKind)
    throws
  {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try person(context)
    try context.delete(person)
    try context.save()
    #expect(person.seen == ["prepareForDeletion", "didSave true \(Value.string("Ann")) true"])
    #expect(person.managedObjectContext == nil && !person.isDeleted && !context.hasChanges)
    #expect(context.brokenInvariants() == [] && context.drainDidSaveErrors().isEmpty)
    #expect { try person.value(forKey: "firstName") } throws: {
      "\($0)".contains("used after its deletion was saved")
    }
  }

  @Test(arguments: StoreKind.allCases) func whatDidSaveOfADeletedObjectMayDo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var found: Int?
    var refusal = ""
    let context = bench.context {
      $0.didSave = { person in
        guard person.isDeleted, let context = person.managedObjectContext else { return }
        found = try context.count(FetchRequest("Person"))
        do { try person.setValue("B", forKey: "firstName") } catch { refusal = "\(error)" }
        try context.insert("Department", values: ["name": "log"])
        throw Refused()
      }
    }
    let person = try context.insert("Person")
    let id: ManagedObjectID
    try context.save()
    id = person.objectID
    try context.delete(person)
    try context.save()
    #expect(found == 0 && refusal.contains("is deleted and cannot be changed"))
    #expect(context.drainDidSaveErrors().map(\.entity) == ["Person"])
    #expect(context.insertedObjects.map(\.entity.name) == ["Department"])
    #expect(person.managedObjectContext == nil && context.registeredObject(for: id) == nil)
    #expect(context.brokenInvariants() == [])
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func didSaveIsNotCalledForWhatWasNeverSaved(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try #require(try context.insert("Person") as? Witness)
    try context.delete(person)
    try context.insert("Department")
    try context.save()
    #expect(person.seen == ["prepareForDeletion"])
  }

  // MARK: Snapshot events

  @Test func theNumbersAreCoreDatas() {
    let all: [SnapshotEventType] = [.undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy]
    #expect(all.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
  }

  @Test(arguments: StoreKind.allCases) func aRollbackIsASnapshotEventAndWhatItSetsIsNoChange(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let (changed, deleted) = (try person(context), try person(context))
    let untouched = try person(context)
    try changed.setValue("Bob", forKey: "firstName")
    try context.delete(deleted)
    try context.insert("Person")
    try context.rollback()
    #expect(changed.seen == ["snapshot 16"] && deleted.seen == ["prepareForDeletion", "snapshot 16"])
    #expect(untouched.seen == [])
    #expect(try changed.value(forKey: "fullName") == .string("of \(Value.string("Ann"))"))
    #expect(!context.hasChanges && !changed.hasChanges && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aRefreshThatKeepsChangesIsASnapshotEvent(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try person(context)
    let other = bench.context()
    let same = try other.object(with: person.objectID)
    try same.setValue("Eve", forKey: "firstName")
    try other.save()
    try person.setValue("Lee", forKey: "lastName")
    try context.refresh(person, mergeChanges: true)
    #expect(person.seen == ["snapshot 32"])
    #expect(try person.value(forKey: "fullName") == .string("of \(Value.string("Eve"))"))
    #expect(try person.value(forKey: "lastName") == "Lee" && person.hasChanges)
    // A fault has no values to replace; its next values come with `awakeFromFetch`.
    try context.refresh(person, mergeChanges: false)
    #expect(person.seen == ["snapshot 32"])
  }

  @Test(arguments: StoreKind.allCases) func aFetchThatRefreshesIsASnapshotEventOfWhatIsNew(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let (person, untouched) = (try person(context), try person(context))
    let other = bench.context()
    try other.object(with: person.objectID).setValue("Eve", forKey: "firstName")
    try other.save()
    var request = FetchRequest("Person")
    request.shouldRefreshRefetchedObjects = true
    _ = try context.fetch(request)
    #expect(person.seen == ["snapshot 32"] && untouched.seen == [])
    #expect(try person.value(forKey: "firstName") == "Eve")
  }

  @Test(arguments: StoreKind.allCases) func aSnapshotHookThatFailsDoesNotStopARollback(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var seen: [UInt] = []
    let context = bench.context {
      $0.awakeFromSnapshotEvents = { _, events in
        seen.append(events.rawValue)
        throw Refused()
      }
    }
    let people = try (0..<2).map { _ in try context.insert("Person") }
    try context.save()
    for person in people { try person.setValue("B", forKey: "firstName") }
    #expect { try context.rollback() } throws: { "\($0)".contains("Person: awakeFromSnapshot: Refused()") }
    #expect(seen == [16, 16] && !context.hasChanges)
    #expect(try people[0].value(forKey: "firstName") == .null)
    try people[0].setValue("C", forKey: "firstName")
    #expect(throws: GraphError.self) { try context.refresh(people[0], mergeChanges: true) }
    #expect(try people[0].value(forKey: "firstName") == "C")
  }

  @Test(arguments: StoreKind.allCases) func objectsHearOfWhatUndoAndRedoMakeOfThem(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var heard: [Value: UInt] = [:]
    var fails = false
    let context = bench.context {
      $0.awakeFromSnapshotEvents = { object, events in
        heard[object["firstName"], default: 0] += events.rawValue
        if fails { throw Refused() }
      }
    }
    let people = try ["gone", "changed", "same"].map {
      try context.insert("Person", values: ["firstName": .string($0)])
    }
    try context.save()
    context.undoManager = UndoManager()
    try context.insert("Person", values: ["firstName": "new"])
    try people[1].setValue(7, forKey: "age")
    try context.delete(people[0])
    try context.save()
    try context.undo()
    #expect(heard == ["gone": 4, "changed": 8, "new": 2])
    heard = [:]
    try context.redo()
    // The object restored as a new one leaves the context.
    #expect(heard == ["changed": 8, "new": 4])
    heard = [:]
    fails = true
    #expect(throws: GraphError.self) { try context.undo() }
    #expect(heard == ["gone": 4, "changed": 8, "new": 2] && people[1]["age"] == 0)
    fails = false
    try context.redo()
    #expect(people[1]["age"] == 7 && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func objectsHearOfWhatAMergePolicyMakesOfThem(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var heard: [UInt] = []
    var fails = false
    let context = bench.context {
      $0.awakeFromSnapshotEvents = { _, events in
        heard.append(events.rawValue)
        if fails { throw Refused() }
      }
    }
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.save()
    let other = bench.stranger()
    let theirs = try other.object(with: person.objectID)
    try theirs.setValue("theirs", forKey: "lastName")
    try other.save()
    try person.setValue("mine", forKey: "firstName")
    context.mergePolicy = .mergeByPropertyObjectTrump
    fails = true
    #expect(throws: GraphError.self) { try context.save() }
    #expect(heard == [64] && person["firstName"] == "mine" && person.hasChanges)
    fails = false
    try context.save()
    #expect(person["lastName"] == "theirs")
    try theirs.setValue("again", forKey: "lastName")
    try other.refresh(theirs, mergeChanges: true)
    try other.save()
    try person.setValue("more", forKey: "firstName")
    heard = []
    try context.save()
    #expect(heard == [64] && person["lastName"] == "again")
  }

  @Test(arguments: StoreKind.allCases) func aHookThatFailsStopsNoRefreshAndNoRollback(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var fails = false
    let context = bench.context {
      $0.willTurnIntoFault = { _ in if fails { throw Refused() } }
      $0.didTurnIntoFault = { _ in if fails { throw Refused() } }
    }
    let people = try ["a", "b", "c"].map { try context.insert("Person", values: ["firstName": .string($0)]) }
    try context.save()
    for person in people { try person.setValue("x", forKey: "firstName") }
    fails = true
    #expect(throws: GraphError.self) { try context.refresh(people[0], mergeChanges: false) }
    #expect(people[0].isFault && context.updatedObjects.count == 2)
    #expect(throws: GraphError.self) { try context.rollback() }
    #expect(people.allSatisfy { $0.isFault } && !context.hasChanges)
    for person in people { try person.fireFault() }
    #expect(throws: GraphError.self) { try context.refreshAllObjects() }
    #expect(people.allSatisfy { $0.isFault })
    fails = false
    #expect(people.map { $0["firstName"] } == ["a", "b", "c"] && context.brokenInvariants() == [])
  }

  // MARK: Methods that throw

  /// A class whose methods throw on demand.
  final class Failing: ManagedObject {
    private func fail(_ name: String = #function) throws {
      if name.hasPrefix(LifecycleTests.failing.value) { throw Refused() }
    }

    override func awakeFromInsert() throws { try fail() }
    override func awakeFromFetch() throws { try fail() }
    override func prepareForDeletion() throws { try fail() }
    override func didTurnIntoFault() throws { try fail() }
    override func didSave() throws { try fail() }
  }

  @TaskLocal private static var failing = Name(value: "-")
  private struct Name: Sendable { var value: String }

  private func failing<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
    try Self.$failing.withValue(Name(value: name), operation: body)
  }

  @Test(arguments: StoreKind.allCases) func whatAMethodThrowsFailsWhatCalledIt(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    bench.coordinator.register(Failing.self, forClassName: "Witness")
    let context = bench.context()
    func expect(_ name: String, _ body: () throws -> Void) {
      #expect { try failing(name, body) } throws: { "\($0)".contains("Person: \(name): Refused()") }
    }
    expect("awakeFromInsert") { try context.insert("Person") }
    #expect(!context.hasChanges)
    let person = try context.insert("Person")
    try failing("didSave") { try context.save() }
    #expect(context.drainDidSaveErrors().count == 1 && !context.hasChanges)
    expect("prepareForDeletion") { try context.delete(person) }
    #expect(!person.isDeleted)
    expect("didTurnIntoFault") { try context.refresh(person, mergeChanges: false) }
    expect("awakeFromFetch") { _ = try person.value(forKey: "firstName") }
    #expect(person.isFault)
    #expect(try person.value(forKey: "firstName") == .null)
    #expect(context.brokenInvariants() == [])
  }
}
