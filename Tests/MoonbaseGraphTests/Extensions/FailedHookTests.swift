import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// A hook that throws leaves the context unchanged, or lets the operation be finished or repeated.
@Suite struct FailedHookTests {
  @Test(arguments: StoreKind.allCases)
  func aFailedPrepareForDeletionIsTriedAgainByTheNextSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let failing = Switch(1)
    let context = bench.context(extending: "Project") { entry in
      entry.prepareForDeletion = { _ in try failing.failIfOn() }
    }
    let department = try context.insert("Department", values: ["name": "D"])
    for title in ["A", "B"] {
      try department.add(try context.insert("Project", values: ["title": .string(title)]), to: "projects")
    }
    try context.save()
    try context.delete(department)
    for _ in 0..<2 {
      #expect(throws: GraphError.self) { try context.save() }
      #expect(throws: GraphError.self) { try context.fetch(FetchRequest("Project")) }
      #expect(try department.isDeleted && bench.saved("Department", "name") == ["D"])
      #expect(context.brokenInvariants() == [])
    }
    failing.value = 0
    try context.save()
    #expect(try bench.saved("Department", "name") == [] && bench.saved("Project", "title") == [])
  }

  @Test(arguments: StoreKind.allCases)
  func deleteRulesThatAStoreInterruptsAreAppliedTheNextTime(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let filling = bench.context()
    let department = try filling.insert("Department", values: ["name": "D"])
    try department.add(try filling.insert("Project", values: ["title": "P"]), to: "projects")
    try department.add(try filling.insert("Person", values: ["firstName": "A"]), to: "employees")
    try filling.save()
    let context = bench.context()
    let same = try #require(try context.existingObject(with: department.objectID))
    try context.delete(same)
    for reads in 0..<2 {
      store.fail(afterReads: reads)
      #expect(throws: GraphError.self) { try context.processPendingChanges() }
    }
    store.fail(afterReads: nil)
    try context.save()
    #expect(try bench.saved("Project", "title") == [] && bench.saved("Person", "department") == [.null])
  }

  @Test(arguments: StoreKind.allCases)
  func aHookMayDeleteItsOwnObject(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      let delete: EntityExtension.Hook = { try $0.managedObjectContext?.delete($0) }
      entry.prepareForDeletion = delete
      entry.willSave = { if try $0.value(forKey: "firstName") == "will" { try delete($0) } }
      entry.awakeFromInsert = { if try $0.value(forKey: "age") == 77 { try delete($0) } }
      entry.didSave = { if try $0.value(forKey: "firstName") == "did" { try delete($0) } }
    }
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    try context.delete(person)
    #expect(person.isDeleted && context.brokenInvariants() == [])
    try context.insert("Person", values: ["firstName": "will"])
    try context.insert("Person", values: ["firstName": "did"])
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["did"])
    try context.save()
    #expect(try bench.saved("Person", "firstName") == [] && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func aRollbackFinishesWhenAHookFails(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let failing = Switch()
    let context = bench.context { entry in
      entry.willTurnIntoFault = { object in
        try object.setValue("changed by the hook", forKey: "lastName")
        try failing.failIfOn()
      }
      entry.didTurnIntoFault = { _ in try failing.failIfOn() }
    }
    let people = try (0..<3).map { try context.insert("Person", values: ["firstName": .string("\($0)")]) }
    try context.save()
    for person in people { try person.setValue("changed", forKey: "firstName") }
    try context.delete(people[1])
    let new = try context.insert("Person")
    failing.value = 1
    #expect { try context.rollback() } throws: { ($0 as? GraphError)?.underlying is Broken }
    failing.value = 0
    #expect(!context.hasChanges && new.managedObjectContext == nil && context.brokenInvariants() == [])
    #expect(
      people.map { $0["firstName"] } == ["0", "1", "2"] && people.map { $0["lastName"] } == [.null, .null, .null])
    try people[0].setValue("later", forKey: "firstName")
    failing.value = 1
    #expect(throws: GraphError.self) { try context.refresh(people[0], mergeChanges: false) }
    #expect(people[0].isFault && !context.hasChanges && people[0]["firstName"] == "0")
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func theErrorOfATransactionIsItsOwnNotThatOfTheRollback(_ kind: StoreKind) throws {
    struct Stop: Error {}
    let bench = try StoreBench(kind)
    let failing = Switch()
    let context = bench.context { entry in entry.willTurnIntoFault = { _ in try failing.failIfOn() } }
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    failing.value = 1
    #expect(throws: Stop.self) {
      try context.transaction {
        try person.setValue("B", forKey: "firstName")
        throw Stop()
      }
    }
    #expect(!context.hasChanges && person["firstName"] == "A")
  }

  @Test(arguments: StoreKind.allCases)
  func anInsertionThatFailsLeavesNothingBehind(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let setUp = bench.context()
    let project = try setUp.insert("Project", values: ["title": "P"])
    try setUp.save()
    let failing = Switch(1)
    let context = bench.context(extending: "Department") { entry in
      entry.awakeFromInsert = { object in
        guard let context = object.managedObjectContext else { return }
        for project in try context.fetch(FetchRequest("Project")) { try object.add(project, to: "projects") }
        try context.insert("Person", values: ["department": .objectID(object.objectID)])
        try failing.failIfOn()
      }
      // The object was never saved, so `prepareForDeletion` is not called.
      entry.prepareForDeletion = { _ in throw Broken() }
    }
    #expect(throws: GraphError.self) { try context.insert("Department") }
    #expect(!context.hasChanges && context.brokenInvariants() == [])
    failing.value = 0
    #expect(throws: GraphError.self) {
      try context.insert("Department", values: ["name": "D", "projects": [], "nosuch": 1])
    }
    #expect(!context.hasChanges && context.brokenInvariants() == [])
    let same = try context.object(with: project.objectID)
    #expect(try same.object(forKey: "department") == nil && context.count(FetchRequest("Person")) == 0)
    try context.save()
    #expect(try bench.saved("Project", "title") == ["P"])
  }

  @Test(arguments: StoreKind.allCases)
  func anObjectWhoseAwakeFromFetchFailsIsTriedAgain(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let setUp = bench.context()
    try setUp.insert("Person", values: ["firstName": "A"])
    try setUp.save()
    let failing = Switch(1)
    let context = bench.context { entry in
      entry.awakeFromFetch = { object in
        try object.setPrimitiveValue("half", forKey: "lastName")
        try failing.failIfOn()
        try object.setPrimitiveValue("whole", forKey: "lastName")
      }
    }
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    #expect(throws: GraphError.self) { try person.value(forKey: "lastName") }
    #expect(person.isFault && context.brokenInvariants() == [])
    failing.value = 0
    #expect(try person.value(forKey: "lastName") == "whole")
  }

  @Test(arguments: StoreKind.allCases, [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst])
  func aNewObjectMayDeleteItselfInWillSave(_ kind: StoreKind, _ order: ManagedObjectContext.SaveOrder) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.stored = [
        DerivedAttribute("lastName", ownInputs: ["firstName"], get: { try $0.value(forKey: "firstName") })
      ]
      entry.willSave = { object in
        guard try object.value(forKey: "firstName") == "goes" else { return }
        try object.managedObjectContext?.delete(object)
        _ = try object.managedObjectContext?.fetch(FetchRequest("Person"))
      }
    }
    context.saveOrder = order
    try context.insert("Person", values: ["firstName": "goes"])
    try context.insert("Person", values: ["firstName": "stays"])
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["stays"])
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func ofSeveralExtensionsTheLaterOnesDoNotSeeWhatDeletedItself(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    for isGone in [false, true] {
      let later = Switch()
      var extensions = ClosureExtensions()
      extensions.extend("Person") {
        var entry = EntityExtension()
        entry.awakeFromInsert = { object in
          try object.managedObjectContext?.delete(object)
          if isGone { _ = try object.managedObjectContext?.fetch(FetchRequest("Person")) }
        }
        return entry
      }
      extensions.extend("Person") {
        var entry = EntityExtension()
        entry.awakeFromInsert = { object in
          later.value += 1
          try object.setValue("set", forKey: "firstName")
        }
        return entry
      }
      let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
      try context.insert("Person")
      #expect(later.value == 0)
      try context.save()
      #expect(try bench.saved("Person", "firstName") == [] && context.brokenInvariants() == [])
      #expect { try context.insert("Person", values: ["firstName": "A"]) } throws: {
        ($0 as? GraphError)?.code == .invalidObject
      }
      #expect(!context.hasChanges)
    }
  }
}
