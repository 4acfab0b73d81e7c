import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Refreshing after another coordinator wrote to the store.
@Suite struct RefreshTests {
  /// Two contexts that share only a store, and a person saved by one and read by the other.
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
      // A fault is read again too.
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

  /// A walk that reads the length of the owner's list must not read the list again for each member.
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

  /// Another context moved a person that has an unsaved move here. A refresh that keeps the unsaved change removes the
  /// person from the owner that the newer row names.
  @Test(arguments: StoreKind.allCases)
  func aKeptChangeTakesTheObjectFromTheOwnerThatTheNewerRowNames(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (mine, theirs) = (bench.context(), bench.stranger())
    let owners = try (0..<3).map { _ in try mine.insert("Department") }
    let person = try mine.insert("Person")
    try person.setObject(owners[0], forKey: "department")
    try mine.save()
    try person.setObject(owners[1], forKey: "department")
    try theirs.object(with: person.objectID).setObject(theirs.object(with: owners[2].objectID), forKey: "department")
    try theirs.save()
    #expect(throws: GraphError.self) { try mine.save() }
    try mine.refresh(person, mergeChanges: true)
    func lists() throws -> [Int] { try owners.map { try $0.objects(forKey: "employees").count } }
    #expect(try lists() == [0, 1, 0])
    #expect(mine.brokenInvariants().isEmpty)
    // A refresh without merging discards all parts of the change.
    try mine.refresh(person, mergeChanges: false)
    #expect(try lists() == [0, 0, 1])
    try mine.rollback()
    #expect(try lists() == [0, 0, 1])
    try person.setObject(owners[1], forKey: "department")
    try mine.save()
    #expect(try lists() == [0, 1, 0])
    let fresh = bench.stranger()
    for (owner, count) in zip(owners, [0, 1, 0]) {
      #expect(try fresh.object(with: owner.objectID).objects(forKey: "employees").count == count)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func storedAttributesOfTheOwnerThatANewerRowNamesFollowAKeptChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var entry = EntityExtension()
    entry.stored = [
      DerivedAttribute("name", inputs: ["employees.@count"]) {
        .string("\(try $0.objects(forKey: "employees").count)")
      }
    ]
    let mine = bench.context(["Department": [entry]])
    let theirs = bench.stranger(["Department": [entry]])
    let owners = try (0..<2).map { _ in try mine.insert("Department") }
    let person = try mine.insert("Person")
    try mine.save()
    try owners[1].add(person, to: "employees")
    try theirs.object(with: person.objectID).setObject(theirs.object(with: owners[0].objectID), forKey: "department")
    try theirs.save()
    try mine.refresh(person, mergeChanges: true)
    for owner in owners { try mine.refresh(owner, mergeChanges: true) }
    try mine.save()
    #expect(owners.map { $0["name"].text } == ["0", "1"])
    let fresh = bench.stranger()
    #expect(try owners.map { try fresh.object(with: $0.objectID)["name"].text } == ["0", "1"])
  }
}
