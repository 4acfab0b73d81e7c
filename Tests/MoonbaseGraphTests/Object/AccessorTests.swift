import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

final class Person: ManagedObject {
  static let age = Attribute<Person, Int>("age")
  static let firstName = Attribute<Person, String?>("firstName")
  static let department = ToOne<Person, ManagedObject>("department")

  var age: Int {
    get { self[Self.age] }
    set { self[Self.age] = newValue }
  }
  var firstName: String? {
    get { self[Self.firstName]?.uppercased() }
    set { self[Self.firstName] = newValue }
  }

  override class var customAccessors: [CustomAccessor] {
    [
      CustomAccessor(
        "firstName", of: Person.self, get: { $0.firstName.attributeValue },
        set: { $0.firstName = String?.read($1) ?? nil })
    ]
  }
}

@Suite struct AccessorTests {
  private func bench(
    _ kind: StoreKind, wrap: (any PersistentStore) -> any PersistentStore = { $0 }
  ) throws -> StoreBench {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Person"
    let bench = try StoreBench(kind, model, wrap: wrap)
    bench.coordinator.register(Person.self, forClassName: "Person")
    return bench
  }

  @Test(arguments: StoreKind.allCases) func whatTheStoreDerivesCannotBeAssigned(_ kind: StoreKind) throws {
    let model = ManagedObjectModel {
      EntityDescription("A") {
        AttributeDescription("name", type: .string)
        AttributeDescription("upper", type: .string).with { $0.derivationExpression = "uppercase:(name)" }
      }
    }
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    let object = try context.insert("A")
    let error = #expect(throws: GraphError.self) { try object.setValue("X", forKey: "upper") }
    #expect(
      error?.message.contains("A.upper: is derived from uppercase:(name) by the store and cannot be assigned") == true)
    #expect { try object.setPrimitiveValue("X", forKey: "upper") } throws: {
      "\($0)".contains("A.upper: is derived from uppercase:(name) by the store and cannot be assigned")
    }
    #expect(try object.value(forKey: "upper") == .null)
  }

  @Test(arguments: StoreKind.allCases) func accessByKeyGoesThroughTheSubclassAccessor(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try #require(try context.insert("Person", values: ["firstName": "ann"]) as? Person)
    #expect(person.firstName == "ANN" && person["firstName"] == "ANN")
    #expect(try person.primitiveValue(forKey: "firstName") == "ann")
    person.age = 41
    #expect(person["age"] == 41)
  }

  @Test(arguments: StoreKind.allCases)
  func failingReadIsSeenThroughEveryAccessorAndFailsTheSave(_ kind: StoreKind) throws {
    var failing: FailingStore?
    let bench = try bench(kind) {
      let store = FailingStore($0)
      failing = store
      return store
    }
    let first = bench.context()
    let ids = try (0..<3).map { try first.insert("Person", values: ["age": .int($0)]) }
    try first.save()
    let context = bench.stranger()
    let people = try ids.map { try #require(try context.object(with: $0.objectID) as? Person) }
    failing?.fail(afterReads: 1)
    #expect(people[0].age == 0 && context.pendingErrors.isEmpty)
    #expect(people[1]["age"] == .null)
    #expect(people[2].age == 0)
    #expect(context.pendingErrors.count == 2)
    #expect { try people[1].value(forKey: "age") } throws: { ($0 as? GraphError)?.code == .storeFailure }
    #expect { try people[1].fireFault() } throws: { ($0 as? GraphError)?.code == .storeFailure }
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .storeFailure }
    failing?.fail(afterReads: nil)
    #expect(context.drainAccessorErrors().isEmpty)
    try context.save()
    #expect(people[1].age == 1)
  }

  @Test(arguments: StoreKind.allCases) func unknownKeyIsAnError(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let person = try context.insert("Person")
    #expect { try person.setValue(1, forKey: "aeg") } throws: { ($0 as? GraphError)?.code == .unknownName }
    #expect(person["aeg"] == .null && context.pendingErrors.count == 1)
    // Only the next save fails for the error.
    #expect { try context.save() } throws: {
      ($0 as? GraphError)?.code == .unknownName && "\($0)".contains("drainAccessorErrors()")
    }
    #expect(context.pendingErrors.isEmpty && context.hasChanges)
    try context.save()
    #expect(!context.hasChanges)
  }

  final class SelfReader: ManagedObject {
    override class var customAccessors: [CustomAccessor] {
      [
        CustomAccessor(
          "firstName", of: SelfReader.self, get: { try $0.value(forKey: "firstName") },
          set: { try $0.setValue($1, forKey: "firstName") }),
        CustomAccessor("lastName", of: SelfReader.self, get: { $0["lastName"] }, set: { $0["lastName"] = $1 }),
      ]
    }
  }

  @Test(arguments: StoreKind.allCases)
  func anAccessorThatAsksForItsOwnPropertyByNameIsAnError(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[0].managedObjectClassName = "SelfReader"
    let bench = try StoreBench(kind, model)
    let coordinator = bench.coordinator
    coordinator.register(SelfReader.self, forClassName: "SelfReader")
    let context = try ManagedObjectContext(coordinator)
    let person = try context.insert("Person")
    func refuses(_ body: () throws -> Void) {
      #expect { try body() } throws: { "\($0)".contains("Person.firstName: its accessor needs itself") }
    }
    refuses { _ = try person.value(forKey: "firstName") }
    refuses { try person.setValue("A", forKey: "firstName") }
    #expect(person["lastName"] == .null && context.drainAccessorErrors().count == 1)
    person["lastName"] = "A"
    #expect(context.drainAccessorErrors().count == 1)
    // The recursion limit is reset for later calls.
    try person.setPrimitiveValue("A", forKey: "firstName")
    #expect(try person.primitiveValue(forKey: "firstName") == "A")
    refuses { _ = try person.value(forKey: "firstName") }
  }
}
