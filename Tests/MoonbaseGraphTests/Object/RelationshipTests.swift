import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct RelationshipTests {
  @Test(arguments: StoreKind.allCases) func manyToManyIsSavedAndReadFromBothSides(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let a = try context.insert("Person", values: ["firstName": "a"])
    let b = try context.insert("Person", values: ["firstName": "b"])
    try a.add(b, to: "friends")
    try context.save()
    let other = try ManagedObjectContext(coordinator)
    #expect(try other.object(with: b.objectID).objectIDs(forRelationshipNamed: "friends") == [a.objectID])
    #expect(try other.object(with: a.objectID).objectIDs(forRelationshipNamed: "friends") == [b.objectID])
    try a.remove(b, from: "friends")
    try context.save()
    let third = try ManagedObjectContext(coordinator)
    #expect(try third.object(with: b.objectID).objects(forKey: "friends").isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func addingToASavedRelationshipDoesNotReadIt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let department = try context.insert("Department")
    try context.insert("Person").setObject(department, forKey: "department")
    try context.save()
    let other = try ManagedObjectContext(coordinator)
    let same = try other.object(with: department.objectID)
    let person = try other.insert("Person")
    try person.setObject(same, forKey: "department")
    #expect(try same.hasFault(forRelationshipNamed: "employees"))
    #expect(try same.objects(forKey: "employees").count == 2)
  }

  @Test(arguments: StoreKind.allCases) func orderIsKept(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let department = try context.insert("Department")
    let projects = try (1...5).map { try context.insert("Project", values: ["title": .string("p\($0)")]) }
    try department.setObjects([projects[2], projects[0], projects[4], projects[1], projects[3]], forKey: "projects")
    try context.save()
    let other = try ManagedObjectContext(coordinator)
    let same = try other.object(with: department.objectID)
    #expect(try same.objects(forKey: "projects").map { $0["title"] } == ["p3", "p1", "p5", "p2", "p4"])
  }

  @Test(arguments: StoreKind.allCases) func deleteRulesReachTheOtherSide(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let department = try context.insert("Department")
    let project = try context.insert("Project")
    let person = try context.insert("Person")
    try project.setObject(department, forKey: "department")
    try person.setObject(department, forKey: "department")
    try context.save()
    try context.delete(department)
    try context.save()
    #expect(try context.count(FetchRequest("Project")) == 0)
    #expect(try person.object(forKey: "department") == nil && !person.isDeleted)
    #expect(department.managedObjectContext == nil && project.managedObjectContext == nil)
  }

  @Test(arguments: StoreKind.allCases) func destinationOfAnotherEntityOrContextIsRefused(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let elsewhere = try StoreBench(kind)
    let other = elsewhere.context()
    let person = try context.insert("Person")
    #expect { try person.setObject(context.insert("Project"), forKey: "department") } throws: {
      ($0 as? GraphError)?.code == .invalidValue
    }
    #expect { try person.setObject(other.insert("Department"), forKey: "department") } throws: {
      ($0 as? GraphError)?.code == .invalidObject
    }
    #expect(person["department"] == .null)
  }

  @Test(arguments: StoreKind.allCases) func aNewObjectKnowsItsRelationshipsAfterTheSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department")
    let person = try context.insert("Person")
    try context.save()
    // A new object has nothing to read.
    #expect(try !department.hasFault(forRelationshipNamed: "employees"))
    try person.setObject(department, forKey: "department")
    #expect(try department.objects(forKey: "employees") == [person])
    try context.save()
    try context.refresh(department, mergeChanges: true)
    #expect(try department.hasFault(forRelationshipNamed: "employees"))
    #expect(try department.objects(forKey: "employees") == [person])
  }

  @Test(arguments: StoreKind.allCases) func refreshReadsARelationshipAnewBelowItsChanges(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let department = try context.insert("Department")
    let mine = try context.insert("Person")
    let theirs = try context.insert("Person")
    try context.save()
    try department.add(mine, to: "employees")
    let other = try ManagedObjectContext(coordinator)
    try other.object(with: theirs.objectID).setObject(other.object(with: department.objectID), forKey: "department")
    try other.save()
    #expect(try department.objectIDs(forRelationshipNamed: "employees") == [mine.objectID])
    try context.refresh(department, mergeChanges: true)
    #expect(try Set(department.objectIDs(forRelationshipNamed: "employees")) == [mine.objectID, theirs.objectID])
  }

  @Test(arguments: StoreKind.allCases) func toManyWithoutInverseIsSaved(_ kind: StoreKind) throws {
    var list = EntityDescription("List")
    list.relationships = [.toMany("items", destination: "Item")]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [list, EntityDescription("Item")]))
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let object = try context.insert("List")
    let items = try (0..<3).map { _ in try context.insert("Item") }
    try object.setObjects(items, forKey: "items")
    try context.save()
    try object.remove(items[1], from: "items")
    try context.save()
    let other = try ManagedObjectContext(coordinator)
    let ids = try other.object(with: object.objectID).objectIDs(forRelationshipNamed: "items")
    #expect(Set(ids) == [items[0].objectID, items[2].objectID])
  }

  @Test(arguments: StoreKind.allCases)
  func aListThatNamesADestinationTwiceHasItOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department")
    let project = try context.insert("Project")
    let other = try context.insert("Project")
    try department.setObjects([project, other, project], forKey: "projects")
    #expect(try department.objects(forKey: "projects") == [project, other])
    try project.setObject(nil, forKey: "department")
    #expect(try department.objects(forKey: "projects") == [other])
    try context.save()
  }

  /// An object may be its own destination, also by a relationship that is its own inverse.
  @Test(arguments: StoreKind.allCases, ["friends", "likes"])
  func anObjectThatIsItsOwnMemberIsSavedSo(_ kind: StoreKind, _ key: String) throws {
    for (isSaved, hasOther) in [(false, false), (true, true)] {
      for way in ["add", "set", "inverse", "child"] {
        let bench = try StoreBench(kind, Pairs.model())
        let parent = bench.context()
        let context = way == "child" ? ManagedObjectContext(parent: parent) : parent
        let first = try context.insert("Node", values: ["name": "a"])
        let other = try context.insert("Node", values: ["name": "b"])
        func save() throws {
          try context.save()
          if context !== parent { try parent.save() }
        }
        if hasOther { try first.add(other, to: key) }
        if isSaved { try save() }
        let inverse = Pairs.inverses[key] ?? key
        switch way {
        case "set": try first.setObjects(hasOther ? [other, first] : [first], forKey: key)
        case "inverse" where Pairs.toMany.contains(inverse): try first.add(first, to: inverse)
        case "inverse": try first.setObject(first, forKey: inverse)
        default: try first.add(first, to: key)
        }
        try save()
        func saved() throws -> [String] {
          #expect(try Pairs.broken(in: bench.stranger()) == [])
          return try Pairs.links(in: bench.stranger())["a"]?[key]?.sorted() ?? []
        }
        #expect(try saved() == (hasOther ? ["a", "b"] : ["a"]), "\(way), saved \(isSaved), other \(hasOther)")
        try first.remove(first, from: key)
        try save()
        #expect(try saved() == (hasOther ? ["b"] : []), "\(way), saved \(isSaved), other \(hasOther)")
        #expect(context.brokenInvariants() + parent.brokenInvariants() == [])
      }
    }
  }
}
