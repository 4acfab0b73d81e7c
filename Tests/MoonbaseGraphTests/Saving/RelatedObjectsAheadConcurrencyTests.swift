import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Background saves of new objects with destinations while the context is in use.
@Suite struct RelatedObjectsAheadConcurrencyTests {
  private static let count = 100

  /// New people of a department, each a friend of the previous one and of `friend`.
  private func insertPeople(
    _ context: ManagedObjectContext, _ name: String, of department: ManagedObject?, friend: ManagedObject? = nil
  ) throws -> [ManagedObject] {
    var people: [ManagedObject] = []
    for number in 0..<Self.count {
      let person = try context.insert("Person", values: ["firstName": .string("\(name) \(number)")])
      try person.setObject(department, forKey: "department")
      if let last = people.last { try person.add(last, to: "friends") }
      if let friend { try friend.add(person, to: "friends") }
      people.append(person)
    }
    return people
  }

  /// New people of a saved department, whose background save has started.
  private func underWay(
    _ kind: StoreKind
  ) throws -> (bench: StoreBench, context: ManagedObjectContext, department: ManagedObject, people: [ManagedObject]) {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    let department = try context.insert("Department", values: ["name": "A"])
    try context.save()
    let people = try insertPeople(context, "A", of: department)
    try context.saveAhead()
    return (bench, context, department, people)
  }

  /// The departments and friends of all people, as a fresh context reads them.
  private func stored(_ bench: StoreBench) throws -> Set<String> {
    let reader = bench.stranger()
    return try known(reader.fetch(FetchRequest("Person")), reader.fetch(FetchRequest("Department")))
  }

  /// The departments and friends of all people, from the objects of a context.
  private func known(_ people: [ManagedObject], _ departments: [ManagedObject]) throws -> Set<String> {
    var all: Set<String> = []
    for person in people {
      let name = person["firstName"].description
      all.insert("\(name) in \(try person.object(forKey: "department")?["name"].description ?? "none")")
      for friend in try person.objects(forKey: "friends") {
        all.insert("\(name) likes \(friend["firstName"].description)")
      }
    }
    for department in departments {
      for person in try department.objects(forKey: "employees") {
        all.insert("\(department["name"].description) has \(person["firstName"].description)")
      }
    }
    return all
  }

  /// Destinations that are saved, new in the same chunk, or new in the previous one; chunks follow each other without
  /// waiting.
  @Test(arguments: StoreKind.withFolder) func newObjectsWithDestinationsAreWrittenAhead(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    let saved = try context.insert("Department", values: ["name": "saved"])
    let friend = try context.insert("Person", values: ["firstName": "friend"])
    try context.save()
    var departments = [saved]
    var all = [friend]
    for round in 0..<4 {
      let new = try context.insert("Department", values: ["name": .string("new \(round)")])
      all += try insertPeople(context, "saved \(round)", of: saved, friend: friend)
      #expect((context.writing.pendingSave != nil) == (round > 0), "\(round): who comes to a list does not wait")
      all += try insertPeople(context, "new \(round)", of: new)
      all += try insertPeople(context, "last \(round)", of: departments.last)
      departments.append(new)
      try context.saveAhead()
      #expect(context.writing.pendingSave != nil, "\(round)")
    }
    try context.finishSave()
    #expect(!context.hasChanges && context.brokenInvariants() == [] && context.updatedObjects.isEmpty)
    #expect((all + departments).allSatisfy { !$0.isInserted && !$0.objectID.isTemporaryID && $0.rowVersion == 1 })
    #expect(try saved.objectIDs(forRelationshipNamed: "employees").allSatisfy { !$0.isTemporaryID })
    #expect(try saved.objects(forKey: "employees").count == 5 * Self.count)
    #expect(try friend.objects(forKey: "friends").count == 4 * Self.count)
    #expect(try known(all, departments) == stored(bench))
  }

