import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct DestinationTests {
  @Test func relationshipAcrossStoresIsRefusedAtTheAssignment() throws {
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let (first, second) = (try InMemoryStore(model: model), try InMemoryStore(model: model))
    let elsewhere = PersistentStoreCoordinator(model: model)
    elsewhere.add(second)
    let foreign = try ManagedObjectContext(elsewhere).insert("Department", ["name": "far"])
    try #require(foreign.managedObjectContext == nil)
    let filling = try ManagedObjectContext(elsewhere)
    let far = try filling.insert("Department", ["name": "far"])
    try filling.save()
    coordinator.add(first)
    coordinator.add(second)
    let context = try ManagedObjectContext(coordinator)
    let near = try context.insert("Department", ["name": "near"])
    let person = try context.insert("Person", ["department": .objectID(near.objectID)])
    let department = try context.object(with: far.objectID)
    func refuses(_ body: () throws -> Void) {
      #expect { try body() } throws: { "\($0)".contains("no relationship may cross stores") }
    }
    refuses { try person.setObject(department, forKey: "department") }
    refuses { try department.add(person, to: "employees") }
    try context.save()
    refuses { try person.setObject(department, forKey: "department") }
    refuses { try department.setObjects([person], forKey: "employees") }
    #expect(try person.object(forKey: "department") === near && !context.hasChanges)
    #expect(context.brokenInvariants().isEmpty)
  }

  @Test func listWithOneWrongObjectChangesNothing() throws {
    let context = try People.context()
    let department = try context.insert("Department")
    let (a, b) = (try context.insert("Person"), try context.insert("Person"))
    try department.setObjects([a], forKey: "employees")
    try context.save()
    let project = try context.insert("Project")
    try context.save()
    let gone = try ManagedObjectContext(context.coordinator)
    let lost = try gone.insert("Person").objectID
    for wrong in [project.objectID, lost] {
      #expect(throws: GraphError.self) {
        try department.setValue(.list([.objectID(b.objectID), .objectID(wrong)]), forKey: "employees")
      }
      #expect(try department.objects(forKey: "employees") == [a] && !context.hasChanges)
    }
  }
}
