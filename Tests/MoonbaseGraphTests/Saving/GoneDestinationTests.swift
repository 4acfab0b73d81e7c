import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Relationships that no delete rule covers, when a deletion is saved.
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

  /// A many-to-many pair is in no row, so no version reveals the deletion of one of its objects.
  @Test(arguments: StoreKind.withFolder, ["friends", "likes", "likedBy", "books", "loose"])
  func aPairWithAnObjectThatAnotherContextDeletedIsAConflict(_ kind: StoreKind, _ key: String) throws {
    var model = Pairs.model()
    model.entities[0].relationships.append(.toMany("loose", destination: "Node"))
    for (isOwnerGone, isChild) in [(true, false), (false, false), (true, true), (false, true)] {
      let bench = try StoreBench(kind, model)
      let theirs = bench.context()
      let nodes = try ["a", "b"].map { try theirs.insert("Node", values: ["name": .string($0)]) }
      try theirs.save()
      let mine = isChild ? ManagedObjectContext(parent: theirs) : bench.stranger()
      let seen = try nodes.map { try mine.object(with: $0.objectID) }
      #expect(seen.map { $0["name"] } == ["a", "b"])
      try seen[0].add(seen[1], to: key)
      try theirs.delete(nodes[isOwnerGone ? 0 : 1])
      try theirs.save()
      let error = #expect(throws: GraphError.self) { try mine.save() }
      #expect(error?.code == .mergeConflict, "owner \(isOwnerGone), child \(isChild): \(error as Any)")
      #expect(try bench.saved("Node", "name") == [isOwnerGone ? "b" : "a"])
      let fresh = bench.stranger()
      let rest = try #require(try fresh.fetch(FetchRequest("Node")).first)
      for list in Pairs.toMany + ["loose"] { #expect(try rest.objects(forKey: list).isEmpty, "\(list)") }
    }
  }
}

/// Objects deleted before their first save: all references to them are cleared.
@Suite struct GoneNewObjectTests {
  /// The kinds of the relationship and its inverse.
  enum Ends: CaseIterable {
    case oneToOne, oneToMany, manyToMany
  }

  /// An owner `to` things with a delete rule, and the inverse `back`.
  private static func pair(_ ends: Ends, _ rule: DeleteRule) -> ManagedObjectModel {
    var (owner, thing) = (EntityDescription("Owner"), EntityDescription("Thing"))
    var to = RelationshipDescription.toMany("to", destination: "Thing", inverse: "back")
    if ends == .oneToOne { to = .toOne("to", destination: "Thing", inverse: "back") }
    to.deleteRule = rule
    owner.relationships = [to]
    thing.attributes = [AttributeDescription("name", type: .string)]
    thing.relationships = [
      ends == .manyToMany
        ? .toMany("back", destination: "Owner", inverse: "to") : .toOne("back", destination: "Owner", inverse: "to")
    ]
    return ManagedObjectModel(entities: [owner, thing])
  }

  private static func link(_ owner: ManagedObject, _ thing: ManagedObject, _ ends: Ends) throws {
    if ends == .oneToOne { try owner.setObject(thing, forKey: "to") } else { try owner.add(thing, to: "to") }
  }

  private static func owners(of thing: ManagedObject, _ ends: Ends) throws -> [ManagedObject] {
    if ends == .manyToMany { return try thing.objects(forKey: "back") }
    return try thing.object(forKey: "back").map { [$0] } ?? []
  }

  @Test(arguments: StoreKind.allCases, Ends.allCases)
  func withNoActionTheOtherSideForgetsWhatNeverHadARow(_ kind: StoreKind, _ ends: Ends) throws {
    for rule in [DeleteRule.noAction, .nullify] {
      for thingGoes in [false, true] {
        let bench = try StoreBench(kind, Self.pair(ends, rule))
        let context = bench.context()
        let thing = try context.insert("Thing", values: ["name": "t"])
        try context.save()
        let owner = try context.insert("Owner")
        try Self.link(owner, thing, ends)
        if thingGoes { try context.delete(thing) }
        try context.delete(owner)
        try context.processPendingChanges()
        #expect(try Self.owners(of: thing, ends).isEmpty && owner.managedObjectContext == nil)
        #expect(context.brokenInvariants().isEmpty)
        try context.save()
        #expect(try bench.context().count(FetchRequest("Thing")) == (thingGoes ? 0 : 1))
      }
    }
  }

  @Test(arguments: StoreKind.allCases, Ends.allCases)
  func theRuleDenyFailsTheSaveOfANewObjectTooUntilNothingIsLeft(_ kind: StoreKind, _ ends: Ends) throws {
    for order in [ManagedObjectContext.SaveOrder.validateFirst, .willSaveFirst] {
      let bench = try StoreBench(kind, Self.pair(ends, .deny))
      let context = bench.context()
      context.saveOrder = order
      let thing = try context.insert("Thing", values: ["name": "t"])
      try context.save()
      let owner = try context.insert("Owner")
      try Self.link(owner, thing, ends)
      try context.delete(owner)
      for _ in 0..<2 {
        try context.processPendingChanges()
        #expect(try Self.owners(of: thing, ends) == [owner] && owner.isDeleted)
        let error = #expect(throws: GraphError.self) { try context.save() }
        #expect(error?.code == .relationshipDeniedDelete && error?.property == "to", "\(error as Any)")
        #expect(error?.message.contains("Owner.to has 1 destination left and its delete rule deny") == true)
      }
      if ends == .manyToMany {
        try thing.setObjects([], forKey: "back")
      } else {
        try thing.setObject(nil, forKey: "back")
      }
      try context.save()
      #expect(owner.managedObjectContext == nil && !context.hasChanges && context.brokenInvariants().isEmpty)
      #expect(try bench.context().count(FetchRequest("Owner")) == 0)
    }
  }

