import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct BackgroundContextConcurrencyTests {
  @Test(arguments: StoreKind.allCases)
  func idsFetchedInTheBackgroundBecomeObjectsElsewhere(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
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

  @Test(arguments: StoreKind.allCases) func performAndWaitRunsInlineOnItsOwnThread(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let background = try BackgroundContext(bench.coordinator)
    let (count, isInline) = try background.performAndWait { context in
      try context.insert("Person")
      let thread = Thread.current
      return try background.performAndWait { (try $0.count(FetchRequest("Person")), Thread.current == thread) }
    }
    #expect(count == 1 && isInline)
    let caller = Thread.current
    #expect(try background.performAndWait { _ in Thread.current != caller })
  }

  @Test(arguments: StoreKind.allCases) func contextsOnSeveralThreadsSaveIntoOneStore(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
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
