import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct FetchTests {
  /// Ten people, the older half of them in a department.
  private func filled(_ kind: StoreKind, wrap: (any PersistentStore) -> any PersistentStore = { $0 }) throws
    -> StoreBench
  {
    let bench = try StoreBench(kind, wrap: wrap)
    let context = bench.context()
    let department = try context.insert("Department", values: ["name": "d"])
    for age in 1...10 {
      let person = try context.insert(
        "Person", values: ["age": .int(Int64(age)), "firstName": age % 2 == 0 ? "even" : "odd"])
      if age > 5 { try person.setObject(department, forKey: "department") }
    }
    try context.save()
    return bench
  }

  private func request(_ predicate: String? = nil) throws -> FetchRequest {
    var request = FetchRequest("Person")
    request.predicate = try predicate.map { try Predicate(format: $0) }
    request.sortDescriptors = [SortDescriptor("age")]
    return request
  }

  private func ages(_ objects: [ManagedObject]) -> [Int64] {
    objects.compactMap { if case .int(let age) = $0["age"] { age } else { nil } }
  }

  @Test(arguments: StoreKind.allCases) func unsavedChangesEnterAndLeaveTheResult(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let context = bench.context()
    var request = try request("age >= 9")
    let found = try context.fetch(request)
    #expect(ages(found) == [9, 10])
    try found[0].setValue(1, forKey: "age")
    try context.insert("Person", values: ["age": 20])
    try context.delete(found[1])
    #expect(ages(try context.fetch(request)) == [20])
    #expect(try context.count(request) == 1)
    request.includesPendingChanges = false
    #expect(try context.fetchIDs(request).count == 2)
  }

  /// Entities of one hierarchy may share a table.
  @Test(arguments: StoreKind.withFolder) func aConditionWithOrFindsNoObjectsOfOtherEntities(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let writer = bench.context()
    for (entity, name) in [("Person", "Ann"), ("Person", "Bob"), ("Employee", "Ann"), ("Employee", "Cid")] {
      try writer.insert(entity, values: ["firstName": .string(name)])
    }
    try writer.save()
    let condition = "firstName == 'Ann' OR firstName == 'Bob'"
    var people = try FetchRequest("Person", where: condition)
    people.includesSubentities = false
    for (request, names) in [(try FetchRequest("Employee", where: condition), ["Ann"]), (people, ["Ann", "Bob"])] {
      let context = bench.stranger()
      let expected = names.map { Value.string($0) }
      #expect(try context.fetch(request).map { $0["firstName"] } == expected)
      #expect(try context.fetchIDs(request).count == names.count && context.count(request) == names.count)
      #expect(try context.fetchedObjects(request).map { $0["firstName"] } == expected)
      var update = BatchUpdateRequest(request.entityName, where: request.predicate, set: ["lastName": "x"])
      update.includesSubentities = request.includesSubentities
      update.resultType = .count
      #expect(try context.execute(update).count == names.count)
      var deletion = BatchDeleteRequest(request)
      deletion.resultType = .count
      #expect(try context.execute(deletion).count == names.count)
    }
    #expect(try bench.saved("Person", "firstName") == ["Cid"])
  }

  @Test(arguments: StoreKind.allCases) func limitAndOffsetCountAfterSorting(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let context = bench.context()
    var request = try request()
    request.sortDescriptors = [SortDescriptor("age", ascending: false)]
    request.fetchLimit = 3
    request.fetchOffset = 2
    #expect(ages(try context.fetch(request)) == [8, 7, 6])
    #expect(try context.count(request) == 3)
  }

  @Test(arguments: StoreKind.allCases) func missingValuesNeverMatchAValueNotEvenUnderNot(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let context = bench.context()
    #expect(try context.count(request("lastName != 'x'")) == 0)
    #expect(try context.count(request("NOT (lastName = 'x')")) == 0)
    #expect(try context.count(request("lastName = NULL")) == 10)
    #expect(try context.count(request("department = NULL")) == 5)
    #expect(try context.count(request("department != NULL")) == 5)
    #expect(try context.count(request("department.name = 'd'")) == 5)
  }

  @Test(arguments: StoreKind.allCases) func aBatchOfFaultsReadsItsRowsTogether(_ kind: StoreKind) throws {
    var failing: FailingStore?
    let bench = try filled(kind) { store in
      let new = FailingStore(store)
      failing = new
      return new
    }
    let store = try #require(failing)
    let context = bench.stranger()
    var request = FetchRequest("Person")
    request.fetchBatchSize = 5
    request.includesPropertyValues = false
    let objects = try context.fetch(request)
    #expect(objects.allSatisfy(\.isFault) && objects.count == 10)
    // A read for each batch of five objects, and no more.
    store.fail(afterReads: 2)
    #expect(objects.allSatisfy { $0["age"] != .null } && context.pendingErrors.isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func refetchedObjectsTakeNewValuesUnderTheirChanges(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let context = bench.context()
    let person = try #require(try context.fetch(request("age = 3")).first)
    #expect(person["firstName"] == "odd")
    try person.setValue("mine", forKey: "lastName")
    let other = bench.context()
    try other.object(with: person.objectID).setValue("new", forKey: "firstName")
    try other.save()
    var request = try request("firstName = 'new'")
    request.includesPendingChanges = false
    request.shouldRefreshRefetchedObjects = true
    _ = try context.fetch(request)
    #expect(person["firstName"] == "new" && person["lastName"] == "mine")
    try context.save()
  }

  @Test(arguments: StoreKind.allCases)
  func variablesOfATemplateStandInItsConditionOfGroupsToo(_ kind: StoreKind) throws {
    var model = People.model()
    var template = FetchRequest("Person", where: try Predicate(format: "age >= $LEAST"))
    template.resultType = .dictionaries
    template.propertiesToFetch = [
      FetchColumn("firstName"), FetchColumn("total", expression: try Expression(format: "@sum.age")),
    ]
    template.propertiesToGroupBy = ["firstName"]
    template.havingPredicate = try Predicate(format: "total > $TOTAL")
    model.fetchRequestTemplates["sums"] = template
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    for age in [1, 20, 30] {
      try context.insert("Person", values: ["firstName": age < 30 ? "A" : "B", "age": .int(Int64(age))])
    }
    try context.save()
    let request = try context.fetchRequest(fromTemplate: "sums", substituting: ["LEAST": 2, "TOTAL": 25])
    #expect(try context.fetchDictionaries(request) == [["firstName": "B", "total": 30]])
    #expect { try context.fetchRequest(fromTemplate: "sums", substituting: ["LEAST": 2]) } throws: {
      "\($0)".contains("no value for $TOTAL")
    }
  }

  @Test(arguments: StoreKind.allCases) func dictionariesGroupFilterAndDistinguish(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let context = bench.context()
    var request = FetchRequest("Person")
    request.resultType = .dictionaries
    request.propertiesToFetch = [
      FetchColumn("firstName"), FetchColumn("total", expression: try Expression(format: "@sum.age")),
      FetchColumn("mean", expression: try Expression(format: "average:(age)"), resultType: .integer64),
    ]
    request.propertiesToGroupBy = ["firstName"]
    guard case .dictionaries(let groups) = try context.execute(request) else {
      Issue.record("no dictionaries")
      return
    }
    #expect(
      Set(groups) == [["firstName": "odd", "total": 25, "mean": 5], ["firstName": "even", "total": 30, "mean": 6]])
    request.havingPredicate = try Predicate(format: "total > 26")
    #expect(try context.fetchDictionaries(request).map { $0["firstName"] } == ["even"])
    request.havingPredicate = try Predicate(format: "max:(age) >= 10 AND @count = 5 AND firstName != 'x'")
    #expect(try context.fetchDictionaries(request) == [["firstName": "even", "total": 30, "mean": 6]])
    request.propertiesToFetch = [FetchColumn("range", expression: try Expression(format: "@max.age - min:(age)"))]
    request.havingPredicate = try Predicate(format: "firstName = 'odd'")
    #expect(try context.fetchDictionaries(request) == [["range": 8]])
    request.havingPredicate = try Predicate(format: "frstName = 'odd'")
    #expect { try context.fetchDictionaries(request) } throws: { "\($0)".contains("did you mean firstName?") }
    var distinct = FetchRequest("Person")
    distinct.propertiesToFetch = [FetchColumn("firstName")]
    distinct.returnsDistinctResults = true
    #expect(try context.fetchDictionaries(distinct).count == 2)
    distinct.returnsDistinctResults = false
    #expect(try context.fetchDictionaries(distinct).count == 10)
  }

  @Test(arguments: StoreKind.allCases) func prefetchedDestinationsNeedNoFurtherRead(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let shared = PersistentStoreCoordinator(model: bench.coordinator.model)
    let store = FailingStore(bench.coordinator.persistentStores[0])
    try shared.add(store)
    let context = try ManagedObjectContext(shared)
    var request = try request("department != NULL")
    request.relationshipKeyPathsForPrefetching = ["department.employees"]
    let people = try context.fetch(request)
    #expect(people.count == 5)
    store.fail(afterReads: 0)
    for person in people {
      let department = try #require(try person.object(forKey: "department"))
      #expect(department["name"] == "d")
      #expect(try department.objectIDs(forRelationshipNamed: "employees").count == 5)
    }
    #expect(context.pendingErrors.isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func unknownNamesAreRefusedWithTheNearest(_ kind: StoreKind) throws {
    let bench = try filled(kind)
    let context = bench.context()
    for wrong in ["aeg > 1", "department.nmae = 'x'"] {
      #expect { try context.fetch(request(wrong)) } throws: { "\($0)".contains("did you mean") }
    }
    #expect { try context.fetch(FetchRequest("Persn")) } throws: { "\($0)".contains("Person") }
  }
}
