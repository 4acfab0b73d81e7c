import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// A failed save leaves the context unchanged: changes by hooks, validation and delete rules are reverted.
@Suite struct FailedSaveTests {
  /// A context whose saves insert, change, link, delete and nullify before they fail.
  private func context(_ bench: StoreBench, _ failing: Switch) throws -> ManagedObjectContext {
    bench.context { entry in
      entry.normalize["lastName"] = { value, _ in value == "L" ? "L!" : value }
      entry.willSave = { object in
        guard let context = object.managedObjectContext, try object.value(forKey: "firstName") == "first" else {
          return
        }
        for project in try context.fetch(FetchRequest("Project")) { try context.delete(project) }
        guard try context.count(FetchRequest("Employee")) == 0 else { return }
        let employee = try context.insert("Employee", values: ["email": "taken"])
        try object.add(employee, to: "friends")
        try object.setObject(nil, forKey: "department")
        try object.setPrimitiveValue(30, forKey: "age")
      }
      entry.validateForInsert = { object in
        if object.entity.name == "Employee" { try failing.failIfOn() }
        return nil
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aFailedSaveUndoesWhatItDid(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let failing = Switch(1)
    let context = try context(bench, failing)
    let department = try context.insert("Department", values: ["name": "D"])
    let project = try context.insert("Project", values: ["title": "P", "department": .objectID(department.objectID)])
    let person = try context.insert("Person", values: ["department": .objectID(department.objectID)])
    try context.save()
    try person.setValue("first", forKey: "firstName")
    try person.setValue("L", forKey: "lastName")
    let gone = try context.insert("Project", values: ["title": "gone", "department": .objectID(department.objectID)])
    try context.delete(gone)
    for _ in 0..<2 {
      #expect(throws: GraphError.self) { try context.save() }
      #expect(context.brokenInvariants() == [])
      #expect(person["lastName"] == "L" && person["age"] == 0)
      #expect(try person.object(forKey: "department") === department && person.objects(forKey: "friends").isEmpty)
      #expect(try department.objects(forKey: "employees") == [person])
      #expect(!project.isDeleted && project["title"] == "P" && context.insertedObjects.isEmpty)
      #expect(context.updatedObjects.contains(person) && !context.updatedObjects.contains(project))
    }
    failing.value = 0
    try context.save()
    #expect(try bench.saved("Employee", "email") == ["taken"] && bench.saved("Project", "title") == [])
    #expect(try bench.saved("Person", "age") == [0, 30] && bench.saved("Person", "lastName") == [.null, "L!"])
    #expect(context.brokenInvariants() == [] && !context.hasChanges)
  }

  /// Ordered destinations return to their positions.
  @Test(arguments: StoreKind.allCases)
  func aFailedSavePutsOrderedDestinationsBack(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let failing = Switch(1)
    let context = bench.context(extending: "Department") { entry in
      entry.willSave = { object in
        var projects = try object.objects(forKey: "projects")
        guard projects.count == 4 else { return }
        try object.managedObjectContext?.delete(projects[1])
        projects.swapAt(0, 3)
        try object.setObjects(projects, forKey: "projects")
        try object.remove(projects[2], from: "projects")
        try failing.failIfOn()
      }
    }
    let department = try context.insert("Department", values: ["name": "D"])
    func titles() throws -> [Value] { try department.objects(forKey: "projects").map { $0["title"] } }
    let titled = try ["a", "b", "c", "d"].map { try context.insert("Project", values: ["title": $0]) }
    try department.setObjects(titled, forKey: "projects")
    for _ in 0..<2 {
      #expect(throws: GraphError.self) { try context.save() }
      #expect(try titles() == ["a", "b", "c", "d"] && context.brokenInvariants() == [])
    }
    failing.value = 0
    try context.save()
    #expect(try titles() == ["d", "a"] && context.brokenInvariants() == [])
    #expect(try bench.saved("Project", "title") == ["a", "c", "d"])
  }

  @Test(arguments: StoreKind.allCases)
  func whatTheStoreRefusesUndoesTheHooksToo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = try context(bench, Switch())
    try context.insert("Person", values: ["email": "taken"])
    try context.save()
    let person = try context.insert("Person", values: ["firstName": "first"])
    for _ in 0..<2 {
      #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
      #expect(context.insertedObjects == [person] && context.brokenInvariants() == [])
    }
    #expect(try bench.saved("Person", "email") == ["taken"])
  }

  /// A hook's accessor could not set a value, so the save that runs the hook must fail.
  @Test(arguments: StoreKind.allCases)
  func errorsOfAccessorsInWillSaveFailThisSaveAndNoLaterOne(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let failing = Switch(1)
    let context = bench.context { entry in
      entry.willSave = { if failing.value != 0 { $0["age"] = "no number" } }
    }
    try context.insert("Person", values: ["firstName": "A"])
    #expect { try context.save() } throws: { ($0 as? GraphError)?.property == "age" }
    #expect(context.pendingErrors.isEmpty)
    failing.value = 0
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["A"])
  }

  // MARK: Validation of what hooks and delete rules did

  private func model(_ change: (inout ManagedObjectModel) -> Void) -> ManagedObjectModel {
    var model = People.model()
    change(&model)
    return model
  }

  /// Changes a relationship of the model.
  private func model(_ entity: String, _ name: String, _ change: (inout RelationshipDescription) -> Void)
    -> ManagedObjectModel
  {
    model { model in
      for index in model.entities.indices where model.entities[index].name == entity {
        for place in model.entities[index].relationships.indices
        where model.entities[index].relationships[place].name == name {
          change(&model.entities[index].relationships[place])
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst])
  func aRequiredRelationshipThatWillSaveEmptiesFailsTheSave(
    _ kind: StoreKind, _ order: ManagedObjectContext.SaveOrder
  ) throws {
    for deletes in [true, false] {
      let bench = try StoreBench(kind, model("Person", "department") { $0.isOptional = false })
      let context = bench.context { entry in
        entry.willSave = { object in
          guard let department = try object.object(forKey: "department"), try object.value(forKey: "age") == 1 else {
            return
          }
          if deletes {
            try object.managedObjectContext?.delete(department)
          } else {
            try department.setObjects([], forKey: "employees")
          }
        }
      }
      context.saveOrder = order
      let department = try context.insert("Department", values: ["name": "D"])
      let person = try context.insert("Person", values: ["department": .objectID(department.objectID)])
      try context.insert("Person", values: ["department": .objectID(department.objectID)])
      try context.save()
      try person.setValue(1, forKey: "age")
      #expect { try context.save() } throws: { error in
        let errors = (error as? GraphError).map { $0.details.isEmpty ? [$0] : $0.details } ?? []
        return errors.count == 2
          && errors.allSatisfy { $0.code == .missingMandatoryProperty && $0.property == "department" }
      }
      #expect(try bench.saved("Department", "name") == ["D"] && !department.isDeleted)
      #expect(context.brokenInvariants() == [])
    }
  }

  @Test(arguments: StoreKind.allCases, [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst])
  func aCascadeThatWillSaveSetsOffHeedsDenyRules(_ kind: StoreKind, _ order: ManagedObjectContext.SaveOrder) throws {
    var model = People.model()
    model.entities[3].relationships.append(.toMany("people", destination: "Person", inverse: "project"))
    model.entities[3].relationships[1].deleteRule = .deny
    model.entities[0].relationships.append(.toOne("project", destination: "Project", inverse: "people"))
    let bench = try StoreBench(kind, model)
    let context = bench.context(extending: "Department") { entry in
      entry.willSave = { if try $0.value(forKey: "name") == "go" { try $0.managedObjectContext?.delete($0) } }
    }
    context.saveOrder = order
    let department = try context.insert("Department", values: ["name": "D"])
    let project = try context.insert("Project", values: ["title": "P", "department": .objectID(department.objectID)])
    try context.insert("Person", values: ["project": .objectID(project.objectID)])
    try context.save()
    try department.setValue("go", forKey: "name")
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .relationshipDeniedDelete }
    #expect(try bench.saved("Project", "title") == ["P"] && !project.isDeleted && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases)
  func willSaveIsCalledForWhatDeleteRulesChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.willSave = { object in
        guard let department = try object.object(forKey: "department") else {
          return try object.setValue("alone", forKey: "lastName")
        }
        if try object.value(forKey: "age") == 1 { try object.managedObjectContext?.delete(department) }
      }
    }
    let department = try context.insert("Department", values: ["name": "D"])
    let person = try context.insert("Person", values: ["department": .objectID(department.objectID)])
    try context.insert("Person", values: ["department": .objectID(department.objectID)])
    try context.save()
    try person.setValue(1, forKey: "age")
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["alone", "alone"])
  }

  @Test(arguments: StoreKind.allCases)
  func aFailedSaveKeepsTheOrderOfWhatCameToARelationshipThatWasNotRead(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let setup = bench.context()
    let department = try setup.insert("Department")
    let projects = try (0..<3).map { _ in try setup.insert("Project") }
    try setup.save()
    let context = bench.context(extending: "Project") { entry in
      entry.willSave = { object in
        try object.setObject(nil, forKey: "department")
        throw Broken()
      }
    }
    let here = try projects.map { try context.object(with: $0.objectID) }
    let owner = try context.object(with: department.objectID)
    for project in here { try project.setObject(owner, forKey: "department") }
    #expect(throws: GraphError.self) { try context.save() }
    #expect(try owner.objects(forKey: "projects") == here)
  }

  @Test(arguments: StoreKind.allCases)
  func aDelayedValueThatAnotherOneAssignsIsSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      var first = DerivedAttribute(
        "fullName", ownInputs: ["firstName"], writePolicy: .delayed, get: { try $0.value(forKey: "firstName") })
      first.set = { value, object in
        try object.setPrimitiveValue(value, forKey: "firstName")
        try object.setValue("by another", forKey: "bounds")
      }
      var second = DerivedAttribute(
        "bounds", ownInputs: ["lastName"], writePolicy: .delayed, get: { try $0.value(forKey: "lastName") })
      second.set = { value, object in
        try object.setPrimitiveValue(value, forKey: "lastName")
        try object.setPrimitiveValue(value, forKey: "boundsAsString")
      }
      entry.derived = [first, second]
    }
    let person = try context.insert("Person")
    try person.setValue("first", forKey: "fullName")
    try person.setValue("mine", forKey: "bounds")
    try context.save()
    #expect(try bench.saved("Person", "lastName") == ["by another"])
  }
}