  /// Members added while the owner is being saved belong to the next save, whether or not the first one succeeds.
  @Test(arguments: StoreKind.allCases, [false, true]) func listsGrowMeanwhile(_ kind: StoreKind, _ fails: Bool) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.contextSavingAhead()
    let department = try context.insert("Department", values: ["name": "A"])
    let friend = try context.insert("Person", values: ["firstName": "friend"])
    try context.save()
    let first = try insertPeople(context, "first", of: department, friend: friend)
    store.fail(atCommit: fails)
    try context.saveAhead()
    let second = try insertPeople(context, "second", of: department, friend: friend)
    #expect(context.writing.pendingSave != nil)
    context.waitForPendingSave()
    store.fail(atCommit: false)
    #expect(first.allSatisfy { $0.isInserted == fails } && second.allSatisfy(\.isInserted) && department.isUpdated)
    #expect(try department.objects(forKey: "employees").count == 2 * Self.count)
    #expect(try friend.objects(forKey: "friends").count == 2 * Self.count)
    #expect(context.brokenInvariants() == [])
    if fails { #expect(throws: GraphError.self) { try context.finishSave() } }
    try context.saveAhead()
    #expect(context.writing.pendingSave != nil)
    try context.finishSave()
    #expect(!context.hasChanges && context.brokenInvariants() == [])
    #expect(try known(first + second + [friend], [department]) == stored(bench))
  }

  /// Reading a result of the save waits for the save.
  @Test(arguments: StoreKind.allCases) func whoAsksWaits(_ kind: StoreKind) throws {
    let questions: [(String, (ManagedObjectContext, ManagedObject, [ManagedObject]) throws -> Bool)] = [
      ("a list", { _, owner, people in try owner.objects(forKey: "employees").count == people.count }),
      (
        "IDs of a list",
        { _, owner, _ in
          try owner.objectIDs(forRelationshipNamed: "employees").allSatisfy { !$0.isTemporaryID }
        }
      ),
      ("changes of the owner", { _, owner, _ in !owner.hasChanges && !owner.isUpdated }),
      ("changed values of the owner", { _, owner, _ in try owner.changedValues().isEmpty }),
      ("a destination", { _, owner, people in try people[3].object(forKey: "department") === owner }),
      ("friends", { _, _, people in try people[3].objects(forKey: "friends").count == 2 }),
      (
        "a fetch",
        { context, _, people in
          try context.fetch(FetchRequest("Person", where: "department.name = 'A'")).count == people.count
        }
      ),
      (
        "a new friend",
        { _, _, people in
          try people[0].add(people[50], to: "friends")
          return people[0].isUpdated && people[50].isUpdated
        }
      ),
      (
        "who leaves",
        { _, department, people in
          try department.remove(people[3], from: "employees")
          return try people[3].object(forKey: "department") == nil && people[3].isUpdated
        }
      ),
      (
        "a refresh",
        { context, department, people in
          try context.refresh(department, mergeChanges: false)
          return try department.objects(forKey: "employees").count == people.count
        }
      ),
      (
        "a deletion",
        { context, department, people in
          try context.delete(department)
          try context.save()
          return try people[3].object(forKey: "department") == nil
        }
      ),
    ]
    for (name, ask) in questions {
      let (bench, context, department, people) = try underWay(kind)
      #expect(context.writing.pendingSave != nil, "\(name)")
      let isAnswered = try ask(context, department, people)
      #expect(isAnswered, "\(name)")
      #expect(context.writing.pendingSave == nil && context.brokenInvariants() == [], "\(name)")
      try context.save()
      let departments = department.managedObjectContext == nil ? [] : [department]
      #expect(try known(people, departments) == stored(bench), "\(name)")
    }
  }

  /// Each call of the store fails in turn: objects and lists are unchanged, the next operation throws, and another save
  /// writes them.
  @Test(arguments: StoreKind.allCases) func failuresComeWithTheNextStep(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.contextSavingAhead()
    let department = try context.insert("Department", values: ["name": "A"])
    let friend = try context.insert("Person", values: ["firstName": "friend"])
    try context.save()
    var (people, saved): ([ManagedObject], [ManagedObject]) = ([], [friend])
    var (new, savedDepartments): (ManagedObject, [ManagedObject]) = (department, [department])
    try context.savesAhead(failingIn: store) { calls in
      new = try context.insert("Department", values: ["name": .string("new \(calls)")])
      people = try insertPeople(context, "a \(calls)", of: department, friend: friend)
      people += try insertPeople(context, "b \(calls)", of: new)
    } checkChanges: { _ in
      #expect(context.insertedObjects.count == 2 * Self.count + 1 && people.allSatisfy(\.isInserted))
      #expect((people + [new]).allSatisfy { $0.objectID.isTemporaryID && !$0.isFault })
      #expect(context.updatedObjects == [department, friend] || context.updatedObjects == [friend, department])
      let known = people.prefix(Self.count) + saved.dropFirst().filter { $0["firstName"].description.contains("a ") }
      let lists = try [department, new].map { try Set($0.objects(forKey: "employees")) }
      #expect(lists == [Set(known), Set(people.suffix(Self.count))])
      let friends = try people[7].objects(forKey: "friends")
      let destination = try people[107].object(forKey: "department")
      #expect(friends.count == 3 && destination === new)
      let changes = try department.changedValues().keys.sorted()
      #expect(changes == ["employees"])
    } checkOutcome: { calls, isSaved in
      if isSaved {
        saved += people
        savedDepartments.append(new)
      }
      let (here, there) = (try self.known(saved, savedDepartments), try stored(bench))
      #expect(here == there, "\(calls)")
    }
  }

