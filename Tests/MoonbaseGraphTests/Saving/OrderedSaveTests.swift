import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// The statements that a save executes for a small change of an ordered relationship.
@Suite struct OrderedSaveTests {
  private enum Kind: CaseIterable {
    /// Positions beside the key of the owner.
    case oneToMany
    /// Positions in the table of pairs.
    case manyToMany
  }

  private func model(_ kind: Kind) -> ManagedObjectModel {
    var (list, item) = (EntityDescription("List"), EntityDescription("Item"))
    var items = RelationshipDescription.toMany("items", destination: "Item", inverse: "list")
    items.isOrdered = true
    list.relationships = [items]
    item.attributes = [AttributeDescription("number", type: .integer64)]
    item.relationships = [
      kind == .oneToMany
        ? .toOne("list", destination: "List", inverse: "items") : .toMany("list", destination: "List", inverse: "items")
    ]
    return ManagedObjectModel(entities: [list, item])
  }

  /// A saved list of `count` items.
  private func filledList(
    _ kind: Kind, count: Int, in store: StoreKind = .sqlite
  ) throws -> (bench: StoreBench, context: ManagedObjectContext, list: ManagedObject, slot: Slot) {
    let bench = try StoreBench(store, model(kind))
    let context = bench.context()
    let list = try context.insert("List")
    for _ in 0..<count { try list.add(context.insert("Item"), to: "items") }
    try context.save()
    return (bench, context, list, try #require(list.entity.slot("items")))
  }

  private func store(_ bench: StoreBench) throws -> SQLiteStore {
    try #require(bench.coordinator.persistentStores.first as? SQLiteStore)
  }

  /// The statements of a save that concern positions.
  private func statements(of store: SQLiteStore, _ body: () throws -> Void) throws -> (reads: [String], writes: Int) {
    let log = Lock<[String]>([])
    store.statements.listen { sql in log.withLock { $0.append(sql) } }
    defer { store.statements.listen(nil) }
    try body()
    let all = log.withLock { $0 }.filter { $0.contains("Z_FOK") }
    return (all.filter { $0.hasPrefix("SELECT") }, all.count { $0.hasPrefix("UPDATE") && $0.contains("Z_FOK") })
  }

  @Test(arguments: Kind.allCases) private func oneThatComesOrMovesIsOneRow(_ kind: Kind) throws {
    let (bench, context, list, slot) = try filledList(kind, count: 400)
    let changes: [(String, (ManagedObjectContext, ManagedObject) throws -> Void)] = [
      ("append", { try $1.add($0.insert("Item"), to: "items") }),
      ("insert at the front", { try $1.insertMember($0.insert("Item").objectID, at: 0, slot: slot) }),
      ("insert in the middle", { try $1.insertMember($0.insert("Item").objectID, at: 200, slot: slot) }),
      ("move", { try $1.moveMember(from: 7, to: 390, slot: slot) }),
      (
        "remove and add",
        { _, list in
          let first = try list.objects(forKey: "items")[0]
          try list.remove(first, from: "items")
          try list.add(first, to: "items")
        }
      ),
    ]
    for (name, change) in changes {
      for reads in [false, true] {
        let context = reads ? bench.context() : context
        let list = try context.object(with: list.objectID)
        try change(context, list)
        let (reads, writes) = try statements(of: store(bench)) { try context.save() }
        let order = try list.objectIDs(forRelationshipNamed: "items")
        #expect(try saved(list, in: bench) == order, "\(name)")
        #expect(writes == 1, "\(name)")
        // Reads only the neighbours, and the last position where the last member is unknown.
        #expect(reads.allSatisfy { $0.contains("json_each") || $0.contains("MAX(") }, "\(name)")
        #expect(reads.count <= 2, "\(name)")
        try context.refresh(list, mergeChanges: false)
      }
    }
  }

  @Test(arguments: Kind.allCases, [1000, 10_000])
  private func anAppendReadsTheLastPlaceAndWritesWhatCame(_ kind: Kind, _ count: Int) throws {
    let (bench, _, list, _) = try filledList(kind, count: count)
    let before = try saved(list, in: bench)
    for isRead in [false, true] {
      let context = bench.context()
      let list = try context.object(with: list.objectID)
      if isRead { #expect(try list.objects(forKey: "items").count == count) }
      let new = try (0..<3).map { _ in try context.insert("Item") }
      for item in new { try list.add(item, to: "items") }
      // An existing member stays in place.
      if !isRead { try list.add(context.object(with: before[7]), to: "items") }
      let (reads, writes) = try statements(of: store(bench)) { try context.save() }
      #expect(reads.count == (isRead ? 1 : 2) && writes == 3)
      #expect(try list.hasFault(forRelationshipNamed: "items") != isRead)
      let added = new.map(\.objectID)
      #expect(try saved(list, in: bench) == before + added)
      for item in new { try context.delete(item) }
      try context.save()
    }
  }

  @Test(arguments: Kind.allCases) private func whatCameAndWentAgainIsNotWritten(_ kind: Kind) throws {
    let (bench, _, list, slot) = try filledList(kind, count: 100)
    for isRead in [false, true] {
      let context = bench.context()
      let list = try context.object(with: list.objectID)
      if isRead { #expect(try list.memberCount(slot) == 100) }
      let item = try context.insert("Item")
      try context.save()
      try list.add(item, to: "items")
      if kind == .oneToMany { try item.setObject(nil, forKey: "list") } else { try item.remove(list, from: "list") }
      let (reads, writes) = try statements(of: store(bench)) { try context.save() }
      #expect(reads.isEmpty && writes == 0)
    }
  }

  /// Rows without a position, as other programs leave them, follow the others in the order of their keys.
  @Test(arguments: StoreKind.withFolder, Kind.allCases)
  private func whatComesStandsBehindRowsWithoutAPlace(_ kind: StoreKind, _ form: Kind) throws {
    let bench = try StoreBench(kind, model(form))
    let store = try #require(bench.coordinator.persistentStores.first)
    let model = bench.coordinator.model
    let (lists, items) = (try #require(model.entity("List")), try #require(model.entity("Item")))
    func rows(_ entity: ResolvedEntity, _ count: Int, of list: ManagedObjectID? = nil) throws -> [Snapshot] {
      let first = try store.reserveKeys(for: entity, count: count)
      return (0..<Int64(count)).map {
        let id = ManagedObjectID(store: StoreNumber(store.identifier), entity: entity.symbol, key: first + $0)
        var values = entity.initialValues
        if let list, form == .oneToMany { values[entity.slot("list") ?? 0] = .objectID(list) }
        return Snapshot(id: id, version: 1, values: values)
      }
    }
    let list = try rows(lists, 1)[0]
    let old = try rows(items, 5, of: list.id)
    let slot = try #require(lists.slot("items"))
    var changes = StoreChanges()
    changes.inserted = RowBatch([list] + old)
    let added = form == .manyToMany ? old.map(\.id) : []
    changes.links = [.init(owner: list.id, slot: slot, added: added, removed: [], order: nil)]
    try store.save(changes)
    let ids = old.map(\.id)
    #expect(try store.destinations(of: list.id, relationship: slot) == ids)

    let context = bench.context()
    let known = try context.object(with: list.id)
    let last = try context.insert("Item")
    try known.add(last, to: "items")
    try context.save()
    #expect(try saved(known, in: bench) == ids + [last.objectID])
    let first = try context.insert("Item")
    try known.insertMember(first.objectID, at: 0, slot: slot)
    try context.save()
    #expect(try saved(known, in: bench) == [first.objectID] + ids + [last.objectID])
  }

  @Test(arguments: StoreKind.withFolder, Kind.allCases)
  private func whatContextsDidWithListsTheyDidNotReadIsWhatAnArrayShows(_ store: StoreKind, _ kind: Kind) throws {
    let (bench, first, list, slot) = try filledList(kind, count: 150, in: store)
    var context = first
    var random = SplitMix(11)
    var expected = try list.memberIDs(slot)
    var loose: [ManagedObjectID] = []
    for round in 0..<Repetition.listRounds.count {
      if random.next(3) > 0 { context = bench.context() }
      let list = try context.object(with: list.objectID)
      for _ in 0..<(1 + random.next(4)) {
        switch random.next(9) {
        case 0, 1, 2:
          let id = loose.isEmpty || random.next(2) == 0 ? try context.insert("Item").objectID : loose.removeLast()
          try list.add(context.object(with: id), to: "items")
          expected.append(id)
        case 3:
          let id = expected[random.next(expected.count)]
          try list.add(context.object(with: id), to: "items")
        case 4, 5:
          let id = expected.remove(at: random.next(expected.count))
          try leave(context.object(with: id), list, kind)
          if random.next(2) == 0 {
            try list.add(context.object(with: id), to: "items")
            expected.append(id)
          } else if !id.isTemporaryID {
            loose.append(id)
          }
        case 6:
          let (from, to) = (random.next(expected.count), random.next(expected.count))
          try list.moveMember(from: from, to: to, slot: slot)
          expected.insert(expected.remove(at: from), at: to)
        case 7:
          let (id, position) = (try context.insert("Item").objectID, random.next(expected.count + 1))
          try list.insertMember(id, at: position, slot: slot)
          expected.insert(id, at: position)
        default:
          guard random.next(4) == 0 else { break }
          expected.swapAt(random.next(expected.count), random.next(expected.count))
          try list.setMembers(expected, slot: slot)
        }
      }
      let objects = try expected.map { try context.object(with: $0) }
      try context.save()
      expected = objects.map(\.objectID)
      #expect(try saved(list, in: bench) == expected, "round \(round)")
      let stored = try #require(bench.coordinator.persistentStores.first)
      #expect(try stored.destinations(of: list.objectID, relationship: slot) == expected, "round \(round)")
    }
  }

  /// Removes an item from a list through the item's side, which reads no list.
  private func leave(_ item: ManagedObject, _ list: ManagedObject, _ kind: Kind) throws {
    if kind == .oneToMany {
      try item.setObject(nil, forKey: "list")
    } else {
      try item.remove(list, from: "list")
    }
  }

  @Test(arguments: StoreKind.withFolder, Kind.allCases)
  private func whatIsAppendedBesideAReorderingStandsBehindWhatItsContextKnew(_ store: StoreKind, _ kind: Kind) throws {
    let (bench, context, list, slot) = try filledList(kind, count: 40, in: store)
    let known = try list.objectIDs(forRelationshipNamed: "items")
    let other = bench.context()
    let same = try other.object(with: list.objectID)
    #expect(try same.objectIDs(forRelationshipNamed: "items") == known)
    for _ in 0..<3 { try list.moveMember(from: 0, to: 39, slot: slot) }
    try context.save()
    let new = try other.insert("Item")
    try same.add(new, to: "items")
    try other.save()
    let order = try saved(list, in: bench)
    #expect(order.count == 41 && Set(order) == Set(known + [new.objectID]))
    let (place, last) = (order.firstIndex(of: new.objectID), order.firstIndex(of: known[39]))
    #expect(try #require(place) > #require(last))
  }

  /// The members that another context reads.
  private func saved(_ list: ManagedObject, in bench: StoreBench) throws -> [ManagedObjectID] {
    let other = bench.context()
    return try other.object(with: list.objectID).objectIDs(forRelationshipNamed: "items")
  }

  @Test(arguments: Kind.allCases)
  private func neighboursMakeRoomWhereThereIsNone(_ kind: Kind) throws {
    let (bench, context, list, slot) = try filledList(kind, count: 600)
    for _ in 0..<60 {
      try list.insertMember(context.insert("Item").objectID, at: 300, slot: slot)
      let (_, writes) = try statements(of: store(bench)) { try context.save() }
      #expect(writes <= 65)
    }
    let order = try list.objectIDs(forRelationshipNamed: "items")
    #expect(try saved(list, in: bench) == order)
  }

  @Test(arguments: StoreKind.withFolder, Kind.allCases)
  private func whatWasOrderedIsReadInThatOrder(_ store: StoreKind, _ kind: Kind) throws {
    let (bench, context, list, slot) = try filledList(kind, count: 0, in: store)
    var random = SplitMix(3)
    var expected: [ManagedObject] = []
    for _ in 0..<120 {
      for _ in 0..<(1 + random.next(3)) {
        switch expected.isEmpty ? 0 : random.next(4) {
        case 0, 1:
          let (item, position) = (try context.insert("Item"), random.next(expected.count + 1))
          try list.insertMember(item.objectID, at: position, slot: slot)
          expected.insert(item, at: position)
        case 2:
          let (from, to) = (random.next(expected.count), random.next(expected.count))
          try list.moveMember(from: from, to: to, slot: slot)
          expected.insert(expected.remove(at: from), at: to)
        default:
          let gone = expected.remove(at: random.next(expected.count))
          try list.remove(gone, from: "items")
        }
      }
      try context.save()
      #expect(try saved(list, in: bench) == expected.map(\.objectID))
      #expect(try list.objects(forKey: "items") == expected)
    }
    #expect(context.brokenInvariants().isEmpty)
  }

  @Test(arguments: StoreKind.withFolder, Kind.allCases)
  private func whatFailsLeavesTheOrderAsItWas(_ store: StoreKind, _ kind: Kind) throws {
    let (bench, context, list, slot) = try filledList(kind, count: 0, in: store)
    for _ in 0..<100 { try list.add(context.insert("Item"), to: "items") }
    let order = try list.memberIDs(slot)
    struct Failure: Error {}
    for _ in 0..<2 {
      let before = try list.memberIDs(slot)
      #expect(throws: Failure.self) {
        try context.undoingOnFailure {
          for step in 0..<50 { try list.moveMember(from: step, to: 99 - step, slot: slot) }
          try list.remove(list.objects(forKey: "items")[40], from: "items")
          try list.insertMember(context.insert("Item").objectID, at: 0, slot: slot)
          try list.moveMember(from: 98, to: 0, slot: slot)
          throw Failure()
        }
      }
      #expect(try list.memberIDs(slot) == before)
      try context.save()
    }
    #expect(try saved(list, in: bench) == list.objectIDs(forRelationshipNamed: "items"))
    #expect(order.count == 100)
  }
}
