import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Random operations on a context beside the simplest model that could be right: dictionaries and sets.
@Suite struct RandomOperationTests {
  /// What the naive model knows of one object.
  struct Reference: Equatable {
    var age: Int64 = 0
    var department: Int?
    var friends: Set<Int> = []
  }

  /// People and departments by running number.
  struct World: Equatable {
    var people: [Int: Reference] = [:]
    var departments: Set<Int> = []

    mutating func delete(person: Int) {
      people[person] = nil
      for key in people.keys { people[key]?.friends.remove(person) }
    }

    mutating func delete(department: Int) {
      departments.remove(department)
      for key in people.keys where people[key]?.department == department { people[key]?.department = nil }
    }
  }

  @Test(arguments: StoreKind.withFolder, 1...10)
  func contextAgreesWithTheNaiveModel(_ kind: StoreKind, _ seed: Int) throws {
    var random = SplitMix(UInt64(seed))
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    var people: [Int: ManagedObject] = [:]
    var departments: [Int: ManagedObject] = [:]
    var world = World()
    var saved = world
    var next = 0

    for _ in 0..<200 {
      let person = world.people.keys.sorted().randomElement(using: &random)
      let other = world.people.keys.sorted().randomElement(using: &random)
      let department = world.departments.sorted().randomElement(using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        next += 1
        people[next] = try context.insert("Person")
        world.people[next] = Reference()
      case 2:
        next += 1
        departments[next] = try context.insert("Department")
        world.departments.insert(next)
      case 3:
        guard let person else { continue }
        let age = Int64.random(in: 0...100, using: &random)
        try people[person]?.setValue(.int(age), forKey: "age")
        world.people[person]?.age = age
      case 4, 5:
        guard let person else { continue }
        try people[person]?.setObject(department.flatMap { departments[$0] }, forKey: "department")
        world.people[person]?.department = department
      case 6:
        guard let person, let department, let object = people[person] else { continue }
        try departments[department]?.add(object, to: "employees")
        world.people[person]?.department = department
      case 7, 8:
        guard let person, let other, person != other, let object = people[other] else { continue }
        try people[person]?.add(object, to: "friends")
        world.people[person]?.friends.insert(other)
        world.people[other]?.friends.insert(person)
      case 9:
        guard let person, let friend = world.people[person]?.friends.sorted().first, let object = people[friend]
        else { continue }
        try people[person]?.remove(object, from: "friends")
        world.people[person]?.friends.remove(friend)
        world.people[friend]?.friends.remove(person)
      case 10:
        if Bool.random(using: &random), let person, let object = people[person] {
          try context.delete(object)
          world.delete(person: person)
        } else if let department, let object = departments[department] {
          try context.delete(object)
          world.delete(department: department)
        }
        try context.processPendingChanges()
      default:
        if Int.random(in: 0..<4, using: &random) == 0 {
          try context.rollback()
          world = saved
        } else {
          try context.save()
          saved = world
          try expect(saved, people, departments, in: ManagedObjectContext(coordinator))
        }
      }
      #expect(context.brokenInvariants() == [])
      try expect(world, people, departments, in: context)
    }
  }

  /// Compares what a context says of the objects with the naive model.
  private func expect(
    _ world: World, _ people: [Int: ManagedObject], _ departments: [Int: ManagedObject],
    in context: ManagedObjectContext
  ) throws {
    let numbers = Dictionary(
      uniqueKeysWithValues: (people.merging(departments) { a, _ in a }).map { ($1.objectID, $0) })
    var found = World()
    for object in try context.fetch(FetchRequest("Person")) {
      let number = try #require(numbers[object.objectID])
      var reference = Reference()
      if case .int(let age) = try object.value(forKey: "age") { reference.age = age }
      reference.department = try object.object(forKey: "department").flatMap { numbers[$0.objectID] }
      reference.friends = Set(try object.objects(forKey: "friends").compactMap { numbers[$0.objectID] })
      found.people[number] = reference
    }
    for object in try context.fetch(FetchRequest("Department")) {
      let number = try #require(numbers[object.objectID])
      found.departments.insert(number)
      let employees = Set(try object.objects(forKey: "employees").compactMap { numbers[$0.objectID] })
      #expect(employees == Set(world.people.filter { $0.value.department == number }.keys))
    }
    #expect(found == world)
  }
}
