import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

/// SQL and memory give the same results for conditions through many-to-many relationships, whose ends are different
/// relationships, also of the same entity and without an inverse.
@Suite struct PairAgreementTests {
  private static let terms = [
    "ANY tags.n > 3", "ALL tags.n > 1", "NONE tags.n == 2", "tags.@count > 1", "tags.@count == 0", "tags.@sum.n > 4",
    "tags.@max.n == 4", "tags.@min.n == 1", "tags.@avg.n > 2", "SUBQUERY(tags, $t, $t.n > 2).@count > 0",
    "SUBQUERY(tags, $t, $t.n > n).@count == 1", "ANY tags.owners.n == 2", "ANY tags.n == NULL",
    "SUBQUERY(tags, $t, $t.owners.@count > 2).@count > 0", "ANY tags.main.n == 3", "ANY older.n == 1",
    "older.@count == 2", "NONE younger.n > 3", "SUBQUERY(older, $o, ANY $o.tags.n == 1).@count > 0",
    "ANY liked.n > 2", "liked.@count == 1", "boss.tags.@count > 1", "ANY boss.tags.n == 4", "boss.boss.tags.@sum.n > 3",
    "n == 2 AND ANY tags.n > 0", "n IN {1, 2} AND tags.@count > 0", "ANY tags.owners.tags.n == 4",
  ]

  private static func model() throws -> ResolvedModel {
    var (a, t) = (EntityDescription("A"), EntityDescription("T"))
    a.attributes = [AttributeDescription("n", type: .integer64)]
    t.attributes = [AttributeDescription("n", type: .integer64)]
    a.relationships = [
      .toMany("tags", destination: "T", inverse: "owners"), .toMany("older", destination: "A", inverse: "younger"),
      .toMany("younger", destination: "A", inverse: "older"), .toMany("liked", destination: "T"),
      .toOne("boss", destination: "A"),
    ]
    t.relationships = [.toMany("owners", destination: "A", inverse: "tags"), .toOne("main", destination: "A")]
    var model = ManagedObjectModel()
    model.entities = [a, t]
    return try model.resolved()
  }

  private func fill(_ context: ManagedObjectContext, _ seed: UInt64) throws {
    var random = SplitMix(seed)
    let tags = try (0..<6).map { try context.insert("T", values: ["n": $0 == 0 ? .null : .int(Int64($0))]) }
    let objects = try (0..<12).map { try context.insert("A", values: ["n": .int(Int64($0 % 5))]) }
    for object in objects {
      for _ in 0..<random.next(4) { try object.add(tags[random.next(6)], to: "tags") }
      for _ in 0..<random.next(3) { try object.add(tags[random.next(6)], to: "liked") }
      for _ in 0..<random.next(3) { try object.add(objects[random.next(12)], to: "older") }
      if random.next(2) == 0 { try object.setObject(objects[random.next(12)], forKey: "boss") }
    }
    for tag in tags where random.next(2) == 0 { try tag.setObject(objects[random.next(12)], forKey: "main") }
    try context.save()
  }

  private func keys(_ context: ManagedObjectContext, _ predicate: Predicate) throws -> [Int64] {
    try context.fetch(FetchRequest("A", where: predicate)).map(\.objectID.key).sorted()
  }

  @Test(arguments: [1, 2], StoreKind.engines)
  func conditionsThroughPairsAgree(seed: UInt64, kind: StoreKind) throws {
    let (folder, model) = (try TemporaryFolder(), try Self.model())
    let coordinators = try [StoreKind.memory, kind].map { kind in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(kind.store(for: model, in: folder))
      try fill(ManagedObjectContext(coordinator), seed)
      return coordinator
    }
    let contexts = try coordinators.map { try ManagedObjectContext($0) }
    for term in Self.terms {
      for text in [term, "NOT (\(term))", "n > 1 AND \(term)", "(\(term)) OR n == 0"] {
        let predicate = try Predicate(format: text)
        let (expected, found) = (try keys(contexts[0], predicate), try keys(contexts[1], predicate))
        #expect(expected == found, "\(text)")
      }
    }
  }
}
