import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// When one of two contexts deletes an object to which the other refers, no save leaves a key without a row.
@Suite struct DanglingKeyTests {
  /// Two contexts over one store.
  enum Pair: CaseIterable {
    case coordinator, memory, store, file

    func contexts(_ model: ManagedObjectModel) throws -> Contexts {
      let resolved = try model.resolved()
      let folder = try TemporaryFolder()
      let first = PersistentStoreCoordinator(model: resolved)
      let isInMemory = self == .memory || self == .coordinator
      try first.add(
        isInMemory ? InMemoryStore(model: resolved) : SQLiteStore(url: folder.file(), model: resolved))
      var second = PersistentStoreCoordinator(sharingStoresOf: first)
      if self == .coordinator { second = first }
      if self == .file {
        second = PersistentStoreCoordinator(model: resolved)
        try second.add(SQLiteStore(url: folder.file(), model: resolved))
      }
      return Contexts(a: try ManagedObjectContext(first), b: try ManagedObjectContext(second), folder: folder)
    }
  }

  struct Contexts {
    let a, b: ManagedObjectContext
    let folder: TemporaryFolder

    /// The rows as a third context reads them: their names and destinations.
    func rows(_ key: String = "o") throws -> [String] {
      let fresh = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: a.coordinator))
      var request = FetchRequest("P")
      request.sortDescriptors = [SortDescriptor("n")]
      return try fresh.fetch(request).map { row in
        let ids = try row.objectIDs(forRelationshipNamed: key)
        let names = try ids.map { try fresh.existingObject(with: $0)?.value(forKey: "n").text ?? "nothing" }
        return "\(try row.value(forKey: "n").text ?? ""):\(names.joined(separator: ","))"
      }
    }
  }

  static func model(_ rule: DeleteRule, subentity: Bool = false) -> ManagedObjectModel {
    var p = EntityDescription("P")
    p.attributes = [AttributeDescription("n", type: .integer64)]
    var c = RelationshipDescription.toMany("c", destination: "P", inverse: "o")
    c.deleteRule = rule
    p.relationships = [
      .toOne("o", destination: "P", inverse: "c"), c, .toMany("m", destination: "P", inverse: "m"),
      .toOne("x", destination: "P"), .toMany("y", destination: "P"),
    ]
    var sub = EntityDescription("S")
    sub.superentityName = "P"
    return ManagedObjectModel(entities: subentity ? [p, sub] : [p])
  }

  private static func insert(_ context: ManagedObjectContext, _ n: Int64) throws -> ManagedObject {
    try context.insert("P", values: ["n": .int(n)])
  }

  private static func same(_ object: ManagedObject, in context: ManagedObjectContext) throws -> ManagedObject {
    let same = try context.object(with: object.objectID)
    try same.fireFault()
    return same
  }

  @Test(arguments: Pair.allCases)
  func aDestinationThatAnotherContextDeletedIsAConflictThatNamesBoth(_ pair: Pair) throws {
    for subentity in [false, true] {
      let contexts = try pair.contexts(Self.model(.nullify, subentity: subentity))
      let (a, b) = (contexts.a, contexts.b)
      for key in ["o", "m", "x", "y"] {
        let (p, q) = (try Self.insert(a, 1), try Self.insert(a, 2))
        try a.save()
        let (there, owner) = (try Self.same(p, in: b), try Self.same(q, in: b))
        try a.delete(p)
        try a.save()
        let isToOne = key == "o" || key == "x"
        let id = Value.objectID(there.objectID)
        try owner.setValue(isToOne ? id : .list([id]), forKey: key)
        let error = #expect(throws: GraphError.self) { try b.save() }
        #expect(error?.code == .mergeConflict && error?.property == key, "\(key)")
        #expect(error?.message.contains("\(there.objectID) was deleted by another context") == true)
        #expect(try contexts.rows(key) == ["2:"], "\(key)")
        try owner.setValue(isToOne ? .null : .list([]), forKey: key)
        try b.save()
        // A new row that refers to the deleted object.
        let new = try b.insert("P", values: ["n": 3])
        try new.setValue(isToOne ? id : .list([id]), forKey: key)
        #expect(throws: GraphError.self) { try b.save() }
        try b.rollback()
        #expect(try contexts.rows(key) == ["2:"], "\(key)")
        try b.delete(owner)
        try b.save()
      }
      #expect(a.brokenInvariants() == [] && b.brokenInvariants() == [])
    }
  }

  @Test(arguments: Pair.allCases)
  func anOwnerThatAnotherContextDeletedGetsNoDestinations(_ pair: Pair) throws {
    for key in ["c", "m", "y"] {
      let contexts = try pair.contexts(Self.model(.nullify))
      let (a, b) = (contexts.a, contexts.b)
      let (p, q) = (try Self.insert(a, 1), try Self.insert(a, 2))
      try a.save()
      let (owner, member) = (try Self.same(p, in: b), try Self.same(q, in: b))
      try a.delete(p)
      try a.save()
      try owner.add(member, to: key)
      let error = #expect(throws: GraphError.self) { try b.save() }
      #expect(error?.code == .mergeConflict)
      #expect(try contexts.rows() == ["2:"])
      try owner.remove(member, from: key)
      try b.save()
    }
  }

  @Test(arguments: Pair.allCases)
  func anOwnerWithAMemberThatItsContextHasNotSeenIsNotDeletedBeforeThatIs(_ pair: Pair) throws {
    for rule in [DeleteRule.nullify, .cascade, .deny] {
      for subentity in [false, true] {
        let contexts = try pair.contexts(Self.model(rule, subentity: subentity))
        let (a, b) = (contexts.a, contexts.b)
        let (p, q) = (try Self.insert(a, 1), try Self.insert(a, 2))
        try a.save()
        try Self.same(q, in: b).setObject(Self.same(p, in: b), forKey: "o")
        try b.save()
        try a.delete(p)
        let error = #expect(throws: GraphError.self) { try a.save() }
        #expect(error?.code == .mergeConflict && error?.objectID == p.objectID && error?.property == "c")
        #expect(error?.message.contains("\(q.objectID)") == true)
        #expect(try contexts.rows() == ["1:", "2:1"])
        // As the error advises: after a refresh, the delete rules apply to the current relationships.
        try a.refresh(p, mergeChanges: true)
        switch rule {
        case .deny:
          #expect { try a.save() } throws: { ($0 as? GraphError)?.code == .relationshipDeniedDelete }
          #expect(try contexts.rows() == ["1:", "2:1"])
        default:
          try a.save()
          #expect(try contexts.rows() == (rule == .nullify ? ["2:"] : []))
        }
        #expect(a.brokenInvariants() == [])
      }
    }
  }

  /// Relationships stored as pairs: between two entities, within one, and without an inverse.
  private static func pairs(_ rule: DeleteRule) -> ManagedObjectModel {
    var (p, q) = (EntityDescription("P"), EntityDescription("Q"))
    (p.attributes, q.attributes) = (
      [AttributeDescription("n", type: .integer64)], [AttributeDescription("n", type: .integer64)]
    )
    p.relationships = [
      .toMany("first", destination: "Q", inverse: "second"), .toMany("same", destination: "P", inverse: "same"),
      .toMany("list", destination: "Q"),
    ]
    for index in p.relationships.indices { p.relationships[index].deleteRule = rule }
    q.relationships = [.toMany("second", destination: "P", inverse: "first")]
    return ManagedObjectModel(entities: [p, q])
  }

  @Test(arguments: Pair.allCases)
  func aMemberOfPairsThatItsContextHasNotSeenIsNotUnlinkedPastTheRule(_ pair: Pair) throws {
    for rule in [DeleteRule.cascade, .deny, .nullify] {
      for (key, entity) in [("first", "Q"), ("same", "P"), ("list", "Q")] {
        let contexts = try pair.contexts(Self.pairs(rule))
        let (a, b) = (contexts.a, contexts.b)
        let (owner, member) = (try a.insert("P", values: ["n": 1]), try a.insert(entity, values: ["n": 2]))
        try a.save()
        #expect(try owner.objects(forKey: key).isEmpty)
        try Self.same(owner, in: b).add(Self.same(member, in: b), to: key)
        try b.save()
        try a.delete(owner)
        if rule != .nullify {
          let error = #expect(throws: GraphError.self) { try a.save() }
          #expect(error?.code == .mergeConflict && error?.objectID == owner.objectID && error?.property == key)
          #expect(error?.message.contains("\(member.objectID)") == true)
          try a.refresh(owner, mergeChanges: true)
        }
        if rule == .deny {
          #expect { try a.save() } throws: { ($0 as? GraphError)?.code == .relationshipDeniedDelete }
          try a.rollback()
        } else {
          try a.save()
        }
        let left = try a.count(FetchRequest("P")) + a.count(FetchRequest("Q"))
        #expect(left == (rule == .deny ? 2 : rule == .cascade ? 0 : 1), "\(rule) \(key)")
        #expect(a.brokenInvariants() == [])
      }
    }
  }

  @Test(arguments: Pair.allCases)
  func aMemberOfPairsThatWasGivenUpOrGoesInTheSameSaveDoesNotKeepItsOwner(_ pair: Pair) throws {
    for rule in [DeleteRule.cascade, .deny] {
      for (key, entity) in [("first", "Q"), ("same", "P"), ("list", "Q")] {
        let contexts = try pair.contexts(Self.pairs(rule))
        let a = contexts.a
        let (owner, stays, goes) = (try a.insert("P"), try a.insert(entity), try a.insert(entity))
        try owner.setObjects([stays, goes], forKey: key)
        try a.save()
        try owner.remove(stays, from: key)
        try a.delete(goes)
        try a.delete(owner)
        try a.save()
        #expect(try a.count(FetchRequest("P")) + a.count(FetchRequest("Q")) == 1, "\(rule) \(key)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func aMemberThatGoesOrGoesElsewhereInTheSameSaveDoesNotKeepItsOwner(_ kind: StoreKind) throws {
    for rule in [DeleteRule.nullify, .cascade, .deny] {
      let bench = try StoreBench(kind, Self.model(rule))
      let context = bench.context()
      let (p, other) = (try Self.insert(context, 1), try Self.insert(context, 2))
      let members = try (3...5).map { try Self.insert(context, $0) }
      try p.setObjects(members, forKey: "c")
      try context.save()
      try members[0].setObject(other, forKey: "o")
      try members[1].setObject(nil, forKey: "o")
      try context.delete(members[2])
      try context.delete(p)
      try context.save()
      let fresh = ManagedObjectContext(bench.coordinator, extensionRegistry: ExtensionRegistry())
      #expect(try fresh.count(FetchRequest("P")) == 3)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func whereNoRuleIsToReachTheOtherSideItKeepsItsKey(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model(.noAction))
    let context = bench.context()
    let (p, q) = (try Self.insert(context, 1), try Self.insert(context, 2))
    try q.setObject(p, forKey: "o")
    try context.save()
    try context.delete(p)
    try context.save()
    try q.setValue(3, forKey: "n")
    try context.save()
    #expect(try q.objectIDs(forRelationshipNamed: "o") == [p.objectID])
  }
}
