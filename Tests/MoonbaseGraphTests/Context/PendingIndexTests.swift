import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

@Suite struct PendingIndexTests {
  private func find(
    _ context: ManagedObjectContext, _ entity: String, _ values: [String: Value]
  ) throws -> [ManagedObject] {
    var request = FetchRequest(entity)
    request.predicate = .and(
      values.sorted { $0.key < $1.key }.map { .comparison(.init(.keyPath($0.key), .equal, .constant($0.value))) })
    return try context.fetch(request)
  }

  /// A lookup costs the changes since the last lookup, not all unsaved objects.
  @Test(arguments: StoreKind.allCases) func findingAmongUnsavedObjectsCostsWhatChanged(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<2000 {
      let name = Value.string("p\(number)")
      #expect(try find(context, "Person", ["firstName": name]).isEmpty)
      try context.insert("Person", values: ["firstName": name])
    }
    let placings = try #require(context.changedObjects.index?.placings)
    #expect(placings < 2 * 2000)
    #expect(try find(context, "Person", ["firstName": "p7"]).count == 1)
  }

  /// An `IN` list costs one lookup per constant.
  @Test(arguments: StoreKind.allCases) func findingByAListAmongUnsavedObjectsCostsWhatChanged(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let context = bench.context()
    func request(_ names: [Value]) -> FetchRequest {
      var request = FetchRequest("Person")
      request.predicate = .and([
        .comparison(.init(.keyPath("firstName"), .in, .constant(.list(names)))),
        .comparison(.init(.keyPath("lastName"), .equal, .constant("x"))),
      ])
      return request
    }
    for number in 0..<500 {
      #expect(try context.fetch(request([.string("p\(number)"), "q", "q", .null])).isEmpty)
      try context.insert("Person", values: ["firstName": .string("p\(number)"), "lastName": number == 9 ? "y" : "x"])
    }
    let placings = try #require(context.changedObjects.index?.placings)
    #expect(placings < 2 * 500)
    let none = try context.insert("Person", values: ["lastName": "x"])
    let found = try context.fetch(request(["p7", "p9", "p3", .null]))
    #expect(found.map { $0["firstName"] } == ["p3", "p7", .null] && found.last == none)
    try context.save()
    #expect(try context.fetch(request(["p7", "p9", "p3", .null])).count == 3)
  }

  /// A value computed from an object's own values changes only with them.
  @Test func findingByAComputedValueCostsWhatChanged() throws {
    var person = EntityExtension()
    person.derived = [
      DerivedAttribute("fullName", ownInputs: ["firstName"]) { .string("<\($0["firstName"].text ?? "")>") }
    ]
    let domain = ExtensionRegistry()
    domain.extensions = ["Person": [person]]
    let context = ManagedObjectContext(try People.coordinator(), extensionRegistry: domain)
    for number in 0..<2000 {
      #expect(try find(context, "Person", ["fullName": .string("<p\(number)>")]).isEmpty)
      try context.insert("Person", values: ["firstName": .string("p\(number)")])
    }
    #expect(try #require(context.changedObjects.index?.placings) < 2 * 2000)
    let found = try find(context, "Person", ["fullName": "<p7>"])
    #expect(found.count == 1)
    found.first?["firstName"] = "q"
    #expect(try find(context, "Person", ["fullName": "<p7>"]).isEmpty)
    #expect(try find(context, "Person", ["fullName": "<q>"]) == found)
  }

  @Test(arguments: StoreKind.allCases) func objectsThatTakeAnotherValueAreMovedOnceAndCounted(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (0..<2000).map { _ in try context.insert("Person", values: ["firstName": "a"]) }
    #expect(try find(context, "Person", ["firstName": "b"]).isEmpty)
    for person in people.dropLast() { person["firstName"] = "b" }
    var found: [ManagedObject] = []
    let units = try HostWorkMeter.units { found = try find(context, "Person", ["firstName": "c"]) }
    #expect(found.isEmpty)
    #expect((1999..<2500).contains(units))
    #expect(try find(context, "Person", ["firstName": "a"]) == [people[1999]])
    #expect(try find(context, "Person", ["firstName": "b"]) == Array(people.dropLast()))
  }

  /// Each combination of attributes has its own table of all changed objects.
  @Test func manyWaysOfAskingKeepFewTables() throws {
    let context = try People.context()
    let people = try (0..<20).map { try context.insert("Person", values: ["firstName": .string("p\($0)")]) }
    let names = ["lastName", "age", "boundsAsString", "born", "email", "department"]
    for ways in 0..<64 {
      var wanted: [String: Value] = ["firstName": "p7"]
      for (index, name) in names.enumerated() where ways & 1 << index != 0 { wanted[name] = name == "age" ? 0 : .null }
      #expect(try find(context, "Person", wanted) == [people[7]])
    }
    people[7]["firstName"] = "q"
    let placings = try #require(context.changedObjects.index?.placings)
    #expect(try find(context, "Person", ["firstName": "p7"]).isEmpty)
    #expect(try #require(context.changedObjects.index?.placings) <= placings + 32 + 20)
  }

