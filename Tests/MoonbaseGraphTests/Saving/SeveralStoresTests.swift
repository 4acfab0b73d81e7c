import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A save into two stores: all rows are written before the first commit.
@Suite struct SeveralStoresTests {
  private struct Bench {
    let coordinator: PersistentStoreCoordinator
    let stores: [FailingStore]
    /// The store that commits last.
    let lastStore: FailingStore
    /// The entities of the store that commits last and of the other one.
    let (last, first): (String, String)

    init(_ kinds: [StoreKind], _ folder: TemporaryFolder) throws {
      var model = ManagedObjectModel(
        entities: ["A", "B"].map { name in
          var entity = EntityDescription(name)
          entity.attributes = [AttributeDescription("s", type: .string)]
          entity.uniquenessConstraints = [["s"]]
          return entity
        })
      model.configurations = ["One": ["A"], "Two": ["B"]]
      let resolved = try model.resolved()
      coordinator = PersistentStoreCoordinator(model: resolved)
      stores = try zip(kinds, ["One", "Two"]).map {
        FailingStore(try $0.store(for: resolved, configuration: $1, in: folder))
      }
      for store in stores { try coordinator.add(store) }
      // The store that is written first commits last.
      let isOne = StoreNumber(stores[0].identifier).rawValue < StoreNumber(stores[1].identifier).rawValue
      (last, first) = isOne ? ("A", "B") : ("B", "A")
      lastStore = isOne ? stores[0] : stores[1]
    }

    func saved(_ entity: String) throws -> [Value] {
      let context = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
      return try context.fetch(FetchRequest(entity)).map { $0["s"] }
    }
  }

  @Test(arguments: StoreKind.allCases) func aStoreIsAddedOnce(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let store = bench.coordinator.persistentStores[0]
    for _ in 0..<2 {
      let error = #expect(throws: GraphError.self) { try bench.coordinator.add(store) }
      #expect(error?.code == .invalidRequest && error?.message.contains(store.identifier) == true)
    }
    #expect(bench.coordinator.persistentStores.count == 1)
    let context = bench.context()
    try context.insert("Person", values: ["firstName": "Ada"])
    try context.save()
    #expect(try context.count(FetchRequest("Person")) == 1)
  }

  private static let kinds: [[StoreKind]] = [
    [.memory, .memory], [.memory, .sqlite], [.sqlite, .memory], [.sqlite, .sqlite],
  ]

  @Test(arguments: kinds, ["A", "B"])
  func nothingIsSavedWhereOneOfTwoStoresRefuses(_ kinds: [StoreKind], _ refusing: String) throws {
    let folder = try TemporaryFolder()
    let bench = try Bench(kinds, folder)
    let context = try ManagedObjectContext(bench.coordinator)
    for entity in ["A", "B"] { try context.insert(entity, values: ["s": "there"]) }
    try context.save()
    let doubled = try context.insert(refusing, values: ["s": "there"])
    let fine = try context.insert(refusing == "A" ? "B" : "A", values: ["s": "new"])
    for _ in 0..<2 {
      #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
      #expect(Set(context.insertedObjects) == [doubled, fine] && fine.objectID.isTemporaryID)
      #expect(try bench.saved("A") == ["there"] && bench.saved("B") == ["there"])
    }
    try doubled.setValue("other", forKey: "s")
    try context.save()
    #expect(try bench.saved("A").count == 2 && bench.saved("B").count == 2)
  }

