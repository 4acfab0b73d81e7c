import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// The identity map of a context: tables per entity and store, with keys in groups of eight.
@Suite struct IdentityMapTests {
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext
  private let entities: [ResolvedEntity]

  init() throws {
    let coordinator = try People.coordinator()
    self.coordinator = coordinator
    context = try ManagedObjectContext(coordinator)
    entities = try ["Person", "Department"].map { try #require(coordinator.model.entity($0)) }
  }

  private func id(_ key: Int64, _ entity: Int = 0, store: UInt32 = 1) -> ManagedObjectID {
    ManagedObjectID(store: StoreNumber(rawValue: store), entity: entities[entity].symbol, key: key)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func randomOperationsGiveWhatADictionaryGives(seed: UInt64) throws {
    var random = SplitMix(seed)
    // Faults with few keys, so that removed keys return; in some rounds the keys are far apart.
    var held: [ManagedObjectID: ManagedObject] = [:]
    let step: Int64 = seed.isMultiple(of: 2) ? 1 : 1 << 40
    for round in 0..<4000 {
      let key = Int64.random(in: -80...80, using: &random) &* step
      let id = id(key, .random(in: 0...1, using: &random), store: .random(in: 1...2, using: &random))
      if Bool.random(using: &random) {
        let object = try context.object(with: id)
        #expect(held[id] == nil || held[id] === object)
        #expect(object.objectID == id)
        held[id] = object
      } else {
        held[id] = nil
      }
      #expect(context.registeredObject(for: id) === held[id])
      if round % 200 == 0 {
        #expect(context.brokenInvariants() == [])
        #expect(Set(context.registeredObjects) == Set(held.values))
        #expect(context.registered.count == held.count)
      }
    }
    held = [:]
    #expect(context.registered.count == 0)
    #expect(context.brokenInvariants() == [])
  }

  @Test func keysThatDifferInOnePartOnlyAreDifferentKeys() throws {
    let ids = [id(1), id(2), id(1, 1), id(1, store: 2)]
    let objects = try ids.map { try context.object(with: $0) }
    for (id, object) in zip(ids, objects) { #expect(context.registeredObject(for: id) === object) }
    #expect(Set(objects).count == 4)
  }

  /// An ID may name the parent entity of a row that belongs to a subentity: both IDs have the same key in the root
  /// entity's map.
  @Test func anIDWithAnotherEntityOfTheTableIsAnObjectOfItsOwn() throws {
    let ids = ["Employee", "Person"].map {
      ManagedObjectID(store: StoreNumber(rawValue: 1), entity: Symbol($0), key: 7)
    }
    for order in [ids, ids.reversed()] {
      var objects = try order.map { try context.object(with: $0) }
      #expect(objects[0] !== objects[1])
      #expect(context.brokenInvariants() == [])
      for (id, object) in zip(order, objects) { #expect(context.registeredObject(for: id) === object) }
      #expect(context.registeredObjects.count == 2)
      // Removing either object leaves the other one registered.
      objects.removeFirst()
      #expect(context.registeredObject(for: order[0]) == nil)
      #expect(context.registeredObject(for: order[1]) === objects[0])
      let again = try context.object(with: order[0])
      #expect(context.registeredObjects.count == 2 && again !== objects[0])
      #expect(context.brokenInvariants() == [])
      objects = []
      #expect(context.registeredObjects == [again])
    }
    #expect(context.registered.count == 0)
  }

  @Test func anObjectTakesOutItselfNotAnotherOneThatIsKeptByItsID() throws {
    let first = try context.object(with: id(1))
    let map = first.table.takeUnretainedValue().map
    map.remove(first)
    #expect(map.count == 0)
    let second = try context.object(with: id(1))
    map.remove(first)
    #expect(context.registeredObject(for: id(1)) === second)
    map.remove(second)
    #expect(context.registeredObject(for: id(1)) == nil)
    context.register(second)
    context.register(first)
    #expect(context.registeredObject(for: id(1)) === first)
    #expect(second.managedObjectContext == nil)
  }

  /// About 4 in 1,000 pairs of factors suit a given step badly; the median of nine pairs makes a failure by chance
  /// unlikely.
  @Test(arguments: [1, 2, 8, 1024, 1 << 32] as [Int64])
  func keysInRowsOfAnyStepLieCloseToWhereTheyBelong(step: Int64) throws {
    var random = SplitMix(UInt64(step))
    let distances = (0..<9).map { _ in
      let map = KeyMap(factors: (random.next(), random.next()))
      let table = ObjectTable(entities[0], kind: id(1).kind, map: map, context: context)
      let objects = (0..<2000).map { number in
        ManagedObject(.init(table: .passUnretained(table), key: Int64(number) &* step, state: .fault))
      }
      defer { withExtendedLifetime((objects, table)) {} }
      #expect(map.brokenInvariants == [])
      #expect(map.count == 2000)
      // Adjacent keys share a group; keys far apart take no more memory than in a dictionary.
      #expect(map.weight / 2000 <= (step == 1 ? 40 : 300))
      return map.greatestDistance
    }
    #expect(distances.sorted()[distances.count / 2] < 100, "\(distances)")
  }

  #if canImport(Glibc)
    @Test func aFaultTakesNinetySixBytesWithoutItsPlaceInTheMap() throws {
      let fault = try context.object(with: id(1))
      // The allocator adds a header of eight bytes and rounds up to sixteen. An allocation may be larger when the
      // remainder would be too small to use.
      let size = (instanceSize(type(of: fault)) + 8 + 15) & ~15
      #expect((64...96).contains(size))
    }
  #endif

  /// An object keeps its table alive, whether the object is still registered, was removed, or outlives its context.
  @Test func objectsOutliveTheirContextAndItsReset() throws {
    var kept: [ManagedObject] = []
    weak var table: ObjectTable?
    weak var departed: ObjectTable?
    do {
      let context = try ManagedObjectContext(coordinator)
      kept = try [context.insert("Person"), context.object(with: id(3))]
      let gone = try context.insert("Person")
      try context.delete(gone)
      try context.processPendingChanges()
      kept.append(gone)
      table = kept[0].table.takeUnretainedValue()
      departed = gone.table.takeUnretainedValue()
      #expect(context.brokenInvariants() == [])
      try context.reset()
      #expect(kept.allSatisfy { $0.managedObjectContext == nil })
      kept.append(try context.object(with: id(4)))
      #expect(context.registeredObjects == [kept[3]])
      #expect(context.brokenInvariants() == [])
    }
    #expect(kept.map(\.entity.name) == ["Person", "Person", "Person", "Person"])
    #expect(kept[1].objectID == id(3) && kept[3].objectID == id(4))
    #expect(kept.allSatisfy { $0.managedObjectContext == nil })
    #expect(throws: GraphError.self) { try kept[3].value(forKey: "name") }
    #expect(table != nil && departed != nil)
    kept = []
    #expect(table == nil && departed == nil)
  }
}

#if canImport(Glibc)
  // The runtime function by which the standard library sizes its buffers; it is not public.
  @_silgen_name("$ss36_class_getInstancePositiveExtentSizeySiyXlXpF")
  private func instanceSize(_ type: AnyClass) -> Int
#endif
