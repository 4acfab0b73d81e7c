import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// The change notifications of a context, event by event.
@Suite struct ChangeObservationTests {
  /// Three saved people, and the notifications received.
  private final class Watched {
    let bench: StoreBench
    let context: ManagedObjectContext
    let people: [ManagedObject]
    var told: [ContextChange] = []
    private var observation: ChangeObservation?

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind)
      let context = bench.context()
      people = try ["a", "b", "c"].map { try context.insert("Person", values: ["firstName": .string($0)]) }
      try context.save()
      self.context = context
      observation = context.observeChanges { [unowned self] in told.append($0) }
    }

    func take() -> ContextChange? {
      defer { told = [] }
      #expect(told.count <= 1)
      return told.first
    }

    func stop() { observation = nil }
  }

  @Test(arguments: StoreKind.allCases) func objectsThatChangedAreToldAtTheEndOfAnEvent(_ kind: StoreKind) throws {
    let watched = try Watched(kind)
    let (context, people) = (watched.context, watched.people)
    let new = try context.insert("Person", values: ["firstName": "new"])
    try new.setValue("newer", forKey: "firstName")
    try people[0].setValue("x", forKey: "firstName")
    try people[0].setValue("y", forKey: "firstName")
    try people[1].add(people[0], to: "friends")
    try context.delete(people[2])
    let gone = try context.insert("Person")
    try context.delete(gone)
    #expect(watched.told.isEmpty)
    try context.processPendingChanges()
    let change = try #require(watched.take())
    #expect(change.inserted == [new] && change.updated == [people[0], people[1]] && change.deleted == [people[2]])
    #expect(change.refreshed.isEmpty && !change.isInvalidated && change.objectIDs.deleted == [people[2].objectID])
    try context.processPendingChanges()
    #expect(watched.told.isEmpty)
    // A save reports the changes it finds; saving itself is no change.
    try new.setValue("z", forKey: "firstName")
    try context.save()
    #expect(watched.take()?.updated == [new])
    try context.save()
    #expect(watched.told.isEmpty && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func whatAHookOfASaveChangesIsToldAfterIt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context {
      $0.willSave = { if $0["lastName"] == .null { try $0.setValue("set", forKey: "lastName") } }
    }
    var told: [ContextChange] = []
    let observation = context.observeChanges { told.append($0) }
    let new = try context.insert("Person")
    try context.save()
    #expect(told.map(\.inserted) == [[new], []] && told.map(\.updated) == [[], [new]])
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: StoreKind.allCases, [false, true]) func whatIsReadAnewIsToldAsRefreshed(
    _ kind: StoreKind, undoes: Bool
  ) throws {
    let watched = try Watched(kind)
    let (context, people) = (watched.context, watched.people)
    if undoes { context.undoManager = UndoManager() }
    try context.refresh(people[0], mergeChanges: false)
    try context.refresh(people[1], mergeChanges: true)
    try context.processPendingChanges()
    #expect(watched.take()?.refreshed == [people[0], people[1]])
    try people[0].setValue("x", forKey: "firstName")
    try context.delete(people[1])
    let new = try context.insert("Person")
    try context.rollback()
    let change = try #require(watched.take())
    #expect(
      change.updated.isEmpty && change.deleted.isEmpty && change.inserted.isEmpty && new.managedObjectContext == nil)
    #expect(Set(change.refreshed) == [people[0], people[1]])
    // Objects that a merge refreshes or removes.
    let other = watched.bench.stranger()
    try other.object(with: people[0].objectID).setValue("theirs", forKey: "firstName")
    try other.delete(other.object(with: people[1].objectID))
    try other.save()
    try people[0].fireFault()
    try context.mergeChanges(
      from: SavedObjectIDs(updated: [people[0].objectID], deleted: [people[1].objectID]))
    try context.processPendingChanges()
    let merged = try #require(watched.take())
    #expect(merged.refreshed == [people[0]] && merged.deleted == [people[1]] && merged.updated.isEmpty)
    try context.insert("Person")
    try context.reset()
    let last = try #require(watched.take())
    #expect(last.isInvalidated && last.inserted.isEmpty && last.deleted.isEmpty && last.refreshed.isEmpty)
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func undoAndRedoAreEvents(_ kind: StoreKind) throws {
    let watched = try Watched(kind)
    let (context, people) = (watched.context, watched.people)
    context.undoManager = UndoManager()
    let new = try context.insert("Person")
    try people[0].setValue("x", forKey: "firstName")
    try context.delete(people[1])
    try context.processPendingChanges()
    _ = watched.take()
    try context.undo()
    var change = try #require(watched.take())
    #expect(change.inserted == [people[1]] && change.updated == [people[0]] && change.deleted == [new])
    try context.redo()
    change = try #require(watched.take())
    #expect(change.inserted == [new] && change.updated == [people[0]] && change.deleted == [people[1]])
    // Removing the undo manager does not affect the observer.
    context.undoManager = nil
    try people[0].setValue("y", forKey: "firstName")
    try context.processPendingChanges()
    #expect(watched.take()?.updated == [people[0]])
  }

  @Test(arguments: StoreKind.allCases) func formerValuesOfAnEventAreKept(_ kind: StoreKind) throws {
    let watched = try Watched(kind)
    let (context, people) = (watched.context, watched.people)
    let office = try context.insert("Department")
    try people[0].setValue("x", forKey: "firstName")
    try people[0].setValue("y", forKey: "firstName")
    try people[0].setValue(7, forKey: "age")
    try people[0].setValue(0, forKey: "age")
    try people[0].setObject(office, forKey: "department")
    #expect(try people[0].changedValuesForCurrentEvent() == ["firstName": "a", "department": .null])
    try context.processPendingChanges()
    #expect(try people[0].changedValuesForCurrentEvent().isEmpty && people[0].changedValues().count == 2)
    try people[0].setValue("z", forKey: "firstName")
    #expect(try people[0].changedValuesForCurrentEvent() == ["firstName": "y"])
    watched.stop()
    let error = #expect(throws: GraphError.self) { try people[0].changedValuesForCurrentEvent() }
    #expect(error?.code == .invalidRequest)
  }

  @Test(arguments: StoreKind.allCases) func anObserverIsToldFormerValuesOfItsEvent(_ kind: StoreKind) throws {
    let watched = try Watched(kind)
    let (context, person) = (watched.context, watched.people[0])
    var told: [[String: Value]] = []
    let observation = context.observeChanges { _ in
      told.append((try? person.changedValuesForCurrentEvent()) ?? ["error": true])
      guard told.count == 1 else { return }
      // Changes made by the closure belong to the next event, and hide no changes of this event.
      person["firstName"] = "z"
      told.append((try? person.changedValuesForCurrentEvent()) ?? ["error": true])
    }
    person["firstName"] = "x"
    person["age"] = 3
    try context.processPendingChanges()
    #expect(told == [["firstName": "a", "age": 0], ["firstName": "a", "age": 0]])
    try context.save()
    #expect(told.count == 3 && told.last == ["firstName": "x"])
    #expect(try person.changedValuesForCurrentEvent().isEmpty)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: StoreKind.allCases) func aChangeThatIsUndoneByAFailureIsNotTold(_ kind: StoreKind) throws {
    let watched = try Watched(kind)
    let context = watched.context
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try context.transaction {
        try context.insert("Person")
        try watched.people[0].setValue("x", forKey: "firstName")
        throw Stop()
      }
    }
    try context.processPendingChanges()
    let change = watched.take()
    #expect(change?.inserted.isEmpty != false && change?.updated.isEmpty != false && change?.deleted.isEmpty != false)
    #expect(throws: GraphError.self) {
      try context.insert("Person", values: ["firstName": "new", "nonsense": 1])
    }
    try context.processPendingChanges()
    #expect(watched.told.isEmpty)
  }

  @Test func anObserverMayChangeObjectsAndStop() throws {
    let context = try StoreBench(.memory).context()
    var count = 0
    var observation: ChangeObservation?
    observation = context.observeChanges { change in
      count += 1
      if count == 1 { change.inserted[0]["firstName"] = "set" } else { observation = nil }
    }
    try context.insert("Person")
    try context.processPendingChanges()
    #expect(count == 1 && context.insertedObjects.map { $0["firstName"] } == ["set"])
    try context.processPendingChanges()
    try context.insert("Person")
    try context.processPendingChanges()
    #expect(count == 2 && context.journal.base == 0)
    withExtendedLifetime(observation) {}
  }

  @Test func oneThatAnotherEndedIsToldNothingMore() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context()
    var told: [String] = []
    var second: ChangeObservation?
    let first = context.observeChanges { _ in
      told.append("first")
      second?.cancel()
    }
    second = context.observeChanges { _ in told.append("second") }
    try context.insert("Person")
    try context.processPendingChanges()
    #expect(told == ["first"])
    withExtendedLifetime((first, second)) {}
  }

  @Test(arguments: StoreKind.allCases) func aNewObjectThatWasToldAndIsGoneAgainIsToldAsDeleted(_ kind: StoreKind) throws
  {
    let watched = try Watched(kind)
    let (context, person) = (watched.context, watched.people[0])
    let new = try ["d", "e"].map { try context.insert("Person", values: ["firstName": .string($0)]) }
    try context.delete(person)
    try context.processPendingChanges()
    #expect(watched.take()?.inserted == new)
    try context.delete(new[0])
    try context.processPendingChanges()
    #expect(watched.take()?.deleted == [new[0]])
    try context.rollback()
    let change = try #require(watched.take())
    #expect(change.deleted == [new[1]] && change.inserted == [person] && change.updated.isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func whatIsAsItWasIsNotTold(_ kind: StoreKind) throws {
    let watched = try Watched(kind)
    let (context, people) = (watched.context, watched.people)
    try people[0].setValue("x", forKey: "firstName")
    try people[0].setValue("a", forKey: "firstName")
    try people[1].add(people[0], to: "friends")
    try people[1].remove(people[0], from: "friends")
    try context.processPendingChanges()
    #expect(watched.take() == nil)
    let office = try context.insert("Department")
    let projects = try (0..<3).map { _ in try context.insert("Project") }
    try office.setObjects(projects, forKey: "projects")
    try context.save()
    _ = watched.take()
    let list = try office.mutableOrderedSetValue(forKey: "projects")
    try list.move(from: 0, to: 2)
    try list.move(from: 2, to: 0)
    try context.processPendingChanges()
    #expect(watched.take() == nil)
    try list.move(from: 0, to: 2)
    try context.processPendingChanges()
    #expect(watched.take()?.updated == [office])
  }
}
