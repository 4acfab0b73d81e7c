import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct InMemoryStoreTests {
  @Test func aUniqueValuePassesFromOneRowToAnotherInOneSave() throws {
    let context = try People.context()
    let a = try context.insert("Person", values: ["email": "a"])
    let b = try context.insert("Employee", values: ["email": "b"])
    try context.save()
    a["email"] = "b"
    b["email"] = "a"
    try context.save()
    try context.delete(a)
    let c = try context.insert("Person", values: ["email": "b"])
    try context.save()
    #expect(try context.count(FetchRequest("Person")) == 2 && c["email"] == "b")
  }

  @Test func aSaveThatFailsLeavesUniqueValuesAsTheyWere() throws {
    let coordinator = try People.coordinator()
    let context = try ManagedObjectContext(coordinator)
    let a = try context.insert("Person", values: ["email": "a"])
    let b = try context.insert("Person", values: ["email": "b"])
    try context.save()
    // One value is freed and another taken before the third row is refused.
    a["email"] = "new"
    let d = try context.insert("Person", values: ["email": "d"])
    let c = try context.insert("Employee", values: ["email": "b"])
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
    let other = try ManagedObjectContext(coordinator)
    _ = try other.insert("Person", values: ["email": "a"])
    #expect { try other.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
    try other.rollback()
    _ = try other.insert("Person", values: ["email": "new"])
    try other.save()
    for email in ["d", "c"] { _ = try other.insert("Person", values: ["email": .string(email)]) }
    try other.save()
    (a["email"], d["email"], c["email"], b["email"]) = ("b", "e", "f", "a")
    try context.save()
    #expect(try other.count(FetchRequest("Person")) == 7)
  }

  @Test func destinationsThatAreGoneAreNoDestinations() throws {
    var list = EntityDescription("List")
    list.relationships = [.toMany("items", destination: "Item")]
    let coordinator = try People.coordinator(ManagedObjectModel(entities: [list, EntityDescription("Item")]))
    let context = try ManagedObjectContext(coordinator)
    let items = try (0..<2).map { _ in try context.insert("Item") }
    let object = try context.insert("List")
    try object.setObjects(items, forKey: "items")
    try context.save()
    let other = try ManagedObjectContext(coordinator)
    try other.delete(other.object(with: items[0].objectID))
    try other.save()
    #expect(try other.object(with: object.objectID).objectIDs(forRelationshipNamed: "items") == [items[1].objectID])
  }
}
