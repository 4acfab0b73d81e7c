import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Operations permitted to Swift code that a context calls, and state that stays unchanged.
@Suite struct HookPhaseTests {
  @Test(arguments: StoreKind.allCases) func resetWithinARuleFailsTheSaveAndKeepsTheObject(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.validate["firstName"] = { _, subject in
        try subject.object.managedObjectContext?.reset()
        return nil
      }
    }
    let person = try context.insert("Person", values: ["firstName": "A"])
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .recursiveSave }
    #expect(person.isInserted && context.brokenInvariants().isEmpty)
    #expect(person["firstName"] == "A")
  }

  @Test(arguments: StoreKind.allCases) func errorsOfDidSaveAreKeptBesideASaveThatIsDone(_ kind: StoreKind) throws {
    struct Broken: Error {}
    let bench = try StoreBench(kind)
    let context = bench.context { entry in entry.didSave = { _ in throw Broken() } }
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    #expect(!person.hasChanges && !person.objectID.isTemporaryID)
    let errors = context.drainDidSaveErrors()
    #expect(errors.count == 1 && errors[0].code == .extensionFailure && errors[0].underlying is Broken)
    #expect(errors[0].message.hasPrefix("Person: didSave: "))
    #expect(context.drainDidSaveErrors().isEmpty)
  }

  /// An interruption does not count as a hook's error: all other hooks are called, and the save then throws it.
  @Test(arguments: StoreKind.allCases) func everyDidSaveHookIsCalledWhateverOthersThrow(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let calls = Switch()
    var (first, second) = (EntityExtension(), EntityExtension())
    first.didSave = { object in
      if object["age"] == 1 { throw ModelError(.interrupted, message: "enough") }
      throw Broken()
    }
    second.didSave = { _ in calls.value += 1 }
    let context = bench.context(["Person": [first, second]])
    for age in 0..<3 { try context.insert("Person", values: ["age": .int(Int64(age))]) }
    var isTold = false
    let observation = context.observeSaves(didSave: { _ in isTold = true })
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .interrupted }
    #expect(calls.value == 3 && isTold && context.drainDidSaveErrors().count == 2 && !context.hasChanges)
    #expect(try bench.saved("Person", "age") == [0, 1, 2])
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: StoreKind.allCases) func transactionSavesAllOrNothing(_ kind: StoreKind) throws {
    struct Stop: Error {}
    let bench = try StoreBench(kind)
    let context = bench.context()
    try context.transaction { try context.insert("Person", values: ["firstName": "A"]) }
    func stopped() throws {
      try context.insert("Person", values: ["firstName": "B"])
      #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .invalidRequest }
      // A nested transaction saves nothing, and reverts its own changes when it throws.
      #expect(throws: Stop.self) {
        try context.transaction {
          try context.insert("Person", values: ["firstName": "C"])
          throw Stop()
        }
      }
      #expect(context.insertedObjects.count == 1)
      throw Stop()
    }
    #expect(throws: Stop.self) { try context.transaction { try stopped() } }
    #expect(try !context.hasChanges && context.count(FetchRequest("Person")) == 1)
  }

  @Test(arguments: StoreKind.allCases) func refreshOfAnotherContextsObjectIsRefused(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let (one, two) = (try ManagedObjectContext(coordinator), try ManagedObjectContext(coordinator))
    let person = try one.insert("Person", values: ["firstName": "A"])
    try one.save()
    for merges in [true, false] {
      #expect { try two.refresh(person, mergeChanges: merges) } throws: { "\($0)".contains("another context") }
    }
  }

  @Test(arguments: StoreKind.allCases) func notANumberIsRefusedAndInfinityIsKept(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let employee = try context.insert("Employee", values: ["salary": 1.5])
    for value in [Value.double(.nan), .double(-.nan)] {
      #expect { try employee.setValue(value, forKey: "salary") } throws: { ($0 as? GraphError)?.property == "salary" }
    }
    // Foundation cannot print such a date, so the expectation must not capture it.
    let never = Value.date(Date(timeIntervalSinceReferenceDate: .nan))
    let code: GraphError.Code?
    do {
      try employee.setValue(never, forKey: "born")
      code = nil
    } catch {
      code = (error as? GraphError)?.code
    }
    #expect(code == .invalidValue)
    #expect(employee["salary"] == 1.5 && employee["born"] == .null)
    try employee.setValue(.double(.infinity), forKey: "salary")
    try context.save()
    #expect(employee["salary"] == .double(.infinity))
  }
}
