import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Two contexts that relate the same objects: under each merge policy both sides of each relationship agree in the
/// file.
@Suite struct RandomLinkConflictTests {
  private static let policies: [MergePolicy.Name] = [.error, .objectTrump, .storeTrump, .overwrite, .rollback]

  /// Relationships of all kinds, within the entity and to another one.
  private static func model() -> ManagedObjectModel {
    func pair(
      _ shape: (String, String, String) -> RelationshipDescription, _ name: String, _ destination: String,
      _ inverse: String, isOrdered: Bool = false
    ) -> RelationshipDescription { shape(name, destination, inverse).with { $0.isOrdered = isOrdered } }
    let toOne: (String, String, String) -> RelationshipDescription = { .toOne($0, destination: $1, inverse: $2) }
    let toMany: (String, String, String) -> RelationshipDescription = { .toMany($0, destination: $1, inverse: $2) }
    return ManagedObjectModel {
      EntityDescription("X") {
        AttributeDescription("n", type: .integer64)
        pair(toOne, "mate", "X", "mate")
        pair(toOne, "next", "X", "previous")
        pair(toOne, "previous", "X", "next")
        pair(toOne, "key", "Y", "lock")
        pair(toOne, "boss", "X", "kids")
        pair(toMany, "kids", "X", "boss")
        pair(toOne, "queue", "Y", "line")
        pair(toMany, "friends", "X", "friends")
        pair(toMany, "clubs", "Y", "guests")
        RelationshipDescription.toOne("idol", destination: "X")
      }
      EntityDescription("Y") {
        AttributeDescription("n", type: .integer64)
        pair(toOne, "lock", "X", "key")
        pair(toMany, "line", "X", "queue", isOrdered: true)
        pair(toMany, "guests", "X", "clubs", isOrdered: true)
      }
      EntityDescription("Z", parent: "X") {}
    }
  }

  /// The relationships of the file whose two sides differ.
  private func contradictions(in bench: StoreBench) throws -> [String] {
    let fresh = bench.stranger()
    var wrong: [String] = []
    for object in try ["X", "Y"].flatMap({ try fresh.fetch(FetchRequest($0)) }) {
      for property in object.entity.properties {
        guard let relationship = property.relationship else { continue }
        let inverse = relationship.inverseSlot.map { fresh.model.destination(of: relationship).properties[$0].name }
        for id in try object.objectIDs(forRelationshipNamed: property.name) {
          guard let other = try fresh.existingObject(with: id) else {
            // Without an inverse, a deletion leaves the key.
            if inverse == nil { continue }
            wrong.append("\(object.objectID).\(property.name) leads to \(id), which is gone")
            continue
          }
          guard let inverse, try !other.objectIDs(forRelationshipNamed: inverse).contains(object.objectID) else {
            continue
          }
          wrong.append("\(object.objectID).\(property.name) leads to \(id), whose \(inverse) does not lead back")
        }
      }
    }
    return wrong
  }

  @Test(arguments: StoreKind.allCases, policies) func whoOnlyReadOneSideLeavesBothSidesAgreeing(
    _ kind: StoreKind, _ policy: MergePolicy.Name
  ) throws {
    let bench = try StoreBench(kind, Self.model())
    let (first, second) = (bench.context(), bench.stranger())
    second.mergePolicy = MergePolicy(policy)
    let objects = try (0..<3).map { try first.insert("X", values: ["n": .int(Int64($0))]) }
    try objects[0].setObject(objects[1], forKey: "mate")
    try first.save()
    let seen = try second.object(with: objects[0].objectID)
    #expect(try seen.object(forKey: "mate")?.objectID == objects[1].objectID)
    seen["n"] = 7
    try objects[1].setObject(objects[2], forKey: "mate")
    objects[0]["n"] = 8
    try first.save()
    do { try second.save() } catch { #expect(policy == .error) }
    #expect(try contradictions(in: bench) == [] && second.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases, 0..<Repetition.linkConflictSeeds.count)
  func whateverTwoContextsLinkTheSidesAgree(_ kind: StoreKind, _ seed: Int) throws {
    for policy in Self.policies {
      let bench = try StoreBench(kind, Self.model())
      var random = SplitMix(UInt64(seed))
      let contexts = [bench.context(), seed % 2 == 0 ? bench.stranger() : bench.context()]
      for context in contexts {
        context.mergePolicy = MergePolicy(policy)
        context.retainsRegisteredObjects = seed % 3 > 0
      }
      for entity in ["X", "X", "Z", "Y", "Y"] { try contexts[0].insert(entity) }
      try contexts[0].save()
      try saveAtRandom(contexts, steps: 50, &random, change: change) { log in
        let wrong = try contradictions(in: bench)
        try #require(wrong == [], "\(policy), seed \(seed): \(log.joined(separator: "\n"))")
      }
    }
  }

  /// Makes a random change and returns its description.
  private func change(_ context: ManagedObjectContext, _ random: inout SplitMix) throws -> String {
    func any(_ entity: String) throws -> ManagedObject? {
      let all = try context.fetch(FetchRequest(entity)).sorted { $0.objectID.key < $1.objectID.key }
      return all.randomElement(using: &random)
    }
    let kind = Int.random(in: 0..<24, using: &random)
    guard let object = try any(kind % 3 == 0 ? "Y" : "X") else {
      return "inserts \(try context.insert("X").objectID)"
    }
    switch kind {
    case 0, 1: return "inserts \(try context.insert(["X", "Y", "Z"].randomElement(using: &random)!).objectID)"
    case 2, 3:
      try context.delete(object)
      return "deletes \(object.objectID)"
    case 4, 5, 6:
      object["n"] = .int(.random(in: 0..<99, using: &random))
      return "changes \(object.objectID)"
    default:
      let relationships = object.entity.properties.filter { $0.relationship != nil }
      guard let property = relationships.randomElement(using: &random), let relationship = property.relationship,
        let other = try any(context.model.destination(of: relationship).name)
      else { return "does nothing" }
      guard relationship.isToMany else {
        let isNil = kind == 7
        try object.setObject(isNil ? nil : other, forKey: property.name)
        return "\(object.objectID).\(property.name) = \(isNil ? "nil" : "\(other.objectID)")"
      }
      var members = try object.objects(forKey: property.name)
      if members.contains(where: { $0 === other }) {
        try object.remove(other, from: property.name)
        return "\(object.objectID).\(property.name) - \(other.objectID)"
      }
      if relationship.isOrdered, kind % 2 == 0 {
        members.insert(other, at: 0)
        try object.setObjects(members, forKey: property.name)
      } else {
        try object.add(other, to: property.name)
      }
      return "\(object.objectID).\(property.name) + \(other.objectID)"
    }
  }
}
