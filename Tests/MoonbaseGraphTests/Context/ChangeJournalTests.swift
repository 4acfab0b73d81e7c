import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Contents and lifetime of a context's change journal, and the effect of reverting its changes. Random operations are
/// in `RandomUndoTests`.
@Suite struct ChangeJournalTests {
  /// Reverts the changes since a savepoint and returns the changes that redo them.
  private func walkBack(_ context: ManagedObjectContext, to savepoint: ChangeJournal.Savepoint) -> [Change] {
    var readings = NewerReads()
    return context.journal.removeChanges(since: savepoint).compactMap { context.revert($0, noting: &readings) }
  }

  private func walkForth(_ context: ManagedObjectContext, _ changes: [Change]) {
    var readings = NewerReads()
    for change in changes.reversed() {
      if let forth = context.revert(change, noting: &readings) { context.journal.append(forth) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func nothingIsKeptOutsideOfSavepoints(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    try person.setValue("B", forKey: "firstName")
    try person.add(context.insert("Person"), to: "friends")
    try context.delete(person)
    try context.processPendingChanges()
    #expect(context.journal.count == 0 && !context.journal.isActive && context.brokenInvariants() == [])
  }

  /// For an object inserted within a savepoint the journal keeps the insertion only.
  @Test(arguments: StoreKind.allCases)
  func ofAnObjectThatIsNewInASavepointOnlyItsComingIsKept(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    try context.undoingOnFailure {
      let person = try context.insert("Person")
      try person.setValue("A", forKey: "firstName")
      try person.setValue(1, forKey: "age")
      #expect(context.journal.count == 1)
      // An inner savepoint can be rolled back alone.
      try? context.undoingOnFailure {
        try person.setValue("B", forKey: "firstName")
        #expect(context.journal.count == 2)
        throw Broken()
      }
      #expect(person["firstName"] == "A" && context.journal.count == 1)
    }
    #expect(context.insertedObjects.count == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func anInsertionThatIsTakenBackAndMadeAgainIsTheSameInstance(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let friend = try context.insert("Person", values: ["firstName": "friend"])
    try context.save()
    let savepoint = context.journal.begin()
    let person = try context.insert("Person")
    try person.setValue("A", forKey: "firstName")
    try person.add(friend, to: "friends")
    for _ in 0..<2 {
      let changes = walkBack(context, to: savepoint)
      #expect(!context.hasChanges && person.managedObjectContext == nil && context.brokenInvariants() == [])
      #expect(try context.registeredObject(for: person.objectID) == nil && friend.objects(forKey: "friends").isEmpty)
      walkForth(context, changes)
      #expect(context.insertedObjects == [person] && context.registeredObject(for: person.objectID) === person)
      #expect(try person["firstName"] == "A" && person.objects(forKey: "friends") == [friend])
      #expect(try friend.objects(forKey: "friends") == [person] && context.brokenInvariants() == [])
    }
    context.endSavepoint(savepoint)
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["A", "friend"])
  }

  @Test(arguments: StoreKind.allCases)
  func aDeletionThatIsTakenBackBringsTheSameInstanceBack(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let saved = try context.insert("Department", values: ["name": "saved"])
    let project = try context.insert("Project", values: ["title": "P", "department": .objectID(saved.objectID)])
    try context.save()
    let new = try context.insert("Department", values: ["name": "new"])
    let person = try context.insert("Person", values: ["department": .objectID(new.objectID)])
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        try context.delete(new)
        try context.delete(saved)
        try context.processPendingChanges()
        #expect(new.managedObjectContext == nil && project.isDeleted)
        #expect(try person.object(forKey: "department") == nil)
        throw Broken()
      }
    }
    #expect(
      context.insertedObjects == [new, person] && context.deletedObjects.isEmpty && context.updatedObjects.isEmpty)
    #expect(try context.registeredObject(for: new.objectID) === new && person.object(forKey: "department") === new)
    #expect(try new["name"] == "new" && new.objects(forKey: "employees") == [person])
    #expect(try !project.isDeleted && saved.objects(forKey: "projects") == [project])
    #expect(context.brokenInvariants() == [])
    try context.save()
    #expect(try bench.saved("Department", "name") == ["new", "saved"] && bench.saved("Project", "title") == ["P"])
  }

  @Test(arguments: StoreKind.allCases)
  func attributesAndPlacesInARelationshipGoBackAndForth(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department", values: ["name": "A"])
    let projects = try ["0", "1", "2", "3"].map { try context.insert("Project", values: ["title": $0]) }
    try department.setObjects(Array(projects.prefix(3)), forKey: "projects")
    try context.save()
    let slot = try #require(department.entity.slot("projects"))
    func titles() throws -> [Value] { try department.objects(forKey: "projects").map { $0["title"] } }
    let savepoint = context.journal.begin()
    try department.setValue("B", forKey: "name")
    try department.insertMember(projects[3].objectID, at: 1, slot: slot)
    try department.moveMember(from: 0, to: 3, slot: slot)
    try department.remove(projects[1], from: "projects")
    let changed = try titles()
    #expect(changed == ["3", "2", "0"])
    for _ in 0..<2 {
      let changes = walkBack(context, to: savepoint)
      #expect(try titles() == ["0", "1", "2"] && department["name"] == "A" && !context.hasChanges)
      #expect(try projects[1].object(forKey: "department") === department && context.brokenInvariants() == [])
      walkForth(context, changes)
      #expect(try titles() == changed && department["name"] == "B" && context.updatedObjects.count == 3)
      #expect(context.brokenInvariants() == [])
    }
    context.endSavepoint(savepoint)
    try context.save()
    let stranger = bench.stranger()
    let other = try #require(try stranger.existingObject(with: department.objectID))
    #expect(try other.objects(forKey: "projects").map { $0["title"] } == changed && other["name"] == "B")
  }

  /// The delete rules of both the earlier and the new deletion are pending.
  @Test(arguments: StoreKind.allCases)
  func anObjectThatWasBroughtBackCanBeDeletedAnew(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person")
    try? context.undoingOnFailure {
      try context.delete(person)
      throw Broken()
    }
    try? context.undoingOnFailure {
      try context.delete(person)
      try context.processPendingChanges()
      throw Broken()
    }
    #expect(context.insertedObjects == [person] && context.brokenInvariants() == [])
    try context.delete(person)
    try context.processPendingChanges()
    #expect(!context.hasChanges && context.brokenInvariants() == [])
  }

  // MARK: What is read meanwhile

  /// Undoing restores values over the row that was current when they changed; the newer row then applies as usual.
  @Test(arguments: StoreKind.allCases, [true, false])
  func aNewerRowThatCameMeanwhileStays(_ kind: StoreKind, _ merges: Bool) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A", "lastName": "A", "email": "A"])
    try context.save()
    try person.setValue("mine", forKey: "email")
    try person.setValue("mine", forKey: "fullName")
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        try person.setValue("undone", forKey: "firstName")
        try person.setValue("undone", forKey: "email")
        let stranger = bench.stranger()
        let same = try stranger.object(with: person.objectID)
        for key in ["firstName", "lastName"] { try same.setValue("theirs", forKey: key) }
        try stranger.save()
        try context.refresh(person, mergeChanges: merges)
        #expect(try person.value(forKey: "lastName") == "theirs")
        try person.setValue("undone", forKey: "lastName")
        throw Broken()
      }
    }
    #expect(person["firstName"] == "theirs" && person["lastName"] == "theirs" && context.updatedObjects == [person])
    #expect(person["email"] == "mine" && person["fullName"] == "mine" && context.brokenInvariants() == [])
    try context.save()
    #expect(try bench.saved("Person", "email") == ["mine"] && bench.saved("Person", "firstName") == ["theirs"])
  }

  /// A list that another context changed meanwhile is read again, and the unsaved changes are applied to it.
  @Test(arguments: StoreKind.allCases)
  func aListThatWasReadAnewMeanwhileIsAsNewAsThat(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (0..<4).map { try context.insert("Person", values: ["age": .int(Int64($0))]) }
    try people[0].add(people[1], to: "friends")
    try context.save()
    try people[0].add(people[2], to: "friends")
    #expect(try people[0].objects(forKey: "friends").count == 2)
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        try people[0].remove(people[1], from: "friends")
        let stranger = bench.stranger()
        let same = try people.map { try stranger.object(with: $0.objectID) }
        try same[0].add(same[3], to: "friends")
        try stranger.save()
        try context.refresh(people[0], mergeChanges: true)
        #expect(try Set(people[0].objects(forKey: "friends")) == [people[2], people[3]])
        throw Broken()
      }
    }
    #expect(try Set(people[0].objects(forKey: "friends")) == [people[1], people[2], people[3]])
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func whatARefreshGaveUpComesBackWhenTheTransactionFails(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    try person.setPrimitiveValue("transient", forKey: "fullName")
    #expect(throws: Broken.self) {
      try context.transaction {
        try person.setValue("B", forKey: "firstName")
        try context.refresh(person, mergeChanges: false)
        #expect(try person.value(forKey: "fullName").isNull)
        throw Broken()
      }
    }
    #expect(person["firstName"] == "A" && person["fullName"] == "transient" && !context.hasChanges)
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func whatWasRolledBackWithinASavepointStaysGivenUp(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    try person.setValue("before", forKey: "firstName")
    var new: ManagedObject?
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        new = try context.insert("Person")
        try person.setValue("within", forKey: "firstName")
        try context.rollback()
        try person.setValue("after", forKey: "lastName")
        throw Broken()
      }
    }
    #expect(person["firstName"] == "A" && person["lastName"].isNull && !context.hasChanges)
    #expect(new?.managedObjectContext == nil && context.brokenInvariants() == [])
  }

  // MARK: Followers

  /// A save takes its objects from the journal, so a change that a hook undid starts no further round of hooks.
  @Test(arguments: StoreKind.allCases)
  func whatAHookUndidIsNoReasonToCallHooksAgain(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let calls = Switch()
    let context = bench.context { entry in
      entry.willSave = { object in
        calls.value += 1
        try? object.managedObjectContext?.undoingOnFailure {
          for person in object.managedObjectContext?.insertedObjects ?? [] {
            try person.setValue("undone", forKey: "firstName")
          }
          throw Broken()
        }
      }
    }
    for _ in 0..<2 { try context.insert("Person", values: ["firstName": "A"]) }
    try context.save()
    #expect(try calls.value == 2 && bench.saved("Person", "firstName") == ["A", "A"])
  }

  /// A fetch finds unsaved objects by the restored values.
  @Test(arguments: StoreKind.allCases)
  func theIndexOfUnsavedChangesFollows(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<40 { try context.insert("Person", values: ["firstName": .string("\(number)")]) }
    let found = { try context.fetch(FetchRequest("Person", where: "firstName == '7'")).count }
    #expect(try found() == 1)
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        for person in context.insertedObjects { try person.setValue("7", forKey: "firstName") }
        #expect(try found() == 40)
        try context.insert("Person", values: ["firstName": "7"])
        for person in context.insertedObjects.prefix(20) { try context.delete(person) }
        #expect(try found() == 21)
        throw Broken()
      }
    }
    #expect(try found() == 1 && context.insertedObjects.count == 40 && context.brokenInvariants() == [])
  }

  /// A transformer is not run again for a restored value.
  @Test(arguments: StoreKind.allCases)
  func transformedValuesComeBackWithTheirBytes(_ kind: StoreKind) throws {
    let reversed = Switch()
    let domain = ExtensionRegistry()
    domain.transformers["ColorTransformer"] = ValueTransformer(
      "ColorTransformer", transformedValue: { _ in .data(Data([1])) },
      reverseTransformedValue: { _ in
        reversed.value += 1
        return "red"
      })
    let bench = try StoreBench(kind)
    let context = ManagedObjectContext(bench.coordinator, extensionRegistry: domain)
    let person = try context.insert("Person", values: ["color": "red"])
    try? context.undoingOnFailure {
      try person.setValue(.null, forKey: "color")
      throw Broken()
    }
    #expect(person["color"] == "red" && reversed.value == 0)
  }

  // MARK: Work

  /// The memory and the work of undoing grow linearly with the number of changes.
  @Test func undoingTakesAsLongAsThereAreChanges() throws {
    for count in [1000, 10_000, 100_000] {
      let bench = try StoreBench(.memory)
      let context = bench.context()
      let department = try context.insert("Department")
      let projects = try (0..<count / 10).map { _ in try context.insert("Project") }
      try department.setObjects(projects, forKey: "projects")
      let slot = try #require(department.entity.slot("projects"))
      let savepoint = context.journal.begin()
      for project in projects {
        for title in 0..<5 { try project.setValue(.string("\(title)"), forKey: "title") }
        try project.setObject(nil, forKey: "department")
        try department.insertMember(project.objectID, at: 0, slot: slot)
      }
      // Per project: five values and the change mark, then removal from the list, insertion (noted on both sides) and a
      // move to the front.
      let kept = context.journal.count
      #expect(kept == projects.count * 11 && kept > count)
      let units = HostWorkMeter.units { context.undo(since: savepoint) }
      context.endSavepoint(savepoint)
      #expect(units >= kept && units < 2 * kept)
      #expect(try department.objects(forKey: "projects") == projects && projects[0]["title"].isNull)
    }
  }
}
