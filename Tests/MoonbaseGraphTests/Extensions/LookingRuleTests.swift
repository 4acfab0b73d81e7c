import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Validation rules must not change anything, through whichever accessor. Getters compute values and insert or delete
/// no objects.
@Suite struct LookingRuleTests {
  /// The accessors and operations by which a rule tries to change something.
  enum Door: CaseIterable {
    case value, keyed, primitive, changeNotes, delayed, toOne, toMany, order, other, delete, insert

    func change(_ object: ManagedObject, _ other: ManagedObject) throws {
      let context = try #require(object.managedObjectContext)
      switch self {
      case .value: try object.setValue("by a rule", forKey: "lastName")
      case .keyed: object["lastName"] = "by a rule"
      case .primitive: try object.setPrimitiveValue("by a rule", forKey: "lastName")
      case .changeNotes:
        try object.willChangeValue(forKey: "lastName")
        try object.setPrimitiveValue("by a rule", forKey: "lastName")
        try object.didChangeValue(forKey: "lastName")
      case .delayed: try object.setValue("by a rule", forKey: "fullName")
      case .toOne: try object.setObject(other.object(forKey: "department"), forKey: "department")
      case .toMany: try object.add(other, to: "friends")
      case .order: try other.object(forKey: "department")?.setObjects([], forKey: "employees")
      case .other: try other.setValue("by a rule", forKey: "email")
      case .delete: try context.delete(other)
      case .insert: try context.insert("Department")
      }
    }
  }

  /// How a rule is declared.
  enum Rule: CaseIterable {
    case ofProperty, ofObject

    func declare(in entry: inout EntityExtension, _ act: @escaping (ManagedObject) throws -> Void) {
      switch self {
      case .ofProperty:
        entry.validate["firstName"] = { _, subject in
          try act(subject.object)
          return nil
        }
      case .ofObject:
        entry.validateForInsert = {
          try act($0)
          return nil
        }
        entry.validateForUpdate = entry.validateForInsert
      }
    }
  }

  private static var fullName: DerivedAttribute {
    DerivedAttribute(
      "fullName", ownInputs: ["lastName"], writePolicy: .delayed, get: { try $0.value(forKey: "lastName") },
      set: { try $1.setValue($0, forKey: "lastName") })
  }

  @Test(arguments: StoreKind.allCases, Door.allCases)
  func whatARuleChangesIsRefusedAndUndone(_ kind: StoreKind, _ door: Door) throws {
    for (rule, isSaved) in Rule.allCases.flatMap({ [($0, true), ($0, false)] }) {
      let bench = try StoreBench(kind)
      var partner: ManagedObject?
      let context = bench.context { entry in
        entry.derived = [Self.fullName]
        rule.declare(in: &entry) { object in
          guard let partner, partner !== object else { return }
          try door.change(object, partner)
        }
      }
      let office = try context.insert("Department")
      let (person, other) = (try context.insert("Person"), try context.insert("Person"))
      try other.setObject(office, forKey: "department")
      try context.save()
      partner = other
      try person.setValue("A", forKey: "firstName")
      let error = #expect(throws: GraphError.self) { if isSaved { try context.save() } else { try person.validate() } }
      #expect(error?.code == .contextBusy && error?.message.contains("a rule only looks") == true, "\(error as Any)")
      #expect(person["lastName"] == nil && person["fullName"] == nil && other["email"] == nil, "\(rule)")
      #expect(try person.objects(forKey: "friends").isEmpty && person.object(forKey: "department") == nil)
      #expect(try office.objects(forKey: "employees") == [other] && !other.isDeleted && !other.hasChanges)
      #expect(context.insertedObjects.isEmpty && context.brokenInvariants() == [])
      partner = nil
      try context.save()
      #expect(try bench.saved("Person", "lastName") == [.null, .null] && bench.saved("Department", "name").count == 1)
    }
  }

  /// A subclass whose rules change the objects that they validate.
  final class Meddler: ManagedObject {
    override func validateForInsert() throws {
      try super.validateForInsert()
      try setValue("by a rule", forKey: "name")
    }

