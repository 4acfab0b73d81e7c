import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Parts of a predicate about an object that many rows refer to, evaluated in memory.
@Suite struct SharedPartTests {
  static let formats = [
    "ANY department.employees.age > 200", "ALL department.employees.age >= 0", "NONE department.employees.age > 200",
    "200 IN department.employees.age", "department.employees.@count > 3", "department.employees.@sum.age > 3",
    "department.employees.@avg.age > 3", "department.employees.@min.age >= 0", "department.employees.@max.age > 3",
    "department.employees.@count > age", "SUBQUERY(department.employees, $e, $e.age > 3).@count > 2",
    "SUBQUERY(department.employees, $e, $e.age > 3 AND $e.department.name != 'x').@count > age",
    "SUBQUERY(department.employees, $e, $e.department.employees.@count > 0).@count > 2",
    "department.employees[SIZE] > 3", "SUBQUERY(friends, $f, ANY $f.department.employees.age > 200).@count == 0",
  ]

  /// People in shared departments, with an unsaved change that the SQLite store cannot see.
  private func bench(
    _ kind: StoreKind, people: Int, departments: Int = 1,
    extending configure: (inout EntityExtension) -> Void = { _ in }
  ) throws -> (StoreBench, ManagedObjectContext) {
    let bench = try StoreBench(kind)
    let context = bench.context(extending: "Person", configure)
    let owners = try (0..<departments).map {
      try context.insert("Department", values: ["name": .string("d\($0)")])
    }
    for number in 0..<people {
      let person = try context.insert(
        "Person", values: ["firstName": .string("p\(number)"), "age": .int(Int64(number % 7))])
      try person.setObject(owners[number % departments], forKey: "department")
      try person.setObjects([person], forKey: "friends")
    }
    try context.save()
    return (bench, context)
  }

  private func change(_ context: ManagedObjectContext) throws {
    for department in try context.fetch(FetchRequest("Department")) { department["name"] = "changed" }
    try context.fetch(FetchRequest("Person")).first?.setValue(6, forKey: "age")
  }

  /// The maximum work for 200 people; evaluating 200 members for each person takes twice as much.
  private static let bound = 20_000

  private func work(_ kind: StoreKind, _ bodies: ((ManagedObjectContext) throws -> Void)...) throws -> [Int] {
    let (bench, context) = try bench(kind, people: 200)
    return try withExtendedLifetime(bench) {
      try change(context)
      return try bodies.map { body in try HostWorkMeter.units { try body(context) } }
    }
  }

  @Test(arguments: StoreKind.allCases, formats)
  func theMembersOfASharedOwnerAreGoneOverOnce(_ kind: StoreKind, _ format: String) throws {
    let request = FetchRequest("Person", where: try Predicate(format: format))
    let units = try work(kind, { _ = try $0.fetch(request) }, { _ = try $0.count(request) })
    #expect(units.allSatisfy { $0 < Self.bound }, "\(units)")
  }

  @Test(arguments: StoreKind.allCases)
  func theMembersOfASharedOwnerAreGoneOverOnceForOrderAndColumnsToo(_ kind: StoreKind) throws {
    var sorted = FetchRequest("Person")
    sorted.sortDescriptors = [SortDescriptor("department.employees.@sum.age"), SortDescriptor("firstName")]
    var columns = FetchRequest("Person")
    columns.propertiesToFetch = [FetchColumn("department.employees.@count"), FetchColumn("@max.age")]
    columns.propertiesToGroupBy = ["department.employees.@max.age", "department.employees.@count"]
    let units = try work(kind, { _ = try $0.fetch(sorted) }, { _ = try $0.fetchDictionaries(columns) })
    #expect(units.allSatisfy { $0 < Self.bound }, "\(units)")
  }

