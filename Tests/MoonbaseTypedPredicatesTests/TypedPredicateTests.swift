import MoonbaseGraph
import MoonbaseHistory
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import MoonbaseTypedPredicates
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

private enum Status: String, AttributeValue {
  case open, closed
  static var defaultWhenNull: Status { .closed }
}

private final class Branch: ManagedObject {
  static let name = Attribute<Branch, String>("name")
  static let budget = Attribute<Branch, Double?>("budget")
  static let people = ToMany<Branch, Clerk>("people")
  static let company = ToOne<Branch, Branch>("company")
}

private class Clerk: ManagedObject {
  enum Keys {
    static let age = Attribute<Clerk, Int64>("age")
    static let name = Attribute<Clerk, String>("name")
    static let nickname = Attribute<Clerk, String?>("nickname")
    static let born = Attribute<Clerk, Date?>("born")
    static let status = Attribute<Clerk, Status?>("status")
    static let office = ToOne<Clerk, Branch>("office")
    static let friends = ToMany<Clerk, Clerk>("friends")
  }
}

private final class Chief: Clerk {
  static let salary = Attribute<Chief, Double?>("salary")
}

extension TypedObject where Self: Clerk {
  fileprivate static var age: Attribute<Self, Int64> { Attribute(Clerk.Keys.age) }
  fileprivate static var name: Attribute<Self, String> { Attribute(Clerk.Keys.name) }
  fileprivate static var nickname: Attribute<Self, String?> { Attribute(Clerk.Keys.nickname) }
  fileprivate static var born: Attribute<Self, Date?> { Attribute(Clerk.Keys.born) }
  fileprivate static var status: Attribute<Self, Status?> { Attribute(Clerk.Keys.status) }
  fileprivate static var office: ToOne<Self, Branch> { ToOne(Clerk.Keys.office) }
  fileprivate static var friends: ToMany<Self, Clerk> { ToMany(Clerk.Keys.friends) }
}

/// Conditions and sort orders of typed keys.
@Suite struct TypedPredicateTests {
  private static let model = ManagedObjectModel {
    EntityDescription("Branch", class: "Branch") {
      AttributeDescription("name", type: .string)
      AttributeDescription("budget", type: .double)
      RelationshipDescription.toMany("people", destination: "Clerk", inverse: "office")
      RelationshipDescription.toOne("company", destination: "Branch")
    }
    EntityDescription("Clerk", class: "Clerk") {
      AttributeDescription("age", type: .integer64)
      AttributeDescription("name", type: .string)
      AttributeDescription("nickname", type: .string)
      AttributeDescription("born", type: .date)
      AttributeDescription("status", type: .string)
      RelationshipDescription.toOne("office", destination: "Branch", inverse: "people")
      RelationshipDescription.toMany("friends", destination: "Clerk", inverse: "friends")
    }
    EntityDescription("Chief", parent: "Clerk", class: "Chief") { AttributeDescription("salary", type: .double) }
  }

  private struct Staff {
    let bench: StoreBench
    let context: ManagedObjectContext
    let offices: [Branch]
    let people: [Clerk]
  }

  private func staff(_ kind: StoreKind) throws -> Staff {
    let bench = try StoreBench(kind, Self.model)
    bench.coordinator.register(Branch.self, forClassName: "Branch")
    bench.coordinator.register(Clerk.self, forClassName: "Clerk")
    bench.coordinator.register(Chief.self, forClassName: "Chief")
    let context = bench.context()
    let offices = try (0..<3).map { number in
      try context.insert(Branch.self, values: ["name": "Branch \(number)", "budget": number == 0 ? nil : number * 100])
    }
    try offices[1].setValue(offices[2], forKey: "company")
    let people = try (0..<20).map { number -> Clerk in
      let values: ConvertibleValues = [
        "name": number.isMultiple(of: 2) ? "Ann \(number)" : "bob \(number)", "age": number,
        "nickname": number.isMultiple(of: 3) ? "N\(number)" : nil, "office": number < 15 ? offices[number % 3] : nil,
        "born": Date(timeIntervalSinceReferenceDate: Double(number)),
        "status": number == 0 ? nil : number < 10 ? Status.open : .closed,
      ]
      guard number.isMultiple(of: 5) else { return try context.insert(Clerk.self, values: values) }
      let boss = try context.insert(Chief.self, values: values)
      boss[Chief.salary] = Double(number)
      return boss
    }
    for (one, other) in zip(people, people.dropFirst(3)) { try one.add(other, to: "friends") }
    try context.save()
    return Staff(bench: bench, context: context, offices: offices, people: people)
  }

