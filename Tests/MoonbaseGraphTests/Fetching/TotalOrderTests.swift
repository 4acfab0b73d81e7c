import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Objects equal in all sort keys still have a total order, so pages neither repeat nor skip objects.
@Suite struct TotalOrderTests {
  private static let kinds: [(StoreKind, Bool)] = StoreKind.withFolder.flatMap { [($0, true), ($0, false)] }

  /// Things in boxes, some of a subentity. `k` has an index; no store can evaluate `odd`.
  private static func model() -> ManagedObjectModel {
    var thing = EntityDescription("Thing")
    var odd = AttributeDescription("odd", type: .string)
    odd.isTransient = true
    thing.attributes = [
      AttributeDescription("k", type: .integer64), AttributeDescription("w", type: .integer64),
      AttributeDescription("name", type: .string), odd,
    ]
    thing.relationships = [.toOne("box", destination: "Box", inverse: "things")]
    thing.indexes = [FetchIndexDescription("byK", elements: [.init("k")])]
    var special = EntityDescription("Special")
    special.superentityName = "Thing"
    var box = EntityDescription("Box")
    box.attributes = [AttributeDescription("size", type: .integer64)]
    box.relationships = [.toMany("things", destination: "Thing", inverse: "box")]
    return ManagedObjectModel(entities: [thing, special, box])
  }

  private static func forty(_ kind: StoreKind) throws -> StoreBench {
    let bench = try StoreBench(kind, model())
    let context = bench.context()
    for number in 1...40 {
      try context.insert("Thing", values: ["k": .int(Int64(number % 3)), "w": .int(Int64(number))])
    }
    try context.save()
    return bench
  }

  @Test(arguments: kinds) func pagesNeitherRepeatNorSkipBesideChangesOfWhatIsNotSorted(
    _ kind: StoreKind, ascending: Bool
  ) throws {
    let bench = try Self.forty(kind)
    var random = SplitMix(3)
    let upwards: [Int64] = (0..<3).flatMap { k in (1...40).filter { $0 % 3 == k } }
    for changed in [0, 7, 13, 40] {
      let context = bench.context()
      let all = try context.fetch(FetchRequest("Thing"))
      var request = FetchRequest("Thing")
      request.sortDescriptors = [SortDescriptor("k", ascending: ascending)]
      request.fetchLimit = 5
      var found: [Int64] = []
      for page in 0..<8 {
        request.fetchOffset = 5 * page
        for thing in try context.fetch(request) { found.append(try thing.committedNumber("w")) }
        if page == 0 { for thing in all.shuffled(using: &random).prefix(changed) { thing["w"] = .int(-1) } }
      }
      #expect(found == (ascending ? upwards : upwards.reversed()), "\(changed)")
    }
  }

  @Test(arguments: kinds) func whoIsNewStandsBehindItsEqualsBeforeAndAfterTheSave(
    _ kind: StoreKind, ascending: Bool
  ) throws {
    let bench = try Self.forty(kind)
    let context = bench.context()
    let new = try (0..<40).map { try context.insert("Thing", values: ["k": .int(Int64($0 % 3))]) }
    var request = FetchRequest("Thing")
    request.sortDescriptors = [SortDescriptor("k", ascending: ascending)]
    let before = try context.fetch(request)
    let ones = before.filter { $0["k"] == .int(1) }
    let newOnes = new.filter { $0["k"] == .int(1) }
    #expect(Array(ascending ? ones.suffix(newOnes.count) : ones.prefix(newOnes.count).reversed()) == newOnes)
    try context.save()
    #expect(try context.fetch(request) == before)
    #expect(try bench.stranger().fetchIDs(request) == before.map(\.objectID))
  }

  /// Compares the results of stores and contexts with a list sorted naively.
  @Test(arguments: StoreKind.withFolder, 1...Repetition.orderSeeds.count)
  func everyFetchHasTheOneOrder(_ kind: StoreKind, _ seed: Int) throws {
    var random = SplitMix(UInt64(seed))
    let folder = try TemporaryFolder()
    let model = try Self.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let stores = try (0..<(seed % 3 == 0 ? 2 : 1)).map { _ in
      let store = try kind.store(for: model, in: folder)
      try coordinator.add(store)
      return store
    }
    let parent = try ManagedObjectContext(coordinator)
    let context = seed % 3 == 1 ? ManagedObjectContext(parent: parent) : parent
    var things: [ManagedObject] = []
    func boxes(_ store: any PersistentStore) throws -> [ManagedObject] {
      try (0..<2).map { size in
        let box = try context.insert("Box", values: ["size": .int(Int64(size))])
        if stores.count > 1 { try context.assign(box, to: store) }
        return box
      }
    }
    let boxesOfStores = try stores.map(boxes)
    for number in 0..<90 {
      let thing = try context.insert(number % 4 == 0 && number < 60 ? "Special" : "Thing")
      let place = random.next(stores.count)
      if stores.count > 1 { try context.assign(thing, to: stores[place]) }
      try Self.change(thing, boxesOfStores[place], &random)
      things.append(thing)
      if number == 59 { try context.save() }
    }
    for thing in things.prefix(60) where random.next(3) == 0 {
      if random.next(4) == 0 {
        try context.delete(thing)
        things.removeAll { $0 == thing }
      } else {
        thing["w"] = .int(Int64(random.next(5)))
      }
    }
    for keys in [["k"], ["-k"], ["k", "-w"], ["-k", "name"], ["box.size", "k"], ["-box.size"], ["-name"]] {
      let whole = Self.sorted(things, by: keys)
      for format in ["k >= 0", "k >= 0 AND odd == NULL", "TRUEPREDICATE"] {
        var request = FetchRequest("Thing", where: try Predicate(format: format))
        request.sortDescriptors = keys.map { SortDescriptor(text: $0) }
        #expect(try context.fetch(request) == whole, "\(keys) \(format)")
        request.fetchLimit = 7
        var (pages, ids): ([ManagedObject], [ManagedObjectID]) = ([], [])
        for start in stride(from: 0, to: things.count, by: 7) {
          request.fetchOffset = start
          pages += try context.fetch(request)
          ids += try context.fetchIDs(request)
        }
        #expect(pages == whole && ids == whole.map(\.objectID), "\(keys) \(format)")
      }
    }
  }

