import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Objects that outlive their context or their registration.
@Suite(.serialized) struct LifetimeTests {
  /// Two objects with one ID: the first one must not keep a reference to a context that no longer knows it.
  @Test(arguments: StoreKind.allCases)
  func anObjectMadeForAnIDBeforeItsRowLeavesWhenTheRowComes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var context: ManagedObjectContext? = bench.context()
    let first = try #require(try context?.insert("Person", values: ["firstName": "first"]))
    try context?.save()
    let text = first.objectID.uriRepresentation
    let next = try #require(ManagedObjectID(uriRepresentation: text.replacing("/p1", with: "/p2")))
    let early = try #require(try context?.object(with: next))
    let late = try #require(try context?.insert("Person", values: ["firstName": "second"]))
    try context?.save()
    #expect(late.objectID == next && context?.registeredObject(for: next) === late)
    #expect { try early.value(forKey: "firstName") } throws: { "\($0)".contains("fetch it again") }
    #expect(early.managedObjectContext == nil && context?.brokenInvariants() == [])
    context = nil
    #expect(late.managedObjectContext == nil && early.managedObjectContext == nil)
  }

  /// The bytes that a context reports for its objects.
  private func weighing(_ context: ManagedObjectContext) -> Box {
    let box = Box()
    context.extensionRegistry.weigh = { box.bytes += $0 }
    return box
  }

  private final class Box { var bytes = 0 }

  @Test(arguments: StoreKind.allCases)
  func anObjectWhoseDeletionIsSavedKeepsNoValues(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let held = weighing(context)
    var gone: [ManagedObject] = []
    for _ in 0..<20 {
      let person = try context.insert("Person", values: ["firstName": .string(String(repeating: "x", count: 100_000))])
      try context.save()
      try context.delete(person)
      try context.save()
      gone.append(person)
    }
    #expect(held.bytes < 200_000)
    let person = try #require(gone.first)
    for body in [
      { _ = try person.value(forKey: "firstName") }, { _ = try person.committedValues() },
      { _ = try person.changedValues() },
    ] {
      #expect { try body() } throws: { "\($0)".contains("was used after its deletion was saved") }
    }
  }

  /// Each change is kept while it can be undone; a hook may make millions of changes.
  @Test(arguments: StoreKind.allCases)
  func whatMayBeUndoneWeighs(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let held = weighing(context)
    let (person, friend) = (try context.insert("Person"), try context.insert("Person"))
    let long = String(repeating: "x", count: 200_000)
    for ends in [true, false] {
      let before = held.bytes
      try? context.undoingOnFailure {
        for _ in 0..<2000 {
          try person.add(friend, to: "friends")
          try person.remove(friend, from: "friends")
        }
        #expect(held.bytes - before > 4 * 2000 * 48)
        for index in 0..<10 {
          try context.undoingOnFailure { try person.setValue(.string(long + "\(index)"), forKey: "firstName") }
        }
        #expect(held.bytes - before > 9 * 200_000)
        try person.setValue(.null, forKey: "firstName")
        if ends { throw CancellationError() }
      }
      #expect(held.bytes - before < 150_000)
    }
  }

  @Test func aRelationshipWeighsBesideItsDestinations() throws {
    let context = try StoreBench(.memory).context()
    let (person, friend) = (try context.insert("Person"), try context.insert("Person"))
    let before = friend.weight
    try person.add(friend, to: "friends")
    #expect(friend.weight - before >= 160)
  }

  /// An object inserted and deleted within a savepoint can be restored until the savepoint ends, and counts until then.
  @Test(arguments: StoreKind.allCases)
  func anObjectThatMayComeBackKeepsItsValuesAndWhatTheyWeigh(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let held = weighing(context)
    let long = Value.string(String(repeating: "x", count: 1_000_000))
    let person = try context.insert("Person", values: ["firstName": long])
    #expect(throws: CancellationError.self) {
      try context.undoingOnFailure {
        try context.delete(person)
        try context.processPendingChanges()
        #expect(person.managedObjectContext == nil && held.bytes > 900_000)
        throw CancellationError()
      }
    }
    #expect(try person.value(forKey: "firstName") == long && held.bytes > 900_000 && held.bytes < 1_100_000)
    try context.undoingOnFailure {
      try context.delete(person)
      try context.processPendingChanges()
      #expect(held.bytes > 900_000)
    }
    #expect(held.bytes < 100_000)
    #expect(throws: CancellationError.self) {
      try context.undoingOnFailure {
        let other = try context.insert("Person", values: ["firstName": long])
        try context.delete(other)
        try context.processPendingChanges()
        throw CancellationError()
      }
    }
    #expect(held.bytes > -100_000 && held.bytes < 100_000 && context.brokenInvariants() == [])
  }

  /// A class that makes a second object from its initialization token.
  final class Doubled: ManagedObject {
    nonisolated(unsafe) static var twins: [ManagedObject] = []  // sound: one test, on one thread, uses it
    nonisolated(unsafe) static var isMaking = false  // sound: one test, on one thread, uses it

    required init(_ place: InitializationToken) {
      super.init(place)
      guard !Self.isMaking else { return }
      Self.isMaking = true
      Self.twins.append(Doubled(place))
      Self.isMaking = false
    }
  }

  @Test(arguments: StoreKind.allCases) func everyObjectThatKnowsAContextIsKnownToIt(_ kind: StoreKind) throws {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Doubled"
    let bench = try StoreBench(kind, model)
    bench.coordinator.register(Doubled.self, forClassName: "Doubled")
    var context: ManagedObjectContext? = bench.context()
    let person = try #require(try context?.insert("Person"))
    context = nil
    #expect(!Doubled.twins.isEmpty)
    #expect(person.managedObjectContext == nil && Doubled.twins.allSatisfy { $0.managedObjectContext == nil })
    Doubled.twins = []
  }
}
