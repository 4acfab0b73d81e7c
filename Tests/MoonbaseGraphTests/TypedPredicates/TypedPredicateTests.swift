import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

private enum Status: String, AttributeValue {
  case open, closed
  static var missing: Status { .closed }
}

private final class Office: ManagedObject {
  static let name = Attribute<Office, String>("name")
  static let budget = Attribute<Office, Double?>("budget")
  static let people = ToMany<Office, Person>("people")
  static let company = ToOne<Office, Office>("company")
}

private class Person: ManagedObject {
  enum Keys {
    static let age = Attribute<Person, Int64>("age")
    static let name = Attribute<Person, String>("name")
    static let nickname = Attribute<Person, String?>("nickname")
    static let born = Attribute<Person, Date?>("born")
    static let status = Attribute<Person, Status?>("status")
    static let office = ToOne<Person, Office>("office")
    static let friends = ToMany<Person, Person>("friends")
  }
}

private final class Boss: Person {
  static let salary = Attribute<Boss, Double?>("salary")
}

extension TypedObject where Self: Person {
  fileprivate static var age: Attribute<Self, Int64> { Attribute(Person.Keys.age) }
  fileprivate static var name: Attribute<Self, String> { Attribute(Person.Keys.name) }
  fileprivate static var nickname: Attribute<Self, String?> { Attribute(Person.Keys.nickname) }
  fileprivate static var born: Attribute<Self, Date?> { Attribute(Person.Keys.born) }
  fileprivate static var status: Attribute<Self, Status?> { Attribute(Person.Keys.status) }
  fileprivate static var office: ToOne<Self, Office> { ToOne(Person.Keys.office) }
  fileprivate static var friends: ToMany<Self, Person> { ToMany(Person.Keys.friends) }
}

/// Conditions and orders of typed keys.
@Suite struct TypedPredicateTests {
  private static let model = ManagedObjectModel {
    EntityDescription("Office", class: "Office") {
      AttributeDescription("name", type: .string)
      AttributeDescription("budget", type: .double)
      RelationshipDescription.toMany("people", destination: "Person", inverse: "office")
      RelationshipDescription.toOne("company", destination: "Office")
    }
    EntityDescription("Person", class: "Person") {
      AttributeDescription("age", type: .integer64)
      AttributeDescription("name", type: .string)
      AttributeDescription("nickname", type: .string)
      AttributeDescription("born", type: .date)
      AttributeDescription("status", type: .string)
      RelationshipDescription.toOne("office", destination: "Office", inverse: "people")
      RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
    }
    EntityDescription("Boss", class: "Boss", parent: "Person") { AttributeDescription("salary", type: .double) }
  }

  private struct Staff {
    let context: ManagedObjectContext
    let offices: [Office]
    let people: [Person]
  }

  private func staff(_ kind: StoreKind) throws -> (StoreBench, Staff) {
    let bench = try StoreBench(kind, Self.model)
    bench.coordinator.register(Office.self, forClassName: "Office")
    bench.coordinator.register(Person.self, forClassName: "Person")
    bench.coordinator.register(Boss.self, forClassName: "Boss")
    let context = bench.context()
    let offices = try (0..<3).map { number in
      try context.insert(Office.self, values: ["name": "Office \(number)", "budget": number == 0 ? nil : number * 100])
    }
    try offices[1].setValue(offices[2], forKey: "company")
    let people = try (0..<20).map { number -> Person in
      let values: ConvertibleValues = [
        "name": number.isMultiple(of: 2) ? "Ann \(number)" : "bob \(number)", "age": number,
        "nickname": number.isMultiple(of: 3) ? "N\(number)" : nil, "office": number < 15 ? offices[number % 3] : nil,
        "born": Date(timeIntervalSinceReferenceDate: Double(number)),
        "status": number == 0 ? nil : number < 10 ? Status.open : .closed,
      ]
      guard number.isMultiple(of: 5) else { return try context.insert(Person.self, values: values) }
      let boss = try context.insert(Boss.self, values: values)
      boss[Boss.salary] = Double(number)
      return boss
    }
    for (one, other) in zip(people, people.dropFirst(3)) { try one.add(other, to: "friends") }
    try context.save()
    return (bench, Staff(context: context, offices: offices, people: people))
  }

  private typealias Condition = (TypedPredicate<Person>, String)

