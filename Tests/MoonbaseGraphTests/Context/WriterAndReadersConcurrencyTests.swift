import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// One context that writes and eight that read beside it, each on its own thread: for `MOONBASE_SECONDS`, or two.
@Suite struct WriterAndReadersConcurrencyTests {
  private static let readerCount = 8

  private static var duration: Duration {
    .seconds(ProcessInfo.processInfo.environment["MOONBASE_SECONDS"].flatMap { Int($0) } ?? 2)
  }

  /// A department has a number, and so has each of its people: whoever reads one state of the data finds them equal.
  private static func write(_ round: Int, in context: ManagedObjectContext) throws {
    let departments = try context.fetch(FetchRequest("Department"))
    let department = departments[round % departments.count]
    try department.setValue(.string("\(round)"), forKey: "name")
    let people = try department.objects(forKey: "employees")
    for person in people { try person.setValue(.string("\(round)"), forKey: "lastName") }
    if let last = people.last, people.count > 6 { try context.delete(last) }
    let new = try context.insert("Person", values: ["lastName": .string("\(round)"), "age": .int(Int64(round % 90))])
    try new.setObject(department, forKey: "department")
    if let first = people.first, !first.isDeleted { try new.add(first, to: "friends") }
    for index in 0..<2 {
      let project = try context.insert("Project", values: ["title": .string("\(round) \(index)")])
      try department.insert(project, before: index)
    }
    let projects = try department.objects(forKey: "projects")
    if projects.count > 8 { for project in projects.suffix(4) { try context.delete(project) } }
    try context.save()
  }

  /// Faults, lists, fetches with conditions and prefetching, dictionaries and counts; what others save is merged before each fetch.
  private static func read(_ round: Int, in context: ManagedObjectContext) throws {
    switch round % 5 {
    case 0:
      var request = FetchRequest("Department")
      request.relationshipKeyPathsForPrefetching = ["employees"]
      for department in try context.fetch(request) {
        for person in try department.objects(forKey: "employees") { _ = try? person.value(forKey: "lastName") }
      }
    case 1:
      let age = Value.int(Int64(round % 50))
      for person in try context.fetch(FetchRequest("Person", where: "age >= %d AND department.name != nil", age)) {
        _ = try? person.object(forKey: "department")?.value(forKey: "name")
        _ = try? person.objects(forKey: "friends").count
      }
    case 2:
      let walk = try context.fetchedObjects(FetchRequest("Project"))
      for project in walk { _ = try? project.value(forKey: "title") }
    case 3:
      _ = try context.count(FetchRequest("Person", where: "ANY friends.age > 20"))
      _ = try context.fetchIDs(FetchRequest("Project"))
    default:
      try context.refreshAllObjects()
      try context.processPendingChanges()
    }
  }

  @Test(arguments: StoreKind.allCases) func eightReadersFollowOneWriter(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let isOver = Lock(false)
    let rounds = Lock((written: 0, read: 0))
    let writer = try BackgroundContext(coordinator)
    try await writer.perform { context in
      for name in ["a", "b", "c"] { try context.insert("Department", values: ["name": .string(name)]) }
      try context.save()
    }
    let duration = Self.duration
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<Self.readerCount {
        let background = try BackgroundContext(coordinator)
        group.addTask {
          await background.perform { $0.automaticallyMergesChangesFromParent = reader % 2 == 0 }
          var round = reader
          while !isOver.withLock({ $0 }) {
            // A row that goes while it is read is no error of the reader's.
            try await background.perform { context in
              do {
                try Self.read(round, in: context)
              } catch let error as GraphError where error.code == .objectNotFound {}
            }
            rounds.withLock { $0.read += 1 }
            round += 1
          }
        }
      }
      group.addTask {
        defer { isOver.withLock { $0 = true } }
        let clock = ContinuousClock()
        let end = clock.now + duration
        var round = 0
        while clock.now < end {
          try await writer.perform { try Self.write(round, in: $0) }
          rounds.withLock { $0.written += 1 }
          round += 1
        }
      }
      try await group.waitForAll()
    }
    let done = rounds.withLock { $0 }
    #expect(done.written > 0 && done.read >= Self.readerCount, "\(done)")
    let context = try ManagedObjectContext(coordinator)
    for department in try context.fetch(FetchRequest("Department")) {
      for person in try department.objects(forKey: "employees") { #expect(person["lastName"] == department["name"]) }
    }
  }
}

extension ManagedObject {
  /// Puts a project at the beginning of those of a department, or near it.
  fileprivate func insert(_ project: ManagedObject, before place: Int) throws {
    var projects = try objects(forKey: "projects")
    projects.insert(project, at: min(place, projects.count))
    try setObjects(projects, forKey: "projects")
  }
}
