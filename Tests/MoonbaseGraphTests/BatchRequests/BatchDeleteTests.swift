import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Batch delete requests, which bypass contexts.
@Suite struct BatchDeleteTests {
  @Test(arguments: StoreKind.withFolder) func deleteRulesCascadeAndNullify(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in entry.prepareForDeletion = { _ in Issue.record("a hook was called") } }
    let departments = try ["A", "B"].map { try context.insert("Department", values: ["name": .string($0)]) }
    let projects = try (0..<4).map { try context.insert("Project", values: ["title": .string("\($0)")]) }
    let ann = try context.insert("Person", values: ["firstName": "Ann"])
    let ben = try context.insert("Person", values: ["firstName": "Ben"])
    try departments[0].setObjects(Array(projects[..<2]), forKey: "projects")
    try departments[1].setObjects(Array(projects[2...]), forKey: "projects")
    try departments[0].setObjects([ann], forKey: "employees")
    try ann.setObjects([ben], forKey: "friends")
    try context.save()
    let ids = (projects + departments).map(\.objectID)
    var request = BatchDeleteRequest(try FetchRequest("Department", where: "name == 'A'"))
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.objectIDs == [ids[4]] && result.count == 1)
    #expect(Set(result.changes?.deleted ?? []) == [ids[4], ids[0], ids[1]])
    #expect(result.changes?.updated == [ann.objectID])
    #expect(try bench.saved("Project", "title") == ["2", "3"] && bench.saved("Department", "name") == ["B"])
    try context.mergeChanges(from: try #require(result.changes))
    #expect(try ann.value(forKey: "department").isNull && departments[0].managedObjectContext == nil)
    try context.execute(BatchDeleteRequest(objectIDs: [ann.objectID]))
    let fresh = bench.stranger()
    let rest = try #require(try fresh.fetch(FetchRequest("Person")).first)
    #expect(try rest["firstName"] == "Ben" && rest.objects(forKey: "friends").isEmpty)
  }

  private func denyingModel() -> ManagedObjectModel {
    var model = People.model()
    for index in model.entities[2].relationships.indices { model.entities[2].relationships[index].deleteRule = .deny }
    return model
  }

  @Test(arguments: StoreKind.allCases) func whatARuleDeniesStays(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, denyingModel())
    let context = bench.context()
    let departments = try ["A", "B", "C"].map { try context.insert("Department", values: ["name": .string($0)]) }
    try departments[1].setObjects([context.insert("Project")], forKey: "projects")
    try context.save()
    var request = BatchDeleteRequest(FetchRequest("Department"))
    request.resultType = .count
    #expect(try context.execute(request).count == 2)
    #expect(try bench.saved("Department", "name") == ["B"])
    try context.execute(BatchDeleteRequest(FetchRequest("Project")))
    #expect(try context.execute(request).count == 1)
  }

  /// In a chain of deny rules each object protects its predecessor, so the request deletes the objects from the end.
  @Test(arguments: StoreKind.allCases) func aChainOfDenialsIsGoneThroughOnce(_ kind: StoreKind) throws {
    var link = EntityDescription("Link")
    link.attributes = [AttributeDescription("number", type: .integer64)]
    var next = RelationshipDescription.toOne("next", destination: "Link", inverse: "previous")
    next.deleteRule = .deny
    link.relationships = [next, .toOne("previous", destination: "Link", inverse: "next")]
    func work(_ count: Int) throws -> Int {
      let bench = try StoreBench(kind, ManagedObjectModel(entities: [link]))
      let context = bench.context()
      let links = try (0...count + 1).map { try context.insert("Link", values: ["number": .int(Int64($0))]) }
      for (one, other) in zip(links[..<count], links[1..<count]) { try one.setObject(other, forKey: "next") }
      // Object `count` refers to the last one, which the request does not match: both stay.
      try links[count].setObject(links[count + 1], forKey: "next")
      try context.save()
      var fetch = FetchRequest("Link", where: try Predicate(format: "number <= %d", .int(Int64(count))))
      fetch.sortDescriptors = [SortDescriptor("number")]
      var request = BatchDeleteRequest(fetch)
      request.resultType = .count
      var gone: Int?
      let units = try HostWorkMeter.units { gone = try context.execute(request).count }
      #expect(gone == count)
      #expect(try bench.saved("Link", "number") == [.int(Int64(count)), .int(Int64(count + 1))])
      return units
    }
    let (few, many) = (try work(60), try work(240))
    #expect(many < few * 8)
  }

  @Test(arguments: StoreKind.allCases) func orderLimitAndOffsetCount(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    try context.execute(BatchInsertRequest("Person", objects: (0..<6).map { ["age": .int($0)] }))
    var fetch = FetchRequest("Person")
    fetch.sortDescriptors = [SortDescriptor("age", ascending: false)]
    (fetch.fetchOffset, fetch.fetchLimit) = (1, 2)
    try context.execute(BatchDeleteRequest(fetch))
    #expect(try bench.saved("Person", "age") == [0, 1, 2, 5])
  }

  @Test(arguments: StoreKind.allCases) func idsOfSeveralEntitiesHaveACommonOne(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person")
    let employee = try context.insert("Employee")
    let project = try context.insert("Project")
    #expect(throws: GraphError.self) { try context.execute(BatchDeleteRequest(objectIDs: [person.objectID])) }
    try context.save()
    #expect(throws: GraphError.self) {
      try context.execute(BatchDeleteRequest(objectIDs: [person.objectID, project.objectID]))
    }
    #expect(try context.count(FetchRequest("Person")) == 2)
    var request = BatchDeleteRequest(objectIDs: [employee.objectID, person.objectID])
    request.resultType = .count
    #expect(try context.execute(request).count == 2)
    #expect(try context.execute(request).count == 0)
    #expect(try context.execute(BatchDeleteRequest(objectIDs: [])).count == nil)
    #expect(try context.count(FetchRequest("Project")) == 1)
  }
}
