import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// New objects get keys reserved by their store, and all references are updated.
@Suite struct PermanentIDTests {
  private let thing = Symbol("Thing")
  private let other = Symbol("Other")
  private let store = StoreNumber("A-STORE-OF-PERMANENT-ID-TESTS")

  private func assigned(_ ids: [(ManagedObjectID, EntityIndex)]) -> PermanentIDs {
    var permanent = PermanentIDs(entityCount: 2)
    for (id, entity) in ids { permanent.note(id, of: entity) }
    permanent.assign { entity, _ in (store, entity == 0 ? 100 : 500) }
    return permanent
  }

  @Test func keysFollowEachOtherInTheOrderOfTheList() {
    var (things, others) = (TemporaryKeyRange(), TemporaryKeyRange())
    let ids = (0..<1000).map { $0 % 3 == 0 ? (others.makeID(for: other), 1) : (things.makeID(for: thing), 0) }
    let permanent = assigned(ids)
    #expect(ids.filter { $0.1 == 0 }.map { permanent[$0.0]?.key } == (100..<766).map { $0 })
    #expect(ids.filter { $0.1 == 1 }.map { permanent[$0.0]?.key } == (500..<834).map { $0 })
    #expect(ids.allSatisfy { permanent[$0.0]?.entitySymbol == $0.0.entitySymbol })
  }

  @Test func gapsTakeNoKeysAndHaveNone() {
    var range = TemporaryKeyRange()
    let all = (0..<100).map { _ in range.makeID(for: thing) }
    let kept = all.indices.filter { $0 % 7 != 2 && $0 != 0 && $0 != 99 }
    let permanent = assigned(kept.map { (all[$0], 0) })
    #expect(kept.enumerated().allSatisfy { permanent[all[$1]]?.key == Int64(100 + $0) })
    #expect(all.indices.filter { !kept.contains($0) }.allSatisfy { permanent[all[$0]] == nil })
  }

  /// Undo may restore objects in another order.
  @Test func keysGoByTheListAndNotByTheTemporaryKeys() {
    var range = TemporaryKeyRange()
    let ids = (0..<10).map { _ in range.makeID(for: thing) }
    let order = [7, 8, 9, 3, 0, 1]
    let permanent = assigned(order.map { (ids[$0], 0) })
    #expect(order.map { permanent[ids[$0]]?.key } == [100, 101, 102, 103, 104, 105])
    #expect(permanent[ids[2]] == nil)
  }

  @Test func idsOfOthersAreNotTakenForOwnOnes() {
    var (mine, theirs) = (TemporaryKeyRange(), TemporaryKeyRange())
    var (own, foreign): ([ManagedObjectID], [ManagedObjectID]) = ([], [])
    for _ in 0..<200 {
      own.append(mine.makeID(for: thing))
      foreign.append(theirs.makeID(for: thing))
    }
    let permanent = assigned(own.map { ($0, 0) })
    #expect(foreign.allSatisfy { permanent[$0] == nil } && own.allSatisfy { permanent[$0] != nil })
    #expect(Set(own + foreign).count == 400)
    #expect(permanent[ManagedObjectID(store: store, entity: thing, key: own[0].key)] == nil)
  }

  @Test(arguments: StoreKind.withFolder)
  func savesThatFailAndObjectsThatGoLeaveTheRestAsItWas(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let departments = try (0..<3).map { try context.insert("Department", values: ["name": .string("D\($0)")]) }
    var people: [ManagedObject] = []
    for index in 0..<60 {
      let values: [String: Value] = ["firstName": .string("P\(index)"), "email": .string("\(index)")]
      let person = try context.insert("Person", values: values)
      try person.setObject(departments[index % 3], forKey: "department")
      people.append(person)
    }
    for index in [0, 17, 18, 59] { try context.delete(people[index]) }
    people = people.enumerated().filter { ![0, 17, 18, 59].contains($0.offset) }.map(\.element)
    try people[5].setValue(.string("9"), forKey: "email")
    #expect(throws: GraphError.self) { try context.save() }
    #expect(people.allSatisfy(\.objectID.isTemporaryID) && context.brokenInvariants() == [])
    try people[5].setValue(.string("five"), forKey: "email")
    try context.save()
    #expect(context.brokenInvariants() == [])
    let keys = people.map(\.objectID.key)
    #expect(keys == Array(keys[0]..<keys[0] + 56))
    let reader = bench.context()
    for person in people {
      let found = try #require(try reader.existingObject(with: person.objectID))
      #expect(found["firstName"] == person["firstName"])
      #expect(try found.object(forKey: "department")?.objectID == person.object(forKey: "department")?.objectID)
    }
    let members = try departments[0].objectIDs(forRelationshipNamed: "employees")
    #expect(members.allSatisfy { !$0.isTemporaryID } && members.count == 18)
  }
}
