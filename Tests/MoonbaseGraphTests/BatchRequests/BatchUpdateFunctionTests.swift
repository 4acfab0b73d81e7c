import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Functions that compute the values of a batch update.
@Suite struct BatchUpdateFunctionTests {
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

  private func versions(_ people: [ManagedObject], _ context: ManagedObjectContext) throws -> [Int64?] {
    try people.map { try context.coordinator.persistentStores[0].snapshot(of: $0.objectID)?.version }
  }

  @Test(arguments: StoreKind.withFolder, [nil, "age > 0"])
  func aFunctionSetsWhatItMakesOfTheValue(_ kind: StoreKind, _ condition: String?) throws {
    let (bench, context, people) = try bench(kind)
    var request = BatchUpdateRequest("Person", where: try condition.map { try Predicate(format: $0) })
    request.functionsToUpdate["firstName"] = BatchUpdateFunction(as: String.self) { $0 == "P2" ? $0 : $0 + "!" }
    request.functionsToUpdate["email"] = BatchUpdateFunction(of: "firstName", "age") { values in
      values[1] == 20 ? .null : .string("\(values)")
    }
    request.resultType = .count
    #expect(try context.execute(request).count == 4)
    #expect(try bench.saved("Person", "firstName") == ["P1!", "P2", "P3!", "P4!"])
    let emails = [1, 3, 4].map { number -> Value in
      let values: [Value] = [.string("P\(number)"), .int(Int64(10 * number))]
      return .string("\(values)")
    }
    #expect(try bench.saved("Person", "email") == [.null] + emails)
    // The second row keeps its values, and with them its version.
    #expect(try versions(people, context) == [2, 1, 2, 2])
  }

  @Test(arguments: StoreKind.allCases) func functionsStandBesideValuesAndExpressions(_ kind: StoreKind) throws {
    let (bench, context, people) = try bench(kind)
    var request = BatchUpdateRequest("Person", set: ["lastName": "X"])
    request.propertiesToUpdate["age"] = try .init(format: "age + 1")
    request.functionsToUpdate["born"] = BatchUpdateFunction(of: "age") { values in
      guard case .int(let age) = values[0] else { return .null }
      return .date(Date(timeIntervalSinceReferenceDate: Double(age)))
    }
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(Set(result.objectIDs ?? []) == Set(people.map(\.objectID)))
    #expect(try bench.saved("Person", "age") == [11, 21, 31, 41])
    let dates = [10.0, 20, 30, 40].map { Value.date(Date(timeIntervalSinceReferenceDate: $0)) }
    #expect(try bench.saved("Person", "born") == dates)
    try context.mergeChanges(from: try #require(result.changes))
    #expect(people.map { $0["lastName"] } == ["X", "X", "X", "X"])
  }

  private struct Failure: Error {}

  @Test(arguments: StoreKind.allCases, ["throws", "a text", "too large", "unreadable"])
  func aRowOfWhichItFailsIsNamedAndNothingIsWritten(_ kind: StoreKind, _ mistake: String) throws {
    let (bench, context, people) = try bench(kind)
    var request = BatchUpdateRequest("Person")
    request.functionsToUpdate["age"] =
      mistake == "unreadable"
      ? BatchUpdateFunction(as: String.self) { $0 }
      : BatchUpdateFunction { value in
        guard value == 30 else { return 1 }
        if mistake == "throws" { throw Failure() }
        return mistake == "a text" ? "x" : 70_000
      }
    let error = #expect(throws: GraphError.self) { try context.execute(request) }
    #expect(error?.entity == "Person" && error?.property == "age")
    if mistake != "unreadable" { #expect(error?.objectID == people[2].objectID, "\(error as Any)") }
    #expect(error?.code == (mistake == "throws" ? .extensionFailure : .invalidValue))
    #expect(try bench.saved("Person", "age") == [10, 20, 30, 40])
    #expect(try versions(people, context) == [1, 1, 1, 1])
    // The store remains usable.
    request.functionsToUpdate["age"] = BatchUpdateFunction(as: Int64.self) { $0 + 1 }
    try context.execute(request)
    #expect(try bench.saved("Person", "age") == [11, 21, 31, 41])
  }

  /// The store may hold a lock while the function runs, so a call to any context could block for ever.
  @Test(arguments: StoreKind.allCases) func noContextMayBeAskedForAnythingMeanwhile(_ kind: StoreKind) throws {
    let (bench, context, people) = try bench(kind)
    let (stranger, id) = (bench.stranger(), people[0].objectID)
    try people[1].setValue("unsaved", forKey: "lastName")
    nonisolated(unsafe) let attempts: [() throws -> Void] = [
      { try context.save() }, { _ = try context.fetch(FetchRequest("Person")) },
      { _ = try stranger.count(FetchRequest("Person")) }, { try stranger.save() },
      { _ = try stranger.object(with: id).value(forKey: "age") }, { try context.rollback() },
      { try context.refreshAllObjects() },
      { try context.execute(BatchUpdateRequest("Person", set: ["age": 1])) },
      { try stranger.execute(BatchDeleteRequest(FetchRequest("Person"))) },
      { try context.transaction {} }, { try context.obtainPermanentIDs(for: [try context.insert("Person")]) },
    ]
    for (index, attempt) in attempts.enumerated() {
      nonisolated(unsafe) let attempt = attempt
      var request = BatchUpdateRequest("Person")
      request.functionsToUpdate["age"] = BatchUpdateFunction { value in
        try attempt()
        return value
      }
      let error = #expect(throws: GraphError.self, "attempt \(index)") { try context.execute(request) }
      #expect(
        error?.code == .contextBusy && error?.message.contains("before or after") == true, "\(index): \(error as Any)")
    }
    // The unsaved changes are still there and can be saved.
    try context.save()
    #expect(try bench.saved("Person", "lastName").contains("unsaved"))
    withExtendedLifetime(stranger) {}
  }

  @Test func whatCannotBeIsToldBeforeAnythingIsWritten() throws {
    let (_, context, _) = try bench(.memory)
    let function = BatchUpdateFunction { $0 }
    for (key, function, message) in [
      ("agee", function, "did you mean age?"), ("department", function, "is a relationship"),
      ("fullName", function, "is transient"), ("lastName", function, "an expression and a function"),
      ("age", BatchUpdateFunction(of: "agee") { $0[0] }, "did you mean age?"),
      ("age", BatchUpdateFunction(of: "department") { $0[0] }, "reads department, which is no persistent attribute"),
    ] {
      var request = BatchUpdateRequest("Person", set: ["lastName": "x"])
      request.functionsToUpdate[key] = function
      let error = #expect(throws: GraphError.self) { try context.execute(request) }
      #expect(error?.message.contains(message) == true, "\(error as Any)")
    }
  }
}
