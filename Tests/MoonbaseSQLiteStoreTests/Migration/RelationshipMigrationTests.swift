import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Relationships that the next version of a model stores differently.
@Suite struct RelationshipMigrationTests {
  /// The kind of one side of a relationship.
  enum Side: CaseIterable, Sendable {
    case one, many, ordered
  }

  private func model(_ posts: Side, _ tags: Side) -> ManagedObjectModel {
    func relationship(_ name: String, _ destination: String, _ inverse: String, _ side: Side) -> RelationshipDescription
    {
      var result = RelationshipDescription.toMany(name, destination: destination, inverse: inverse)
      if side == .one { result.maxCount = 1 }
      result.isOrdered = side == .ordered
      return result
    }
    return ManagedObjectModel {
      EntityDescription("Post") {
        AttributeDescription("name", type: .string)
        relationship("tags", "Tag", "posts", tags)
      }
      EntityDescription("Review", parent: "Post") { AttributeDescription("stars", type: .integer16) }
      EntityDescription("Tag") {
        AttributeDescription("name", type: .string)
        relationship("posts", "Post", "tags", posts)
      }
    }
  }

  /// Three posts, of which one is a review, and three tags; each refers to another object.
  private func fill(_ store: MigratedStore, _ model: ManagedObjectModel) throws {
    try store.fill(model) { context in
      for (number, entity) in ["Post", "Review", "Post"].enumerated() {
        let post = try context.insert(entity, values: ["name": .string("p\(number)")])
        let tag = try context.insert("Tag", values: ["name": .string("t\(number)")])
        if model[entity: "Post"].relationships[0].isToMany {
          try post.setObjects([tag], forKey: "tags")
        } else {
          try post.setObject(tag, forKey: "tags")
        }
      }
    }
  }

  /// The pairs of related objects, read from both sides.
  private func pairs(_ store: MigratedStore, _ model: ManagedObjectModel) throws -> [String] {
    try store.using(model) { context in
      var result: [String] = []
      for (entity, key) in [("Post", "tags"), ("Tag", "posts")] {
        for object in try context.fetch(FetchRequest(entity)) {
          let isToMany = model[entity: entity].relationships[0].isToMany
          let others = try isToMany ? object.objects(forKey: key) : [object.object(forKey: key)].compactMap(\.self)
          for other in others {
            result.append(
              "\(try object.value(forKey: "name").string ?? "") \(try other.value(forKey: "name").string ?? "")")
          }
        }
      }
      return result.sorted()
    }
  }

  /// An empty to-many relationship that is not optional is valid, so nothing is lost; with a minimum count it is not.
  @Test func aToManyRelationshipThatBecomesRequiredLosesNothingWithoutAMinimum() throws {
    let old = model(.one, .many)
    for (minimum, losses) in [(0, []), (1, ["Post.tags leads to no object, and one is required"])] {
      let new = old.changed {
        $0[entity: "Post"].relationships[0].isOptional = false
        $0[entity: "Post"].relationships[0].minCount = minimum
        $0[entity: "Tag"].relationships.append(
          RelationshipDescription.toMany("others", destination: "Tag", inverse: "others").with { $0.isOptional = false }
        )
      }
      let store = try MigratedStore()
      try store.fill(old) { context in try context.insert("Post") }
      let found = try store.plan(to: new).losses
      #expect(found.map { "\($0.entity).\($0.property ?? "") \($0.reason)" } == losses)
      if losses.isEmpty { _ = try store.migrate(to: new) }
    }
  }

  /// A list that becomes ordered has a position for each member of every entity.
  @Test func membersOfSeveralEntitiesGetPlacesByTheirKeys() throws {
    func model(isOrdered: Bool) -> ManagedObjectModel {
      var pets = RelationshipDescription.toMany("pets", destination: "Animal", inverse: "owner")
      pets.isOrdered = isOrdered
      return ManagedObjectModel {
        EntityDescription("Owner") { pets }
        EntityDescription("Animal") {
          AttributeDescription("name", type: .string)
          RelationshipDescription.toOne("owner", destination: "Owner", inverse: "pets")
        }
        EntityDescription("Dog", parent: "Animal") { AttributeDescription("tricks", type: .integer16) }
      }
    }
    let store = try MigratedStore()
    try store.fill(model(isOrdered: false)) { context in
      let owner = try context.insert("Owner")
      for number in 0..<6 {
        let pet = try context.insert(number % 2 == 0 ? "Dog" : "Animal", values: ["name": .string("\(number)")])
        try pet.setObject(owner, forKey: "owner")
        try context.save()
      }
    }
    try store.migrate(to: model(isOrdered: true))
    #expect(try RawDatabase(store.url).rows("SELECT COUNT(DISTINCT Z_FOK_OWNER) FROM ZANIMAL") == ["6"])
    try store.using(model(isOrdered: true)) { context in
      let owner = try context.fetch(FetchRequest("Owner"))[0]
      let names = try owner.objects(forKey: "pets").map { $0["name"] }
      #expect(names == ["0", "1", "2", "3", "4", "5"])
    }
  }

