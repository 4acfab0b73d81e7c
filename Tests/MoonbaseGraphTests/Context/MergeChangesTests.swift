import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Merging the saves of one context into another.
@Suite struct MergeChangesTests {
  /// Two contexts with the same people, departments and projects, whose lists have been read.
  private final class Pair {
    let bench: StoreBench
    let first, second: ManagedObjectContext
    let mine, theirs: [ManagedObject]

    init(_ kind: StoreKind, merges: Bool = false) throws {
      bench = try StoreBench(kind)
      let (first, second) = (bench.context(), bench.context())
      let people = try ["a", "b", "c"].map { try first.insert("Person", values: ["firstName": .string($0)]) }
      let department = try first.insert("Department", values: ["name": "d"])
      try people[0].setObject(department, forKey: "department")
      try people[1].add(people[2], to: "friends")
      try first.save()
      let mine = try (people + [department]).map { try second.object(with: $0.objectID) }
      for object in mine {
        for key in ["employees", "friends"] where object.entity.slot(key) != nil { _ = object[key] }
      }
      second.automaticallyMergesChangesFromParent = merges
      (self.first, self.second, self.mine, theirs) = (first, second, mine, people + [department])
    }

    /// Runs `body` in the first context, saves, and merges the save into the second context.
    func save(_ body: () throws -> Void) throws {
      let inbox = first.coordinator.addInbox()
      try body()
      try first.save()
      for saved in inbox.drain() { try second.mergeChanges(from: saved) }
      #expect(second.brokenInvariants() == [])
    }
  }

