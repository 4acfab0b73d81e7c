import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A writing context and eight reading contexts, each on its own thread, for `Repetition.secondsOfReaders`.
@Suite struct WriterAndReadersConcurrencyTests {
  private static let readerCount = 8

  private static var duration: Duration {
    .seconds(Repetition.secondsOfReaders.count)
  }

  /// Each save gives a department and all its people the same number, so a consistent read finds equal numbers.
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

  // MARK: Reading

  /// Numbers that a save made equal are equal within one read view. Objects of an earlier view are released first.
  private static func read(_ round: Int, in context: ManagedObjectContext) throws {
    switch round % 6 {
    case 0: try comparePrefetched(in: context)
    case 1: try compareDictionaries(in: context)
    case 2: try compareWalk(in: context)
    case 3: try compareConditions(round, in: context)
    case 4: try followFaults(in: context)
    default: try compareAfterRefresh(in: context)
    }
  }

  private static func comparePrefetched(in context: ManagedObjectContext) throws {
    var request = FetchRequest("Department")
    request.relationshipKeyPathsForPrefetching = ["employees.friends", "projects"]
    for department in try context.fetch(request) { try compare(department) }
  }

  private static func compare(_ department: ManagedObject) throws {
    let name = try department.value(forKey: "name")
    for person in try department.objects(forKey: "employees") {
      let (own, id) = (try person.value(forKey: "lastName"), person.objectID)
      #expect(own == name, "\(id) beside its department")
      for friend in try person.objects(forKey: "friends") {
        #expect(try friend.value(forKey: "lastName") == own, "\(friend.objectID) beside its friend \(id)")
      }
    }
    let titles = try department.objects(forKey: "projects").map { try $0.value(forKey: "title") }
    guard !titles.isEmpty, let round = name.string else { return }
    #expect(titles.count >= 2 && titles.prefix(2) == [.string("\(round) 0"), .string("\(round) 1")], "\(titles)")
  }

  private static func compareDictionaries(in context: ManagedObjectContext) throws {
    var request = FetchRequest("Person")
    request.propertiesToFetch = [FetchColumn("lastName"), FetchColumn("department.name")]
    for row in try context.fetchDictionaries(request) {
      #expect(row["lastName"]?.string != nil && row["lastName"] == row["department.name"], "\(row)")
    }
  }

  /// A walk that prefetches keeps its view; faults follow it.
  private static func compareWalk(in context: ManagedObjectContext) throws {
    var request = FetchRequest("Person")
    request.relationshipKeyPathsForPrefetching = ["department"]
    let walk = try context.fetchedObjects(request)
    for person in walk {
      let name = try person.object(forKey: "department")?.value(forKey: "name")
      #expect(try person.value(forKey: "lastName") == name, "\(person.objectID) in a walk")
    }
    #expect(context.pendingErrors.isEmpty)
  }

  /// No person's name differs from the department's, whether the store or memory evaluates the condition.
  private static func compareConditions(_ round: Int, in context: ManagedObjectContext) throws {
    let request = try FetchRequest("Person", where: "lastName != department.name")
    #expect(try context.count(request) == 0)
    #expect(try context.fetchIDs(request).isEmpty)
    #expect(try context.fetch(request).isEmpty)
    let age = Value.int(Int64(round % 50))
    for person in try context.fetch(FetchRequest("Person", where: "age >= %d AND department.name != nil", age)) {
      #expect(try person.value(forKey: "age").int ?? -1 >= Int64(round % 50))
    }
  }

  /// Faults that fire later read later states: each has values unless its row was deleted.
  private static func followFaults(in context: ManagedObjectContext) throws {
    for person in try context.fetch(FetchRequest("Person")) {
      guard let department = try person.object(forKey: "department") else {
        Issue.record("\(person.objectID) has no department")
        continue
      }
      let (name, own) = (try department.value(forKey: "name"), try person.value(forKey: "lastName"))
      #expect(name.string != nil && own.string != nil)
      #expect(try person.objects(forKey: "friends").allSatisfy { $0.entity.name == "Person" })
    }
  }

  private static func compareAfterRefresh(in context: ManagedObjectContext) throws {
    let held = try context.fetch(FetchRequest("Department"))
    try context.refreshAllObjects()
    try context.processPendingChanges()
    var request = FetchRequest("Department")
    request.relationshipKeyPathsForPrefetching = ["employees.friends", "projects"]
    request.shouldRefreshRefetchedObjects = true
    let found = try context.fetch(request)
    #expect(Set(found) == Set(held))
    for department in found { try compare(department) }
  }

  @Test(arguments: StoreKind.allCases) func eightReadersFollowOneWriter(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let isOver = Lock(false)
    let rounds = Lock((written: 0, read: 0, overtaken: 0))
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
          try await background.perform { $0.automaticallyMergesChangesFromParent = reader % 2 == 0 }
          var round = reader
          while !isOver.withLock({ $0 }) {
            let isWhole = try await background.perform { context in
              do {
                try Self.read(round, in: context)
                return true
              } catch let error as GraphError where error.code == .objectNotFound {
                // A row deleted during the read is not an error.
                return false
              }
            }
            rounds.withLock { if isWhole { $0.read += 1 } else { $0.overtaken += 1 } }
            round += 1
          }
        }
      }
      group.addTask {
        defer { isOver.withLock { $0 = true } }
        let clock = ContinuousClock()
        let end = clock.now + duration
        var round = 0
        // On a busy machine, waits up to a minute until each reader has run.
        func isDone() -> Bool {
          let now = clock.now
          return now > end + .seconds(60) || now >= end && rounds.withLock { $0.read >= Self.readerCount }
        }
        while !isDone() {
          try await writer.perform { try Self.write(round, in: $0) }
          rounds.withLock { $0.written += 1 }
          round += 1
        }
      }
      try await group.waitForAll()
    }
    let done = rounds.withLock { $0 }
    #expect(done.written > 0 && done.read >= Self.readerCount && done.overtaken <= done.read, "\(done)")
    let context = try ManagedObjectContext(coordinator)
    for department in try context.fetch(FetchRequest("Department")) {
      for person in try department.objects(forKey: "employees") { #expect(person["lastName"] == department["name"]) }
    }
  }
}

extension ManagedObject {
  /// Moves a project to index `place` of the department's projects.
  fileprivate func insert(_ project: ManagedObject, before place: Int) throws {
    var projects = try objects(forKey: "projects")
    projects.insert(project, at: min(place, projects.count))
    try setObjects(projects, forKey: "projects")
  }
}