  @Test(arguments: Side.allCases, Side.allCases)
  func whatWasRelatedIsRelatedHoweverItIsKept(_ posts: Side, _ tags: Side) throws {
    let old = model(posts, tags)
    for (newPosts, newTags) in pairs(of: Side.allCases) {
      let new = model(newPosts, newTags)
      let store = try MigratedStore()
      try fill(store, old)
      let plan = try store.migrate(to: new)
      #expect(plan.losses.isEmpty)
      #expect(try pairs(store, new) == ["p0 t0", "p1 t1", "p2 t2", "t0 p0", "t1 p1", "t2 p2"])
      #expect(try store.schema() == MigratedStore.schema(of: new))
      #expect(try RawDatabase(store.url).rows("PRAGMA integrity_check") == ["ok"])
    }
  }

  private func pairs(of sides: [Side]) -> [(Side, Side)] { sides.flatMap { one in sides.map { (one, $0) } } }

  @Test func toOneAfterSeveralIsALossThatNamesWhoHasThem() throws {
    let (old, new) = (model(.many, .ordered), model(.many, .one))
    let store = try MigratedStore()
    try store.fill(old) { context in
      let tags = try (0..<3).map { try context.insert("Tag", values: ["name": .string("t\($0)")]) }
      for number in 0..<2 {
        let post = try context.insert("Post", values: ["name": .string("p\(number)")])
        try post.setObjects(number == 0 ? [tags[2], tags[1]] : [tags[0]], forKey: "tags")
      }
    }
    let before = try store.folder.contents()
    let error = #expect(throws: GraphError.self) { try store.migrate(to: new) }
    #expect(error?.code == .migrationLoss && error?.entity == "Post" && error?.property == "tags")
    #expect(error?.details.first?.message == "Post.tags: 1 row has several destinations, and one remains (row 1)")
    #expect(try store.folder.contents() == before)
    // With permission, the first destination in the list stays.
    try store.migrate(to: new, allowsLoss: true)
    #expect(try pairs(store, new) == ["p0 t2", "p1 t0", "t0 p1", "t2 p0"])
  }

  @Test func ordersStayAsTheyWere() throws {
    let old = model(.many, .ordered)
    let new = old.changed { $0[entity: "Tag"].attributes.append(AttributeDescription("colour", type: .string)) }
    let store = try MigratedStore()
    let names = [3, 0, 4, 1, 2].map { "t\($0)" }
    try store.fill(old) { context in
      let tags = try names.sorted().map { try context.insert("Tag", values: ["name": .string($0)]) }
      let post = try context.insert("Post")
      try post.setObjects(names.map { name in tags[Int(name.dropFirst()) ?? 0] }, forKey: "tags")
    }
    try store.migrate(to: new)
    try store.using(new) { context in
      let post = try #require(try context.fetch(FetchRequest("Post")).first)
      #expect(try post.objects(forKey: "tags").map { try $0.value(forKey: "name").string } == names)
    }
  }

  /// Three posts and three tags, each related to all of the others in an order of its own.
  private func fillAcross(_ store: MigratedStore, _ model: ManagedObjectModel) throws {
    try store.fill(model) { context in
      let posts = try (0..<3).map { try context.insert("Post", values: ["name": .string("p\($0)")]) }
      let tags = try (0..<3).map { try context.insert("Tag", values: ["name": .string("t\($0)")]) }
      for (number, post) in posts.enumerated() {
        try post.setObjects([tags[number], tags[(number + 2) % 3], tags[(number + 1) % 3]], forKey: "tags")
      }
      for (number, tag) in tags.enumerated() {
        try tag.setObjects([posts[(number + 1) % 3], posts[number], posts[(number + 2) % 3]], forKey: "posts")
      }
    }
  }

