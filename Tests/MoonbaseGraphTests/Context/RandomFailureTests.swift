import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Random operations beside a naive model, where hooks and stores fail: what fails leaves everything as it was.
@Suite struct RandomFailureTests {
  /// What the naive model knows: destinations by running number of people, projects in the order of their departments.
  struct World: Equatable {
    var departmentOfPerson: [Int: Int?] = [:]
    var ages: [Int: Int64] = [:]
    var friends: [Int: Set<Int>] = [:]
    var projects: [Int: [Int]] = [:]
    var loose: Set<Int> = []

    var people: [Int] { departmentOfPerson.keys.sorted() }
    var departments: [Int] { projects.keys.sorted() }
    var allProjects: [Int] { (projects.values.flatMap { $0 } + Array(loose)).sorted() }

    mutating func unlink(project: Int) {
      loose.remove(project)
      for key in projects.keys { projects[key]?.removeAll { $0 == project } }
    }

    mutating func delete(person: Int) {
      departmentOfPerson[person] = nil
      ages[person] = nil
      friends[person] = nil
      for key in friends.keys { friends[key]?.remove(person) }
    }

    mutating func delete(department: Int) {
      projects[department] = nil
      for (person, place) in departmentOfPerson where place == department { departmentOfPerson[person] = .some(nil) }
    }
  }

  /// A hook that changes whatever it finds, and fails in the end.
  private static func meddle(_ object: ManagedObject) throws {
    guard let context = object.managedObjectContext else { return }
    try context.disturbProjects()
    let people = try context.fetch(FetchRequest("Person")).filter { $0 !== object }
    if let person = people.first {
      try object.add(person, to: "friends")
      try person.setObject(object.object(forKey: "department"), forKey: "department")
      try person.setPrimitiveValue(99, forKey: "age")
    }
    if let person = people.last, person !== people.first { try context.delete(person) }
    if people.count < 8 { try context.insert("Employee", values: ["friends": .list([.objectID(object.objectID)])]) }
  }

  private final class Bench {
    let bench: StoreBench
    let store: FailingStore
    /// 1 while insertions fail, 2 while hooks of a save meddle.
    let mode = Switch()
    private(set) var context: ManagedObjectContext
    var objects: [Int: ManagedObject] = [:]
    var world = World()
    var saved = World()
    private var next = 0
    private var random: SplitMix

    init(_ kind: StoreKind, seed: Int) throws {
      (bench, store) = try StoreBench.failing(kind)
      context = try ManagedObjectContext(bench.coordinator)
      random = SplitMix(UInt64(seed))
      context = try newContext()
    }

    private func newContext() throws -> ManagedObjectContext {
      bench.context { [mode] entry in
        entry.awakeFromInsert = { object in
          guard mode.value == 1 else { return }
          try RandomFailureTests.meddle(object)
          try object.managedObjectContext?.processPendingChanges()
          throw Broken()
        }
        entry.willSave = { if mode.value == 2, !$0.isDeleted { try RandomFailureTests.meddle($0) } }
      }
    }

    func step() throws {
      let person = world.people.randomElement(using: &random)
      let other = world.people.randomElement(using: &random)
      let department = world.departments.randomElement(using: &random)
      let project = world.allProjects.randomElement(using: &random)
      switch Int.random(in: 0..<18, using: &random) {
      case 0, 1:
        let new = try insert("Person")
        world.departmentOfPerson[new] = .some(nil)
        world.friends[new] = []
        world.ages[new] = 0
      case 2: world.projects[try insert("Department")] = []
      case 3, 4: world.loose.insert(try insert("Project"))
      case 5:
        guard let person else { return }
        let age = Int64.random(in: 0...90, using: &random)
        let object = objects[person]
        if Bool.random(using: &random) {
          try object?.setValue(.int(age), forKey: "age")
        } else {
          try object?.setPrimitiveValue(.int(age), forKey: "age")
        }
        world.ages[person] = age
      case 6:
        guard let person else { return }
        try objects[person]?.setObject(department.flatMap { objects[$0] }, forKey: "department")
        world.departmentOfPerson[person] = .some(department)
      case 7:
        guard let person, let department, let object = objects[person] else { return }
        try objects[department]?.add(object, to: "employees")
        world.departmentOfPerson[person] = .some(department)
      case 8:
        guard let person, let department, let object = objects[person] else { return }
        try objects[department]?.remove(object, from: "employees")
        if world.departmentOfPerson[person] == .some(department) { world.departmentOfPerson[person] = .some(nil) }
      case 9:
        guard let person, let other, person != other, let object = objects[other] else { return }
        try objects[person]?.add(object, to: "friends")
        world.friends[person]?.insert(other)
        world.friends[other]?.insert(person)
      case 10:
        guard let person, let other, person != other, let object = objects[other] else { return }
        try objects[person]?.remove(object, from: "friends")
        world.friends[person]?.remove(other)
        world.friends[other]?.remove(person)
      case 11, 12:
        guard let project, let department else { return }
        try objects[project]?.setObject(objects[department], forKey: "department")
        guard world.projects[department]?.contains(project) == false else { return }
        world.unlink(project: project)
        world.projects[department]?.append(project)
      case 13:
        guard let department, let list = world.projects[department]?.shuffled(using: &random) else { return }
        try objects[department]?.setObjects(list.compactMap { objects[$0] }, forKey: "projects")
        world.projects[department] = list
      case 14: try delete(person, department, project)
      case 15: try failInsertion()
      case 16: try failSave()
      default: try finish()
      }
    }

