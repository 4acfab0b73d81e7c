import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import enum MoonbaseModel.Predicate

/// Looking up one object by attribute values gives the first object of the equivalent fetch.
@Suite struct ObjectLookupTests {
  private typealias Sought = [(name: String, value: Value)]

  private func fetched(_ narrowingCondition: Sought, _ context: ManagedObjectContext) throws -> ManagedObject? {
    var request = FetchRequest("Person")
    request.predicate = .and(
      narrowingCondition.sorted { $0.name < $1.name }.map {
        .comparison(.init(.keyPath(.evaluatedObject, [$0.name]), .equal, .constant($0.value)))
      })
    request.fetchLimit = 1
    return try context.fetch(request).first
  }

  private func narrowingCondition(_ random: inout SplitMix) -> Sought {
    let name: Value = random.next(12) == 0 ? .null : .string("n\(random.next(6))")
    switch random.next(4) {
    case 0: return [("age", .int(Int64(random.next(4))))]
    case 1: return [("firstName", name), ("age", .int(Int64(random.next(4))))]
    default: return [("firstName", name)]
    }
  }

  private func change(_ context: ManagedObjectContext, _ random: inout SplitMix) throws {
    let values: [String: Value] = [
      "firstName": .string("n\(random.next(6))"), "age": .int(Int64(random.next(4))),
    ]
    let all = try context.fetch(FetchRequest("Person"))
    switch random.next(8) {
    case 0, 1, 2: _ = try context.insert(random.next(3) == 0 ? "Employee" : "Person", values: values)
    case 3, 4:
      if let object = all.randomElement(using: &random) { try object.setValuesForKeys(values) }
    case 5: if let object = all.randomElement(using: &random) { try context.delete(object) }
    case 6: try context.save()
    default: if random.next(4) == 0 { try context.rollback() }
    }
  }

  @Test(arguments: StoreKind.withFolder, 1...4 as ClosedRange<UInt64>)
  func itIsTheOneThatAFetchFinds(_ kind: StoreKind, _ seed: UInt64) throws {
    let bench = try StoreBench(kind)
    let (context, other) = (bench.context(), bench.stranger())
    var random = SplitMix(seed)
    for step in 0..<80 {
      try change(context, &random)
      if random.next(5) == 0 {
        _ = try other.insert("Person", values: ["firstName": .string("n\(random.next(6))"), "age": 1])
        if random.next(2) == 0 { try other.save() }
      }
      for _ in 0..<3 {
        let narrowingCondition = narrowingCondition(&random)
        let found = try context.firstObject(
          of: #require(context.model.entity("Person")), with: narrowingCondition, mayBeOld: random.next(2) == 0)
        #expect(try found?.objectID == fetched(narrowingCondition, context)?.objectID, "\(step): \(narrowingCondition)")
      }
    }
  }

  /// The first batch contains only rows of changed objects, so more rows are read.
  @Test(arguments: StoreKind.allCases) func changedObjectsArePassedOver(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (0..<40).map { _ in try context.insert("Person", values: ["firstName": "a"]) }
    try context.save()
    for person in people.dropLast() { try person.setValue("b", forKey: "firstName") }
    let entity = try #require(context.model.entity("Person"))
    for mayBeOld in [false, true] {
      let found = try context.firstObject(of: entity, with: [("firstName", "a")], mayBeOld: mayBeOld)
      #expect(found === people.last)
    }
  }

  @Test func lookupsThatFollowEachOtherReadOneViewUntilSomethingIsSaved() throws {
    let bench = try StoreBench(.sqlite)
    let context = bench.context()
    let entity = try #require(context.model.entity("Person"))
    func find(_ name: Value) throws -> ManagedObject? {
      try context.firstObject(of: entity, with: [("firstName", name)], mayBeOld: true)
    }
    #expect(try find("a") == nil)
    let session = context.lookupCache.session
    #expect(session != nil)
    // Any context of this process saves.
    let other = bench.stranger()
    _ = try other.insert("Person", values: ["firstName": "a"])
    try other.save()
    #expect(try find("a") != nil)
    #expect(context.lookupCache.session !== session)
    // The session may have ended already.
    context.lookupCache.session?.end()
    #expect(try find("a") != nil)
    _ = try context.insert("Person", values: ["firstName": "b"])
    try context.save()
    #expect(context.lookupCache.session == nil)
    #expect(try find("b") != nil)
  }
}
