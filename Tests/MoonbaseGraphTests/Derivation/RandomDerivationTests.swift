import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Compares derived values with the results of their getters while everything around them changes at random.
@Suite struct RandomDerivationTests {
  private static func text(_ object: ManagedObject?, _ key: String) throws -> String {
    try object?.value(forKey: key).text ?? "-"
  }

  /// Computed from stored values alone, or from other derived attributes.
  private static func badge(_ person: ManagedObject) throws -> String {
    let department = try person.object(forKey: "department")
    let ages = try person.objects(forKey: "friends").map { try text($0, "age") }.sorted()
    return "\(try text(person, "age")) \(person.isInserted) \(try text(department, "name")) \(ages)"
  }

  /// Computed from attributes of the person alone, which are declared as inputs.
  private static func tag(_ person: ManagedObject) throws -> String { "t\(try text(person, "age"))" }

  private static func roll(_ department: ManagedObject, badge: (ManagedObject) throws -> String) throws -> String {
    try department.objects(forKey: "employees").map(badge).sorted().joined(separator: "; ")
  }

  private static func model() -> ManagedObjectModel {
    var model = People.model()
    for (entity, name) in [
      ("Person", "badge"), ("Person", "tag"), ("Person", "label"), ("Department", "roll"), ("Department", "total"),
    ] {
      var attribute = AttributeDescription(name, type: .undefined)
      attribute.isTransient = true
      for index in model.entities.indices where model.entities[index].name == entity {
        model.entities[index].attributes.append(attribute)
      }
    }
    return model
  }

  private final class Bench {
    let bench: StoreBench
    let store: FailingStore
    let fails = Switch()
    let context: ManagedObjectContext
    /// New people are retained; saved ones are looked up by their IDs.
    var unsaved: [ManagedObject] = []
    var people: [ManagedObjectID] = []
    var departments: [ManagedObject] = []
    var random: SplitMix

    init(_ kind: StoreKind, seed: Int) throws {
      (bench, store) = try StoreBench.failing(kind, RandomDerivationTests.model())
      random = SplitMix(UInt64(seed))
      var (person, department) = (EntityExtension(), EntityExtension())
      person.derived = [
        DerivedAttribute("badge") { .string(try RandomDerivationTests.badge($0)) },
        DerivedAttribute("tag", ownInputs: ["age"]) { .string(try RandomDerivationTests.tag($0)) },
        DerivedAttribute("label", ownInputs: ["tag", "age"]) { .string("<\(try text($0, "tag"))>") },
      ]
      department.derived = [
        DerivedAttribute("roll") { .string(try roll($0) { try text($0, "badge") + text($0, "label") }) },
        DerivedAttribute("total", inputs: ["employees.@sum.age"]) { department in
          let sum = Expression.keyPath(.evaluatedObject, ["employees", "@sum", "age"])
          let context = try #require(department.managedObjectContext)
          return try CompiledExpression(sum, entity: department.entity, in: context.model).value(department)
        },
      ]
      person.willSave = { [fails] person in
        guard fails.value == 1 else { return }
        try person.setPrimitiveValue(77, forKey: "age")
        for other in try person.objects(forKey: "friends") { try other.setValue(78, forKey: "age") }
        throw Broken()
      }
      context = bench.context(["Person": [person], "Department": [department]])
    }

    func person() throws -> ManagedObject? {
      if Bool.random(using: &random), let new = unsaved.randomElement(using: &random) { return new }
      return try people.randomElement(using: &random).map { try context.object(with: $0) }
    }

