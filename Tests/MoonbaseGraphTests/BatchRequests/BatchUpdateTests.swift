import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Batch update requests, which bypass contexts.
@Suite struct BatchUpdateTests {
  private func bench(_ kind: StoreKind) throws -> (StoreBench, ManagedObjectContext, [ManagedObject]) {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (1...4).map { index in
      try context.insert(
        index > 2 ? "Employee" : "Person", values: ["firstName": .string("P\(index)"), "age": .int(Int64(10 * index))])
    }
    try context.save()
    return (bench, context, people)
  }

  @Test(arguments: StoreKind.withFolder) func valuesAndExpressionsAreSetWhereTheConditionHolds(_ kind: StoreKind) throws
  {
    let (bench, context, people) = try bench(kind)
    var request = BatchUpdateRequest("Person", where: try Predicate(format: "age > 15"), set: ["lastName": "X"])
    request.propertiesToUpdate["age"] = try .init(format: "age + 1")
    request.propertiesToUpdate["email"] = try .init(format: "lowercase(firstName)")
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.count == 3 && Set(result.objectIDs ?? []) == Set(people[1...].map(\.objectID)))
    #expect(try bench.saved("Person", "age") == [10, 21, 31, 41])
    #expect(try bench.saved("Person", "email") == [.null, "p2", "p3", "p4"])
    // Registered objects keep their old values until the changes are merged.
    #expect(people[1]["age"] == 20 && !context.hasChanges)
    try context.mergeChanges(from: try #require(result.changes))
    #expect(people.map { $0["age"] } == [10, 21, 31, 41])
    let rows = try people.map { try context.coordinator.persistentStores[0].snapshot(of: $0.objectID)?.version }
    #expect(rows == [1, 2, 2, 2])
  }

  /// Two rows of numbers.
  private func numbers(_ kind: StoreKind) throws -> (StoreBench, ManagedObjectContext) {
    let model = ManagedObjectModel {
      EntityDescription("N") {
        AttributeDescription("age", type: .integer16)
        AttributeDescription("height", type: .double)
        AttributeDescription("salary", type: .decimal)
        AttributeDescription("text", type: .string)
      }
    }
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    for age in [10, 20] as [Int64] {
      try context.insert(
        "N", values: ["age": .int(age), "height": 1.5, "salary": .decimal(Decimal(5)), "text": "t"])
    }
    try context.save()
    return (bench, context)
  }

  @Test(
    arguments: StoreKind.allCases,
    [
      ("age", "age / 0", "age / 0 has no value of 10 and 0"),
      ("age", "100 / (age - 20)", "100 / (age - 20) has no value of 100 and 0"),
      ("height", "height / (age - 20)", "has no value of"),
      ("height", "sqrt(0 - height)", "sqrt:(0 - height) has no value of -1.5"),
      ("age", "modulus:by:(age, 0)", "has no value of"), ("salary", "salary / 0", "has no value of"),
      ("text", "FUNCTION(age / 0, 'stringValue')", "age / 0 has no value"),
    ]) func whatHasNoValueAsADivisionByZeroIsAnErrorAndNothingIsWritten(
      _ kind: StoreKind, _ update: (key: String, expression: String, message: String)
    ) throws
  {
    let (bench, context) = try numbers(kind)
    func saved() throws -> [[Value]] { try ["age", "height", "salary", "text"].map { try bench.saved("N", $0) } }
    let before = try saved()
    var request = BatchUpdateRequest("N")
    request.propertiesToUpdate[update.key] = try .init(format: update.expression)
    let error = try #require(throws: GraphError.self) { try context.execute(request) }
    #expect(error.code == .invalidValue && error.property == update.key && error.objectID != nil)
    #expect(error.message.contains(update.message), "\(error)")
    #expect(try saved() == before)
  }