  /// Another context deletes the department that the objects refer to: the objects are new again.
  @Test(arguments: StoreKind.allCases) func aDestinationThatIsGoneGivesTheObjectsBack(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    let department = try context.insert("Department", values: ["name": "A"])
    try context.save()
    let other = bench.context()
    let people = try insertPeople(context, "A", of: department)
    try other.delete(other.object(with: department.objectID))
    try other.save()
    try context.saveAhead()
    #expect(throws: GraphError.self) { try context.finishSave() }
    #expect(context.insertedObjects.count == Self.count && context.brokenInvariants() == [])
    for person in people { try person.setObject(nil, forKey: "department") }
    try context.saveAhead()
    try context.finishSave()
    #expect(try bench.saved("Person", "firstName").count == Self.count)
  }

  /// A failed insertion during a background save of its destination's list restores the list.
  @Test(arguments: StoreKind.allCases) func aFailedInsertionLeavesTheList(_ kind: StoreKind) throws {
    let (bench, context, department, people) = try underWay(kind)
    #expect(throws: GraphError.self) {
      try context.undoingOnFailure {
        let new = try context.insert("Person")
        try new.setObject(department, forKey: "department")
        #expect(context.writing.pendingSave != nil)
        try new.setValue("text", forKey: "age")
      }
    }
    #expect(try department.objects(forKey: "employees").count == Self.count)
    try context.save()
    #expect(context.writing.pendingSave == nil && !context.hasChanges && context.brokenInvariants() == [])
    #expect(try known(people, [department]) == stored(bench))
  }

  /// A read within the failing operation waits for the save to end; the list is restored all the same.
  @Test(arguments: StoreKind.allCases, [false, true])
  func aFailedInsertionDuringWhichTheSaveEndsLeavesTheList(_ kind: StoreKind, _ isDeleted: Bool) throws {
    let (bench, context, department, people) = try underWay(kind)
    #expect(throws: Broken.self) {
      try context.undoingOnFailure {
        let new = try context.insert("Person")
        try new.setObject(department, forKey: "department")
        #expect(context.writing.pendingSave != nil && department.hasChanges)
        #expect(context.writing.pendingSave == nil)
        if isDeleted { try context.delete(new) }
        throw Broken()
      }
    }
    #expect(!context.hasChanges && !department.hasChanges && context.brokenInvariants() == [])
    #expect(try department.objects(forKey: "employees").count == Self.count)
    #expect(try known(people, [department]) == stored(bench))
  }

  /// A temporary ID from before the chunk is invalid once the background save has started, as after a save.
  @Test(arguments: StoreKind.allCases) func temporaryIDsFromBeforeLeadNowhere(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    let department = try context.insert("Department", values: ["name": "A"])
    let id = department.objectID
    _ = try insertPeople(context, "A", of: department)
    try context.saveAhead()
    let new = try context.insert("Person")
    #expect(throws: GraphError.self) { try new.setValue(.objectID(id), forKey: "department") }
    try new.setObject(department, forKey: "department")
    try context.save()
    #expect(try department.objects(forKey: "employees").count == Self.count + 1)
  }

  /// Changes that cannot be deferred are saved synchronously: ordered lists of saved owners, removals, and changes of
  /// to-one relationships.
  @Test(arguments: StoreKind.allCases) func whatStaysIsSavedAtOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.contextSavingAhead()
    let department = try context.insert("Department", values: ["name": "A"])
    let (one, other) = (try context.insert("Person"), try context.insert("Person"))
    try context.save()
    func isSavedAtOnce(_ change: () throws -> Void) throws {
      _ = try insertPeople(context, "A", of: department)
      try change()
      try context.saveAhead()
      #expect(context.writing.pendingSave == nil && !context.hasChanges)
    }
    try isSavedAtOnce { try department.add(context.insert("Project"), to: "projects") }
    try isSavedAtOnce { try one.setObject(department, forKey: "department") }
    try isSavedAtOnce { try one.add(other, to: "friends") }
    try isSavedAtOnce { try one.remove(other, from: "friends") }
    try isSavedAtOnce { department["name"] = "B" }
  }
}
