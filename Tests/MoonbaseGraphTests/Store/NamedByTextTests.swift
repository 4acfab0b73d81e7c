import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// IDs from texts that name the root entity of an object, or another entity of the same table.
@Suite struct NamedByTextTests {
  private func bench(_ kind: StoreKind) throws -> (StoreBench, ManagedObjectID) {
    var book = EntityDescription("Book")
    book.attributes = [AttributeDescription("title", type: .string)]
    var novel = EntityDescription("GraphicNovel")
    novel.superentityName = "Book"
    var story = EntityDescription("Story")
    story.superentityName = "Book"
    book.relationships = [.toOne("shelf", destination: "Shelf", inverse: "books")]
    var shelf = EntityDescription("Shelf")
    shelf.relationships = [
      .toMany("books", destination: "Book", inverse: "shelf"), .toOne("best", destination: "GraphicNovel"),
    ]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [book, novel, story, shelf]))
    let context = bench.context()
    let object = try context.insert("GraphicNovel", values: ["title": "drawn"])
    try context.save()
    return (bench, object.objectID)
  }

  private func text(_ id: ManagedObjectID, as entity: String) -> String {
    id.uriRepresentation.replacingOccurrences(of: "/GraphicNovel/", with: "/\(entity)/")
  }

  @Test(arguments: StoreKind.withFolder, ["Book", "Story", "GraphicNovel"])
  func aTextLeadsToTheOneObjectWhateverEntityItNames(_ kind: StoreKind, _ entity: String) throws {
    let (bench, id) = try bench(kind)
    let text = text(id, as: entity)
    #expect(bench.coordinator.managedObjectID(forURIRepresentation: text) == id)
    let context = bench.stranger()
    let named = try #require(ManagedObjectID(uriRepresentation: text))
    let found = try #require(try context.existingObject(with: named))
    #expect(found.objectID == id && found.entity.name == "GraphicNovel")
    #expect(try found === context.object(with: id) && found === context.object(with: named))
    #expect(try context.fetch(FetchRequest("Book")) == [found])
    withExtendedLifetime(bench) {}
  }

  /// The row was not read when the object was made.
  @Test(arguments: StoreKind.withFolder) func aFaultThatWasNamedWronglySaysWhoItIs(_ kind: StoreKind) throws {
    let (bench, id) = try bench(kind)
    let context = bench.stranger()
    let named = try #require(ManagedObjectID(uriRepresentation: text(id, as: "Story")))
    let fault = try context.object(with: named)
    let error = #expect(throws: GraphError.self) { try fault.value(forKey: "title") }
    #expect(error?.code == .objectNotFound && error?.message.contains("the object is \(id)") == true, "\(error as Any)")
    #expect(try context.object(with: id) !== fault && context.existingObject(with: named)?.objectID == id)
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.withFolder) func aTextOfNoRowKeepsItsName(_ kind: StoreKind) throws {
    let (bench, id) = try bench(kind)
    let text = text(id, as: "Story").replacingOccurrences(of: "/p\(id.key)", with: "/p\(id.key + 7)")
    let named = try #require(bench.coordinator.managedObjectID(forURIRepresentation: text))
    #expect(named.entityName == "Story")
    #expect(try bench.stranger().existingObject(with: named) == nil)
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.withFolder, ["Book", "Story", "GraphicNovel"])
  func aRelationshipLeadsToTheOneObject(_ kind: StoreKind, _ entity: String) throws {
    for isHere in [false, true] { try checkRelationship(kind, entity, isHere) }
  }

  private func checkRelationship(_ kind: StoreKind, _ entity: String, _ isHere: Bool) throws {
    let (bench, id) = try bench(kind)
    let context = bench.stranger()
    let named = try #require(ManagedObjectID(uriRepresentation: text(id, as: entity)))
    let novel = isHere ? try context.existingObject(with: id) : nil
    let shelf = try context.insert("Shelf")
    try shelf.setValue(.objectID(named), forKey: "best")
    try shelf.setValue(.list([.objectID(named)]), forKey: "books")
    #expect(try shelf.value(forKey: "best") == .objectID(id) && shelf.value(forKey: "books") == .list([.objectID(id)]))
    try context.save()
    let other = bench.stranger()
    let saved = try #require(try other.existingObject(with: shelf.objectID))
    #expect(try saved.value(forKey: "best") == .objectID(id))
    #expect(try other.object(with: id).value(forKey: "shelf") == .objectID(shelf.objectID))
    withExtendedLifetime((bench, novel)) {}
  }

  @Test(arguments: StoreKind.withFolder, ["Book", "Story", "GraphicNovel"])
  func aBatchDeletionReachesTheOneObject(_ kind: StoreKind, _ entity: String) throws {
    let (bench, id) = try bench(kind)
    let context = bench.stranger()
    let named = try #require(ManagedObjectID(uriRepresentation: text(id, as: entity)))
    var request = BatchDeleteRequest(objectIDs: [named])
    request.resultType = .objectIDs
    #expect(try context.execute(request).objectIDs == [id])
    #expect(try context.count(FetchRequest("Book")) == 0)
    withExtendedLifetime(bench) {}
  }
}