  @Test(arguments: StoreKind.allCases) func anObjectWithoutChangesIsNotKept(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<100 { try context.insert("Person", values: ["firstName": .string("p\(number)")]) }
    try context.save()
    for number in 0..<20 { try context.insert("Person", values: ["firstName": .string("new \(number)")]) }
    #expect(try find(context, "Person", ["firstName": "new 7"]).count == 1)
    for person in try context.fetch(FetchRequest("Person")) where !person.isInserted {
      try context.refresh(person, mergeChanges: true)
    }
    #expect(context.changedObjects.index?.notedCount == 0)
    #expect(context.registeredObjects.count == 20)
    for person in context.insertedObjects.prefix(5) { try context.delete(person) }
    #expect(try find(context, "Person", ["firstName": "new 2"]).isEmpty)
    #expect(try find(context, "Person", ["firstName": "new 7"]).count == 1)
  }

  @Test(arguments: StoreKind.allCases) func randomChangesAreFoundAsByLookingAtEach(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department")
    try context.processPendingChanges()
    context.undoManager = UndoManager()
    var people: [ManagedObject] = []
    var random = SplitMix(11)
    for step in 0..<(kind == .memory ? 1500 : 600) {
      switch random.next(11) {
      case 0, 1, 2: people.append(try context.insert(random.next(3) == 0 ? "Employee" : "Person"))
      case 3: if let person = people.randomElement(using: &random) { person["age"] = .int(Int64(random.next(5))) }
      case 4, 5:
        let names: [Value] = ["a", "A", "\u{e9}", "e\u{301}", "", .null]
        if let person = people.randomElement(using: &random) { person["firstName"] = names[random.next(6)] }
      case 6:
        guard let person = people.randomElement(using: &random) else { continue }
        try person.setObject(random.next(2) == 0 ? department : nil, forKey: "department")
      case 7:
        guard random.next(4) == 0, !people.isEmpty else { continue }
        try context.delete(people.remove(at: random.next(people.count)))
      case 8, 9:
        // Undoing and redoing updates the context's change lists; saved changes stay.
        try context.processPendingChanges()
        if random.next(3) == 0 { try context.redo() } else { try context.undo() }
        people = try context.fetch(FetchRequest("Person"))
      default:
        guard let person = people.randomElement(using: &random), !person.isInserted else { continue }
        try context.refresh(person, mergeChanges: random.next(2) == 0)
      }
      if step % 300 == 299 { try context.save() }
      if step % 500 == 499 {
        try context.rollback()
        people = try context.fetch(FetchRequest("Person"))
      }
      let values: [[String: Value]] = [
        ["firstName": "a"], ["firstName": "\u{e9}", "age": 2], ["age": 3.0], ["firstName": .null],
        ["department": .objectID(department.objectID)].filter { _ in !department.objectID.isTemporaryID || step < 300 },
      ]
      for wanted in values where !wanted.isEmpty {
        for entity in ["Person", "Employee"] {
          let found = try Set(find(context, entity, wanted))
          let naive = people.filter { person in
            (entity == "Person" || person.entity.name == entity)
              && wanted.allSatisfy { person[$0.key] == ($0.value == 3.0 ? 3 : $0.value) }
          }
          if wanted["firstName"] != "\u{e9}" { #expect(found == Set(naive), "step \(step): \(wanted)") }
        }
      }
      #expect(context.brokenInvariants().isEmpty)
    }
  }

  @Test func whatIsPrefetchedIsBounded() throws {
    var lists = PrefetchedLists()
    let ids = (0..<100).map { _ in ManagedObjectID(temporaryFor: Symbol("Thing")) }
    for number in 0..<5000 {
      lists.insert(ids, for: PrefetchKey(id: ids[0], slot: number))
    }
    #expect(lists.count < 2000)
    #expect(lists[PrefetchKey(id: ids[0], slot: 4999)] == ids)
    #expect(lists[PrefetchKey(id: ids[0], slot: 0)] == nil)
  }

  /// The deletion of an object changed before is reverted: by undo, by a throwing transaction body, or by a rollback.
  @Test(arguments: StoreKind.allCases) func anObjectThatIsNotDeletedAfterAllIsFound(_ kind: StoreKind) throws {
    struct Refusal: Error {}
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.undoManager = UndoManager()
    let person = try context.insert("Person", values: ["firstName": "a", "age": 1])
    try context.save()
    let entity = try #require(context.model.entity("Person"))
    func finds(_ key: String, _ value: Value) throws -> Bool {
      let found = try find(context, "Person", [key: value])
      #expect(try context.firstObject(of: entity, with: [(key, value)]) == found.first)
      return found == [person]
    }
    try person.setValue("b", forKey: "firstName")
    #expect(try finds("firstName", "b") && !finds("firstName", "a"))
    try context.processPendingChanges()

    try context.delete(person)
    #expect(try !finds("firstName", "b"))
    try context.undo()
    #expect(try finds("firstName", "b"))
    try context.redo()
    #expect(try !finds("firstName", "b"))
    try context.undo()
    #expect(try finds("firstName", "b"))

    #expect(throws: Refusal.self) {
      try context.undoingOnFailure {
        try context.delete(person)
        #expect(try !finds("firstName", "b"))
        throw Refusal()
      }
    }
    #expect(try finds("firstName", "b"))

    try context.delete(person)
    #expect(try !finds("firstName", "b"))
    try context.rollback()
    #expect(try finds("firstName", "a") && !finds("firstName", "b"))
  }
}