  @Test(arguments: StoreKind.allCases) func nothingComesOfNothingAndWhereAConditionAsksForIt(_ kind: StoreKind) throws {
    let (bench, context) = try numbers(kind)
    func set(_ expression: String) throws {
      var request = BatchUpdateRequest("N")
      request.propertiesToUpdate["height"] = try .init(format: expression)
      try context.execute(request)
    }
    try context.execute(BatchUpdateRequest("N", set: ["height": .null]))
    try set("height / (age - age)")
    #expect(try bench.saved("N", "height") == [.null, .null])
    try set("TERNARY(age == 10, NULL, 2.0 / (age - 10))")
    #expect(try bench.saved("N", "height") == [.null, 0.2])
  }

  /// All expressions read the row as it was before the update, as in SQL.
  @Test(arguments: StoreKind.allCases) func allIsComputedFromWhatWasThereBefore(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let one = try context.insert("Person", values: ["firstName": "A", "lastName": "B", "age": 1])
    let two = try context.insert("Person", values: ["firstName": "C", "lastName": "D", "age": 2])
    try one.setObjects([two], forKey: "friends")
    try context.save()
    var request = BatchUpdateRequest("Person")
    request.propertiesToUpdate = [
      "firstName": .keyPath("lastName"), "lastName": .keyPath("firstName"),
      "age": try .init(format: "friends.@sum.age"),
    ]
    try context.execute(request)
    #expect(try bench.saved("Person", "firstName") == ["B", "D"] && bench.saved("Person", "lastName") == ["A", "C"])
    #expect(try bench.saved("Person", "age") == [1, 2])
    let fresh = bench.stranger()
    #expect(try fresh.fetch(FetchRequest("Person", where: "firstName == 'B'")).first?["age"] == 2)
    withExtendedLifetime(fresh) {}
  }

  @Test(arguments: StoreKind.allCases) func neitherHooksNorRulesNorUnsavedChangesCount(_ kind: StoreKind) throws {
    let (bench, _, people) = try bench(kind)
    let context = bench.context { entry in
      for hook in [\EntityExtension.awakeFromFetch, \.willSave, \.didSave, \.willTurnIntoFault] {
        entry[keyPath: hook] = { _ in Issue.record("a hook was called") }
      }
      entry.validate["age"] = { _, _ in .init("is refused") }
    }
    let unsaved = bench.context()
    let person = try #require(try unsaved.fetch(FetchRequest("Person", where: "age == 10")).first)
    try person.setValue(99, forKey: "age")
    try unsaved.execute(BatchUpdateRequest("Person", where: try Predicate(format: "age == 99"), set: ["age": 5]))
    // The model's maximum age is 150; a batch update does not validate it.
    try context.execute(BatchUpdateRequest("Person", where: try Predicate(format: "age == 10"), set: ["age": 1000]))
    #expect(try bench.saved("Person", "age") == [20, 30, 40, 1000])
    let error = #expect(throws: GraphError.self) { try unsaved.save() }
    #expect(error?.code == .mergeConflict)
    withExtendedLifetime(people) {}
  }

  @Test(arguments: StoreKind.allCases) func contextsThatMergeTakeItIn(_ kind: StoreKind) throws {
    let (bench, context, people) = try bench(kind)
    context.automaticallyMergesChangesFromParent = true
    try bench.context().execute(BatchUpdateRequest("Employee", set: ["age": 1]))
    try context.execute(
      BatchUpdateRequest("Employee", where: try Predicate(format: "firstName == 'P4'"), set: ["age": 2]))
    try context.processPendingChanges()
    #expect(people.map { $0["age"] } == [10, 20, 1, 2])
  }

