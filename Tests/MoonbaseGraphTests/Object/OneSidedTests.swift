import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// A one-to-one relationship stored in only one of the two rows.
@Suite struct OneSidedTests {
  /// Nodes 0 to 3. The row of 0 refers to 1 by `seat` and by `spouse`; the row of 1 refers to no node.
  private struct World {
    let bench: StoreBench
    let context: ManagedObjectContext
    let nodes: [ManagedObject]

    init(_ kind: StoreKind, rule: DeleteRule = .nullify) throws {
      var model = Pairs.model()
      for index in model.entities[0].relationships.indices
      where ["sitter", "spouse"].contains(model.entities[0].relationships[index].name) {
        model.entities[0].relationships[index].deleteRule = rule
      }
      bench = try StoreBench(kind, model)
      let store = bench.coordinator.persistentStores[0]
      let entity = try #require(bench.coordinator.model.entity("Node"))
      let first = try store.reserveKeys(for: entity, count: 4)
      let ids = (0..<4).map { store.objectID(for: entity, key: first + $0) }
      var changes = StoreChanges()
      for (index, id) in ids.enumerated() {
        var values = entity.initialValues
        values[try #require(entity.slot("name"))] = .string("\(index)")
        if index == 0 {
          for name in ["seat", "spouse"] { values[try #require(entity.slot(name))] = .objectID(ids[1]) }
        }
        changes.inserted.append(Snapshot(id: id, version: 1, values: values))
      }
      try store.save(changes)
      context = bench.context()
      nodes = try ids.map(context.object(with:))
    }

    /// The links of a relationship, by the objects' names.
    func links(_ name: String) throws -> [String: [String]] {
      try Pairs.links(in: bench.stranger()).compactMapValues { $0[name] }.filter { !$0.value.isEmpty }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func whoLeadsToADeletedObjectIsCutOff(_ kind: StoreKind) throws {
    let world = try World(kind)
    try world.context.delete(world.nodes[1])
    try world.context.processPendingChanges()
    #expect(try world.nodes[0].object(forKey: "seat") == nil)
    try world.context.save()
    #expect(try Pairs.broken(in: world.bench.stranger()) == [] && world.context.brokenInvariants() == [])
    #expect(try world.context.fetch(FetchRequest("Node")).count == 3)
  }

  @Test(arguments: StoreKind.allCases)
  func whoLeadsToADeletedObjectGoesWithIt(_ kind: StoreKind) throws {
    let world = try World(kind, rule: .cascade)
    try world.context.delete(world.nodes[1])
    try world.context.save()
    #expect(try world.context.fetch(FetchRequest("Node")).count == 2)
  }

  @Test(arguments: StoreKind.allCases)
  func whoLeadsToAnObjectKeepsItFromBeingDeleted(_ kind: StoreKind) throws {
    let world = try World(kind, rule: .deny)
    try world.context.delete(world.nodes[1])
    #expect {
      try world.context.save()
    } throws: { error in
      let errors = (error as? GraphError).map { [$0] + $0.details } ?? []
      return errors.contains { $0.code == .relationshipDeniedDelete && $0.objectID == world.nodes[1].objectID }
    }
    try world.nodes[0].setObject(nil, forKey: "seat")
    try world.nodes[0].setObject(nil, forKey: "spouse")
    try world.context.save()
    #expect(try world.context.fetch(FetchRequest("Node")).count == 3)
  }

  @Test(arguments: StoreKind.allCases)
  func bothEndsCanBeDeletedTogether(_ kind: StoreKind) throws {
    for order in [[0, 1], [1, 0]] {
      let world = try World(kind, rule: .deny)
      for index in order { try world.context.delete(world.nodes[index]) }
      // The spouse's own row refers to a node that is deleted too, so the deny rule is satisfied.
      try world.context.save()
      #expect(try world.context.fetch(FetchRequest("Node")).count == 2)
    }
  }

  @Test(arguments: StoreKind.allCases, ["seat", "spouse"])
  func aDestinationThatMovesIsTakenFromWhoLedToIt(_ kind: StoreKind, _ name: String) throws {
    for fromTheOtherSide in [false, true] {
      let world = try World(kind)
      let inverse = try #require(Pairs.inverses[name])
      if fromTheOtherSide {
        try world.nodes[1].setObject(world.nodes[2], forKey: inverse)
      } else {
        try world.nodes[2].setObject(world.nodes[1], forKey: name)
      }
      #expect(try world.nodes[0].object(forKey: name) == nil)
      #expect(try world.nodes[2].object(forKey: name) == world.nodes[1])
      try world.context.save()
      let expected = name == "seat" ? ["2": ["1"]] : ["1": ["2"], "2": ["1"]]
      #expect(try world.links(name) == expected)
      #expect(world.context.brokenInvariants() == [])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func toSetTheEmptySideToWhoLeadsToItMakesThePairWhole(_ kind: StoreKind) throws {
    let world = try World(kind)
    try world.nodes[1].setObject(world.nodes[0], forKey: "sitter")
    try world.context.save()
    #expect(try world.links("seat") == ["0": ["1"]] && world.links("sitter") == ["1": ["0"]])
  }

  @Test(arguments: StoreKind.allCases)
  func whoLeadsElsewhereByNowIsLeftAlone(_ kind: StoreKind) throws {
    let world = try World(kind, rule: .cascade)
    try world.nodes[0].setObject(world.nodes[2], forKey: "seat")
    try world.nodes[0].setObject(nil, forKey: "spouse")
    try world.context.delete(world.nodes[1])
    try world.context.save()
    #expect(try world.links("seat") == ["0": ["2"]])
    #expect(try world.context.fetch(FetchRequest("Node")).count == 3)
  }
}