    func step() throws {
      switch Int.random(in: 0..<16, using: &random) {
      case 0, 1: unsaved.append(try context.insert("Person"))
      case 2: departments.append(try context.insert("Department", values: ["name": "new"]))
      case 3: departments.randomElement(using: &random)?["name"] = .string("\(Int.random(in: 0..<9, using: &random))")
      case 4, 5: try person()?.setValue(.int(.random(in: 0..<90, using: &random)), forKey: "age")
      case 6: try person()?.setPrimitiveValue(.int(.random(in: 0..<90, using: &random)), forKey: "age")
      case 7, 8: try person()?.setObject(departments.randomElement(using: &random), forKey: "department")
      case 9:
        if let person = try person(), let other = try self.person(), person !== other {
          try person.add(other, to: "friends")
        }
      case 10: try person()?.setObjects([], forKey: "friends")
      case 11:
        guard let person = try person() else { return }
        try context.delete(person)
        if Bool.random(using: &random) { try context.processPendingChanges() }
      case 12: try fail()
      case 13: try changeElsewhere()
      case 14:
        if Int.random(in: 0..<3, using: &random) == 0 {
          try context.rollback()
        } else if let person = try person(), !person.isInserted {
          try context.refresh(person, mergeChanges: Bool.random(using: &random))
        }
      default: try context.save()
      }
      tidy()
    }

    /// A save that a hook or the store fails, or a failed transaction.
    private func fail() throws {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        fails.value = 1
        _ = try? context.save()
        fails.value = 0
      case 1:
        store.fail(atCommit: true)
        _ = try? context.save()
        store.fail(atCommit: false)
      default:
        try context.save()
        tidy()
        _ = try? context.transaction {
          for id in people { try context.object(with: id).setValue(50, forKey: "age") }
          for department in departments { department["name"] = "lost" }
          try readAll()
          throw Broken()
        }
      }
    }

    /// Another context saves; this context sees the changes in its later reads.
    private func changeElsewhere() throws {
      guard !context.hasChanges, let id = people.randomElement(using: &random) else { return }
      let other = bench.context()
      try other.existingObject(with: id)?.setValue(.int(.random(in: 100..<150, using: &random)), forKey: "age")
      try other.save()
      if let known = context.registeredObject(for: id) { try context.refresh(known, mergeChanges: false) }
    }

    private func tidy() {
      people = (people + unsaved.filter { !$0.isInserted }.map(\.objectID)).filter { id in
        context.registeredObject(for: id).map { !$0.isDeleted && $0.managedObjectContext != nil } ?? true
          && (try? context.existingObject(with: id)) != nil
      }
      unsaved.removeAll { !$0.isInserted || $0.isDeleted || $0.managedObjectContext == nil }
      departments.removeAll { $0.managedObjectContext == nil }
    }

    private func readAll() throws {
      for department in departments {
        _ = (try department.value(forKey: "roll"), try department.value(forKey: "total"))
      }
    }

    func check(_ location: Testing.SourceLocation) throws {
      for department in departments {
        let roll = try RandomDerivationTests.roll(department) { person in
          try RandomDerivationTests.badge(person) + "<\(RandomDerivationTests.tag(person))>"
        }
        #expect(department["roll"] == .string(roll), sourceLocation: location)
        var total: Int64 = 0
        for person in try department.objects(forKey: "employees") where !person.isDeleted {
          if case .int(let age) = try person.value(forKey: "age") { total += age }
        }
        #expect(department["total"] == .int(total), sourceLocation: location)
      }
      for person in try people.map({ try context.object(with: $0) }) + unsaved {
        let tag = try RandomDerivationTests.tag(person)
        #expect(person["label"] == .string("<\(tag)>"), sourceLocation: location)
        #expect(person["tag"] == .string(tag), sourceLocation: location)
        #expect(person["badge"] == .string(try RandomDerivationTests.badge(person)), sourceLocation: location)
      }
      #expect(context.drainAccessorErrors().isEmpty, sourceLocation: location)
      #expect(context.brokenInvariants() == [], sourceLocation: location)
    }
  }

  @Test(arguments: StoreKind.allCases, 1...Repetition.derivationSeeds.count)
  func noDerivedValueIsStale(_ kind: StoreKind, _ seed: Int) throws {
    let bench = try Bench(kind, seed: seed)
    for _ in 0..<120 {
      try bench.step()
      try bench.check(#_sourceLocation)
    }
  }
}
