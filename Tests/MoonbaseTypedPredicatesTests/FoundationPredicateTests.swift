import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import MoonbaseTypedPredicates
import Testing

/// Foundation's predicates and sort descriptors over properties of classes.
@Suite struct FoundationPredicateTests {
  class Member: ManagedObject {
    static let age = Attribute<Member, Int>("age")
    static let firstName = Attribute<Member, String>("firstName")
    static let lastName = Attribute<Member, String?>("lastName")
    static let department = ToOne<Member, Office>("department")
    static let friends = ToMany<Member, Member>("friends")

    var age: Int { self[Self.age] }
    var firstName: String { self[Self.firstName] }
    var lastName: String? { self[Self.lastName] }
    var department: Office? { self[Self.department] }
    var friends: [Member] { self[Self.friends] }
    var undeclared: Int { 1 }

    override class var overriddenLifecycleMethods: LifecycleHooks { [] }
    override class var keyPaths: [PropertyKeyPath] {
      [
        .init(\Member.age, age), .init(\Member.firstName, firstName), .init(\Member.lastName, lastName),
        .init(\Member.department, department), .init(\Member.friends, friends),
      ]
    }
  }

  final class Chief: Member {}

  final class Office: ManagedObject {
    static let name = Attribute<Office, String?>("name")
    static let employees = ToMany<Office, Member>("employees")

    var name: String? { self[Self.name] }
    var employees: [Member] { self[Self.employees] }

    override class var overriddenLifecycleMethods: LifecycleHooks { [] }
    override class var keyPaths: [PropertyKeyPath] {
      [.init(\Office.name, name), .init(\Office.employees, employees), .init(\Office.hash, Member.age)]
    }
    var hash: Int { 0 }
  }

  private static func bench(_ kind: StoreKind) throws -> StoreBench {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Member"
    model.entities[1].managedObjectClassName = "Member"
    model.entities[2].managedObjectClassName = "Office"
    let bench = try StoreBench(kind, model)
    bench.coordinator.register(Member.self, forClassName: "Member")
    bench.coordinator.register(Office.self, forClassName: "Office")
    let context = bench.context()
    let offices = try ["research", "x", nil].map { name in
      try context.insert(Office.self, values: ["name": name.map(Value.string) ?? .null])
    }
    var members: [Member] = []
    for number in 0..<24 {
      let member = try context.insert(
        Member.self,
        values: [
          "age": .int(Int64(number)), "firstName": .string(["ann", "Bo", "cy x"][number % 3]),
          "lastName": [.null, "x", "xyz", "Y"][number % 4],
        ])
      if number % 5 < 3 { try member.setObject(offices[number % 5], forKey: "department") }
      if number < 20 {
        for other in members.suffix(number % 4) { try member.add(other, to: "friends") }
        if number % 5 == 4 { try member.add(members[0], to: "friends") }
      }
      members.append(member)
    }
    try context.save()
    return bench
  }

  enum Case: CaseIterable {
    case comparison, equality, optionalInequality, isNil, isNotNil, chain, chainInequality, negatedChain,
      negatedComparison
    case coalescing, text, optionalText, negatedOptionalText, prefix, someFriend, allFriends, filtered, count, isEmpty
    case list, negatedList, closedRange, halfOpenRange, capturedRange, arithmetic, division, conditional, binding
    case relatedCount, twoOptionals, nestedQuantifiers, optionalBool, listOfConditions, length

