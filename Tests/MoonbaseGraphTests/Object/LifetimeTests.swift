import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Objects that outlive their context, or their place in it.
@Suite struct LifetimeTests {
  /// Two objects of one ID: the first must not keep its way to a context that no longer knows it.
  @Test(arguments: StoreKind.allCases)
  func anObjectMadeForAnIDBeforeItsRowLeavesWhenTheRowComes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    var context: ManagedObjectContext? = try bench.context()
    let first = try #require(try context?.insert("Person", ["firstName": "first"]))
    try context?.save()
    let text = first.objectID.uriRepresentation
    let next = try #require(ManagedObjectID(uriRepresentation: text.replacing("/p1", with: "/p2")))
    let early = try #require(try context?.object(with: next))
    let late = try #require(try context?.insert("Person", ["firstName": "second"]))
    try context?.save()
    #expect(late.objectID == next && context?.registeredObject(for: next) === late)
    #expect { try early.value(forKey: "firstName") } throws: { "\($0)".contains("fetch it again") }
    #expect(early.managedObjectContext == nil && context?.brokenInvariants() == [])
    context = nil
    #expect(late.managedObjectContext == nil && early.managedObjectContext == nil)
  }

  /// A class that makes a second object from the place it was given.
  final class Doubled: ManagedObject {
    nonisolated(unsafe) static var twins: [ManagedObject] = []  // sound: one test, on one thread, uses it
    nonisolated(unsafe) static var isMaking = false  // sound: one test, on one thread, uses it

    required init(_ place: Place) {
      super.init(place)
      guard !Self.isMaking else { return }
      Self.isMaking = true
      Self.twins.append(Doubled(place))
      Self.isMaking = false
    }
  }

  @Test func everyObjectThatKnowsAContextIsKnownToIt() throws {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Doubled"
    let bench = try StoreBench(.memory, model)
    bench.coordinator.register(Doubled.self, forClassName: "Doubled")
    var context: ManagedObjectContext? = try bench.context()
    let person = try #require(try context?.insert("Person"))
    context = nil
    #expect(person.managedObjectContext == nil && Doubled.twins.allSatisfy { $0.managedObjectContext == nil })
    Doubled.twins = []
  }
}
