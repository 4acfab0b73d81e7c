import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Names that collide in a file.
@Suite struct NameClashTests {
  /// Expects an error that names both, before a file is created.
  private func expectClash(_ entities: [EntityDescription], _ names: [String]) throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(entities: entities).resolved()
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: folder.file(), model: model) }
    #expect(error?.code == .invalidStore)
    for name in names { #expect(error?.message.contains(name) == true, "\(error?.message ?? "")") }
    #expect(error?.message.contains("rename one of them") == true)
    #expect(try folder.contents().isEmpty)
  }

  private func entity(_ name: String, _ relationships: [RelationshipDescription] = []) -> EntityDescription {
    var entity = EntityDescription(name)
    entity.attributes = [AttributeDescription("i", type: .integer64)]
    entity.relationships = relationships
    return entity
  }

  @Test func entitiesThatDifferInCaseOnlyAreRefused() throws {
    try expectClash([entity("Ab"), entity("aB")], ["entity Ab", "entity aB", "ZAB"])
  }

  @Test(arguments: ["_METADATA", "_primarykey", "_ModelCache"])
  func entitiesNamedAsTheStoresOwnTablesAreRefused(_ name: String) throws {
    try expectClash([entity(name)], ["entity \(name)", "the store itself"])
  }

  @Test func anEntityNamedAsATableOfPairsIsRefused() throws {
    let pairs = RelationshipDescription.toMany("ps", destination: "P", inverse: "ps")
    // `P` is the second entity by name.
    try expectClash([entity("P", [pairs]), entity("_2ps")], ["P.ps", "entity _2ps", "Z_2PS"])
  }

  @Test func relationshipsThatDifferInCaseOnlyAreRefused() throws {
    let mine = RelationshipDescription.toMany("p", destination: "P", inverse: "P")
    let theirs = RelationshipDescription.toMany("P", destination: "P", inverse: "p")
    try expectClash([entity("P", [mine, theirs])], ["P.p", "P.P", "column"])
  }

  @Test func relationshipsToOtherEntitiesThatDifferInCaseOnlyAreRefused() throws {
    let one = RelationshipDescription.toMany("p", destination: "Q", inverse: "a")
    let two = RelationshipDescription.toMany("P", destination: "Q", inverse: "b")
    let inverses = [
      RelationshipDescription.toMany("a", destination: "P", inverse: "p"),
      RelationshipDescription.toMany("b", destination: "P", inverse: "P"),
    ]
    try expectClash([entity("P", [one, two]), entity("Q", inverses)], ["P.p", "P.P", "Z_1P"])
  }

  @Test func eachOfTwoPairsThatClashIsNamedOnceWithItsInverse() throws {
    let pairs = { other in ["p", "P"].map { RelationshipDescription.toMany($0, destination: other, inverse: $0) } }
    try expectClash(
      [entity("P", pairs("Q")), entity("Q", pairs("P"))],
      ["relationship P.p with its inverse Q.p and relationship P.P with its inverse Q.P would share the table Z_1P"])
  }

  @Test func columnsThatFallTogetherGetNumbers() throws {
    var thing = entity(
      "Thing", [.toOne("t", destination: "Thing", inverse: nil), .toOne("T", destination: "Thing", inverse: nil)])
    thing.attributes += ["_pk", "_Opt", "name", "NAME"].map { AttributeDescription($0, type: .string) }
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(entities: [thing]).resolved()
    for _ in 1...2 {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(SQLiteStore(url: folder.file(), model: model))
      let context = try ManagedObjectContext(coordinator)
      let object = try context.insert("Thing", values: ["_pk": "a", "_Opt": "b", "name": "c", "NAME": "d"])
      try object.setObject(object, forKey: "T")
      try context.save()
      try context.refresh(object, mergeChanges: false)
      #expect(object["_pk"] == "a" && object["_Opt"] == "b" && object["name"] == "c" && object["NAME"] == "d")
      #expect(try object.object(forKey: "T") === object && object.object(forKey: "t") == nil)
    }
  }

  @Test func constraintsWhoseIndexesWouldBearOneNameAllHold() throws {
    var thing = entity("Thing")
    thing.attributes += ["a", "b", "a_b"].map { AttributeDescription($0, type: .string) }
    thing.uniquenessConstraints = [["a", "b"], ["a_b"]]
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(entities: [thing]).resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: folder.file(), model: model))
    for attribute in [["a": "x", "b": "y"], ["a_b": "z"]] as [[String: Value]] {
      let context = try ManagedObjectContext(coordinator)
      for _ in 1...2 { _ = try context.insert("Thing", values: attribute) }
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .constraintConflict)
    }
  }
}