  @Test(arguments: StoreKind.allCases) func aConditionInWordsStandsWhereverAPredicateDoes(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    let (context, age, prefix) = (staff.context, 5, "A")
    let expected = try context.fetch(Clerk.self, where: Clerk.age > 5 && Clerk.name.beginsWith("A")).count
    #expect(expected == 7)
    let text = "age > %@ AND name BEGINSWITH %@"
    #expect(try context.fetch(Clerk.self, where: text, age, prefix).count == expected)
    #expect(try context.count(Clerk.self, where: text, age, prefix) == expected)
    #expect(try context.count(Clerk.self, where: Predicate(format: "age > 5")) == 14)
    #expect(try context.count(Clerk.self) == 20)
    #expect(try context.count(Clerk.fetchRequest(where: text, age, prefix)) == expected)
    #expect(try context.fetchIDs(TypedFetchRequest<Clerk>(where: text, age, prefix)).count == expected)
    #expect(try context.fetchedObjects(Clerk.self, where: text, age, prefix).count == expected)
    let sorted = try context.fetch(Clerk.self, where: text, age, prefix, sort: [Clerk.age.descending])
    #expect(try sorted.map { try $0.value(forKey: "age") } == [18, 16, 14, 12, 10, 8, 6])
    let joined = try Clerk.age > 15 && TypedPredicate("name BEGINSWITH %@", prefix)
    #expect(try context.count(Clerk.self, where: joined) == 2)
    let update = try BatchUpdateRequest("Clerk", where: text, age, prefix, set: ["nickname": prefix])
    try context.execute(update)
    try context.refreshAllObjects()
    #expect(try context.count(Clerk.self, where: Clerk.nickname == "A") == expected)
    #expect(throws: ModelError.self) { try BatchUpdateRequest("Clerk", where: "age > %@") }
    #expect(throws: ModelError.self) { try TypedFetchRequest<Clerk>(where: "age >", 3) }
    #expect(throws: ModelError.self) { try context.count(Clerk.self, where: "age > 3", 4) }
    #expect(try ValidationPredicate("SELF > 3", message: "m").predicate == Predicate(format: "SELF > 3"))
    #expect(
      try PersistentHistoryTransaction.fetchRequest(where: "author == %@", prefix).predicate
        == Predicate(format: "author == 'A'"))
    #expect(
      try PersistentHistoryChange.fetchRequest(where: "changeType == %@", age).predicate
        == Predicate(format: "changeType == 5"))
  }

  private typealias Condition = (TypedPredicate<Clerk>, String)

  private static var conditions: [Condition] {
    var all: [Condition] = []
    func add(_ condition: TypedPredicate<Clerk>, _ text: String) { all.append((condition, text)) }
    add(Clerk.age > 5, "age > 5")
    add(Clerk.age <= 5, "age <= 5")
    add(Clerk.age == 5, "age == 5")
    add(Clerk.age != 5, "age != 5")
    add(Clerk.age < 5, "age < 5")
    add(Clerk.age >= 5, "age >= 5")
    add(Clerk.nickname == "N3", "nickname == 'N3'")
    add(Clerk.nickname == nil, "nickname == nil")
    add(Clerk.nickname != nil, "nickname != nil")
    add(Clerk.nickname != "N3", "nickname != 'N3'")
    add(Clerk.status == .open, "status == 'open'")
    add(Clerk.status.isIn([.open, nil]), "status IN {'open', nil}")
    add(Clerk.age.isIn([1, 2]), "age IN {1, 2}")
    add(Clerk.age.isBetween(3, 7), "age BETWEEN {3, 7}")
    add(Clerk.name.beginsWith("A"), "name BEGINSWITH 'A'")
    add(Clerk.name.beginsWith("B", .caseInsensitive), "name BEGINSWITH[c] 'B'")
    add(Clerk.name.endsWith("4"), "name ENDSWITH '4'")
    add(Clerk.name.contains("1"), "name CONTAINS '1'")
    add(Clerk.nickname.like("N1*"), "nickname LIKE 'N1*'")
    add(Clerk.name.matches(".*[02]"), "name MATCHES '.*[02]'")
    add(Clerk.name.equals("BOB 7", [.caseInsensitive, .diacriticInsensitive]), "name ==[cd] 'BOB 7'")
    add(Clerk.born > Date(timeIntervalSinceReferenceDate: 9), "born > CAST(9, 'NSDate')")
    add(Clerk.age + 1 > 5, "age + 1 > 5")
    add(Clerk.age * 2 - 1 == Clerk.age, "age * 2 - 1 == age")
    add(Clerk.age > 3 && Clerk.name.beginsWith("A"), "age > 3 AND name BEGINSWITH 'A'")
    add(Clerk.age < 3 || Clerk.age > 17, "age < 3 OR age > 17")
    add(!(Clerk.age < 3), "NOT age < 3")
    add(Clerk.office.name == "Branch 1", "office.name == 'Branch 1'")
    add(Clerk.office.budget > 150, "office.budget > 150.0")
    add(Clerk.office.company.name == "Branch 2", "office.company.name == 'Branch 2'")
    add(Clerk.office == nil, "office == nil")
    add(Clerk.office != nil, "office != nil")
    add(Clerk.friends.count > 1, "friends.@count > 1")
    add(Clerk.friends.any(Clerk.age > 15), "SUBQUERY(friends, $element1, $element1.age > 15).@count > 0")
    add(Clerk.friends.any(\.age > 15), "SUBQUERY(friends, $element1, $element1.age > 15).@count > 0")
    add(
      Clerk.friends.any { $0.age > 5 && $0.name.beginsWith("A") },
      "SUBQUERY(friends, $element1, $element1.age > 5 AND $element1.name BEGINSWITH 'A').@count > 0")
    add(Clerk.friends.all(\.age < 6), "SUBQUERY(friends, $element1, $element1.age < 6).@count == friends.@count")
    add(Clerk.friends.none(\.age == 4), "SUBQUERY(friends, $element1, $element1.age == 4).@count == 0")
    add(Clerk.friends.count(where: Clerk.age > 4) == 2, "SUBQUERY(friends, $element1, $element1.age > 4).@count == 2")
    add(
      Clerk.friends.any(Clerk.friends.any(\.age > 15)),
      "SUBQUERY(friends, $element2, SUBQUERY($element2.friends, $element1, $element1.age > 15).@count > 0).@count > 0")
    add(Clerk.office.people.any(\.age == 4), "SUBQUERY(office.people, $element1, $element1.age == 4).@count > 0")
    add(Clerk.friends.sum(Clerk.age) > 20, "friends.@sum.age > 20")
    add(Clerk.friends.average(Clerk.age) > 9.5, "friends.@avg.age > 9.5")
    add(Clerk.friends.minimum(Clerk.age) < 4, "friends.@min.age < 4")
    add(Clerk.friends.maximum(Clerk.age) > 15, "friends.@max.age > 15")
    add(TypedPredicate(.constant(true)) && Clerk.age > 18, "TRUEPREDICATE AND age > 18")
    return all
  }

  /// A typed condition is the same tree as the parsed text, and finds the same objects.
  @Test(arguments: StoreKind.allCases) func conditionsAreThoseOfTheText(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    for (condition, text) in Self.conditions {
      #expect(try condition.predicate == Predicate(format: text), "\(text)")
      let found = try staff.context.fetch(Clerk.self, where: condition, sort: [Clerk.age.ascending])
      #expect(
        try found
          == staff.context.fetch(Clerk.self, where: condition.predicate).sorted { $0[Clerk.age] < $1[Clerk.age] })
      #expect(try staff.context.count(Clerk.self, where: condition) == found.count, "\(text)")
      #expect(try Set(staff.context.fetch(Clerk.self, where: text)) == Set(found), "\(text)")
    }
  }

  /// The work for a level is proportional to the size of the condition, so 60 levels take no time.
  @Test func nestedConditionsHaveTheirOwnVariables() {
    var condition = Clerk.age > 3
    for _ in 0..<60 { condition = Clerk.friends.any(condition) }
    let text = "\(condition.predicate)"
    for level in 1...60 { #expect(text.contains("$element\(level),") && !text.contains("$element61")) }
  }

  @Test(arguments: StoreKind.allCases) func objectsAreCompared(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    let (office, person) = (staff.offices[1], staff.people[4])
    let context = staff.context
    #expect(try context.count(Clerk.self, where: Clerk.office == office) == 5)
    #expect(try context.count(Clerk.self, where: Clerk.office == office.objectID) == 5)
    #expect(
      try context.count(Clerk.self, where: Clerk.office != office)
        == context.count(FetchRequest("Clerk", where: "office != %@", office)))
    #expect(try context.count(Clerk.self, where: Clerk.office.isIn(staff.offices.prefix(2))) == 10)
    #expect(try context.count(Clerk.self, where: Clerk.friends.contains(person)) == 2)
    #expect(try staff.bench.context().count(Clerk.self, where: Clerk.friends.contains(person.objectID)) == 2)
  }

  /// A key of a class is also a key of its subclasses.
  @Test(arguments: StoreKind.allCases) func classesBelowHaveTheKeysToo(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    let found = try staff.context.fetch(
      Chief.self, where: Chief.age > 4 && Chief.salary < 20 && Chief.office.name != "Branch 0",
      sort: [Chief.age.descending])
    #expect(found.map { $0[Chief.age] } == [10, 5] && found.map { $0[Chief.salary] } == [10, 5])
    found[0][Chief.age] = 11
    #expect(found[0][Chief.age] == 11 && (found[0] as Clerk)[Clerk.Keys.age] == 11)
  }

  @Test(arguments: StoreKind.allCases) func ordersAreThoseOfDescriptors(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    let context = staff.context
    #expect(
      Clerk.name.descending(.localizedStandardCompare).descriptor
        == SortDescriptor("name", ascending: false, comparator: .localizedStandardCompare))
    let sorted = try context.fetch(Clerk.self, sort: [Clerk.office.name.descending, Clerk.age.ascending])
    #expect(sorted.prefix(3).map { $0[Clerk.age] } == [2, 5, 8] && sorted.count == 20)
    let walked = try context.fetchedObjects(
      Clerk.self, where: Clerk.age < 4, sort: [Clerk.name.ascending(.caseInsensitiveCompare)])
    #expect(walked.map { $0[Clerk.age] } == [0, 2, 1, 3])
    var request = Clerk.fetchRequest(where: Clerk.age > 3, sort: [Clerk.age.descending])
    request.fetchLimit = 2
    #expect(try context.fetch(request).map { $0[Clerk.age] } == [19, 18])
  }

  @Test(arguments: StoreKind.allCases) func columnsAndGroupsTakeKeys(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    var request = Clerk.fetchRequest(where: Clerk.age < 6)
    request.propertiesToFetch = [FetchColumn(Clerk.office.name), FetchColumn("number", expression: .keyPath("@count"))]
    request.propertiesToGroupBy = [Clerk.office.name.keyPath]
    let rows = try staff.context.fetchDictionaries(request)
    #expect(rows.count == 3 && rows.allSatisfy { $0["number"] == 2 }, "\(rows)")
    #expect(Set(rows.compactMap { $0["office.name"]?.string }) == ["Branch 0", "Branch 1", "Branch 2"])
    var doubled = Clerk.fetchRequest(where: Clerk.age == 7)
    doubled.propertiesToFetch = [FetchColumn(Clerk.name), FetchColumn("twice", Clerk.age * 2)]
    #expect(try staff.context.fetchDictionaries(doubled) == [["name": "bob 7", "twice": 14]])
    #expect(try staff.context.fetchIDs(Clerk.fetchRequest(where: Clerk.age == 7)) == [staff.people[7].objectID])
  }

  @Test(arguments: StoreKind.allCases) func batchRequestsTakeKeys(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    let updated = try staff.context.batchUpdate(
      Clerk.self, where: Clerk.age >= 15, set: Clerk.age.set(to: Clerk.age + 100), Clerk.nickname.set(to: nil),
      Clerk.status.set(to: .open), resultType: .count)
    #expect(updated.count == 5)
    let later = staff.bench.context()
    #expect(
      try later.count(Clerk.self, where: Clerk.age >= 115 && Clerk.nickname == nil && Clerk.status == .open) == 5)
    #expect(try later.batchDelete(Chief.self, where: Chief.age > 100, resultType: .count).count == 1)
    #expect(try staff.bench.context().count(Clerk.self, where: Clerk.age > 100) == 4)
  }

  @Test(arguments: StoreKind.allCases) func observersTakeKeys(_ kind: StoreKind) throws {
    let staff = try staff(kind)
    var seen: [String] = []
    let clerk = staff.people[3]
    let token = try clerk.observe(Clerk.Keys.nickname) { seen.append("\($0.old ?? "-") \($0.new ?? "-")") }
    clerk[Clerk.Keys.nickname] = nil
    clerk[Clerk.Keys.age] = 50
    clerk[Clerk.Keys.nickname] = "x"
    token.cancel()
    clerk[Clerk.Keys.nickname] = "y"
    #expect(seen == ["N3 -", "- x"])
  }

  @Test func historiesTakeKeys() throws {
    let resolved = try Self.model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    try coordinator.add(InMemoryStore(model: resolved, tracksHistory: true))
    coordinator.register(Clerk.self, forClassName: "Clerk")
    let context = try ManagedObjectContext(coordinator)
    let clerk = try context.insert(Clerk.self, values: ["name": "a", "age": 1])
    try context.save()
    clerk[Clerk.Keys.age] = 2
    try context.save()
    let changes =
      try context.execute(.fetchHistory(after: PersistentHistoryToken?.none)).transactions?.flatMap { $0.changes ?? [] }
      ?? []
    #expect(changes.map { $0.updates(Clerk.Keys.age) } == [false, true])
    #expect(changes.allSatisfy { !$0.updates(Clerk.Keys.name) })
  }

  static let refused = [
    "func f(_ c: ManagedObjectContext) throws { try c.batchUpdate(Clerk.self, set: Branch.name.set(to: \"x\")) }",
    "func f(_ c: ManagedObjectContext) throws { try c.batchUpdate(Clerk.self, set: Clerk.age.set(to: \"x\")) }",
    "func f(_ c: Clerk) throws { try c.observe(Branch.name) { _ in } }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Clerk.self, where: Branch.name == \"x\") }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Branch.self, where: Clerk.age > 3) }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Clerk.self, where: Clerk.age > \"x\") }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Clerk.self, where: Clerk.age == nil) }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Clerk.self, sort: [Branch.name.ascending]) }",
    "func f() -> Any { Clerk.age > 3 && Branch.name == \"x\" }",
    "func f() -> Any { Clerk.age.beginsWith(\"x\") }",
    "func f() -> Any { Clerk.office.age > 3 }",
    "func f() -> Any { Clerk.friends.any(Branch.name == \"x\") }",
    "func f() -> Any { Branch.name + \"x\" == \"y\" }",
  ]

  private static let classes = """
    import MoonbaseGraph
    import MoonbaseModel
    import MoonbaseTypedPredicates
    final class Branch: ManagedObject { static let name = Attribute<Branch, String>("name") }
    final class Clerk: ManagedObject {
      static let age = Attribute<Clerk, Int64>("age")
      static let office = ToOne<Clerk, Branch>("office")
      static let friends = ToMany<Clerk, Clerk>("friends")
    }

    """

  @Test func conditionsOfTheOwnClassCompile() throws {
    let check = try CompileCheck(
      Self.classes
        + """
        func f(_ c: ManagedObjectContext) throws -> [Clerk] {
          try c.fetch(Clerk.self, where: Clerk.age > 3 && Clerk.office.name == "x" && Clerk.friends.any(\\.age > 3))
        }
        """)
    #expect(check.succeeded, "\(check.output)")
  }

  @Test(arguments: refused) func whatDoesNotFitDoesNotCompile(_ function: String) throws {
    let check = try CompileCheck(Self.classes + function)
    #expect(!check.succeeded && !check.output.contains("missing required module"), "\(check.output)")
  }
}