  @Test(arguments: StoreKind.withFolder) func savedValuesComeUnderUnsavedOnes(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    try pair.mine[0].setValue("mine", forKey: "lastName")
    try pair.save {
      try pair.theirs[0].setValue("theirs", forKey: "firstName")
      try pair.theirs[1].setValue("x", forKey: "firstName")
    }
    #expect(
      pair.mine[0]["firstName"] == "theirs" && pair.mine[0]["lastName"] == "mine" && pair.mine[1]["firstName"] == "x")
    #expect(pair.second.updatedObjects == [pair.mine[0]])
    try pair.second.save()
    #expect(try pair.bench.saved("Person", "lastName") == [.null, .null, "mine"])
  }

  /// Merging before a save would give the row the other context's version, and the save would overwrite the other
  /// context's changes.
  @Test(arguments: StoreKind.withFolder) func automaticMergingHidesNoConflict(_ kind: StoreKind) throws {
    let pair = try Pair(kind, merges: true)
    try pair.mine[0].setValue("mine", forKey: "firstName")
    try pair.mine[1].setValue("mine", forKey: "lastName")
    try pair.theirs[0].setValue("theirs", forKey: "firstName")
    try pair.theirs[1].setValue("theirs", forKey: "firstName")
    try pair.first.save()
    _ = try pair.second.fetch(FetchRequest("Person"))
    #expect(pair.mine[0]["firstName"] == "mine" && pair.mine[1]["firstName"] == "theirs")
    for _ in 0..<2 {
      #expect { try pair.second.save() } throws: { ($0 as? GraphError)?.code == .mergeConflict }
      #expect(pair.second.updatedObjects == [pair.mine[0], pair.mine[1]] && pair.second.brokenInvariants() == [])
    }
    // The object takes the newer row once it has no changes.
    try pair.mine[0].setValue("a", forKey: "firstName")
    try pair.second.rollback()
    #expect(pair.mine[0]["firstName"] == "theirs" && pair.mine[1]["lastName"] == .null)
    try pair.mine[0].setValue("mine", forKey: "firstName")
    try pair.second.save()
    #expect(try pair.bench.saved("Person", "firstName") == ["c", "mine", "theirs"])
  }

  @Test(arguments: StoreKind.allCases) func whatIsUndoneAfterAConflictIsMergedThen(_ kind: StoreKind) throws {
    let pair = try Pair(kind, merges: true)
    let undo = UndoManager()
    pair.second.undoManager = undo
    try pair.mine[0].setValue("mine", forKey: "firstName")
    try pair.second.processPendingChanges()
    try pair.theirs[0].setValue("theirs", forKey: "firstName")
    try pair.first.save()
    try pair.second.processPendingChanges()
    try undo.undo()
    try pair.second.processPendingChanges()
    #expect(pair.mine[0]["firstName"] == "theirs" && !pair.second.hasChanges && pair.second.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func policiesDecideBesideAutomaticMerging(_ kind: StoreKind) throws {
    let wanted: [(MergePolicy, Value)] = [
      (.mergeByPropertyStoreTrump, "theirs"), (.mergeByPropertyObjectTrump, "mine"), (.overwrite, "mine"),
      (.rollback, "theirs"),
    ]
    for (policy, value) in wanted {
      let pair = try Pair(kind, merges: true)
      pair.second.mergePolicy = policy
      try pair.mine[0].setValue("mine", forKey: "firstName")
      try pair.theirs[0].setValue("theirs", forKey: "firstName")
      try pair.first.save()
      try pair.second.save()
      #expect(pair.mine[0]["firstName"] == value)
      #expect(try pair.bench.saved("Person", "firstName") == ["b", "c", value])
    }
  }

  @Test(arguments: StoreKind.allCases) func aDeletionOfWhatChangedElsewhereIsAConflict(_ kind: StoreKind) throws {
    let pair = try Pair(kind, merges: true)
    // A deleted fault has no version to compare.
    try pair.mine[2].fireFault()
    try pair.second.delete(pair.mine[2])
    try pair.theirs[2].setValue("theirs", forKey: "firstName")
    try pair.first.save()
    #expect { try pair.second.save() } throws: { ($0 as? GraphError)?.code == .mergeConflict }
    try pair.second.rollback()
    #expect(pair.mine[2]["firstName"] == "theirs")
  }

  @Test(arguments: StoreKind.withFolder) func listsHaveWhoCameAndWent(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    try pair.save {
      try pair.theirs[0].setObject(nil, forKey: "department")
      try pair.theirs[1].remove(pair.theirs[2], from: "friends")
      try pair.theirs[1].add(pair.theirs[0], to: "friends")
      try pair.first.insert("Person", values: ["firstName": "new", "department": .objectID(pair.theirs[3].objectID)])
    }
    #expect(try pair.mine[3].objects(forKey: "employees").map { $0["firstName"] } == ["new"])
    #expect(
      try pair.mine[1].objects(forKey: "friends") == [pair.mine[0]] && pair.mine[2].objects(forKey: "friends").isEmpty)
    #expect(try pair.mine[0].objects(forKey: "friends") == [pair.mine[1]] && !pair.second.hasChanges)
  }

  @Test(arguments: StoreKind.withFolder) func listsLearnOfMembersThatNobodyHasHere(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let other = try pair.first.insert("Department", values: ["name": "other"])
    let late = try pair.first.insert("Person", values: ["firstName": "late", "department": .objectID(other.objectID)])
    try pair.first.save()
    let (department, mine) = (pair.mine[3], try pair.second.object(with: other.objectID))
    #expect(try mine.objectIDs(forRelationshipNamed: "employees") == [late.objectID])
    try pair.save { try late.setObject(pair.theirs[3], forKey: "department") }
    #expect(pair.second.registeredObject(for: late.objectID) == nil)
    #expect(try mine.objectIDs(forRelationshipNamed: "employees").isEmpty)
    #expect(try department.objectIDs(forRelationshipNamed: "employees").contains(late.objectID))
  }

  @Test(arguments: StoreKind.withFolder) func whatWasDeletedLeavesUnlessItChanged(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    try pair.mine[2].setValue("mine", forKey: "lastName")
    try pair.save { for index in [0, 2] { try pair.first.delete(pair.theirs[index]) } }
    #expect(pair.mine[0].managedObjectContext == nil && pair.mine[2].managedObjectContext === pair.second)
    #expect(try pair.mine[3].objects(forKey: "employees").isEmpty && pair.mine[1].objects(forKey: "friends") == [])
    let error = #expect(throws: GraphError.self) { try pair.second.save() }
    #expect(error?.code == .mergeConflict)
  }

  @Test(arguments: StoreKind.allCases) func newsAreMergedWhereThatIsAskedFor(_ kind: StoreKind) throws {
    let pair = try Pair(kind, merges: true)
    let (context, person) = (pair.second, pair.mine[0])
    try person.fireFault()
    try pair.theirs[0].setValue("x", forKey: "firstName")
    try pair.first.save()
    #expect(person["firstName"] == "a")
    try context.processPendingChanges()
    #expect(person["firstName"] == "x")
    try pair.theirs[0].setValue("y", forKey: "firstName")
    try pair.first.save()
    #expect(try context.count(FetchRequest("Person", where: "firstName == 'y'")) == 1)
    _ = try context.fetch(FetchRequest("Person"))
    #expect(person["firstName"] == "y")
    // A save finds no conflict with changes merged before, and a context is not notified of its own save.
    try pair.theirs[0].setValue(9, forKey: "age")
    try pair.first.save()
    try person.setValue("z", forKey: "firstName")
    try context.save()
    #expect(person["age"] == 9 && context.merging.inbox?.drain().isEmpty == true)
    context.automaticallyMergesChangesFromParent = false
    try pair.first.refresh(pair.theirs[0], mergeChanges: false)
    try pair.theirs[0].setValue(10, forKey: "age")
    try pair.first.save()
    try context.processPendingChanges()
    #expect(person["age"] == 9)
  }

  /// A set of changes that fails to merge does not prevent the merge of the other sets.
  @Test(arguments: StoreKind.allCases) func eachBatchOfNewsIsMerged(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let people = try ["a", "b"].map { try first.insert("Person", values: ["firstName": .string($0)]) }
    try first.save()
    let isBroken = Switch()
    let context = bench.context { entry in
      entry.awakeFromSnapshotEvents = { object, _ in if object["firstName"] == "x" { try isBroken.failIfOn() } }
    }
    context.automaticallyMergesChangesFromParent = true
    let mine = try people.map { try context.object(with: $0.objectID) }
    for person in mine { try person.fireFault() }
    for (person, name) in zip(people, ["x", "y"]) {
      try person.setValue(.string(name), forKey: "firstName")
      try first.save()
    }
    isBroken.value = 1
    #expect(throws: GraphError.self) { try context.processPendingChanges() }
    #expect(mine.map { $0["firstName"] } == ["x", "y"])
    try context.processPendingChanges()
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.allCases) func aMergeIsNoUndoStep(_ kind: StoreKind) throws {
    let pair = try Pair(kind)
    let undo = UndoManager()
    pair.second.undoManager = undo
    try pair.mine[0].setValue("mine", forKey: "lastName")
    try pair.save { try pair.theirs[0].setValue("theirs", forKey: "firstName") }
    try undo.undo()
    #expect(pair.mine[0]["firstName"] == "theirs" && pair.mine[0]["lastName"] == .null && !undo.canUndo)
    #expect(!pair.second.hasChanges)
  }

  @Test func mergesAreRefusedWithinHooksAndTransactions() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context { entry in
      entry.willSave = { try $0.managedObjectContext?.mergeChanges(from: SavedObjectIDs()) }
    }
    try context.insert("Person")
    #expect(throws: GraphError.self) { try context.save() }
    try context.rollback()
    #expect(throws: GraphError.self) { try context.transaction { try context.mergeChanges(from: SavedObjectIDs()) } }
  }

  @Test(arguments: StoreKind.allCases) func savesAreToldByIDs(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    var saves = bench.coordinator.saves.makeAsyncIterator()
    let (a, b) = (try context.insert("Person"), try context.insert("Person"))
    try context.save()
    let new = await saves.next()
    #expect(new?.inserted == [a.objectID, b.objectID] && new?.updated == [] && new?.deleted == [])
    try a.add(b, to: "friends")
    try context.save()
    let linked = await saves.next()
    #expect(Set(linked?.updated ?? []) == [a.objectID, b.objectID])
    let id = b.objectID
    try context.delete(b)
    try a.setValue(1, forKey: "age")
    try context.save()
    let last = await saves.next()
    #expect(last?.deleted == [id] && last?.updated == [a.objectID] && last?.inserted == [])
  }

  @Test(arguments: StoreKind.allCases) func closuresHearOfSavesWithTheirObjects(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, People.model())
    let context = bench.context()
    let old = try context.insert("Person", values: ["firstName": "old"])
    let gone = try context.insert("Person")
    try context.save()
    var log: [String] = []
    let observation = context.observeSaves(
      willSave: { context in
        log.append("will \(context.insertedObjects.count)")
        for object in context.insertedObjects { object["lastName"] = "set" }
      },
      didSave: { save in
        log.append("did \(save.inserted.count) \(save.updated.count) \(save.deleted.count)")
        #expect(save.inserted.allSatisfy { !$0.objectID.isTemporaryID && !$0.isInserted } && save.updated == [old])
        #expect(save.deleted == [gone] && gone.managedObjectContext == nil)
        #expect(throws: GraphError.self) { try context.save() }
      })
    try context.save()
    #expect(log.isEmpty)
    try context.insert("Person")
    try old.setValue("new", forKey: "firstName")
    try context.delete(gone)
    store.fail(atCommit: true)
    #expect(throws: (any Error).self) { try context.save() }
    store.fail(atCommit: false)
    #expect(context.insertedObjects.map { $0["lastName"] } == [.null])
    try context.save()
    #expect(log == ["will 1", "will 1", "did 1 1 1"])
    #expect(try bench.saved("Person", "lastName") == [.null, "set"])
    observation.cancel()
    try context.insert("Person")
    try context.save()
    #expect(log.count == 3 && context.observations.saves.isEmpty)
  }

  /// An observation cancelled by an earlier closure of the same save is not called.
  @Test(arguments: StoreKind.allCases) func anObservationOfSavesEndsAtOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    var log: [String] = []
    var later: [SaveObservation] = []
    let first = context.observeSaves(
      willSave: { _ in later[0].cancel() },
      didSave: { _ in
        later[1].cancel()
        later.remove(at: 2)
      })
    for name in ["a", "b", "c"] {
      later.append(
        context.observeSaves(willSave: { _ in log.append("will \(name)") }, didSave: { _ in log.append("did \(name)") })
      )
    }
    try context.insert("Person")
    try context.save()
    #expect(log == ["will b", "will c"], "\(log)")
    withExtendedLifetime((bench, first)) {}
  }
}

