import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// What a refresh reads, where somebody else wrote to the store by a coordinator of his own.
@Suite struct RefreshTests {
  /// Two contexts that share a store and nothing else, and a person that one of them saved and the other one has read.
  private func contexts(
    of bench: StoreBench
  ) throws -> (mine: ManagedObjectContext, theirs: ManagedObjectContext, person: ManagedObject, seen: ManagedObject) {
    let (mine, theirs) = (bench.context(), bench.stranger())
    let person = try theirs.insert("Person", values: ["firstName": "old"])
    try theirs.save()
    let seen = try #require(try mine.existingObject(with: person.objectID))
    #expect(seen["firstName"] == "old")
    return (mine, theirs, person, seen)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aRefreshReadsTheRowAndNotWhatWasReadBefore(_ kind: StoreKind, _ merges: Bool) throws {
    let bench = try StoreBench(kind)
    let (mine, theirs, person, seen) = try contexts(of: bench)
    for name in ["new", "newer"] {
      person["firstName"] = .string(name)
      try theirs.save()
      try mine.refresh(seen, mergeChanges: merges)
      #expect(seen["firstName"].text == name)
      // One that is a fault already is read anew too.
      try mine.refresh(seen, mergeChanges: merges)
      #expect(try mine.existingObject(with: person.objectID)?["firstName"].text == name)
    }
    #expect(mine.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func aRefreshedObjectThatIsGoneSaysSo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (mine, theirs, person, seen) = try contexts(of: bench)
    try theirs.delete(person)
    try theirs.save()
    try mine.refresh(seen, mergeChanges: false)
    #expect { try seen.value(forKey: "firstName") } throws: { ($0 as? GraphError)?.code == .objectNotFound }
    #expect(try mine.existingObject(with: seen.objectID) == nil)
  }

  @Test(arguments: StoreKind.allCases) func whatAHookChangesBeforeARefreshIsNotLost(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var entry = EntityExtension()
    entry.willTurnIntoFault = { department in
      let person = try #require(department.managedObjectContext).insert("Person")
      try person.setObject(department, forKey: "department")
    }
    let context = bench.context(["Department": [entry]])
    let department = try context.insert("Department")
    try context.save()
    #expect(try department.objects(forKey: "employees").isEmpty)
    try context.refresh(department, mergeChanges: false)
    #expect(try department.objects(forKey: "employees").count == 1)
    #expect(context.brokenInvariants().isEmpty)
  }

  /// A walk that asks for the length of the owner's list must not read the list again and again.
  @Test(arguments: StoreKind.allCases)
  func aRefreshedMemberWhoseRowIsTheSameLeavesTheListOfItsOwner(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department")
    let people = try (0..<20).map { _ in try context.insert("Person") }
    try department.setObjects(people, forKey: "employees")
    try context.save()
    for person in people {
      try context.refresh(person, mergeChanges: false)
      #expect(try !department.hasFault(forRelationshipNamed: "employees"))
      #expect(
        try department.objects(forKey: "employees").count == 20 && person.object(forKey: "department") == department)
    }
    #expect(context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func aRefreshedMemberThatMovedOrWentIsNoLongerListed(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (mine, theirs) = (bench.context(), bench.stranger())
    let (a, b) = (try mine.insert("Department"), try mine.insert("Department"))
    let people = try (0..<3).map { _ in try mine.insert("Person") }
    try a.setObjects(people, forKey: "employees")
    try mine.save()
    #expect(try a.objects(forKey: "employees").count == 3 && b.objects(forKey: "employees").isEmpty)
    try theirs.object(with: people[0].objectID).setObject(theirs.object(with: b.objectID), forKey: "department")
    try theirs.delete(theirs.object(with: people[1].objectID))
    try theirs.save()
    for person in people { try mine.refresh(person, mergeChanges: false) }
    #expect(try a.objects(forKey: "employees") == [people[2]] && b.objects(forKey: "employees") == [people[0]])
    #expect(mine.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func aTransientListThatARefreshGivesUpIsGoneOnBothSides(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, People.modelWithGuests())
    let context = bench.context()
    let (department, person) = (try context.insert("Department"), try context.insert("Person"))
    try context.save()
    try department.add(person, to: "guests")
    try context.refresh(department, mergeChanges: false)
    #expect(try department.objects(forKey: "guests").isEmpty && person.object(forKey: "visits") == nil)
    #expect(context.brokenInvariants().isEmpty)
  }
}