  private static let conditions: [Condition] = [
    (Person.age > 5, "age > 5"), (Person.age <= 5, "age <= 5"), (Person.age == 5, "age == 5"),
    (Person.age != 5, "age != 5"), (Person.age < 5, "age < 5"), (Person.age >= 5, "age >= 5"),
    (Person.nickname == "N3", "nickname == 'N3'"), (Person.nickname == nil, "nickname == nil"),
    (Person.nickname != nil, "nickname != nil"), (Person.nickname != "N3", "nickname != 'N3'"),
    (Person.status == .open, "status == 'open'"), (Person.status.isIn([.open, nil]), "status IN {'open', nil}"),
    (Person.age.isIn([1, 2]), "age IN {1, 2}"), (Person.age.isBetween(3, 7), "age BETWEEN {3, 7}"),
    (Person.name.beginsWith("A"), "name BEGINSWITH 'A'"),
    (Person.name.beginsWith("B", .caseInsensitive), "name BEGINSWITH[c] 'B'"),
    (Person.name.endsWith("4"), "name ENDSWITH '4'"), (Person.name.contains("1"), "name CONTAINS '1'"),
    (Person.nickname.like("N1*"), "nickname LIKE 'N1*'"), (Person.name.matches(".*[02]"), "name MATCHES '.*[02]'"),
    (Person.name.equals("BOB 7", [.caseInsensitive, .diacriticInsensitive]), "name ==[cd] 'BOB 7'"),
    (Person.born > Date(timeIntervalSinceReferenceDate: 9), "born > CAST(9, 'NSDate')"),
    (Person.age + 1 > 5, "age + 1 > 5"), (Person.age * 2 - 1 == Person.age, "age * 2 - 1 == age"),
    (Person.age > 3 && Person.name.beginsWith("A"), "age > 3 AND name BEGINSWITH 'A'"),
    (Person.age < 3 || Person.age > 17, "age < 3 OR age > 17"), (!(Person.age < 3), "NOT age < 3"),
    (Person.office.name == "Office 1", "office.name == 'Office 1'"),
    (Person.office.budget > 150, "office.budget > 150"),
    (Person.office.company.name == "Office 2", "office.company.name == 'Office 2'"),
    (Person.office == nil, "office == nil"), (Person.office != nil, "office != nil"),
    (Person.friends.count > 1, "friends.@count > 1"),
    (Person.friends.any(Person.age > 15), "SUBQUERY(friends, $element1, $element1.age > 15).@count > 0"),
    (Person.friends.any(\.age > 15), "SUBQUERY(friends, $element1, $element1.age > 15).@count > 0"),
    (
      Person.friends.any { $0.age > 5 && $0.name.beginsWith("A") },
      "SUBQUERY(friends, $element1, $element1.age > 5 AND $element1.name BEGINSWITH 'A').@count > 0"
    ),
    (Person.friends.all(\.age < 6), "SUBQUERY(friends, $element1, $element1.age < 6).@count == friends.@count"),
    (Person.friends.none(\.age == 4), "SUBQUERY(friends, $element1, $element1.age == 4).@count == 0"),
    (Person.friends.count(where: Person.age > 4) == 2, "SUBQUERY(friends, $element1, $element1.age > 4).@count == 2"),
    (
      Person.friends.any(Person.friends.any(\.age > 15)),
      "SUBQUERY(friends, $element2, SUBQUERY($element2.friends, $element1, $element1.age > 15).@count > 0).@count > 0"
    ),
    (Person.office.people.any(\.age == 4), "SUBQUERY(office.people, $element1, $element1.age == 4).@count > 0"),
    (Person.friends.sum(Person.age) > 20, "friends.@sum.age > 20"),
    (Person.friends.average(Person.age) > 9.5, "friends.@avg.age > 9.5"),
    (Person.friends.minimum(Person.age) < 4, "friends.@min.age < 4"),
    (Person.friends.maximum(Person.age) > 15, "friends.@max.age > 15"),
    (TypedPredicate(.constant(true)) && Person.age > 18, "TRUEPREDICATE AND age > 18"),
  ]

