import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct TypedObjectTests {
  final class Member: ManagedObject {
    static let age = Attribute<Member, Int>("age")
    static let firstName = Attribute<Member, String>("firstName")

    override class var overriddenLifecycleMethods: LifecycleHooks { [.awakeFromInsert] }
    override func awakeFromInsert() { self["lastName"] = "awake" }
  }

  final class Office: ManagedObject {}
  final class Unknown: ManagedObject {}

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    var model = People.model()
    model.entities[0].managedObjectClassName = "App.Member"
    model.entities[2].managedObjectClassName = "Office"
    model.entities[3].managedObjectClassName = "Office"
    let bench = try StoreBench(kind, model)
    bench.coordinator.register(Member.self, forClassName: "Member")
    bench.coordinator.register(Office.self, forClassName: "Office")
    return bench
  }

  @Test(arguments: StoreKind.allCases) func anObjectIsMadeByItsInitializer(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let member = try Member(context: context)
    #expect(member.isInserted && member.entity.name == "Person" && member.managedObjectContext === context)
    #expect(member["age"] == 0 && member["lastName"] == "awake")
    member[Member.firstName] = "Ann"
    #expect(context.insertedObjects == [member])
    try context.save()
    #expect(try context.fetch(Member.self).map { $0[Member.firstName] } == ["Ann"])
  }

  @Test(arguments: StoreKind.allCases) func anInitializerThatFailsLeavesNothing(_ kind: StoreKind) throws {
    struct Refused: Error {}
    let bench = try bench(kind)
    let context = bench.context { $0.awakeFromInsert = { _ in throw Refused() } }
    #expect(throws: (any Error).self) { try Member(context: context) }
    #expect(!context.hasChanges && context.registeredObjects.isEmpty)
    #expect { try Unknown(context: context) } throws: {
      "\($0)".contains("no entity of the model has the class Unknown")
    }
    #expect { try Office(context: context) } throws: {
      "\($0)".contains("Office is the class of several entities, Department, Project")
    }
    #expect(!context.hasChanges && context.registeredObjects.isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func insertionAndFetchByClass(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let ann = try context.insert(Member.self, values: ["firstName": "Ann", "age": 30])
    try context.insert(Member.self, values: ["firstName": "Bob", "age": 20])
    #expect(ann[Member.age] == 30)
    #expect(throws: GraphError.self) { try context.insert(Member.self, values: ["age": "x"]) }
    #expect(try context.fetch(Member.self).count == 2)
    #expect(try context.fetch(Member.self, where: "age > %@", 25) == [ann])
    var request = Member.fetchRequest(where: try Predicate(format: "age < 100"))
    request.sortDescriptors = [SortDescriptor("firstName", ascending: false)]
    request.fetchLimit = 1
    #expect(try context.fetch(request).map { $0[Member.firstName] } == ["Bob"])
    #expect(try context.count(request) == 1)
    #expect(try Member.entity(in: context).name == "Person" && context.entity(of: Member.self).name == "Person")
    #expect(throws: GraphError.self) { try context.fetch(Unknown.self) }
  }

  /// Lazily read results have the class of their request, from a fetch or a controller.
  @Test(arguments: StoreKind.allCases) func walksAndSectionsHaveTheClassOfTheirRequest(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    for age in [30, 20, 40] as [Value] { try context.insert(Member.self, values: ["age": age]) }
    try context.save()
    var request = Member.fetchRequest()
    request.sortDescriptors = [SortDescriptor("age")]
    #expect { try context.fetchedObjects(request) } throws: {
      "\($0)".contains(
        "Employee: its objects are of the class ManagedObject, which is no Member: ask for another class")
    }
    request.includesSubentities = false
    let found = try context.fetchedObjects(request)
    #expect(found.map { $0[Member.age] } == [20, 30, 40] && found[1][Member.age] == 30)
    #expect(found.reversed().first?[Member.age] == 40 && found.objectIDs == found.untyped.objectIDs)
    let controller = try FetchedResultsController(request, in: context)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.first?[Member.age] == 20)
    #expect(controller.sections[0].objects.map { $0[Member.age] } == [20, 30, 40])
    try context.delete(found[0])
    try context.save()
    #expect(try found.existingObject(at: 0) == nil && found.existingObject(at: 1)?[Member.age] == 30)
  }

  /// A class with the name of a type nested in `ManagedObject`.
  final class Place: ManagedObject {
    override class var customAccessors: [CustomAccessor] {
      [CustomAccessor("firstName", of: Place.self, get: { $0.shown }, set: { _, _ in })]
    }
    private var shown: Value { "here" }
  }

  @Test func namesOfAProgramAreNotHiddenInItsClasses() throws {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Place"
    let bench = try StoreBench(.memory, model)
    bench.coordinator.register(Place.self, forClassName: "Place")
    let context = bench.context()
    #expect(try context.insert(Place.self)["firstName"] == "here")
  }

  /// A subentity without a class of its own has plain objects, which have the wrong class for the result.
  @Test(arguments: StoreKind.allCases) func anObjectOfAnotherClassIsNotPassedOver(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    try context.insert("Employee")
    #expect { try context.fetch(Member.self) } throws: {
      "\($0)".contains("Employee: its objects are of the class ManagedObject, which is no Member")
    }
    var request = Member.fetchRequest()
    request.includesSubentities = false
    #expect(try context.fetch(request).isEmpty)
    // For a class with several entities, the request names one.
    var offices = Office.fetchRequest()
    offices.entityName = "Department"
    #expect(try context.fetch(offices).isEmpty)
  }

  private static let classes = """
    import MoonbaseGraph
    class Person: ManagedObject {
      static let age = Attribute<Person, Int>("age")
      static let boss = ToOne<Person, Person>("boss")
      static let friends = ToMany<Person, Person>("friends")
      var age: Int { get { self[Self.age] } set { self[Self.age] = newValue } }
      var friends: [Person] { self[Self.friends] }
    }
    final class Employee: Person {
      static let salary = Attribute<Employee, Double>("salary")
      static let note = Attribute<Employee, String?>("note")
      var salary: Double { self[Self.salary] }
      func raise() { age += 1 }
    }
    final class Office: ManagedObject {}

    """

  @Test func keysOfTheOwnClassCompile() throws {
    let check = try CompileCheck(
      Self.classes
        + """
        func read(_ employee: Employee) -> Double {
          Double(employee.age + (employee as Person)[Person.age]) + employee[Employee.salary]
        }
        """)
    #expect(check.succeeded, "\(check.output)")
  }

  @Test(arguments: [
    "func f(_ o: Office) -> Int { o[Person.age] }", "func f(_ o: Office) { o[Person.age] = 1 }",
    "func f(_ p: Person) -> Double { p[Employee.salary] }", "func f(_ o: Office) -> Person? { o[Person.boss] }",
    "func f(_ o: Office) -> [Person] { o[Person.friends] }",
    "func f(_ p: Person) -> Int? { p.withText(Employee.note) { $0.count } }",
    "func f(_ o: ManagedObject) -> Int { o[Person.age] }",
  ])
  func aKeyOfAnotherClassDoesNotCompile(_ function: String) throws {
    let check = try CompileCheck(Self.classes + function)
    #expect(!check.succeeded && (check.output.contains("Attribute<") || check.output.contains("To")), "\(check.output)")
    #expect(!check.output.contains("missing required module"), "\(check.output)")
  }
}