    /// A rule may replace the value that it is given.
    override func validateValue(_ value: inout Value, forKey key: String) throws {
      if key == "name", value == "a" { value = "b" }
    }
  }

  @Test(arguments: StoreKind.allCases) func aRuleOfASubclassOnlyLooksToo(_ kind: StoreKind) throws {
    var thing = EntityDescription("Thing")
    thing.managedObjectClassName = "Meddler"
    thing.attributes = [AttributeDescription("name", type: .string)]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [thing]))
    bench.coordinator.register(Meddler.self, forClassName: "Meddler")
    let context = bench.context()
    let object = try context.insert("Thing", values: ["name": "a"])
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.message.contains("a rule only looks") == true && object["name"] == "a", "\(error as Any)")
    #expect(throws: GraphError.self) { try object.validate() }
    #expect(object["name"] == "b")
    context.hostSettings.validatesAtSave = false
    try context.save()
    try object.setValue("a", forKey: "name")
    context.hostSettings.validatesAtSave = true
    try context.save()
    #expect(try bench.saved("Thing", "name") == ["b"])
  }

  /// Caching a value in a transient attribute is no change.
  @Test(arguments: StoreKind.allCases) func aRuleMayReadWhatKeepsItsValue(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.derived = [
        DerivedAttribute("fullName") { object in
          let department = try object.object(forKey: "department")
          try object.setPrimitiveValue(.string("of \(department == nil ? 0 : 1)"), forKey: "fullName")
          return try object.primitiveValue(forKey: "fullName")
        }
      ]
      entry.validate["firstName"] = { _, subject in
        _ = try subject.object.managedObjectContext?.fetch(FetchRequest("Person"))
        return try subject.object.value(forKey: "fullName") == "of 0" ? nil : .init("is wrong")
      }
    }
    let person = try context.insert("Person", values: ["firstName": "A"])
    let other = try context.insert("Person")
    try context.save()
    try context.delete(other)
    try person.setValue("B", forKey: "firstName")
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["B"])
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func aGetterMakesAndDeletesNothing(_ kind: StoreKind, isStored: Bool) throws {
    for deletes in [true, false] {
      let bench = try StoreBench(kind)
      var isActive = false
      let context = bench.context { entry in
        let get: (ManagedObject) throws -> Value = { object in
          if isActive, let context = object.managedObjectContext {
            if deletes { try context.delete(object) } else { try context.insert("Department") }
          }
          return try .string("\(object.value(forKey: "age"))")
        }
        if isStored {
          entry.stored = [DerivedAttribute("email", ownInputs: ["age"], get: get)]
        } else {
          entry.derived = [DerivedAttribute("fullName", get: get)]
        }
      }
      let person = try context.insert("Person")
      try context.save()
      try person.setValue(7, forKey: "age")
      isActive = true
      let error = #expect(throws: GraphError.self) {
        if isStored { try context.save() } else { _ = try person.value(forKey: "fullName") }
      }
      #expect(
        error?.code == .contextBusy && error?.message.contains("a getter only computes") == true, "\(error as Any)")
      #expect(context.insertedObjects.isEmpty && !person.isDeleted && context.brokenInvariants() == [])
      isActive = false
      try context.save()
      #expect(try bench.saved("Department", "name") == [])
    }
  }

  /// A fetch within a getter applies the pending delete rules.
  @Test(arguments: StoreKind.allCases) func deleteRulesOfAFetchWithinAGetterAreApplied(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.derived = [
        DerivedAttribute("fullName") { object in
          .string("\(try object.managedObjectContext?.fetch(FetchRequest("Project")).count ?? -1)")
        }
      ]
    }
    let department = try context.insert("Department")
    let project = try context.insert("Project")
    try project.setObject(department, forKey: "department")
    let person = try context.insert("Person")
    try context.save()
    try context.delete(department)
    #expect(try person.value(forKey: "fullName").text != nil)
    try context.save()
  }
}