  @Test(arguments: kinds)
  func whatIsCommittedBeforeAnotherCommitFailsCountsAsSavedAndARetryDoublesNothing(_ kinds: [StoreKind]) throws {
    let folder = try TemporaryFolder()
    let bench = try Bench(kinds, folder)
    var extensions = ClosureExtensions()
    let didSave = Switch()
    for entity in ["A", "B"] {
      extensions.extend(entity) {
        var entry = EntityExtension()
        entry.willSave = { object in
          guard try object.value(forKey: "s") == "new" else { return }
          try object.setValue("saved", forKey: "s")
          try object.managedObjectContext?.insert(entity, values: ["s": "by the hook"])
        }
        entry.didSave = { _ in didSave.value += 1 }
        return entry
      }
    }
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    let kept = try context.insert(bench.last, values: ["s": "new"])
    let saved = try context.insert(bench.first, values: ["s": "new"])
    bench.lastStore.fail(atCommit: true)
    #expect { try context.save() } throws: { error in
      let text = "\(error)"
      return text.contains("was saved before this") && text.contains("save again for the rest")
    }
    #expect(!saved.hasChanges && !saved.objectID.isTemporaryID && didSave.value == 2)
    #expect(kept.isInserted && kept.objectID.isTemporaryID && kept["s"] == "new")
    #expect(context.insertedObjects == [kept] && context.brokenInvariants() == [])
    #expect(try bench.saved(bench.last) == [] && Set(bench.saved(bench.first)) == ["saved", "by the hook"])
    bench.lastStore.fail(atCommit: false)
    try context.save()
    #expect(try Set(bench.saved(bench.last)) == ["saved", "by the hook"] && bench.saved(bench.first).count == 2)
    #expect(!context.hasChanges && context.brokenInvariants() == [])
    // The object committed first can be changed and deleted as usual.
    try context.delete(saved)
    try context.save()
    #expect(try bench.saved(bench.first) == ["by the hook"])
  }

  /// Whichever call of either store fails, nothing is saved, or only the store that committed before is; a retry
  /// completes the save.
  @Test(arguments: kinds, [0, 1])
  func aSaveOfWhichAnyCallFailsIsEndedByARetry(_ kinds: [StoreKind], failing place: Int) throws {
    for count in 0... {
      let folder = try TemporaryFolder()
      let bench = try Bench(kinds, folder)
      let context = try ManagedObjectContext(bench.coordinator)
      var objects: [ManagedObject] = []
      for entity in ["A", "B"] {
        for text: Value in ["old", "gone"] { objects.append(try context.insert(entity, values: ["s": text])) }
      }
      try context.save()
      for entity in ["A", "B"] { try context.insert(entity, values: ["s": "new"]) }
      for object in objects {
        if object["s"] == "gone" { try context.delete(object) } else { try object.setValue("changed", forKey: "s") }
      }
      bench.stores[place].fail(onceAfterCalls: count)
      let result = Result { try context.save() }
      guard !bench.stores[place].isToFail else {
        bench.stores[place].fail(onceAfterCalls: nil)
        #expect(throws: Never.self) { try result.get() }
        #expect(count > 3, "only \(count) calls")
        return
      }
      #expect(throws: GraphError.self, "call \(count)") { try result.get() }
      #expect(context.brokenInvariants() == [], "call \(count)")
      let saved = try ["A", "B"].map { try Set(bench.saved($0)) }
      for entity in saved { #expect([["old", "gone"], ["changed", "new"]].contains(entity), "call \(count)") }
      #expect(context.hasChanges, "call \(count)")
      try context.save()
      #expect(!context.hasChanges && context.brokenInvariants() == [], "call \(count)")
      for entity in ["A", "B"] {
        #expect(try bench.saved(entity).map { "\($0)" }.sorted() == ["changed", "new"], "call \(count)")
      }
    }
  }

  @Test(arguments: kinds)
  func twoContextsThatSaveIntoTwoStoresDoNotWaitForEachOther(_ kinds: [StoreKind]) throws {
    let folder = try TemporaryFolder()
    let bench = try Bench(kinds, folder)
    let failures = Lock<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { worker in
      do {
        let context = try ManagedObjectContext(bench.coordinator)
        for index in 0..<20 {
          // Each worker uses the stores in a different order.
          for entity in worker == 0 ? ["A", "B"] : ["B", "A"] {
            try context.insert(entity, values: ["s": .string("\(worker) \(index)")])
          }
          try context.save()
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try bench.saved("A").count == 40 && bench.saved("B").count == 40)
  }
}