/// The queue of saved changes that wait to be merged or read.
@Suite struct SavedNewsTests {
  private func ids(_ keys: ClosedRange<Int64>) -> [ManagedObjectID] {
    keys.map {
      ManagedObjectID(store: StoreNumber("5D7AD8F0-0000-4000-8000-000000000000"), entity: Symbol("Person"), key: $0)
    }
  }

  @Test func manySavesWaitTogether() {
    let inbox = NotificationInbox<SavedObjectIDs>()
    for key in 1...Int64(News<SavedObjectIDs>.greatestCount) { inbox.post(SavedObjectIDs(updated: ids(key...key))) }
    let few = inbox.drain()
    #expect(few.count == News<SavedObjectIDs>.greatestCount)
    for saved in few { inbox.post(saved) }
    inbox.post(SavedObjectIDs(inserted: ids(1000...1001), updated: ids(3...3)))
    inbox.post(SavedObjectIDs(updated: ids(1000...1000), deleted: ids(1...2)))
    let all = inbox.drain()
    #expect(all.count == 2 && all[0].updated == ids(1...64) && all[0].inserted == ids(1000...1001))
    for saved in few + all + few { inbox.post(saved) }
    let one = inbox.drain()
    #expect(one[0].deleted == ids(1...2) && !one[0].updated.contains(ids(1...1)[0]) && inbox.drain().isEmpty)
  }

