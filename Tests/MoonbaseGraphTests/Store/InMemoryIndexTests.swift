import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseStore

@Suite struct InMemoryIndexTests {
  private func request(_ entity: String, _ values: [String: Value]) -> FetchRequest {
    var request = FetchRequest(entity)
    request.predicate = .and(
      values.sorted { $0.key < $1.key }.map { .comparison(.init(.keyPath($0.key), .equal, .constant($0.value))) })
    return request
  }

  /// An equivalent request in a form that no index serves.
  private func plainRequest(_ entity: String, _ values: [String: Value]) -> FetchRequest {
    var result = request(entity, values)
    result.predicate = result.predicate.map { .not(.not($0)) }
    return result
  }

  /// The cost of a lookup or save depends on the rows found or changed, not on all rows.
  @Test func lookingOneUpCostsWhatIsFound() throws {
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try InMemoryStore(model: model)
    try coordinator.add(store)
    let context = try ManagedObjectContext(coordinator)
    for number in 0..<1000 { try context.insert("Person", values: ["firstName": .string("p\(number)")]) }
    try context.save()
    for number in 500..<1500 {
      let name = Value.string("p\(number)")
      #expect(try context.fetch(request("Person", ["firstName": name])).count == (number < 1000 ? 1 : 0))
      if number % 10 == 0 {
        try context.insert("Person", values: ["firstName": .string("q\(number)")])
        try context.save()
      }
    }
    #expect((1000..<3000).contains(store.contents.withLock { $0.index.work }))
  }

  @Test func rowsAreFoundAsByLookingAtEach() throws {
    let coordinator = try People.coordinator()
    let context = try ManagedObjectContext(coordinator)
    let departments = try (0..<2).map { _ in try context.insert("Department") }
    try context.save()
    var people: [ManagedObject] = []
    var random = SplitMix(7)
    let names: [Value] = ["a", "A", "\u{e9}", "e\u{301}", "", .null]
    let salaries: [Value] = [1, 1.5, 9_007_199_254_740_992, .null]
    let questions: [[String: Value]] =
      names.map { ["firstName": $0] } + (0..<4).map { ["age": .int($0), "firstName": "a"] }
      + [
        ["age": 2.0], ["age": 2.5], ["age": true], ["age": .null], ["department": .null], ["lastName": .null],
        ["department": .objectID(departments[0].objectID)],
        ["age": 1, "department": .objectID(departments[1].objectID)],
        ["born": 3], ["born": .double(3)],
      ]
    for step in 0..<400 {
      switch random.next(8) {
      case 0, 1, 2: people.append(try context.insert(random.next(2) == 0 ? "Employee" : "Person"))
      case 3:
        if let person = people.randomElement(using: &random) {
          person["age"] = .int(Int64(random.next(4)))
          person["born"] = .date(Date(timeIntervalSinceReferenceDate: Double(random.next(5))))
          if person.entity.name == "Employee" { person["salary"] = salaries[random.next(salaries.count)] }
        }
      case 4, 5: people.randomElement(using: &random)?["firstName"] = names[random.next(names.count)]
      case 6:
        let department = random.next(3) == 0 ? nil : departments[random.next(2)]
        try people.randomElement(using: &random)?.setObject(department, forKey: "department")
      default:
        if random.next(3) == 0, !people.isEmpty { try context.delete(people.remove(at: random.next(people.count))) }
      }
      if step % 7 == 6 { try context.save() }
      guard step % 5 == 4 else { continue }
      for reader in try [context, ManagedObjectContext(coordinator)] {
        for values in questions {
          for entity in ["Person", "Employee"] {
            let found = try reader.fetchIDs(request(entity, values))
            let expected = try reader.fetchIDs(plainRequest(entity, values))
            #expect(Set(found) == Set(expected) && found.count == expected.count, "step \(step): \(entity) \(values)")
          }
        }
        for salary in salaries + [1.0, 9_007_199_254_740_993] {
          let found = try reader.fetchIDs(request("Employee", ["salary": salary]))
          #expect(try Set(found) == Set(reader.fetchIDs(plainRequest("Employee", ["salary": salary]))))
        }
      }
    }
  }
}