  private static let keys = ["one", "many", "passingOne", "passingMany"]

  /// An owner whose relationships have no inverse: stored ones and transient ones.
  private static func loose() -> ManagedObjectModel {
    var (owner, thing) = (EntityDescription("Owner"), EntityDescription("Thing"))
    var (one, many) = (
      RelationshipDescription.toOne("passingOne", destination: "Thing"),
      RelationshipDescription.toMany("passingMany", destination: "Thing")
    )
    (one.isTransient, many.isTransient) = (true, true)
    owner.attributes = [AttributeDescription("name", type: .string)]
    owner.relationships = [.toOne("one", destination: "Thing"), .toMany("many", destination: "Thing"), one, many]
    thing.attributes = [AttributeDescription("name", type: .string)]
    return ManagedObjectModel(entities: [owner, thing])
  }

  private static func lead(_ owner: ManagedObject, _ key: String, to thing: ManagedObject) throws {
    if key.lowercased().hasSuffix("one") {
      try owner.setObject(thing, forKey: key)
    } else {
      try owner.add(thing, to: key)
    }
  }

  private static func things(_ owner: ManagedObject, _ key: String) throws -> [ManagedObject] {
    guard key.lowercased().hasSuffix("one") else { return try owner.objects(forKey: key) }
    return try owner.object(forKey: key).map { [$0] } ?? []
  }

  @Test(arguments: StoreKind.allCases, keys)
  func aRelationshipWithoutInverseForgetsANewObject(_ kind: StoreKind, _ key: String) throws {
    let bench = try StoreBench(kind, Self.loose())
    let context = bench.context()
    let owner = try context.insert("Owner")
    try context.save()
    let thing = try context.insert("Thing")
    try Self.lead(owner, key, to: thing)
    try context.delete(thing)
    try context.processPendingChanges()
    #expect(try Self.things(owner, key) == [] && thing.managedObjectContext == nil)
    owner["name"] = "saved"
    try context.save()
    #expect(try Self.things(owner, key) == [])
    try context.rollback()
    #expect(try Self.things(owner, key) == [] && context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.allCases, keys)
  func aNewObjectThatComesBackWithAFailedSaveIsWhereItWas(_ kind: StoreKind, _ key: String) throws {
    let bench = try StoreBench(kind, Self.loose())
    var deleted: ManagedObject?
    let context = bench.context(extending: "Owner") { entry in
      entry.willSave = { owner in
        guard let thing = deleted, let context = owner.managedObjectContext else { return }
        try context.delete(thing)
        try context.processPendingChanges()
        #expect(try Self.things(owner, key) == [])
        throw GraphError(.validation, message: "no")
      }
    }
    let owner = try context.insert("Owner")
    try context.save()
    let thing = try context.insert("Thing")
    try Self.lead(owner, key, to: thing)
    deleted = thing
    #expect(throws: GraphError.self) { try context.save() }
    #expect(try Self.things(owner, key) == [thing] && !thing.isDeleted && thing.isInserted)
    #expect(context.brokenInvariants().isEmpty)
    deleted = nil
    try context.save()
    #expect(try Self.things(owner, key) == [thing])
  }

  /// A value set by `awakeFromFetch` is no change, and neither is clearing it.
  @Test(arguments: StoreKind.allCases)
  func whatAwakeFromFetchLedToANewObject(_ kind: StoreKind) throws {
    for rollsBack in [false, true] {
      let bench = try StoreBench(kind, Self.loose())
      let filling = bench.context()
      try filling.insert("Owner")
      try filling.save()
      var new: ManagedObject?
      let context = bench.context(extending: "Owner") { entry in
        entry.awakeFromFetch = { owner in try owner.setObject(new, forKey: "one") }
      }
      let thing = try context.insert("Thing")
      new = thing
      let owner = try #require(try context.fetch(FetchRequest("Owner")).first)
      #expect(try owner.object(forKey: "one") == thing && !owner.hasChanges)
      if rollsBack {
        // The owner turns into a fault, and its next `awakeFromFetch` sets the current value.
        try context.rollback()
        new = nil
        #expect(try owner.object(forKey: "one") == nil && !owner.hasChanges && !context.hasChanges)
        try owner.setValue("changed", forKey: "name")
        try context.save()
      } else {
        try context.delete(thing)
        try context.processPendingChanges()
        #expect(try owner.object(forKey: "one") == nil && !owner.hasChanges && !context.hasChanges)
      }
      #expect(context.brokenInvariants().isEmpty)
    }
  }
}
