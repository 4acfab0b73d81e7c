import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// The map of a context's objects.
@Suite struct IdentityMapTests {
  private let context: ManagedObjectContext
  private let objects: [ManagedObject]
  private let entities = ["Person", "Department"].map(Symbol.init)

  init() throws {
    context = try ManagedObjectContext(People.coordinator())
    objects = try (0..<4).map { [context] _ in try context.insert("Person") }
  }

  private func id(_ key: Int64, _ entity: Int = 0, store: UInt32 = 1) -> ManagedObjectID {
    ManagedObjectID(store: StoreNumber(rawValue: store), entity: entities[entity], key: key)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func randomOperationsGiveWhatADictionaryGives(seed: UInt64) throws {
    var random = SplitMix(seed)
    var map = IdentityMap()
    var reference: [ManagedObjectID: Unmanaged<ManagedObject>] = [:]
    // Few keys, so that what is removed comes again.
    for step in 0..<4000 {
      let id = id(.random(in: -40...40, using: &random), .random(in: 0...1, using: &random))
      let object = Unmanaged.passUnretained(try #require(objects.randomElement(using: &random)))
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        map[id] = object
        reference[id] = object
      case 10..<19:
        map[id] = nil
        reference[id] = nil
      default: map.reserveCapacity(.random(in: 0..<300, using: &random))
      }
      #expect(map[id]?.toOpaque() == reference[id]?.toOpaque())
      #expect(map.count == reference.count)
      guard step % 100 == 0 else { continue }
      #expect(
        Dictionary(uniqueKeysWithValues: map.pairs.map { ($0, $1.toOpaque()) }) == reference.mapValues { $0.toOpaque() }
      )
    }
  }

  @Test func keysThatDifferInOnePartOnlyAreDifferentKeys() {
    var map = IdentityMap()
    let ids = [id(1), id(2), id(1, 1), id(1, store: 2)]
    for (id, object) in zip(ids, objects) { map[id] = Unmanaged.passUnretained(object) }
    for (id, object) in zip(ids, objects) { #expect(map[id]?.takeUnretainedValue() === object) }
    #expect(map.count == 4)
  }

  @Test func anObjectTakesOutItselfNotAnotherOneThatIsKeptByItsID() {
    var map = IdentityMap()
    map.remove(objects[0])
    map[objects[0].objectID] = Unmanaged.passUnretained(objects[1])
    map.remove(objects[0])
    #expect(map.count == 1)
    map[objects[0].objectID] = Unmanaged.passUnretained(objects[0])
    map.remove(objects[0])
    #expect(map.count == 0)
    #expect(map[objects[0].objectID] == nil)
    #expect(Array(map.values).isEmpty)
  }

  /// Of all pairs of factors, 4 in 1,000 suit a step badly: that most of nine do is no chance.
  @Test(arguments: [1, 2, 8, 1024, 1 << 32] as [Int64])
  func keysInRowsOfAnyStepLieCloseToWhereTheyBelong(step: Int64) {
    var random = SplitMix(UInt64(step))
    let distances = (0..<9).map { _ in
      var map = IdentityMap(factors: (random.next(), random.next()))
      for number in 0..<2000 { map[id(Int64(number) &* step)] = Unmanaged.passUnretained(objects[0]) }
      return map.greatestDistance
    }
    #expect(distances.sorted()[distances.count / 2] < 100, "\(distances)")
  }
}