  /// A typed condition is the tree that the text gives, and finds the same.
  @Test(arguments: StoreKind.allCases) func conditionsAreThoseOfTheText(_ kind: StoreKind) throws {
    let (_, staff) = try staff(kind)
    for (condition, text) in Self.conditions {
      #expect(try condition.predicate == Predicate(format: text), "\(text)")
      let found = try staff.context.fetch(Person.self, where: condition, sort: [Person.age.ascending])
      #expect(
        try found
          == staff.context.fetch(Person.self, where: condition.predicate).sorted { $0[Person.age] < $1[Person.age] })
      #expect(try staff.context.count(Person.self, where: condition) == found.count, "\(text)")
      #expect(try Set(staff.context.fetch(Person.self, where: text)) == Set(found), "\(text)")
    }
  }

  @Test(arguments: StoreKind.allCases) func objectsAreCompared(_ kind: StoreKind) throws {
    let (bench, staff) = try staff(kind)
    let (office, person) = (staff.offices[1], staff.people[4])
    let context = staff.context
    #expect(try context.count(Person.self, where: Person.office == office) == 5)
    #expect(try context.count(Person.self, where: Person.office == office.objectID) == 5)
    #expect(try context.count(Person.self, where: Person.office != office) == 10)
    #expect(try context.count(Person.self, where: Person.office.isIn(staff.offices.prefix(2))) == 10)
    #expect(try context.count(Person.self, where: Person.friends.contains(person)) == 2)
    #expect(try bench.context().count(Person.self, where: Person.friends.contains(person.objectID)) == 2)
  }

  /// A key of a class is one of each class below it.
  @Test(arguments: StoreKind.allCases) func classesBelowHaveTheKeysToo(_ kind: StoreKind) throws {
    let (_, staff) = try staff(kind)
    let found = try staff.context.fetch(
      Boss.self, where: Boss.age > 4 && Boss.salary < 20 && Boss.office.name != "Office 0",
      sort: [Boss.age.descending])
    #expect(found.map { $0[Boss.age] } == [10, 5] && found.map { $0[Boss.salary] } == [10, 5])
    found[0][Boss.age] = 11
    #expect(found[0][Boss.age] == 11 && (found[0] as Person)[Person.Keys.age] == 11)
  }

  @Test(arguments: StoreKind.allCases) func ordersAreThoseOfDescriptors(_ kind: StoreKind) throws {
    let (_, staff) = try staff(kind)
    let context = staff.context
    #expect(
      Person.name.descending(.localizedStandardCompare).descriptor
        == SortDescriptor("name", ascending: false, comparator: .localizedStandardCompare))
    let sorted = try context.fetch(Person.self, sort: [Person.office.name.descending, Person.age.ascending])
    #expect(sorted.prefix(3).map { $0[Person.age] } == [2, 5, 8] && sorted.count == 20)
    let walked = try context.fetchedObjects(
      Person.self, where: Person.age < 4, sort: [Person.name.ascending(.caseInsensitiveCompare)])
    #expect(walked.map { $0[Person.age] } == [0, 2, 1, 3])
    var request = Person.fetchRequest(where: Person.age > 3, sort: [Person.age.descending])
    request.fetchLimit = 2
    #expect(try context.fetch(request).map { $0[Person.age] } == [19, 18])
  }

  static let refused = [
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Person.self, where: Office.name == \"x\") }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Office.self, where: Person.age > 3) }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Person.self, where: Person.age > \"x\") }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Person.self, where: Person.age == nil) }",
    "func f(_ c: ManagedObjectContext) throws { try c.fetch(Person.self, sort: [Office.name.ascending]) }",
    "func f() -> Any { Person.age > 3 && Office.name == \"x\" }",
    "func f() -> Any { Person.age.beginsWith(\"x\") }",
    "func f() -> Any { Person.office.age > 3 }",
    "func f() -> Any { Person.friends.any(Office.name == \"x\") }",
    "func f() -> Any { Office.name + \"x\" == \"y\" }",
  ]

  private static let classes = """
    import MoonbaseGraph
    import MoonbaseModel
    final class Office: ManagedObject { static let name = Attribute<Office, String>("name") }
    final class Person: ManagedObject {
      static let age = Attribute<Person, Int64>("age")
      static let office = ToOne<Person, Office>("office")
      static let friends = ToMany<Person, Person>("friends")
    }

    """

  @Test func conditionsOfTheOwnClassCompile() throws {
    let check = try CompileCheck(
      Self.classes
        + """
        func f(_ c: ManagedObjectContext) throws -> [Person] {
          try c.fetch(Person.self, where: Person.age > 3 && Person.office.name == "x" && Person.friends.any(\\.age > 3))
        }
        """)
    #expect(check.succeeded, "\(check.output)")
  }

  @Test(arguments: refused) func whatDoesNotFitDoesNotCompile(_ function: String) throws {
    let check = try CompileCheck(Self.classes + function)
    #expect(!check.succeeded && !check.output.contains("missing required module"), "\(check.output)")
  }
}