  @Test(arguments: StoreKind.allCases) func storedDerivedAttributesFollow(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.stored = [
        DerivedAttribute("lastName", ownInputs: ["firstName"]) { .string("\(try $0.value(forKey: "firstName"))!") }
      ]
    }
    try context.execute(BatchInsertRequest("Person", objects: [["firstName": "A"]]))
    #expect(try bench.saved("Person", "lastName") == ["A!"])
    try context.execute(BatchUpdateRequest("Person", set: ["firstName": "B"]))
    #expect(try bench.saved("Person", "lastName") == ["B!"])
    #expect(throws: GraphError.self) { try context.execute(BatchUpdateRequest("Person", set: ["lastName": "C"])) }
  }

  @Test(
    arguments: [
      ("Persn", ["age": 1], nil, "no entity Persn"), ("Person", ["agee": 1], nil, "did you mean age?"),
      ("Person", [:], nil, "sets nothing: say what"),
      ("Person", ["age": "x"], nil, "Person.age: the batch update sets it"),
      ("Person", ["department": .null], nil, "is a relationship"), ("Person", ["fullName": "x"], nil, "is transient"),
      ("Person", ["age": 1], "agee > 1", "agee"),
    ] as [(String, [String: Value], String?, String)])
  func whatCannotBeIsToldBeforeAnythingIsWritten(
    _ entity: String, _ values: [String: Value], _ condition: String?, _ message: String
  ) throws {
    let (bench, context, _) = try bench(.memory)
    do {
      try context.execute(
        BatchUpdateRequest(entity, where: try condition.map { try Predicate(format: $0) }, set: values))
      Issue.record("no error")
    } catch {
      #expect("\(error)".contains(message), "\(error)")
    }
    #expect(try bench.saved("Person", "age") == [10, 20, 30, 40])
  }

  @Test(arguments: StoreKind.allCases) func aRowThatCannotTakeItsValueIsNamedAndNothingIsWritten(_ kind: StoreKind)
    throws
  {
    let (bench, context, people) = try bench(kind)
    var request = BatchUpdateRequest("Person")
    request.propertiesToUpdate["age"] = try .init(format: "age * 1000")
    let error = #expect(throws: GraphError.self) { try context.execute(request) }
    #expect(error?.property == "age" && error?.objectID == people[3].objectID, "\(error as Any)")
    #expect(try bench.saved("Person", "age") == [10, 20, 30, 40])
  }

  @Test(arguments: StoreKind.allCases) func anAbstractEntityMeansItsSubentities(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[0].isAbstract = true
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    try context.execute(BatchInsertRequest("Employee", objects: [["age": 1], ["age": 2]]))
    var request = BatchUpdateRequest("Person", set: ["age": 3])
    request.resultType = .count
    #expect(try context.execute(request).count == 2)
    request.includesSubentities = false
    #expect(throws: GraphError.self) { try context.execute(request) }
  }

  @Test(arguments: StoreKind.allCases) func whatOthersSaveMeanwhileIsReadAnew(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.context()
    try context.insert("Person", values: ["firstName": "A", "age": 1])
    try context.save()
    let other = bench.stranger()
    let person = try #require(try other.fetch(FetchRequest("Person")).first)
    try person.setValue(50, forKey: "age")
    nonisolated(unsafe) let quick = other
    store.meddle { try quick.save() }
    var request = BatchUpdateRequest("Person")
    request.propertiesToUpdate["age"] = try .init(format: "age + 1")
    try context.execute(request)
    #expect(try bench.saved("Person", "age") == [51])
    withExtendedLifetime(store) {}
  }

  @Test(arguments: StoreKind.allCases) func whereTheStoreFailsNothingIsWritten(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.context()
    try context.execute(BatchInsertRequest("Person", objects: [["age": 1], ["age": 1]]))
    for count in 0... {
      store.fail(onceAfterCalls: count)
      let failed = (try? context.execute(BatchUpdateRequest("Person", set: ["age": .int(Int64(count + 10))]))) == nil
      let isOver = store.isToFail
      store.fail(onceAfterCalls: nil)
      let ages = try bench.saved("Person", "age")
      #expect(ages[0] == ages[1])
      #expect(failed != (ages[0] == .int(Int64(count + 10))))
      if isOver { break }
    }
  }

  @Test func hooksAndTransactionsMayNotAskForThem() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context { entry in
      entry.willSave = { _ = try $0.managedObjectContext?.execute(BatchUpdateRequest("Person", set: ["age": 1])) }
    }
    try context.insert("Person")
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .recursiveSave }
    try context.rollback()
    #expect {
      try context.transaction { _ = try context.execute(BatchDeleteRequest(FetchRequest("Person"))) }
    } throws: { ($0 as? GraphError)?.code == .invalidRequest }
  }
}