  private func lists(_ store: MigratedStore, _ model: ManagedObjectModel, _ keys: (String, String)) throws -> [String] {
    try store.using(model) { context in
      try [("Post", keys.0), ("Tag", keys.1)].flatMap { entity, key in
        try context.fetch(FetchRequest(entity)).map { object in
          let names = try object.objects(forKey: key).map { $0["name"].string ?? "" }
          let isOrdered = object.entity.property(key)?.relationship?.isOrdered == true
          return "\(object["name"].string ?? ""): \((isOrdered ? names : names.sorted()).joined(separator: " "))"
        }.sorted()
      }
    }
  }

  /// A renamed side of a relationship gets its pairs from the other side.
  @Test(arguments: [Side.many, .ordered], [Side.many, .ordered])
  func eachListKeepsItsOwnOrderWhicheverSideThePairsComeFrom(_ posts: Side, _ tags: Side) throws {
    let old = model(posts, tags)
    for renamed in ["", "Post", "Tag"] {
      for isKept in [true, false] {
        let new = old.changed { model in
          for entity in ["Post", "Tag"] where !isKept {
            model[entity: entity].attributes.append(AttributeDescription("colour", type: .string))
          }
          if renamed.isEmpty { return }
          let other = renamed == "Post" ? "Tag" : "Post"
          model[entity: renamed].relationships[0].name = "others"
          model[entity: other].relationships[0].inverseName = "others"
        }
        let store = try MigratedStore()
        try fillAcross(store, old)
        let before = try lists(store, old, ("tags", "posts"))
        try store.migrate(to: new)
        let after = try lists(
          store, new, (renamed == "Post" ? "others" : "tags", renamed == "Tag" ? "others" : "posts"))
        #expect(after == before, "\(renamed) \(isKept)")
      }
    }
  }

  @Test func whoeverLedToAnEntityThatIsGoneLeadsToNothing() throws {
    let old = ManagedObjectModel {
      EntityDescription("Owner") {
        RelationshipDescription.toOne("pet", destination: "Animal", inverse: "owner")
        RelationshipDescription.toMany("friends", destination: "Animal", inverse: "friends")
      }
      EntityDescription("Animal") {
        RelationshipDescription.toOne("owner", destination: "Owner", inverse: "pet")
        RelationshipDescription.toMany("friends", destination: "Owner", inverse: "friends")
      }
      EntityDescription("Dodo", parent: "Animal") {}
    }
    let new = old.changed { $0.entities.removeLast() }
    let store = try MigratedStore()
    try store.fill(old) { context in
      let animals = try [context.insert("Animal"), context.insert("Dodo")]
      for animal in animals {
        let owner = try context.insert("Owner")
        try owner.setObject(animal, forKey: "pet")
        try owner.setObjects(animals, forKey: "friends")
      }
    }
    let plan = try store.migrate(to: new, allowsLoss: true)
    #expect(
      plan.description == """
        - Dodo (1 row)
        ! Dodo: 1 row would go, because the newer model has no such entity (row 2)
        """)
    try store.using(new) { context in
      let owners = try context.fetch(FetchRequest("Owner")).sorted { $0.objectID.key < $1.objectID.key }
      #expect(try owners.map { try $0.object(forKey: "pet") != nil } == [true, false])
      #expect(try owners.map { try $0.objects(forKey: "friends").count } == [1, 1])
    }
  }

  @Test func derivedAttributesAreDerivedAnew() throws {
    let old = ManagedObjectModel {
      EntityDescription("Owner") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toMany("pets", destination: "Animal", inverse: "owner")
      }
      EntityDescription("Animal") { RelationshipDescription.toOne("owner", destination: "Owner", inverse: "pets") }
      EntityDescription("Dodo", parent: "Animal") {}
    }
    let counted = old.changed { model in
      model[entity: "Owner"].attributes += [
        AttributeDescription("petCount", type: .integer64).with { $0.derivationExpression = "pets.@count" },
        AttributeDescription("loud", type: .string).with { $0.derivationExpression = "uppercase:(name)" },
      ]
    }
    let store = try MigratedStore()
    try store.fill(old) { context in
      let owner = try context.insert("Owner", values: ["name": "ann"])
      try owner.setObjects([context.insert("Animal"), context.insert("Dodo")], forKey: "pets")
    }
    try store.migrate(to: counted)
    #expect(try RawDatabase(store.url).rows("SELECT ZPETCOUNT, ZLOUD FROM ZOWNER") == ["2|ANN"])
    // An entity is removed together with the objects that were counted.
    try store.migrate(to: counted.changed { $0.entities.removeAll { $0.name == "Dodo" } }, allowsLoss: true)
    #expect(try RawDatabase(store.url).rows("SELECT ZPETCOUNT, ZLOUD FROM ZOWNER") == ["1|ANN"])
  }
}