    var predicate: FoundationPredicate<Member> {
      let (limit, name, ages, range) = (10, "x" as String?, [3, 4, 5, 99], 4...8)
      switch self {
      case .comparison: return #Predicate { $0.age > limit && $0.age <= 20 }
      case .equality: return #Predicate { $0.firstName == "Bo" || $0.age == 0 }
      case .optionalInequality: return #Predicate { $0.lastName != "x" }
      case .isNil: return #Predicate { $0.lastName == nil }
      case .isNotNil: return #Predicate { $0.department != nil }
      case .chain: return #Predicate { $0.department?.name == name }
      case .chainInequality: return #Predicate { $0.department?.name != name }
      case .negatedChain: return #Predicate { !($0.department?.name == "x") }
      case .negatedComparison: return #Predicate { !($0.lastName == "x" && $0.age > 3) }
      case .coalescing: return #Predicate { ($0.lastName ?? "Y") == "Y" }
      case .text: return #Predicate { $0.firstName.contains("y x") }
      case .optionalText: return #Predicate { $0.lastName?.contains("y") == true }
      case .negatedOptionalText: return #Predicate { $0.lastName?.contains("y") != true }
      case .prefix: return #Predicate { $0.firstName.starts(with: "a") }
      case .someFriend: return #Predicate { $0.friends.contains { $0.age > 12 && $0.lastName == "x" } }
      case .allFriends: return #Predicate { $0.friends.allSatisfy { $0.lastName != "x" } }
      case .filtered: return #Predicate { $0.friends.filter { $0.age > 12 }.count >= 2 }
      case .count: return #Predicate { $0.friends.count > 3 }
      case .isEmpty: return #Predicate { !$0.friends.isEmpty }
      case .list: return #Predicate { ages.contains($0.age) }
      case .negatedList: return #Predicate { !ages.contains($0.age) }
      case .closedRange: return #Predicate { (3...5).contains($0.age) }
      case .halfOpenRange: return #Predicate { (3..<5).contains($0.age) }
      case .capturedRange: return #Predicate { range.contains($0.age) }
      case .arithmetic: return #Predicate { ($0.age + 1) * 2 - 4 == -$0.age + 40 }
      case .division: return #Predicate { $0.age / 3 == 2 && $0.age % 3 == 1 }
      case .conditional: return #Predicate { $0.age > 12 ? $0.lastName == nil : $0.age == 3 }
      case .binding: return #Predicate { if let name = $0.lastName { name == "x" } else { $0.age < 5 } }
      case .relatedCount:
        return #Predicate { if let office = $0.department { office.employees.count > 4 } else { false } }
      case .twoOptionals: return #Predicate { $0.lastName == $0.department?.name }
      case .nestedQuantifiers:
        return #Predicate { one in one.friends.contains { two in two.friends.contains { $0.age > one.age } } }
      case .optionalBool: return #Predicate { $0.lastName?.isEmpty == false }
      case .listOfConditions: return #Predicate { member in ages.contains { $0 == member.age } }
      case .length: return #Predicate { $0.firstName.count == 2 }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, Case.allCases)
  func aFetchFindsWhatThePredicateSays(_ kind: StoreKind, _ test: Case) throws {
    let bench = try Self.bench(kind)
    let context = bench.context()
    let all = try context.fetch(Member.self)
    let expected = try all.filter { try test.predicate.evaluate($0) }
    #expect(!expected.isEmpty && expected.count < all.count)
    let found = try context.fetch(test.predicate)
    let converted = try MoonbaseModel.Predicate(test.predicate)
    #expect(Set(found) == Set(expected), "\(converted)")
    // The negation must find all other objects, also for a comparison with nil.
    let others = try context.fetch(FetchRequest("Person", where: .not(converted)))
    #expect(Set(others).isDisjoint(with: found))
  }

  @Test(arguments: StoreKind.allCases) func anObjectIsFoundByItsID(_ kind: StoreKind) throws {
    let bench = try Self.bench(kind)
    let context = bench.context()
    let member = try #require(try context.fetch(#Predicate<Member> { $0.age == 7 }).first)
    let id = member.objectID
    #expect(try context.fetch(#Predicate<Member> { $0.objectID == id }) == [member])
    let office = try #require(member.department?.objectID)
    #expect(try context.fetch(#Predicate<Member> { $0.department?.objectID == office }).contains(member))
  }

  @Test(arguments: StoreKind.allCases) func descriptorsSortAsTheirKeyPathsSay(_ kind: StoreKind) throws {
    let bench = try Self.bench(kind)
    let context = bench.context()
    let found = try context.fetch(
      #Predicate<Member> { $0.age < 5 },
      sortBy: [FoundationSortDescriptor(\Member.firstName, order: .reverse), FoundationSortDescriptor(\Member.age)])
    #expect(found.map(\.age) == [2, 0, 3, 1, 4])
    var request = try TypedFetchRequest(nil, sortBy: [FoundationSortDescriptor(\Member.age, order: .reverse)])
    request.fetchLimit = 2
    #expect(try context.fetch(request).map(\.age) == [23, 22])
  }

  @Test func simpleConditionsStaySimple() throws {
    func text(_ predicate: FoundationPredicate<Member>) throws -> String {
      try MoonbaseModel.Predicate(predicate).description
    }
    #expect(try text(#Predicate { $0.lastName == "x" && $0.age > 3 }) == #"lastName == "x" AND age > 3"#)
    #expect(try text(#Predicate { $0.lastName != "x" }) == #"lastName != "x" OR lastName == NULL"#)
    #expect(try text(#Predicate { $0.department?.name == "x" }) == #"department.name == "x""#)
    #expect(try text(#Predicate { $0.friends.count > 3 }) == "friends.@count > 3")
  }

  @Test func whatHasNoCounterpartIsNamed() throws {
    func message(_ predicate: FoundationPredicate<Member>) throws -> String {
      let error = #expect(throws: GraphError.self) { try MoonbaseModel.Predicate(predicate) }
      return error?.message ?? ""
    }
    #expect(
      try message(#Predicate { ($0 as? Chief) != nil })
        == "#Predicate over Member: ConditionalCast has no counterpart in a fetch: write this condition as a text or "
        + "with typed keys, or filter the fetched objects")
    #expect(try message(#Predicate { $0.undeclared == 1 }).contains("is no key path that Member declares"))
    #expect(try message(#Predicate { $0.friends[0].age == 1 }).contains("CollectionIndexSubscript has no counterpart"))
    #expect(try message(#Predicate { $0.friends.first?.age == 1 }).contains("has no counterpart"))
    let names = ["a": 1]
    #expect(try message(#Predicate { names["a", default: 1] == $0.age }).contains("DictionaryKeyDefaultValueSubscript"))
    let office = #expect(throws: GraphError.self) {
      try MoonbaseModel.Predicate(#Predicate<Office> { $0.hash == 1 })
    }
    #expect(office?.message.contains("is said to be age of another class") == true)
  }
}
