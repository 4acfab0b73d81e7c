import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

@Suite struct DestinationTests {
  @Test(arguments: StoreKind.allCases) func relationshipAcrossStoresIsRefusedAtTheAssignment(_ kind: StoreKind) throws {
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let folder = try TemporaryFolder()
    let (first, second) = (try kind.store(for: model, in: folder), try kind.store(for: model, in: folder))
    let elsewhere = PersistentStoreCoordinator(model: model)
    try elsewhere.add(second)
    let foreign = try ManagedObjectContext(elsewhere).insert("Department", values: ["name": "far"])
    try #require(foreign.managedObjectContext == nil)
    let filling = try ManagedObjectContext(elsewhere)
    let far = try filling.insert("Department", values: ["name": "far"])
    try filling.save()
    try coordinator.add(first)
    try coordinator.add(second)
    let context = try ManagedObjectContext(coordinator)
    let near = try context.insert("Department", values: ["name": "near"])
    let person = try context.insert("Person", values: ["department": .objectID(near.objectID)])
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

  @Test(arguments: StoreKind.allCases) func listWithOneWrongObjectChangesNothing(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
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

  @Test(arguments: StoreKind.allCases)
  func aDeletedObjectIsNoDestination(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let gone = try context.insert("Department", values: ["name": "gone"])
    let member = try context.insert("Person", values: ["department": .objectID(gone.objectID), "firstName": "member"])
    let friend = try context.insert("Person", values: ["firstName": "friend"])
    let project = try context.insert("Project", values: ["title": "P"])
    try context.save()
    let department = try context.insert("Department", values: ["name": "D"])
    for object in [gone, friend, project] { try context.delete(object) }
    func refuses(_ body: () throws -> Void) {
      #expect { try body() } throws: { "\($0)".contains("is deleted and cannot be its destination") }
    }
    let new = try context.insert("Person", values: ["firstName": "new"])
    refuses { try new.setObject(gone, forKey: "department") }
    refuses { try new.setValue(.objectID(gone.objectID), forKey: "department") }
    refuses { try new.add(friend, to: "friends") }
    refuses { try new.setObjects([member, friend], forKey: "friends") }
    refuses { try department.setObjects([project], forKey: "projects") }
    refuses { try context.insert("Person", values: ["department": .objectID(gone.objectID)]) }
    #expect(try new.objects(forKey: "friends").isEmpty && context.insertedObjects == [department, new])
    // Assigning the former destination again has no effect; the delete rules then clear it.
    try member.setObject(gone, forKey: "department")
    try context.save()
    #expect(try bench.saved("Person", "department") == [.null, .null] && bench.saved("Department", "name") == ["D"])
  }

  /// Without an inverse, the destination's deletion does not clear the relationship.
  @Test(arguments: StoreKind.allCases)
  func aDestinationThatIsDeletedLaterFailsTheSave(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[0].relationships += [
      .toOne("boss", destination: "Department"), .toMany("bosses", destination: "Department"),
    ]
    for name in ["boss", "bosses"] {
      let bench = try StoreBench(kind, model)
      let context = bench.context()
      let department = try context.insert("Department", values: ["name": "D"])
      try context.save()
      let person = try context.insert("Person", values: ["firstName": "A"])
      let id = Value.objectID(department.objectID)
      try person.setValue(name == "boss" ? id : .list([id]), forKey: name)
      try context.delete(department)
      #expect { try context.save() } throws: { error in
        (error as? GraphError)?.property == name && "\(error)".contains("is deleted")
      }
      #expect(try bench.saved("Department", "name") == ["D"])
      try person.setValue(name == "boss" ? .null : .list([]), forKey: name)
      try context.save()
      #expect(try bench.saved("Department", "name") == [] && bench.saved("Person", "firstName") == ["A"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aTransientDestinationHasItsPermanentIDAfterTheSave(_ kind: StoreKind) throws {
    var model = People.model()
    var chosen = RelationshipDescription.toOne("chosen", destination: "Department")
    chosen.isTransient = true
    model.entities[0].relationships.append(chosen)
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A"])
    for changes in [true, false] {
      let department = try context.insert("Department", values: ["name": "D"])
      try person.setObject(department, forKey: "chosen")
      // With a row to write, and without.
      if changes { try person.setValue("B", forKey: "firstName") }
      try context.save()
      #expect(try person.value(forKey: "chosen") == .objectID(department.objectID))
      #expect(try person.object(forKey: "chosen") === department && !department.objectID.isTemporaryID)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aNewDestinationThatIsDeletedIsNotSaved(_ kind: StoreKind) throws {
    for isOrdered in [false, true] {
      var model = People.model()
      var items = RelationshipDescription.toMany("items", destination: "Department")
      items.isOrdered = isOrdered
      model.entities[0].relationships.append(items)
      let bench = try StoreBench(kind, model)
      let context = bench.context()
      let person = try context.insert("Person")
      let (stays, goes) = (try context.insert("Department"), try context.insert("Department"))
      try person.setObjects([goes, stays], forKey: "items")
      try context.delete(goes)
      try context.save()
      #expect(try person.objects(forKey: "items") == [stays])
      let fresh = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: bench.coordinator))
      let saved = try fresh.object(with: person.objectID)
      #expect(try saved.objectIDs(forRelationshipNamed: "items") == [stays.objectID])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aOneToOneAssignmentThatFailsChangesNothing(_ kind: StoreKind) throws {
    var (a, b) = (EntityDescription("A"), EntityDescription("B"))
    a.relationships = [.toOne("b", destination: "B", inverse: "a")]
    b.relationships = [.toOne("a", destination: "A", inverse: "b")]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [a, b]))
    let setup = bench.context()
    let owners = try (0..<2).map { _ in try setup.insert("A") }
    let items = try (0..<2).map { _ in try setup.insert("B") }
    for (owner, item) in zip(owners, items) { try owner.setObject(item, forKey: "b") }
    try setup.save()
    for (asleep, entity) in [(owners[1], "A"), (items[0], "B")] {
      let failing = Switch(0)
      let context = bench.context(extending: entity) { entry in
        entry.awakeFromFetch = { _ in try failing.failIfOn() }
      }
      let first = try context.object(with: owners[0].objectID)
      let item = try context.object(with: items[1].objectID)
      let last = try context.object(with: asleep.objectID)
      _ = (try first.value(forKey: "b"), try item.value(forKey: "a"))
      #expect(last.isFault)
      failing.value = 1
      #expect(throws: GraphError.self) { try first.setObject(item, forKey: "b") }
      #expect(try first.objectIDs(forRelationshipNamed: "b") == [items[0].objectID])
      #expect(try item.objectIDs(forRelationshipNamed: "a") == [owners[1].objectID])
      #expect(!context.hasChanges)
    }
  }
}
