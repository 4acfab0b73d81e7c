import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Faults whose rows another context deleted: using them must not make a save of the context fail.
@Suite struct GoneRowTests {
  private struct World {
    let bench: StoreBench
    let context: ManagedObjectContext
    /// A registered fault whose row has been deleted.
    let fault: ManagedObject
    let department: ManagedObject

    /// A department with employees, of which another context deletes one.
    init(_ kind: StoreKind, gone: String) throws {
      var model = People.model()
      model.entities[2].attributes[0].validation.maximumLength = 80
      bench = try StoreBench(kind, model)
      let other = bench.context()
      let department = try other.insert("Department", values: ["name": "D"])
      let person = try other.insert("Person", values: ["department": .objectID(department.objectID)])
      try other.save()
      // The coordinator shares the stores but not the row cache, so no row is cached.
      let coordinator = PersistentStoreCoordinator(sharingStoresOf: bench.coordinator)
      var extensions = ClosureExtensions()
      for name in ["Person", "Department"] {
        extensions.extend(name) {
          var entry = EntityExtension()
          entry.willSave = { object in _ = try object.value(forKey: name == "Person" ? "firstName" : "name") }
          return entry
        }
      }
      context = try ManagedObjectContext(coordinator, extensions: extensions)
      self.department = try context.object(with: department.objectID)
      let employee = try context.object(with: person.objectID)
      fault = gone == "Person" ? employee : self.department
      if gone == "Person" { _ = try self.department.objectIDs(forRelationshipNamed: "employees") }
      try other.delete(gone == "Person" ? person : department)
      try other.save()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aFaultWhoseRowIsGoneMayBeDeletedOnceMore(_ kind: StoreKind) throws {
    for gone in ["Person", "Department"] {
      let world = try World(kind, gone: gone)
      try world.context.delete(world.fault)
      try world.context.insert("Project", values: ["title": "P"])
      try world.context.save()
      #expect(try world.bench.saved("Project", "title") == ["P"])
      #expect(try world.bench.saved(gone, gone == "Person" ? "firstName" : "name") == [])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func theOwnerOfAFaultWhoseRowIsGoneMayBeDeleted(_ kind: StoreKind) throws {
    let world = try World(kind, gone: "Person")
    #expect(world.fault.isFault)
    try world.context.delete(world.department)
    try world.context.save()
    #expect(try world.bench.saved("Department", "name") == [])
  }

  @Test(arguments: StoreKind.allCases)
  func aFaultWhoseRowIsGoneMayBeADestinationForATime(_ kind: StoreKind) throws {
    let world = try World(kind, gone: "Department")
    let person = try world.context.insert("Person", values: ["firstName": "A"])
    try person.setObject(world.department, forKey: "department")
    #expect { try world.context.save() } throws: { error in
      (error as? GraphError)?.code == .mergeConflict && (error as? GraphError)?.property == "department"
    }
    try person.setObject(nil, forKey: "department")
    try world.context.save()
    #expect(try world.bench.saved("Person", "firstName").contains("A"))
  }
}