    private func insert(_ entity: String) throws -> Int {
      next += 1
      objects[next] = try context.insert(entity)
      return next
    }

    private func delete(_ person: Int?, _ department: Int?, _ project: Int?) throws {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        guard let person, let object = objects[person] else { return }
        try context.delete(object)
        world.delete(person: person)
      case 1:
        guard let department, let object = objects[department] else { return }
        try context.delete(object)
        world.delete(department: department)
      default:
        guard let project, let object = objects[project] else { return }
        try context.delete(object)
        world.unlink(project: project)
      }
    }

    private func failInsertion() throws {
      // What waits to be deleted stays deleted.
      try context.processPendingChanges()
      mode.value = 1
      defer { mode.value = 0 }
      #expect(throws: GraphError.self) { try context.insert("Person") }
    }

    private func failSave() throws {
      try context.processPendingChanges()
      guard context.hasChanges else { return }
      mode.value = Int.random(in: 0..<4, using: &random) == 0 ? 0 : 2
      store.fail(atCommit: true)
      defer {
        mode.value = 0
        store.fail(atCommit: false)
      }
      #expect(throws: GraphError.self) { try context.save() }
    }

    private func finish() throws {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        try context.rollback()
        world = saved
      case 1:
        for object in context.updatedObjects.prefix(2) { try context.refresh(object, mergeChanges: false) }
        #expect(context.brokenInvariants() == [])
        try context.rollback()
        world = saved
      case 2:
        for object in context.registeredObjects where Bool.random(using: &random) {
          if !object.isDeleted { try context.refresh(object, mergeChanges: true) }
        }
      default:
        try context.save()
        saved = world
        #expect(!context.hasChanges)
        let fresh = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: bench.coordinator))
        try expect(in: fresh)
        if Bool.random(using: &random) { try changeContext() }
      }
    }

    /// Goes on with faults of which nothing is read.
    private func changeContext() throws {
      let new = try newContext()
      let known = Set(world.people + world.departments + world.allProjects)
      objects = try objects.filter { known.contains($0.key) }.mapValues { try new.object(with: $0.objectID) }
      context = new
    }

    /// Compares what a context says of the objects with the naive model.
    func expect(in context: ManagedObjectContext) throws {
      let numbers = Dictionary(uniqueKeysWithValues: objects.map { ($1.objectID, $0) })
      func number(_ object: ManagedObject) throws -> Int { try #require(numbers[object.objectID]) }
      var found = World()
      for object in try context.fetch(FetchRequest("Person")) {
        let person = try number(object)
        if case .int(let age) = try object.value(forKey: "age") { found.ages[person] = age }
        found.departmentOfPerson[person] = .some(try object.object(forKey: "department").map(number))
        found.friends[person] = Set(try object.objects(forKey: "friends").map(number))
      }
      for object in try context.fetch(FetchRequest("Department")) {
        let department = try number(object)
        found.projects[department] = try object.objects(forKey: "projects").map(number)
        let employees = Set(try object.objects(forKey: "employees").map(number))
        #expect(employees == Set(world.departmentOfPerson.filter { $0.value == department }.keys))
      }
      for object in try context.fetch(FetchRequest("Project")) {
        let department = try object.object(forKey: "department").map(number)
        if let department {
          #expect(world.projects[department]?.contains(try number(object)) == true)
        } else {
          found.loose.insert(try number(object))
        }
      }
      #expect(found == world)
    }
  }

  @Test(arguments: StoreKind.allCases, 1...3)
  func whatFailsLeavesEverythingAsItWas(_ kind: StoreKind, _ seed: Int) throws {
    let bench = try Bench(kind, seed: seed)
    for step in 0..<120 {
      try bench.step()
      #expect(bench.context.brokenInvariants() == [])
      // Not at each step, for what was not read is to stay so at times.
      if step % 3 == 0 { try bench.expect(in: bench.context) }
    }
  }
}
