import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Values that must follow a change made by another context, over each kind of store.
@Suite struct FreshnessTests {
  @Test(arguments: StoreKind.allCases) func whatIsAskedForAfterAResetIsReadAnew(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, other) = (bench.context(), bench.stranger())
    let department = try context.insert("Department")
    try department.setValue("Moon", forKey: "name")
    let person = try context.insert("Person")
    try person.setObject(department, forKey: "department")
    try context.save()
    let (id, departmentID) = (person.objectID, department.objectID)
    try context.reset()
    func name() throws -> Value? {
      let person = try context.object(with: id)
      return try person.object(forKey: "department")?.value(forKey: "name")
    }
    #expect(try name() == "Moon")
    try other.object(with: departmentID).setValue("Mars", forKey: "name")
    try other.save()
    try context.reset()
    #expect(try name() == "Mars")
  }

  // MARK: Derived attributes

  private func derivedModel() -> ManagedObjectModel {
    var model = People.model()
    let index = model.entities.firstIndex { $0.name == "Person" }!
    for name in ["title", "label"] {
      var attribute = AttributeDescription(name, type: .string)
      attribute.isTransient = true
      model.entities[index].attributes.append(attribute)
    }
    model.entities[index].attributes.append(AttributeDescription("place", type: .string))
    let department = model.entities.firstIndex { $0.name == "Department" }!
    model.entities[department].attributes.append(AttributeDescription("ages", type: .integer64))
    return model
  }

  /// `label` is derived from `title`, which is derived from the department's name; `place` and `ages` are stored.
  private func extensions() -> [String: [EntityExtension]] {
    var person = EntityExtension()
    let title = DerivedAttribute("title", inputs: ["department.name"]) { person in
      try person.object(forKey: "department")?["name"] ?? .null
    }
    let label = DerivedAttribute("label", ownInputs: ["title"]) { person in
      .string("<\(person["title"].text ?? "")>")
    }
    person.derived = [title, label]
    person.stored = [DerivedAttribute("place", inputs: ["label"]) { person in person["label"] }]
    var department = EntityExtension()
    department.stored = [
      DerivedAttribute("ages", inputs: ["employees.@sum.age"]) { department in
        .int(try sumOfAges(department))
      }
    ]
    return ["Person": [person], "Department": [department]]
  }

  private func sumOfAges(_ department: ManagedObject) throws -> Int64 {
    var sum: Int64 = 0
    for person in try department.objects(forKey: "employees") {
      if case .int(let age) = person["age"] { sum += age }
    }
    return sum
  }

  @Test(arguments: StoreKind.allCases)
  func aDerivedAttributeOfAnotherDerivedOneFollowsWhatThatComesFrom(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, derivedModel())
    let context = bench.context(extensions())
    let department = try context.insert("Department", values: ["name": "a"])
    let person = try context.insert("Person")
    #expect(person["label"] == "<>")
    try person.setObject(department, forKey: "department")
    #expect(person["label"] == "<a>")
    department["name"] = "b"
    #expect(person["title"] == "b" && person["label"] == "<b>")
  }

  @Test(arguments: StoreKind.allCases)
  func aStoredAttributeFollowsRelatedObjectsThatChangeAlone(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, derivedModel())
    let first = bench.context(extensions())
    let old = try first.insert("Department", values: ["name": "old"])
    let new = try first.insert("Department", values: ["name": "new"])
    let people = try (1...3).map { try first.insert("Person", values: ["age": .int($0)]) }
    for person in people { try person.setObject(old, forKey: "department") }
    try first.save()
    func saved(_ body: (ManagedObjectContext) throws -> Void) throws -> [Value] {
      let context = bench.context(extensions())
      try body(context)
      try context.save()
      #expect(context.brokenInvariants().isEmpty && !context.hasChanges)
      let after = bench.context()
      return try people.map { try after.existingObject(with: $0.objectID)?["place"] ?? .null }
        + [old, new].map { try after.object(with: $0.objectID)["ages"] }
    }
    // No context has the people or the departments registered.
    #expect(try saved { try $0.object(with: old.objectID)["name"] = "x" } == ["<x>", "<x>", "<x>", 6, 0])
    #expect(try saved { try $0.object(with: people[2].objectID)["age"] = 10 } == ["<x>", "<x>", "<x>", 13, 0])
    let moved = try saved {
      try $0.object(with: people[0].objectID).setObject($0.object(with: new.objectID), forKey: "department")
    }
    #expect(moved == ["<new>", "<x>", "<x>", 12, 1])
    let grown = try saved {
      try $0.insert("Employee", values: ["age": 100]).setObject($0.object(with: new.objectID), forKey: "department")
    }
    #expect(grown == ["<new>", "<x>", "<x>", 12, 101])
    let shrunk = try saved { try $0.delete($0.object(with: people[1].objectID)) }
    #expect(shrunk == ["<new>", .null, "<x>", 10, 101])
    let orphaned = try saved { try $0.delete($0.object(with: old.objectID)) }
    #expect(orphaned[2] == "<>")
  }

  @Test(arguments: StoreKind.allCases)
  func aStoredAttributeThatFailsFailsTheSaveAndLeavesWhatChanged(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, derivedModel())
    var department = EntityExtension()
    var fails = false
    department.stored = [
      DerivedAttribute("ages", inputs: ["employees.age"]) { department in
        if fails { throw GraphError(.invalidValue, message: "no sum") }
        return .int(try sumOfAges(department))
      }
    ]
    let context = bench.context(["Department": [department]])
    let owner = try context.insert("Department")
    let person = try context.insert("Person", values: ["age": 5])
    try person.setObject(owner, forKey: "department")
    try context.save()
    fails = true
    person["age"] = 6
    #expect { try context.save() } throws: { ($0 as? GraphError)?.message.contains("no sum") == true }
    #expect(person["age"] == 6 && owner["ages"] == 5 && context.brokenInvariants().isEmpty)
    fails = false
    try context.save()
    #expect(owner["ages"] == 6 && !context.hasChanges)
  }

  /// A chain of stored derived values along a tree: each depends on the value of the parent.
  @Test(arguments: StoreKind.allCases) func storedAttributesAlongATreeFollowItsRoot(_ kind: StoreKind) throws {
    var folder = EntityDescription("Folder")
    folder.attributes = [AttributeDescription("name", type: .string), AttributeDescription("path", type: .string)]
    folder.relationships = [
      .toOne("parent", destination: "Folder", inverse: "children"),
      .toMany("children", destination: "Folder", inverse: "parent"),
    ]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [folder]))
    var entry = EntityExtension()
    entry.stored = [
      DerivedAttribute("path", inputs: ["name", "parent.path"]) { folder in
        let above = try folder.object(forKey: "parent")?["path"].text ?? ""
        return .string(above + "/" + (folder["name"].text ?? ""))
      }
    ]
    let context = bench.context(["Folder": [entry]])
    var folders = [try context.insert("Folder", values: ["name": "0"])]
    for depth in 1..<150 {
      let next = try context.insert("Folder", values: ["name": .string("\(depth)")])
      try next.setObject(folders[depth - 1], forKey: "parent")
      folders.append(next)
    }
    try context.save()
    folders[0]["name"] = "root"
    try context.save()
    let path = "/root/" + (1..<150).map(String.init).joined(separator: "/")
    #expect(folders[149]["path"].text == path)
    let other = bench.stranger()
    #expect(try other.object(with: folders[149].objectID)["path"].text == path)
  }

  // MARK: Counts that the store keeps

  private func countModel() -> ManagedObjectModel {
    var model = People.model()
    let index = model.entities.firstIndex { $0.name == "Department" }!
    var size = AttributeDescription("size", type: .integer64)
    size.derivationExpression = "employees.@count"
    model.entities[index].attributes.append(size)
    return model
  }

  @Test(arguments: StoreKind.allCases) func aCountOfTheModelIsFreshAfterEachSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, countModel())
    let context = bench.context()
    let (a, b) = (try context.insert("Department"), try context.insert("Department"))
    let people = try (0..<3).map { _ in try context.insert("Person") }
    for person in people { try person.setObject(a, forKey: "department") }
    try context.save()
    #expect(a["size"] == 3 && b["size"] == 0)
    try people[0].setObject(b, forKey: "department")
    a["name"] = "renamed"
    try context.save()
    #expect(a["size"] == 2 && b["size"] == 1 && a["name"] == "renamed")
    try context.delete(people[1])
    b["name"] = "unsaved before, saved now"
    try context.save()
    #expect(a["size"] == 1 && b["size"] == 1)
    // Another context saves; its row cache has the rows.
    let other = bench.context()
    #expect(try other.object(with: b.objectID)["size"] == 1)
    try other.object(with: people[2].objectID).setObject(other.object(with: b.objectID), forKey: "department")
    try other.save()
    #expect(try other.object(with: b.objectID)["size"] == 2)
    let third = bench.context()
    #expect(try third.object(with: b.objectID)["size"] == 2 && third.object(with: a.objectID)["size"] == 0)
    try context.refresh(b, mergeChanges: true)
    #expect(b["size"] == 2)
    b["name"] = "no conflict"
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func aCountThatCannotBeReadAfterTheSaveIsReadLater(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, countModel())
    let context = bench.context()
    let department = try context.insert("Department")
    let person = try context.insert("Person")
    try context.save()
    try person.setObject(department, forKey: "department")
    store.fail(afterReads: 0)
    try context.save()
    #expect(!context.hasChanges && context.brokenInvariants().isEmpty)
    store.fail(afterReads: nil)
    #expect(department["size"] == 1)
  }

  // MARK: Refresh

  @Test(arguments: StoreKind.allCases, [false, true])
  func aRefreshThatMovesAToOneMovesItInBothLists(_ kind: StoreKind, _ merges: Bool) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let (a, b) = (try context.insert("Department"), try context.insert("Department"))
    let person = try context.insert("Person")
    let project = try context.insert("Project")
    try person.setObject(a, forKey: "department")
    try project.setObject(a, forKey: "department")
    try context.save()
    #expect(try a.objects(forKey: "employees") == [person] && b.objects(forKey: "employees").isEmpty)
    #expect(try a.objects(forKey: "projects") == [project] && b.objects(forKey: "projects").isEmpty)
    let other = bench.context()
    for (id, key) in [(person.objectID, "department"), (project.objectID, "department")] {
      try other.object(with: id).setObject(other.object(with: b.objectID), forKey: key)
    }
    try other.save()
    try context.refresh(person, mergeChanges: merges)
    try context.refresh(project, mergeChanges: merges)
    #expect(try person.object(forKey: "department") == b && project.object(forKey: "department") == b)
    #expect(try a.objects(forKey: "employees").isEmpty && b.objects(forKey: "employees") == [person])
    #expect(try a.objects(forKey: "projects").isEmpty && b.objects(forKey: "projects") == [project])
    #expect(context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func aRefreshThatMovesAPartnerTellsBothPartners(_ kind: StoreKind, _ merges: Bool) throws {
    var left = EntityDescription("Left")
    left.relationships = [.toOne("right", destination: "Right", inverse: "left")]
    var right = EntityDescription("Right")
    right.relationships = [.toOne("left", destination: "Left", inverse: "right")]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [left, right]))
    let context = bench.context()
    let one = try context.insert("Left")
    let (a, b) = (try context.insert("Right"), try context.insert("Right"))
    try one.setObject(a, forKey: "right")
    try context.save()
    let other = bench.context()
    try other.object(with: one.objectID).setObject(other.object(with: b.objectID), forKey: "right")
    try other.save()
    try context.refresh(one, mergeChanges: merges)
    #expect(try one.object(forKey: "right") == b)
    #expect(try a.object(forKey: "left") == nil && b.object(forKey: "left") == one)
    #expect(context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func aRefreshGivesUpAMoveInBothLists(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let (a, b) = (try context.insert("Department"), try context.insert("Department"))
    let (person, friend) = (try context.insert("Person"), try context.insert("Person"))
    try person.setObject(a, forKey: "department")
    try context.save()
    try person.setObject(b, forKey: "department")
    try person.add(friend, to: "friends")
    try context.refresh(person, mergeChanges: false)
    #expect(try a.objects(forKey: "employees") == [person] && b.objects(forKey: "employees").isEmpty)
    #expect(try friend.objects(forKey: "friends").isEmpty && person.objects(forKey: "friends").isEmpty)
    #expect(context.brokenInvariants().isEmpty)
    try person.setObject(b, forKey: "department")
    try context.refresh(a, mergeChanges: false)
    try context.refresh(b, mergeChanges: false)
    #expect(try a.objects(forKey: "employees").isEmpty && b.objects(forKey: "employees") == [person])
    try context.save()
    #expect(context.brokenInvariants().isEmpty && !context.hasChanges)
    let after = bench.context()
    #expect(try after.object(with: b.objectID).objectIDs(forRelationshipNamed: "employees") == [person.objectID])
  }

  // MARK: Dictionaries

  @Test(arguments: StoreKind.allCases) func dictionariesShowRowsAndValuesAsTheyAreSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (1...3).map { try context.insert("Person", values: ["age": .int($0), "firstName": "a"]) }
    try context.save()
    people[0]["age"] = 50
    people[1]["firstName"] = "b"
    try context.delete(people[2])
    try context.insert("Person", values: ["age": 100])
    var request = FetchRequest("Person")
    request.predicate = try Predicate(format: "age < 10 AND firstName == 'a'")
    request.sortDescriptors = [SortDescriptor("age")]
    request.propertiesToFetch = [
      FetchColumn("age", expression: .keyPath("age")), FetchColumn("firstName", expression: .keyPath("firstName")),
    ]
    let rows = try context.fetchDictionaries(request)
    #expect(rows.map { $0["age"] } == [1, 2, 3] && rows.allSatisfy { $0["firstName"] == "a" })
    // After a save by another context the values follow too, although the objects of this context have older values.
    try context.rollback()
    let other = bench.context()
    _ = people.map { $0["age"] }
    try other.object(with: people[0].objectID)["age"] = 7
    try other.save()
    #expect(try context.fetchDictionaries(request).map { $0["age"] } == [2, 3, 7])
    #expect(people[0]["age"] == 1)
    withExtendedLifetime(other) {}
  }

  // MARK: Objects with older values

  @Test(arguments: StoreKind.allCases)
  func aFetchFindsWhatAnotherContextSavedThoughAnOlderObjectIsHere(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (1...3).map { try context.insert("Person", values: ["age": .int($0), "firstName": "a"]) }
    try context.save()
    let other = bench.context()
    try other.object(with: people[0].objectID).setValue(9, forKey: "age")
    try other.object(with: people[0].objectID).setValue("b", forKey: "firstName")
    try other.save()
    func ages(_ format: String, limit: Int = 0) throws -> [ManagedObject] {
      var request = FetchRequest("Person")
      request.predicate = try Predicate(format: format)
      request.sortDescriptors = [SortDescriptor("age")]
      request.fetchLimit = limit
      return try context.fetch(request)
    }
    for pending in [false, true] {
      if pending { try context.insert("Person", values: ["age": 5, "firstName": "b"]) }
      #expect(try ages("firstName == 'b'").last === people[0] && ages("firstName == 'b'").count == (pending ? 2 : 1))
      #expect(try ages("firstName == 'a'") == [people[1], people[2]])
      #expect(try ages("age < 100", limit: 1) == [people[1]] && ages("age < 100").last === people[0])
      var count = FetchRequest("Person")
      count.predicate = try Predicate(format: "age == 9")
      #expect(try context.count(count) == 1)
    }
    // Fetching the object does not refresh it.
    #expect(people[0]["age"] == 1 && context.brokenInvariants() == [])
  }

  // MARK: Sorting

  @Test(arguments: StoreKind.allCases, [0, 2, 10])
  func objectsReadBeforeAreSortedByWhatTheStoreHasNow(_ kind: StoreKind, _ batchSize: Int) throws {
    let bench = try StoreBench(kind)
    let (first, second) = (bench.context(), bench.context())
    let people = try [1, 2, 5].map { try first.insert("Person", values: ["age": .int($0)]) }
    try first.save()
    let known = try people.map { try second.object(with: $0.objectID) }
    for person in known { try person.fireFault() }
    people[0]["age"] = 100
    try first.save()
    let new = try second.insert("Person", values: ["age": 3])
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age")]
    request.fetchBatchSize = batchSize
    #expect(try second.fetch(request) == [known[1], new, known[2], known[0]])
    request.fetchLimit = 2
    #expect(try second.fetch(request) == [known[1], new])
  }
}
