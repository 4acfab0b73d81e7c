import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// A one-to-one relationship stored in both rows: a save must write both or neither.
@Suite struct OneToOneTests {
  /// Five nodes of a store, all read: node 1 has links of all kinds to nodes 2, 3 and 4.
  private struct World {
    let bench: StoreBench
    let context: ManagedObjectContext
    let nodes: [ManagedObject]

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind, Pairs.model())
      context = bench.context()
      let (bench, context) = (bench, context)
      let nodes = try (0..<5).map { try bench.insert("\($0)", in: context) }
      try nodes[1].setObject(nodes[2], forKey: "spouse")
      try nodes[1].setObject(nodes[2], forKey: "seat")
      try nodes[1].setObject(nodes[2], forKey: "parent")
      try nodes[1].setObjects([nodes[3], nodes[4]], forKey: "books")
      try nodes[1].setObjects([nodes[2], nodes[3]], forKey: "likes")
      try nodes[1].setObjects([nodes[1], nodes[3]], forKey: "friends")
      try context.save()
      self.nodes = nodes
    }

    func expectAgreement(_ what: String) throws {
      #expect(try Pairs.broken(in: context) == [], "\(what): before the save")
      try context.save()
      let links = try Pairs.links(in: bench.stranger())
      #expect(try Pairs.broken(in: bench.stranger()) == [], "\(what): in the store")
      #expect(
        try Pairs.links(in: context).mapValues { $0.mapValues(Set.init) } == links.mapValues { $0.mapValues(Set.init) },
        "\(what)")
      #expect(!context.hasChanges && context.brokenInvariants() == [], "\(what)")
    }
  }

  /// Changes made before a node is refreshed.
  enum Change: CaseIterable {
    case move, moveBack, steal, part, unseat, reparent, unlike, delete, deleteTheOther, deleteUnpropagated

    fileprivate func make(_ context: ManagedObjectContext, _ nodes: [ManagedObject]) throws {
      switch self {
      case .move: try nodes[1].setObject(nodes[3], forKey: "spouse")
      case .moveBack:
        try nodes[1].setObject(nodes[3], forKey: "spouse")
        try nodes[1].setObject(nodes[2], forKey: "spouse")
      case .steal: try nodes[3].setObject(nodes[2], forKey: "spouse")
      case .part: try nodes[1].setObject(nil, forKey: "spouse")
      case .unseat: try nodes[3].setObject(nodes[2], forKey: "seat")
      case .reparent: try nodes[1].setObject(nodes[3], forKey: "parent")
      case .unlike: try nodes[1].setObjects([nodes[4]], forKey: "likes")
      case .delete: try delete(nodes[1], context)
      case .deleteTheOther: try delete(nodes[2], context)
      case .deleteUnpropagated: try context.delete(nodes[1])
      }
    }

    private func delete(_ node: ManagedObject, _ context: ManagedObjectContext) throws {
      try context.delete(node)
      try context.processPendingChanges()
    }
  }

  @Test(arguments: StoreKind.allCases, Change.allCases)
  func aRefreshThatGivesUpChangesLeavesBothSidesAgreeing(_ kind: StoreKind, _ change: Change) throws {
    for index in 1...3 {
      let world = try World(kind)
      try change.make(world.context, world.nodes)
      try world.context.refresh(world.nodes[index], mergeChanges: false)
      try world.expectAgreement("\(change), node \(index)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func anObjectThatGivesUpItsChangesIsAsItsRow(_ kind: StoreKind) throws {
    let world = try World(kind)
    try world.nodes[1].setObject(world.nodes[3], forKey: "spouse")
    try world.context.refresh(world.nodes[1], mergeChanges: false)
    #expect(try world.nodes[1].object(forKey: "spouse") == world.nodes[2])
    #expect(try world.nodes[2].object(forKey: "spouse") == world.nodes[1])
    #expect(try world.nodes[3].object(forKey: "spouse") == nil)
  }

  /// Changes a context makes to node 1, which another context has linked to node 2, after reading node 2.
  enum Ending: CaseIterable {
    case delete, part, move, steal

    fileprivate func make(_ context: ManagedObjectContext, _ nodes: [ManagedObject]) throws {
      switch self {
      case .delete: try context.delete(nodes[1])
      case .part: try nodes[1].setObject(nil, forKey: "spouse")
      case .move: try nodes[1].setObject(nodes[3], forKey: "spouse")
      case .steal: try nodes[3].setObject(nodes[1], forKey: "spouse")
      }
    }
  }

  @Test(arguments: StoreKind.allCases, Ending.allCases)
  func aPartnerThatIsNotAsItsRowIsAConflictUntilItIsRefreshed(_ kind: StoreKind, _ ending: Ending) throws {
    let bench = try StoreBench(kind, Pairs.model())
    let theirs = bench.stranger()
    let others = try (0..<4).map { try bench.insert("\($0)", in: theirs) }
    try theirs.save()
    let mine = bench.context()
    let nodes = try others.map { try mine.object(with: $0.objectID) }
    for node in nodes where node !== nodes[1] { try node.fireFault() }
    try others[1].setObject(others[2], forKey: "spouse")
    try theirs.save()
    #expect(try nodes[1].object(forKey: "spouse") == nodes[2])
    try ending.make(mine, nodes)
    #expect { try mine.save() } throws: { error in
      let error = error as? GraphError
      return error?.code == .mergeConflict && error?.objectID == nodes[2].objectID && error?.property == "spouse"
    }
    #expect(try Pairs.links(in: bench.stranger())["2"]?["spouse"] == ["1"])
    try mine.refresh(nodes[2], mergeChanges: true)
    try mine.save()
    #expect(try Pairs.broken(in: bench.stranger()) == [] && Pairs.broken(in: mine) == [])
    #expect(try Pairs.links(in: bench.stranger())["2"]?["spouse"] == [])
  }
}

extension StoreBench {
  fileprivate func insert(_ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
    try context.insert("Node", values: ["name": .string(name)])
  }
}
