import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// To-many relationships, over each kind of store.
@Suite struct ToManyTests {
  /// Lists and items related in both directions; each side may be ordered.
  private func listModel(_ first: String, _ second: String, ordered: Set<String>) -> ManagedObjectModel {
    var one = EntityDescription(first)
    var others = RelationshipDescription.toMany("others", destination: second, inverse: "owners")
    others.isOrdered = ordered.contains(first)
    one.relationships = [others]
    var other = EntityDescription(second)
    other.attributes = [AttributeDescription("name", type: .string)]
    var owners = RelationshipDescription.toMany("owners", destination: first, inverse: "others")
    owners.isOrdered = ordered.contains(second)
    other.relationships = [owners]
    return ManagedObjectModel(entities: [one, other])
  }

  /// The order of the entities in the model decides which side writes the pairs.
  @Test(arguments: StoreKind.withFolder, [("A", "B"), ("B", "A")])
  func theOrderOfManyToManyIsKeptWhicheverEntityComesFirst(_ kind: StoreKind, _ names: (String, String)) throws {
    let bench = try StoreBench(kind, listModel(names.0, names.1, ordered: [names.0, names.1]))
    let context = bench.context()
    let list = try context.insert(names.0)
    let items = try (0..<6).map { try context.insert(names.1, values: ["name": .string("\($0)")]) }
    let order = [3, 1, 5, 0, 4, 2].map { items[$0] }
    try list.setObjects(order, forKey: "others")
    try context.save()
    let second = try context.insert(names.0)
    for item in order.reversed() { try item.setObjects([second, list], forKey: "owners") }
    try context.save()
    let other = bench.context()
    let same = try other.object(with: list.objectID)
    #expect(try same.objectIDs(forRelationshipNamed: "others") == order.map(\.objectID))
    let item = try other.object(with: items[0].objectID)
    #expect(try item.objectIDs(forRelationshipNamed: "owners") == [second, list].map(\.objectID))
    #expect(
      try other.object(with: second.objectID).objectIDs(forRelationshipNamed: "others")
        == order.reversed().map(\.objectID))
  }

  @Test(arguments: StoreKind.withFolder) func whatIsThereAlreadyCanBeAddedUnreadAndRemoved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let (a, b) = (try first.insert("Person"), try first.insert("Person"))
    try a.add(b, to: "friends")
    try first.save()
    for removesFromTheOtherSide in [false, true] {
      let context = bench.context()
      let (one, two) = (try context.object(with: a.objectID), try context.object(with: b.objectID))
      try one.add(two, to: "friends")
      if removesFromTheOtherSide { try two.remove(one, from: "friends") } else { try one.remove(two, from: "friends") }
      #expect(try one.objects(forKey: "friends").isEmpty && two.objects(forKey: "friends").isEmpty)
      try context.save()
      #expect(context.brokenInvariants().isEmpty)
      let after = bench.context()
      #expect(try after.object(with: a.objectID).objects(forKey: "friends").isEmpty)
      #expect(try after.object(with: b.objectID).objects(forKey: "friends").isEmpty)
      try first.refresh(a, mergeChanges: false)
      try first.refresh(b, mergeChanges: false)
      try a.add(b, to: "friends")
      try first.save()
    }
  }

  @Test(arguments: StoreKind.withFolder) func addedTwiceRemovedAndAddedAgainIsThereOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let (a, b) = (try first.insert("Person"), try first.insert("Person"))
    try a.add(b, to: "friends")
    try first.save()
    let context = bench.context()
    let (one, two) = (try context.object(with: a.objectID), try context.object(with: b.objectID))
    try one.add(two, to: "friends")
    try two.remove(one, from: "friends")
    try two.add(one, to: "friends")
    #expect(try one.objects(forKey: "friends") == [two] && two.objects(forKey: "friends") == [one])
    try context.save()
    let after = bench.context()
    #expect(try after.object(with: a.objectID).objectIDs(forRelationshipNamed: "friends") == [b.objectID])
    #expect(try after.object(with: b.objectID).objectIDs(forRelationshipNamed: "friends") == [a.objectID])
  }

  @Test(arguments: StoreKind.withFolder) func theOldOwnerLosesAMemberThatWasAddedToItUnread(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let (old, new) = (try first.insert("Department"), try first.insert("Department"))
    let (person, project) = (try first.insert("Person"), try first.insert("Project"))
    try old.add(person, to: "employees")
    try old.add(project, to: "projects")
    try first.save()
    let context = bench.context()
    let (from, to) = (try context.object(with: old.objectID), try context.object(with: new.objectID))
    let (moved, work) = (try context.object(with: person.objectID), try context.object(with: project.objectID))
    try from.add(moved, to: "employees")
    try from.add(work, to: "projects")
    try moved.setObject(to, forKey: "department")
    try work.setObject(to, forKey: "department")
    #expect(try from.objects(forKey: "employees").isEmpty && from.objects(forKey: "projects").isEmpty)
    #expect(try to.objects(forKey: "employees") == [moved] && to.objects(forKey: "projects") == [work])
    try context.save()
    #expect(context.brokenInvariants().isEmpty)
    let after = bench.context()
    #expect(try after.object(with: old.objectID).objects(forKey: "employees").isEmpty)
    #expect(try after.object(with: new.objectID).objectIDs(forRelationshipNamed: "projects") == [project.objectID])
  }

  @Test(arguments: StoreKind.withFolder) func whatCameUnreadKeepsItsOrderWhenOneOfItGoes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let department = try first.insert("Department")
    try first.save()
    let context = bench.context()
    let same = try context.object(with: department.objectID)
    let projects = try (0..<4).map { _ in try context.insert("Project") }
    for project in projects { try project.setObject(same, forKey: "department") }
    try projects[0].setObject(nil, forKey: "department")
    #expect(try same.hasFault(forRelationshipNamed: "projects"))
    #expect(try same.objects(forKey: "projects") == Array(projects[1...]))
    try context.save()
    let other = bench.context()
    let after = try other.object(with: department.objectID)
    #expect(try after.objectIDs(forRelationshipNamed: "projects") == projects[1...].map(\.objectID))
  }

  @Test(arguments: StoreKind.withFolder) func positionsFollowInsertionsAndMoves(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department")
    let slot = try #require(department.entity.slot("projects"))
    let projects = try (0..<60).map { _ in try context.insert("Project") }
    var expected: [ManagedObjectID] = []
    var random = SplitMix(7)
    for project in projects {
      let position = random.next(expected.count + 1)
      expected.insert(project.objectID, at: position)
      try department.insertMember(project.objectID, at: position, slot: slot)
    }
    for _ in 0..<40 {
      let (from, to) = (random.next(60), random.next(60))
      expected.insert(expected.remove(at: from), at: to)
      try department.moveMember(from: from, to: to, slot: slot)
    }
    let moved = expected.remove(at: 50)
    expected.insert(moved, at: 3)
    try department.insertMember(moved, at: 3, slot: slot)
    #expect(try department.memberIDs(slot) == expected)
    for (position, id) in expected.enumerated() {
      #expect(
        try department.memberIndex(of: id, slot: slot) == position
          && department.memberID(at: position, slot: slot) == id)
    }
    try context.save()
    let names = Dictionary(
      uniqueKeysWithValues: zip(expected, try department.objectIDs(forRelationshipNamed: "projects")))
    let other = bench.context()
    let after = try other.object(with: department.objectID)
    #expect(try after.objectIDs(forRelationshipNamed: "projects") == expected.compactMap { names[$0] })
    #expect(try after.memberID(at: 60, slot: slot) == nil && !after.hasMember(department.objectID, slot: slot))
    #expect(context.brokenInvariants().isEmpty)
  }
}
