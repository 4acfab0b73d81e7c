import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Expression

/// The number of statements of each kind of request: the table of docs/graph.md, "A fetch".
@Suite struct StatementCountTests {
  private static let peopleCount = 1100
  private static let departmentCount = 600

  private struct Bench {
    let people: PeopleStore
    let coordinator: PersistentStoreCoordinator

    init() throws {
      people = try PeopleStore()
      coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      let context = try ManagedObjectContext(coordinator)
      let departments = try (0..<departmentCount).map {
        try context.insert("Department", values: ["name": .string("\($0)")])
      }
      for index in 0..<peopleCount {
        let person = try context.insert("Person", values: ["age": .int(Int64(index % 100))])
        try person.setObject(departments[index % departmentCount], forKey: "department")
      }
      try context.save()
    }

    /// The statements of `body` in an empty context over an empty row cache.
    func count(_ body: (ManagedObjectContext) throws -> Void) throws -> Int {
      let context = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
      return try people.statements { try body(context) }.count
    }
  }

  private func request(_ entity: String = "Person", _ change: (inout FetchRequest) throws -> Void = { _ in }) rethrows
    -> FetchRequest
  {
    var request = FetchRequest(entity)
    try change(&request)
    return request
  }

  private func read(_ objects: some Sequence<ManagedObject>, _ key: String = "age") throws {
    for object in objects { _ = try object.value(forKey: key) }
  }

  @Test func fetchesRunAsFewStatementsAsIsSaid() throws {
    let bench = try Bench()
    #expect(try bench.count { try read($0.fetch(request())) } == 1)
    #expect(try bench.count { _ = try $0.fetch(request { $0.fetchBatchSize = 100 }) } == 1)
    #expect(try bench.count { try read($0.fetch(request { $0.fetchBatchSize = 100 })) } == 1 + 11)
    #expect(try bench.count { try read($0.fetch(request { $0.fetchBatchSize = 100 }).prefix(150)) } == 1 + 2)
    #expect(try bench.count { _ = try $0.fetchIDs(request()) } == 1)
    #expect(try bench.count { _ = try $0.count(request()) } == 1)
    let one = try #require(try ManagedObjectContext(bench.coordinator).fetchIDs(request()).first)
    #expect(try bench.count { try read([$0.object(with: one)]) } == 1)
    #expect(
      try bench.count { context in
        let found = try context.fetch(request())
        try read([context.object(with: one)])
        try read(found)
      } == 1)
  }

  @Test func walksRunAsFewStatementsAsIsSaid() throws {
    let bench = try Bench()
    #expect(try bench.count { try read($0.fetchedObjects(request())) } == 1)
    #expect(try bench.count { try read($0.fetchedObjects(request { $0.fetchBatchSize = 50 })) } == 1)
    // The object at a distant index is read by its key.
    let leap = try bench.count { context in
      let found = try context.fetchedObjects(request())
      try read([found[1000]])
      try read([found[1001]])
    }
    // The first statement is the count of the collection.
    #expect(leap == 3)
    let back = try bench.count { context in
      let found = try context.fetchedObjects(request())
      try read(found)
      try read([found[0]])
    }
    #expect(back == 2)
    #expect(try bench.count { _ = try $0.fetchedObjects(request()).count } == 2)
    // An unsaved change: keys first, and windows of 8, 64 and then 512 objects.
    let changed = try bench.count { context in
      try context.insert("Person")
      try read(context.fetchedObjects(request()))
    }
    #expect(changed == 1 + 5)
  }

  @Test func dictionariesRunAsFewStatementsAsIsSaid() throws {
    let bench = try Bench()
    let grouped = try request {
      $0.propertiesToGroupBy = ["age"]
      $0.propertiesToFetch = [FetchColumn("age"), FetchColumn("n", expression: try Expression(format: "@count"))]
    }
    #expect(try bench.count { _ = try $0.fetchDictionaries(request()) } == 1)
    #expect(try bench.count { _ = try $0.fetchDictionaries(grouped) } == 1)
    // The context computes these columns, from rows of 512 objects and the destinations of the path.
    let path = try request {
      $0.propertiesToFetch = [FetchColumn("d", expression: try Expression(format: "uppercase:(department.name)"))]
    }
    #expect(try bench.count { _ = try $0.fetchDictionaries(path) } == 1 + 3)
  }

  @Test func prefetchesRunAsFewStatementsAsIsSaid() throws {
    let bench = try Bench()
    #expect(
      try bench.count { context in
        let found = try context.fetch(request("Department") { $0.relationshipKeyPathsForPrefetching = ["employees"] })
        for department in found { try read(department.objects(forKey: "employees")) }
      } == 1 + 2)
    #expect(
      try bench.count { context in
        let found = try context.fetch(request { $0.relationshipKeyPathsForPrefetching = ["department"] })
        try read(found.map { try #require(try $0.object(forKey: "department")) }, "name")
      } == 1 + 2)
    // The lists of destinations, and the rows of their own destinations.
    let nested = try bench.count { context in
      let found = try context.fetch(request { $0.relationshipKeyPathsForPrefetching = ["department.employees"] })
      for person in found {
        let department = try #require(try person.object(forKey: "department"))
        try read(department.objects(forKey: "employees"))
      }
    }
    #expect(nested == 1 + 2 + 2)
    let one = try #require(try ManagedObjectContext(bench.coordinator).fetchIDs(request("Department")).first)
    #expect(try bench.count { _ = try $0.object(with: one).objectIDs(forRelationshipNamed: "employees") } == 1)
  }

  @Test func aDeletionReadsItsDestinationsTogether() throws {
    let bench = try Bench()
    let own = try ManagedObjectContext(bench.coordinator)
    let department = try own.insert("Department", values: ["name": "all"])
    for person in try own.fetch(request()) { try person.setObject(department, forKey: "department") }
    try own.save()
    let one = try bench.count { context in
      try context.delete(context.object(with: department.objectID))
      try context.processPendingChanges()
    }
    #expect(one == 1 + 1 + 3 + 1, "\(one)")
  }

  @Test func savesRunAsFewStatementsAsIsSaid() throws {
    let bench = try Bench()
    /// Without the transaction's own statements, whose number is the same for every save.
    func writing(_ count: Int) throws -> Int {
      try bench.count { context in
        for _ in 0..<count { try context.insert("Person", values: ["age": 1]) }
        try context.save()
      }
    }
    let (ten, twenty) = (try writing(10), try writing(20))
    #expect(twenty - ten == 10)
    #expect(ten - 10 <= 6, "\(ten)")
  }
}
