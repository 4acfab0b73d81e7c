import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore

/// Fetches beside unsaved changes.
@Suite struct PendingQueryTests {
  private func bench(_ count: Int) throws -> (PeopleStore, ManagedObjectContext, [ManagedObject]) {
    let bench = try PeopleStore()
    let coordinator = PersistentStoreCoordinator(model: bench.model)
    coordinator.add(bench.store)
    let context = ManagedObjectContext(coordinator, domain: ExtensionDomain())
    let people = try (0..<count).map { number in
      try context.insert("Person", values: ["firstName": .string("p\(number)"), "age": .int(Int64(number % 100))])
    }
    try context.save()
    return (bench, context, people)
  }

  @Test func aFewUnsavedChangesKeepLimitAndCountInTheStore() throws {
    let (bench, context, people) = try bench(1000)
    people[0]["age"] = 99
    try context.delete(people[1])
    try context.insert("Person", values: ["firstName": "new", "age": 3])
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age"), SortDescriptor("firstName")]
    request.predicate = try Predicate(format: "age < 50")
    request.fetchLimit = 3
    let limited = try bench.statements {
      let found = try context.fetch(request)
      #expect(found.count == 3)
    }
    #expect(limited.count == 1 && limited[0].contains("LIMIT"))
    request.fetchLimit = 0
    let counted = try bench.statements {
      let count = try context.count(request)
      #expect(count == 499)
    }
    #expect(counted.count == 1 && counted[0].contains("COUNT(*)"))
    request.predicate = try Predicate(format: "firstName == 'p5'")
    request.fetchLimit = 1
    let found = try bench.statements {
      let same = try context.fetch(request)
      #expect(same == [people[5]])
    }
    #expect(found.count == 1)
  }

  /// Beside a context that reads everything into memory.
  @Test(arguments: 1...6) func windowsOverUnsavedChangesAreThoseOfTheWholeResult(_ seed: UInt64) throws {
    let (bench, context, people) = try bench(200)
    var random = SplitMix(seed)
    for person in people where random.next(3) == 0 {
      if random.next(4) == 0 { try context.delete(person) } else { person["age"] = .int(Int64(random.next(100))) }
    }
    for number in 0..<random.next(60) {
      try context.insert("Person", values: ["age": .int(Int64(random.next(100))), "firstName": .string("n\(number)")])
    }
    for format in ["age < 30", "TRUEPREDICATE", "age == 7", "firstName BEGINSWITH 'n'"] {
      var request = FetchRequest("Person")
      request.predicate = try Predicate(format: format)
      request.sortDescriptors = [SortDescriptor("age"), SortDescriptor("firstName")]
      let whole = try context.fetch(request)
      for (offset, limit) in [(0, 1), (0, 5), (3, 10), (40, 25), (190, 50), (500, 2), (5, 0)] {
        request.fetchOffset = offset
        request.fetchLimit = limit
        let rest = whole.dropFirst(offset)
        let expected = Array(limit > 0 ? rest.prefix(limit) : rest)
        #expect(try context.fetch(request) == expected)
        #expect(try context.fetchIDs(request) == expected.map(\.objectID))
        #expect(try context.count(request) == expected.count)
      }
    }
    withExtendedLifetime(bench) {}
  }

  @Test func aBatchOfFaultsIsReadInOneStatementAndLetGo() throws {
    let (bench, _, people) = try bench(50)
    let coordinator = PersistentStoreCoordinator(model: bench.model)
    coordinator.add(bench.store)
    let context = ManagedObjectContext(coordinator, domain: ExtensionDomain())
    var request = FetchRequest("Person")
    request.fetchBatchSize = 20
    let faults = try context.fetch(request)
    let statements = try bench.statements { for fault in faults { _ = try fault.value(forKey: "age") } }
    #expect(statements.count == 3 && faults.count == people.count)
    #expect(faults.allSatisfy { !$0.isFault })
  }
}
