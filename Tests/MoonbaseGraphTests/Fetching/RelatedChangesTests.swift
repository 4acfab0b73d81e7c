import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Fetches whose key paths lead through objects with unsaved changes: both kinds of stores give the same results.
@Suite struct RelatedChangesTests {
  private struct World {
    let bench: StoreBench
    let context: ManagedObjectContext
    let departments: [ManagedObject]
    let people: [ManagedObject]

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind)
      let context = bench.context()
      self.context = context
      departments = try ["a", "b"].map { try context.insert("Department", values: ["name": .string($0)]) }
      people = try (1...2).map {
        try context.insert("Person", values: ["firstName": .string("p\($0)"), "age": .int($0)])
      }
      for (person, department) in zip(people, departments) { try person.setObject(department, forKey: "department") }
      try people[0].setObjects([people[1]], forKey: "friends")
      try context.save()
    }

    func find(
      _ entity: String, _ format: String, _ sort: String..., pending: Bool = true
    ) throws -> [Value] {
      var request = FetchRequest(entity, where: try Predicate(format: format))
      request.sortDescriptors = sort.map { SortDescriptor(text: $0) }
      request.includesPendingChanges = pending
      let found = try context.fetch(request)
      #expect(try context.count(request) == found.count && Set(context.fetchIDs(request)) == Set(found.map(\.objectID)))
      return found.map { $0[entity == "Person" ? "firstName" : "name"] }
    }
  }

  @Test(arguments: StoreKind.allCases) func aChangedValueOfARelatedObjectCounts(_ kind: StoreKind) throws {
    let world = try World(kind)
    world.departments[0]["name"] = "z"
    #expect(try world.find("Person", "department.name = 'z'") == ["p1"])
    #expect(try world.find("Person", "department.name = 'a'") == [])
    #expect(try world.find("Person", "TRUEPREDICATE", "department.name") == ["p2", "p1"])
    #expect(try world.find("Person", "ANY friends.department.name = 'z'") == ["p2"])
    #expect(try world.find("Person", "SUBQUERY(friends, $f, $f.department.name = 'z').@count = 1") == ["p2"])
    try world.context.rollback()
    world.people[0]["age"] = 9
    #expect(try world.find("Department", "ANY employees.age = 9") == ["a"])
    #expect(try world.find("Department", "employees.@sum.age = 1") == [])
    #expect(try world.find("Department", "SUBQUERY(employees, $e, $e.age > 5).@count > 0") == ["a"])
    #expect(world.context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func limitsCountBesideChangesOfRelatedObjects(_ kind: StoreKind) throws {
    let world = try World(kind)
    for number in 3...60 {
      let person = try world.context.insert("Person", values: ["firstName": .string("p\(number)")])
      try person.setObject(world.departments[number % 2], forKey: "department")
    }
    try world.context.save()
    world.departments[0]["name"] = "z"
    var request = FetchRequest("Person", where: try Predicate(format: "department.name != 'none'"))
    request.sortDescriptors = [SortDescriptor("department.name", ascending: false), SortDescriptor("firstName")]
    request.fetchLimit = 2
    #expect(try world.context.fetch(request).map { $0["firstName"] } == ["p1", "p10"])
    request.fetchOffset = 30
    #expect(
      try world.context.fetch(request).map { $0["department"] }.allSatisfy {
        $0 == .objectID(world.departments[1].objectID)
      })
  }

  @Test(arguments: StoreKind.allCases) func withoutPendingChangesAllIsAsItIsSaved(_ kind: StoreKind) throws {
    let world = try World(kind)
    world.departments[0]["name"] = "z"
    world.people[0]["age"] = 7
    try world.people[1].setObject(world.departments[0], forKey: "department")
    #expect(try world.find("Person", "department.name = 'a'", pending: false) == ["p1"])
    #expect(try world.find("Person", "department.name = 'z'", pending: false) == [])
    #expect(try world.find("Department", "ANY employees.age = 1", pending: false) == ["z"])
    #expect(try world.find("Person", "TRUEPREDICATE", "-age", pending: false) == ["p2", "p1"])
    #expect(try world.find("Person", "TRUEPREDICATE", "department.name", pending: false) == ["p1", "p2"])
  }

  /// A change of another attribute does not make the fetch check the objects that refer to the changed one.
  @Test func onlyWhatIsReadOfARelatedObjectCounts() throws {
    let world = try World(.memory)
    let entity = try world.context.entity("Person")
    func owners(_ format: String) throws -> Int {
      let request = FetchRequest("Person", where: try Predicate(format: format))
      return try RelatedChanges(request, of: entity, in: world.context).owners(entity.subtree).count
    }
    try world.context.insert("Person").setObject(world.departments[0], forKey: "department")
    #expect(try owners("department.name = 'a'") == 0)
    #expect(try owners("department.employees.@count = 2") == 1)
    world.departments[0]["name"] = "z"
    #expect(try owners("department.name = 'a'") == 1)
  }

  /// Paths with a common beginning share it; each key is followed and charged once.
  @Test func manyKeyPathsAreFollowedInStepWithTheirNumber() throws {
    let world = try World(.memory)
    let entity = try world.context.entity("Person")
    var random = SplitMix(3)
    let paths = (0..<100).map { _ in
      (0..<30).map { _ in random.next(2) == 0 ? "friends" : "department.employees" }.joined(separator: ".") + ".age"
    }
    let keys = paths.reduce(0) { $0 + $1.split(separator: ".").count }
    var sorted = FetchRequest("Person")
    sorted.sortDescriptors = paths.map { SortDescriptor($0) }
    let terms = paths.map { "\($0) = 1" }.joined(separator: " OR ")
    for request in [sorted, FetchRequest("Person", where: try Predicate(format: terms))] {
      var related: RelatedChanges?
      let units = try HostWorkMeter.units {
        related = try RelatedChanges(request, of: entity, in: world.context)
      }
      #expect((keys..<2 * keys).contains(units))
      world.departments[0]["name"] = "z"
      #expect(try HostWorkMeter.units { _ = try related?.owners(entity.subtree) } >= keys / 2)
    }
  }
}
