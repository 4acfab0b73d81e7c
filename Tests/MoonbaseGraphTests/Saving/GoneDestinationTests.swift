import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Relationships that no delete rule reaches, when a deletion is saved.
@Suite struct GoneDestinationTests {
  @Test(arguments: StoreKind.allCases) func nothingListsAnObjectWhoseDeletionIsSaved(_ kind: StoreKind) throws {
    var owner = EntityDescription("Owner")
    var (one, some) = (
      RelationshipDescription.toOne("one", destination: "Thing"),
      RelationshipDescription.toMany("some", destination: "Thing")
    )
    (one.isTransient, some.isTransient) = (true, true)
    owner.attributes = [AttributeDescription("name", type: .string)]
    owner.relationships = [.toMany("many", destination: "Thing"), one, some]
    var thing = EntityDescription("Thing")
    thing.attributes = [AttributeDescription("name", type: .string)]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [owner, thing]))
    let context = bench.context()
    let holder = try context.insert("Owner")
    let things = try (0..<3).map { _ in try context.insert("Thing") }
    for key in ["many", "some"] { try holder.setObjects(things, forKey: key) }
    try holder.setObject(things[1], forKey: "one")
    try context.save()
    try context.delete(things[1])
    try context.save()
    for key in ["many", "some"] {
      #expect(try holder.objects(forKey: key) == [things[0], things[2]], "\(key)")
    }
    #expect(try holder.object(forKey: "one") == nil)
    #expect(!context.hasChanges && context.brokenInvariants().isEmpty)
    holder["name"] = "saved again"
    try context.save()
    let after = bench.context()
    #expect(try after.object(with: holder.objectID).objects(forKey: "many").count == 2)
  }

  @Test(arguments: StoreKind.allCases) func destinationsThatAreGoneAreNoDestinations(_ kind: StoreKind) throws {
    var list = EntityDescription("List")
    list.relationships = [.toMany("items", destination: "Item")]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [list, EntityDescription("Item")]))
    let coordinator = bench.coordinator
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
