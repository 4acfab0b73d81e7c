import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// `stalenessInterval`: the maximum age of a cached row that a fault may use.
@Suite struct StalenessTests {
  /// A saved person, and a writer that bypasses the coordinator, as another process does.
  private struct World {
    let bench: StoreBench
    let id: ManagedObjectID
    let others: ManagedObjectContext

    init(_ kind: StoreKind) throws {
      bench = try StoreBench(kind)
      // From here on the row cache records ages.
      let watcher = bench.context()
      watcher.stalenessInterval = .seconds(0)
      others = bench.stranger()
      let person = try others.insert("Person", values: ["firstName": "old"])
      try others.save()
      id = person.objectID
    }

    func context(_ interval: Double? = nil) -> ManagedObjectContext {
      let context = bench.context()
      if let interval { context.stalenessInterval = .seconds(interval) }
      return context
    }

    func rename(_ name: Value) throws {
      try others.object(with: id).setValue(name, forKey: "firstName")
      try others.save()
    }

    func name(in context: ManagedObjectContext) throws -> Value {
      try context.object(with: id).value(forKey: "firstName")
    }
  }

  @Test(arguments: StoreKind.allCases) func anOldRowOfTheCacheIsReadAnew(_ kind: StoreKind) throws {
    let world = try World(kind)
    #expect(world.context().stalenessInterval == nil)
    #expect(try world.name(in: world.context()) == "old")
    try world.rename("new")
    #expect(try world.name(in: world.context()) == "old")
    // A store in memory costs nothing to ask.
    #expect(try world.name(in: world.context(1000)) == (kind != .memory ? "old" : "new"))
    #expect(try world.name(in: world.context(0)) == "new")
    try world.rename("newer")
    usleep(20_000)
    #expect(try world.name(in: world.context(0.01)) == "newer")
    // The newly read row is in the cache for other contexts.
    #expect(try world.name(in: world.context()) == "newer")
    try world.rename("newest")
    let context = world.context(0)
    context.stalenessInterval = .seconds(-5)
    #expect(try world.name(in: context) == "newer")
    context.stalenessInterval = .seconds(0)
    let found = try context.existingObject(with: world.id)
    #expect(found?["firstName"] == "newest")
    try world.rename("last")
    #expect(found?["firstName"] == "newest")
    try context.reset()
    #expect(try context.existingObject(with: world.id)?["firstName"] == "last")
  }

  /// A fault returned by a fetch has its row, with the age of the fetch.
  @Test(arguments: StoreKind.allCases, [false, true])
  func aFetchedFaultThatWaitsTooLongReadsAnew(_ kind: StoreKind, hasHook: Bool) throws {
    let world = try World(kind)
    var awakened: [Value] = []
    let context = world.bench.context {
      if hasHook { $0.awakeFromFetch = { awakened.append($0["firstName"]) } }
    }
    context.stalenessInterval = .seconds(0.01)
    let lasting = world.context()
    let (person, kept) = (
      try #require(context.fetch(FetchRequest("Person")).first),
      try #require(lasting.fetch(FetchRequest("Person")).first)
    )
    #expect(person.isFault)
    try world.rename("new")
    usleep(20_000)
    #expect(person["firstName"] == "new" && kept["firstName"] == "old")
    #expect(awakened == (hasHook ? ["new"] : []))
    // An object with values keeps them until it is refreshed.
    try world.rename("newer")
    usleep(20_000)
    #expect(person["firstName"] == "new")
    try context.refresh(person, mergeChanges: false)
    #expect(person["firstName"] == "newer")
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aFaultWhoseRowIsGoneMeanwhileSaysSo(_ kind: StoreKind) throws {
    let world = try World(kind)
    let context = world.context(0)
    let person = try #require(context.fetch(FetchRequest("Person")).first)
    try world.others.delete(world.others.object(with: world.id))
    try world.others.save()
    let error = #expect(throws: GraphError.self) { try person.value(forKey: "firstName") }
    #expect(error?.code == .objectNotFound && person.isFault)
  }

  /// To-many relationships follow the newly read row.
  @Test(arguments: StoreKind.allCases) func listsAgreeWithARowThatWasReadAnew(_ kind: StoreKind) throws {
    let world = try World(kind)
    let office = try world.others.insert("Department", values: ["name": "d"])
    try world.others.save()
    let context = world.context(0)
    let person = try #require(context.fetch(FetchRequest("Person")).first)
    let mine = try context.object(with: office.objectID)
    #expect(try mine.objects(forKey: "employees").isEmpty)
    try world.others.object(with: world.id).setObject(office, forKey: "department")
    try world.others.save()
    #expect(try person.object(forKey: "department") === mine)
    #expect(try mine.objects(forKey: "employees") == [person] && context.brokenInvariants() == [])
    // The change applies to the row that is read then.
    try world.rename("theirs")
    try context.refresh(person, mergeChanges: false)
    try person.setValue("mine", forKey: "firstName")
    try context.save()
    #expect(try world.bench.saved("Person", "firstName") == ["mine"])
  }

  /// A walk reads one state of the data, however old that is.
  @Test(arguments: StoreKind.allCases) func aWalkHasOneStateAllTheSame(_ kind: StoreKind) throws {
    let world = try World(kind)
    for _ in 0..<1200 { try world.others.insert("Person", values: ["firstName": "old"]) }
    try world.others.save()
    let context = world.context(0)
    let found = try context.fetchedObjects(FetchRequest("Person"))
    var names: Set<Value> = []
    for (index, person) in found.enumerated() {
      if index == 10 {
        for other in try world.others.fetch(FetchRequest("Person")) { try other.setValue("new", forKey: "firstName") }
        try world.others.save()
      }
      names.insert(person["firstName"])
    }
    #expect(names == ["old"])
    try context.reset()
    #expect(try world.name(in: context) == "new")
    withExtendedLifetime(found) {}
  }

  @Test(arguments: StoreKind.allCases) func aRowThatMovedIsAsOldAsItWas(_ kind: StoreKind) throws {
    let world = try World(kind)
    let context = world.context(1000)
    let row = try #require(try context.source.currentSnapshot(of: world.id))
    #expect(row.page.isFresh(within: 1000) == (kind != .memory) && row.page.isFresh(within: nil))
    let copy = try #require(Snapshot.copies(of: [row]).first)
    #expect(!copy.page.isFresh(within: 1000) && copy.values == row.values)
  }
}