  @Test func ofVeryMuchOnlyThatItWasIsKept() {
    let inbox = NotificationInbox<SavedObjectIDs>()
    let most = Int64(News<SavedObjectIDs>.greatestIDCount)
    inbox.post(SavedObjectIDs(updated: ids(1...most)))
    inbox.post(SavedObjectIDs(updated: ids(1...most)))
    #expect(inbox.drain().map(\.updated.count) == [Int(most)])
    inbox.post(SavedObjectIDs(updated: ids(1...most)))
    inbox.post(SavedObjectIDs(inserted: ids(most + 1...most + 1)))
    inbox.post(SavedObjectIDs(updated: ids(1...3)))
    #expect(inbox.drain() == [.anything])
  }

  @Test(arguments: StoreKind.allCases) func whoMissedTooMuchReadsAllAnew(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (first, second) = (bench.context(), bench.stranger())
    let department = try first.insert("Department", values: ["name": "d"])
    let people = try ["a", "b", "c"].map {
      try first.insert("Person", values: ["firstName": .string($0), "department": .objectID(department.objectID)])
    }
    try first.save()
    let mine = try (people + [department]).map { try second.object(with: $0.objectID) }
    #expect(
      try mine.map { $0["firstName"] }.prefix(2) == ["a", "b"] && mine[3].objects(forKey: "employees").count == 3)
    try mine[1].setValue("mine", forKey: "lastName")
    for person in people { try person.setValue("x", forKey: "firstName") }
    try first.delete(people[2])
    try first.insert("Person", values: ["firstName": "new", "department": .objectID(department.objectID)])
    try first.save()
    #expect(mine[0]["firstName"] == "a")
    try second.mergeChanges(from: .anything)
    #expect(mine[0]["firstName"] == "x" && mine[1]["firstName"] == "x" && mine[1]["lastName"] == "mine")
    #expect(mine[2].managedObjectContext == nil)
    #expect(try Set(mine[3].objects(forKey: "employees").map { $0["firstName"] }) == ["x", "new"])
    #expect(second.updatedObjects == [mine[1]] && second.brokenInvariants() == [])
  }

  @Test func aSequenceOfSavesEndsWithItsTask() async throws {
    let bench = try StoreBench(.memory)
    let saves = bench.coordinator.saves
    let task = Task {
      var count = 0
      for await _ in saves { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value == 0)
  }
}
