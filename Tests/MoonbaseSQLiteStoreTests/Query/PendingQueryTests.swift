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
    try coordinator.add(bench.store)
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
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

  @Test func aBatchOfFaultsIsReadInOneStatementAndLetGo() throws {
    let (bench, _, people) = try bench(50)
    let coordinator = PersistentStoreCoordinator(model: bench.model)
    try coordinator.add(bench.store)
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    var request = FetchRequest("Person")
    request.fetchBatchSize = 20
    let faults = try context.fetch(request)
    let statements = try bench.statements { for fault in faults { _ = try fault.value(forKey: "age") } }
    #expect(statements.count == 3 && faults.count == people.count)
    #expect(faults.allSatisfy { !$0.isFault })
  }
}