  private static func change(_ thing: ManagedObject, _ boxes: [ManagedObject], _ random: inout SplitMix) throws {
    try thing.setValue(.int(Int64(random.next(3))), forKey: "k")
    try thing.setValue(.int(Int64(random.next(2))), forKey: "w")
    try thing.setValue(random.next(3) == 0 ? .null : .string("n\(random.next(2))"), forKey: "name")
    if random.next(3) > 0 { try thing.setObject(boxes[random.next(2)], forKey: "box") }
  }

  private static func sorted(_ things: [ManagedObject], by keys: [String]) -> [ManagedObject] {
    let texts = things.map { thing in keys.map { text(thing, String($0.drop { $0 == "-" })) } }
    let places = things.indices.sorted { left, right in
      for (place, key) in keys.enumerated() where texts[left][place] != texts[right][place] {
        return (texts[left][place] < texts[right][place]) == !key.hasPrefix("-")
      }
      return isBefore(things[left].objectID, things[right].objectID, isAscending: keys.first?.hasPrefix("-") != true)
    }
    return places.map { things[$0] }
  }

  private static func isBefore(_ one: ManagedObjectID, _ other: ManagedObjectID, isAscending: Bool) -> Bool {
    if one.isTemporaryID != other.isTemporaryID { return other.isTemporaryID == isAscending }
    if one.storeNumber != other.storeNumber { return (one.storeNumber < other.storeNumber) == isAscending }
    return (one.key < other.key) == isAscending
  }

  /// Values as text. Single digits and short names sort as texts do; a missing value comes first.
  private static func text(_ thing: ManagedObject, _ path: String) -> String {
    guard let value = try? thing.value(forKeyPath: path), !value.isNull else { return "" }
    return value.description
  }

  /// A group is placed by its first object.
  @Test(arguments: kinds) func groupsAndRowsOfValuesHaveItToo(_ kind: StoreKind, ascending: Bool) throws {
    let bench = try Self.forty(kind)
    let context = bench.context()
    var request = FetchRequest("Thing")
    request.resultType = .dictionaries
    request.sortDescriptors = [SortDescriptor("k", ascending: ascending)]
    request.propertiesToFetch = ["w"]
    let upwards: [Int64] = (0..<3).flatMap { k in (1...40).filter { $0 % 3 == k } }
    func values(_ request: FetchRequest) throws -> [Value?] { try context.fetchDictionaries(request).map { $0["w"] } }
    #expect(try values(request) == (ascending ? upwards : upwards.reversed()).map { .int($0) })
    request.propertiesToGroupBy = ["k", "w"]
    #expect(try values(request) == (ascending ? upwards : upwards.reversed()).map { .int($0) })
    request.predicate = try Predicate(format: "odd == NULL")
    #expect(try values(request) == (ascending ? upwards : upwards.reversed()).map { .int($0) })
  }

  @Test(arguments: kinds) func aListThatFollowsIsWhatAFetchFinds(_ kind: StoreKind, ascending: Bool) throws {
    let bench = try Self.forty(kind)
    let context = bench.context()
    var request = FetchRequest("Thing")
    request.sortDescriptors = [SortDescriptor("k", ascending: ascending)]
    let results = try FetchedResultsController(request, in: context)
    try results.performFetch()
    var random = SplitMix(11)
    for step in 0..<60 {
      let things = try context.fetch(request)
      switch random.next(4) {
      case 0: try context.insert("Thing", values: ["k": .int(Int64(random.next(3)))])
      case 1: try context.delete(things[random.next(things.count)])
      default: things[random.next(things.count)]["k"] = .int(Int64(random.next(3)))
      }
      try context.processPendingChanges()
      if step % 10 == 9 { try context.save() }
      #expect(try results.fetchedObjects.map(Array.init) == context.fetch(request), "\(step)")
    }
  }
}

extension ManagedObject {
  /// The committed value of an attribute.
  fileprivate func committedNumber(_ key: String) throws -> Int64 {
    guard case .int(let number) = try committedValues()[key] else { return 0 }
    return number
  }
}