  @Test(arguments: StoreKind.allCases) func manyChangedMembersLeadToTheirOwnerOnce(_ kind: StoreKind) throws {
    let request = FetchRequest("Person", where: try Predicate(format: "ANY department.employees.age > 200"))
    let units = try work(
      kind,
      { context in
        for person in try context.fetch(FetchRequest("Person")) { person["lastName"] = "changed" }
        _ = try context.fetch(request)
      })
    #expect(units.allSatisfy { $0 < Self.bound }, "\(units)")
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 3] as [UInt64])
  func whatIsSharedIsWhatEachRowWouldBeToldAlone(_ kind: StoreKind, _ seed: UInt64) throws {
    let (bench, context) = try bench(kind, people: 30, departments: 4)
    var random = SplitMix(seed)
    let people = try context.fetch(FetchRequest("Person"))
    for person in people {
      try person.setValue(.int(Int64(random.next(9))), forKey: "age")
      if random.next(5) == 0 { try person.setValue(.null, forKey: "department") }
      try person.setObjects([people[random.next(30)], people[random.next(30)]], forKey: "friends")
    }
    let entity = try #require(context.model.entity("Person"))
    for _ in 0..<60 {
      var text = Self.term(&random)
      for _ in 0..<random.next(3) {
        text =
          ["(\(text)) AND (\(Self.term(&random)))", "(\(text)) OR NOT (\(Self.term(&random)))", "NOT (\(text))"][
            random.next(3)]
      }
      let predicate = try Predicate(format: text)
      let alone = try CompiledPredicate(predicate, entity: entity, in: context.model)
      let expected = Set(try people.filter { try alone.matches($0) }.map(\.objectID))
      #expect(Set(try context.fetchIDs(FetchRequest("Person", where: predicate))) == expected, "\(text)")
    }
    withExtendedLifetime(bench) {}
  }

  private static func term(_ random: inout SplitMix) -> String {
    let (quantifier, number) = (["ANY", "ALL", "NONE"][random.next(3)], random.next(12))
    let aggregate = ["sum", "avg", "min", "max"][random.next(4)]
    let start = ["department", "$f.department", "department.employees.department"][random.next(2)]
    let inner = [
      "\(quantifier) \(start).employees.age > \(number)", "\(start).employees.@count > \(number)",
      "\(start).employees.@\(aggregate).age * 2 > \(number)", "\(start).employees.@\(aggregate).age > age",
      "SUBQUERY(\(start).employees, $e, $e.age > \(number) OR $e.department == \(start)).@count > \(random.next(5))",
      "SUBQUERY(\(start).employees, $e, $e.age > age AND ANY $e.department.employees.age > \(number)).@count > 1",
      "TERNARY(\(start).employees.@max.age > \(number), age, 3) > 2", "\(start).employees[SIZE] == \(number)",
      "\(number) IN \(start).employees.age", "\(start).employees.@count IN {3, 7, \(number)}",
    ][random.next(10)]
    return start.hasPrefix("$") ? "SUBQUERY(friends, $f, \(inner)).@count > \(random.next(2))" : inner
  }

  @Test(arguments: StoreKind.allCases) func whatAGetterChangesMeanwhileCounts(_ kind: StoreKind) throws {
    let (bench, context) = try bench(kind, people: 4) {
      $0.derived = [
        DerivedAttribute("fullName") { person in
          if case .int(let age) = try person.value(forKey: "age") { try person.setValue(.int(age + 1), forKey: "age") }
          return "named"
        }
      ]
    }
    let first = try #require(try context.fetch(FetchRequest("Person", where: Predicate(format: "age == 0"))).first)
    try first.setValue(1, forKey: "age")
    // The ages are 1 + 1 + 2 + 3, and the getter adds one to the age of each evaluated person.
    let request = FetchRequest(
      "Person", where: try Predicate(format: "fullName != NULL AND department.employees.@sum.age > 9"))
    #expect(try context.fetch(request).count == 2)
    withExtendedLifetime(bench) {}
  }
}
