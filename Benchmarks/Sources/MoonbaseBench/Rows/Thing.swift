import Foundation
import Moonbase

/// An in-memory object with eight properties, compared with a hand-written class.
final class Thing: ManagedObject {
  static let firstKey = Attribute<Thing, String>("first")
  static let lastKey = Attribute<Thing, String>("last")
  static let ageKey = Attribute<Thing, Int64>("age")
  static let scoreKey = Attribute<Thing, Int64>("score")
  static let heightKey = Attribute<Thing, Double>("height")
  static let weightKey = Attribute<Thing, Double>("weight")
  static let isActiveKey = Attribute<Thing, Bool>("isActive")
  static let bornKey = Attribute<Thing, Date>("born")
  static let totalKey = Attribute<Thing, Int64>("total")

  override class var overriddenLifecycleMethods: LifecycleHooks { [] }

  static var model: ManagedObjectModel {
    var total = AttributeDescription("total", type: .integer64)
    total.isTransient = true
    return ManagedObjectModel {
      EntityDescription("Thing", class: "Thing") {
        AttributeDescription("first", type: .string)
        AttributeDescription("last", type: .string)
        AttributeDescription("age", type: .integer64)
        AttributeDescription("score", type: .integer64)
        AttributeDescription("height", type: .double)
        AttributeDescription("weight", type: .double)
        AttributeDescription("isActive", type: .boolean)
        AttributeDescription("born", type: .date)
        total
      }
      EntityDescription("Node") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toMany("to", destination: "Node", inverse: "from")
        RelationshipDescription.toMany("from", destination: "Node", inverse: "to")
      }
    }
  }

  static func context(deriving: Bool = false) throws -> ManagedObjectContext {
    let total = ExtensionSource.entity("Thing") {
      var thing = EntityExtension()
      thing.derived = [
        DerivedAttribute("total", ownInputs: ["age", "score"]) { thing in
          let values = (try thing.value(forKey: "age"), try thing.value(forKey: "score"))
          guard case (.int(let age), .int(let score)) = values else { return .null }
          return .int(age + score)
        }
      ]
      return thing
    }
    let container = try PersistentContainer(
      model: model, store: .inMemory, extensions: deriving ? [total] : [], classes: ["Thing": Thing.self])
    return try ManagedObjectContext(container.coordinator, extensions: container.extensions)
  }
}

/// Things in a context and their hand-written twins, in the same state.
final class ThingPairs {
  let log = HandWrittenLog()
  let context: ManagedObjectContext
  private(set) var things: [Thing] = []
  private(set) var twins: [HandWritten] = []
  private var round = 0

  init(_ count: Int, deriving: Bool = false, undoing: Bool = false) throws {
    context = try Thing.context(deriving: deriving)
    for number in 0..<count {
      let thing = try context.insert("Thing")
      guard let thing = thing as? Thing else { throw Failure("a Thing is no Thing") }
      things.append(thing)
      let values = Self.values(number, 0)
      Self.set(thing, values)
      twins.append(number < 0 ? HandWrittenOther(values, log) : HandWrittenTotal(values, log))
    }
    try context.save()
    log.isUndoing = undoing
    if undoing { context.undoManager = UndoManager() }
  }

  /// Brings both sides to a state without changes, with loaded values, and prepares new values.
  func settle() throws {
    try context.rollback()
    for thing in things { try thing.fireFault() }
    log.forgetChanges()
    round += 1
  }

  static func values(_ number: Int, _ round: Int) -> HandWrittenValues {
    HandWrittenValues(
      first: "First\(number % 1000)",
      last: round.isMultiple(of: 2) ? "Lovelace, Augusta Ada" : "Babbage, Charles and others",
      age: Int64(number + round), score: Int64(number &- round), height: Double(number) + Double(round),
      weight: Double(number) - Double(round), isActive: (number + round).isMultiple(of: 2),
      born: Date(timeIntervalSinceReferenceDate: Double(number + round)))
  }

  @inline(__always)
  private static func set(_ thing: Thing, _ values: HandWrittenValues) {
    thing[Thing.firstKey] = values.first
    thing[Thing.lastKey] = values.last
    thing[Thing.ageKey] = values.age
    thing[Thing.scoreKey] = values.score
    thing[Thing.heightKey] = values.height
    thing[Thing.weightKey] = values.weight
    thing[Thing.isActiveKey] = values.isActive
    thing[Thing.bornKey] = values.born
  }

  /// Sets all eight properties of each thing. The values are made beforehand, for both sides alike.
  @inline(never)
  func setThings() -> Int64 {
    let values = Self.values(0, round)
    for thing in things { Self.set(thing, values) }
    return Int64(things.count)
  }

  @inline(never)
  func setTwins() -> Int64 {
    let values = Self.values(0, round)
    for twin in twins {
      twin.first = values.first
      twin.last = values.last
      twin.age = values.age
      twin.score = values.score
      twin.height = values.height
      twin.weight = values.weight
      twin.isActive = values.isActive
      twin.born = values.born
    }
    return Int64(log.objects.count)
  }

  @inline(never)
  func sumOfThings() -> Int64 {
    var sum: Int64 = 0
    for _ in 0..<10 { for thing in things { sum &+= thing[Thing.totalKey] } }
    return sum
  }

  @inline(never)
  func sumOfTwins() -> Int64 {
    var sum: Int64 = 0
    for _ in 0..<10 { for twin in twins { sum &+= twin.total } }
    return sum
  }

  /// Changes one attribute of each thing.
  func changeAges() {
    for (number, thing) in things.enumerated() { thing[Thing.ageKey] = Int64(number + round) }
    for (number, twin) in twins.enumerated() { twin.age = Int64(number + round) }
  }

  @inline(never)
  func copyTwins() -> Int64 {
    var copies: [HandWrittenValues] = []
    copies.reserveCapacity(log.objects.count)
    for twin in log.objects {
      copies.append(twin.copy)
      twin.forgetChanges()
    }
    log.objects.removeAll(keepingCapacity: true)
    return Int64(withExtendedLifetime(copies) { copies.count })
  }
}
