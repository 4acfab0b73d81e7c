import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct BackgroundContextConcurrencyTests {
  @Test func idsFetchedInTheBackgroundBecomeObjectsElsewhere() async throws {
    let coordinator = try People.coordinator()
    let background = try BackgroundContext(coordinator)
    try await background.perform { context in
      for age in 1...10 { try context.insert("Person", values: ["age": .int(Int64(age))]) }
      try context.save()
    }
    let ids = try await background.perform { try $0.fetchIDs(FetchRequest("Person")) }
    let main = try ManagedObjectContext(coordinator)
    let ages = try main.objects(with: ids).map { $0["age"] }
    #expect(Set(ages) == Set((1...10).map { Value.int($0) }))
  }

  @Test func performAndWaitRunsInlineOnItsOwnThread() throws {
    let background = try BackgroundContext(People.coordinator())
    let nested = try background.performAndWait { context in
      try context.insert("Person")
      return try background.performAndWait { try $0.count(FetchRequest("Person")) }
    }
    #expect(nested == 1)
  }

  @Test func contextsOnSeveralThreadsSaveIntoOneStore() async throws {
    let coordinator = try People.coordinator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        let background = try BackgroundContext(coordinator)
        group.addTask {
          for round in 0..<25 {
            try await background.perform { context in
              let department = try context.insert("Department", values: ["name": .string("\(worker)-\(round)")])
              try context.insert("Person", values: ["age": 1]).setObject(department, forKey: "department")
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let context = try ManagedObjectContext(coordinator)
    #expect(try context.count(FetchRequest("Department")) == 100)
    let people = try context.fetch(FetchRequest("Person"))
    #expect(Set(try people.map { try $0.object(forKey: "department")?.objectID }).count == 100)
  }
}
