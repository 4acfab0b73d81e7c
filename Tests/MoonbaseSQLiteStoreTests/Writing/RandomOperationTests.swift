import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

@Suite struct RandomOperationTests {
  /// A store with a context; objects are identified by the number they were made with.
  private final class World {
    let coordinator: PersistentStoreCoordinator
    var context: ManagedObjectContext
    private static let tags = ["Person": "email", "Employee": "email", "Department": "name", "Project": "title"]

    init(_ store: any PersistentStore, _ model: ResolvedModel) throws {
      coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      context = try ManagedObjectContext(coordinator)
    }

    func make(_ entity: String, _ number: Int) throws {
      let object = try context.insert(entity)
      try object.setValue(.string("\(number)"), forKey: Self.tags[entity]!)
    }

    private func tag(_ object: ManagedObject) throws -> String {
      guard case .string(let tag) = try object.value(forKey: Self.tags[object.entity.name]!) else { return "" }
      return tag
    }

    /// All objects of an entity, by the number they were made with.
    func objects(_ entity: String) throws -> [ManagedObject] {
      try context.fetch(FetchRequest(entity)).map { (try tag($0), $0) }.sorted { Int($0.0)! < Int($1.0)! }.map(\.1)
    }

    /// All values as text, read again from the store.
    func dump() throws -> [String] {
      context = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
      var lines: [String] = []
      for entity in ["Department", "Person", "Project"] {
        for object in try objects(entity) { lines.append(try describe(object)) }
      }
      return lines
    }

    private func describe(_ object: ManagedObject) throws -> String {
      var parts = [object.entity.name, try tag(object)]
      for property in object.entity.properties where !property.isTransient {
        switch property.kind {
        case .attribute: parts.append("\(property.name)=\(try object.value(forKey: property.name))")
        case .toOne: parts.append("\(property.name)=\(try object.object(forKey: property.name).map(tag) ?? "")")
        case .toMany(let relationship):
          var tags = try object.objects(forKey: property.name).map(tag)
          if !relationship.description.isOrdered { tags.sort() }
          parts.append("\(property.name)=\(tags)")
        }
      }
      return parts.joined(separator: " ")
    }
  }

  private static func step(_ world: World, _ random: inout SplitMix, _ number: Int) throws {
    func pick(_ entity: String) throws -> ManagedObject? {
      let all = try world.objects(entity)
      return all.isEmpty ? nil : all[random.next(all.count)]
    }
    switch random.next(13) {
    case 0, 1: try world.make(random.next(3) == 0 ? "Employee" : "Person", number)
    case 2: try world.make("Department", number)
    case 3: try world.make("Project", number)
    case 4: try pick("Person")?.setValue(.int(Int64(random.next(100))), forKey: "age")
    case 5: try pick("Person")?.setObject(try pick("Department"), forKey: "department")
    case 6:
      if let person = try pick("Person"), let friend = try pick("Person") { try person.add(friend, to: "friends") }
    case 7:
      guard let department = try pick("Department") else { return }
      var projects = try world.objects("Project").filter { _ in random.next(2) == 0 }
      projects.shuffle(using: &random)
      try department.setObjects(projects, forKey: "projects")
    case 8:
      let entity = ["Person", "Department", "Project"][random.next(3)]
      if let object = try pick(entity) { try world.context.delete(object) }
    case 9:
      try world.context.saveAhead()
      if random.next(2) == 0 { try world.make("Person", number) }
      try world.context.finishSave()
    case 10: try walk(world, savingEvery: 1 + random.next(4), to: random.next(50))
    case 11:
      var request = FetchRequest("Department")
      request.relationshipKeyPathsForPrefetching = ["employees", "projects", "employees.friends"]
      for department in try world.context.fetch(request) {
        _ = try department.objects(forKey: random.next(2) == 0 ? "employees" : "projects")
      }
    default: try world.context.save()
    }
    #expect(world.context.brokenInvariants() == [])
  }

  /// Sets a value of each person and saves every `count` people, as `save_every` of a script does.
  private static func walk(_ world: World, savingEvery count: Int, to age: Int) throws {
    var request = FetchRequest("Person")
    request.fetchBatchSize = 3
    request.sortDescriptors = [SortDescriptor("email")]
    for (index, person) in try world.context.fetchedObjects(request).enumerated() {
      try person.setValue(.int(Int64(age + index % 50)), forKey: "age")
      if index % count == count - 1 { try world.context.saveAhead() }
    }
    try world.context.finishSave()
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6])
  func randomOperationsLeaveTheSameObjectsInAFileAsInMemory(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let file = try World(SQLiteStore(url: folder.file(), model: model), model)
    let memory = try World(InMemoryStore(model: model), model)
    var (one, other) = (SplitMix(seed), SplitMix(seed))
    for number in 0..<150 {
      try Self.step(file, &one, number)
      try Self.step(memory, &other, number)
      if number % 25 == 24 {
        try file.context.save()
        try memory.context.save()
        let (found, expected) = (try file.dump(), try memory.dump())
        try #require(found == expected, "after \(number) steps")
      }
    }
    #expect(try RawDatabase(folder.file()).rows("PRAGMA integrity_check") == ["ok"])
  }
}
