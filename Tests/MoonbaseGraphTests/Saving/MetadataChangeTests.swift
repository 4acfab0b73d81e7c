import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Metadata changes committed together with objects.
@Suite struct MetadataChangeTests {
  private struct Refusal: Error {}

  @Test(arguments: StoreKind.withFolder) func aChangeIsCommittedWithTheObjects(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let store = bench.coordinator.persistentStores[0]
    try store.setMetadata(["old": 1])
    let context = bench.context()
    try context.insert("Person", values: ["email": "ada", "age": 1])
    try context.save(with: MetadataChange(of: store) { $0.merging(["done": 5]) { _, new in new } })
    #expect(try store.metadata()["old"] == 1 && store.metadata()["done"] == 5)
    #expect(try bench.context().count(FetchRequest("Person")) == 1)
  }

  @Test(arguments: StoreKind.withFolder) func aChangeAloneIsASave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let store = bench.coordinator.persistentStores[0]
    try bench.context().save(with: MetadataChange(of: store) { _ in ["done": 1] })
    #expect(try store.metadata()["done"] == 1)
    try store.change(MetadataChange(of: store) { known in known.merging(["more": 2]) { _, new in new } })
    #expect(try store.metadata()["done"] == 1 && store.metadata()["more"] == 2)
  }

  @Test(arguments: StoreKind.withFolder) func whatAChangeThrowsFailsTheSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let store = bench.coordinator.persistentStores[0]
    let context = bench.context()
    let ada = try context.insert("Person", values: ["email": "ada", "age": 1])
    #expect(throws: Refusal.self) {
      try context.save(with: MetadataChange(of: store) { _ in throw Refusal() })
    }
    #expect(ada.isInserted && context.hasChanges)
    #expect(try bench.context().count(FetchRequest("Person")) == 0)
    try context.save()
    #expect(try bench.context().count(FetchRequest("Person")) == 1)
  }

  @Test(arguments: StoreKind.allCases) func aFailedSaveLeavesTheMetadata(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let store = bench.coordinator.persistentStores[0]
    try bench.context().save(with: MetadataChange(of: store) { _ in ["done": 1] })
    let context = bench.context()
    let ada = try context.insert("Person", values: ["email": "ada", "age": 1])
    try context.save()
    let other = bench.context()
    try #require(try other.existingObject(with: ada.objectID)).setValue(2, forKey: "age")
    try other.save()
    try ada.setValue(3, forKey: "age")
    #expect(throws: GraphError.self) {
      try context.save(with: MetadataChange(of: store) { _ in ["done": 2] })
    }
    #expect(try store.metadata()["done"] == 1)
  }

  @Test(arguments: StoreKind.allCases) func aSaveAheadTakesItAlong(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let store = bench.coordinator.persistentStores[0]
    let context = bench.context()
    for round in 1...3 {
      for number in 0..<100 {
        try context.insert("Person", values: ["email": .string("\(round) \(number)"), "age": 1])
      }
      try context.saveAhead(with: MetadataChange(of: store) { _ in ["done": .int(Int64(round))] })
    }
    try context.save()
    #expect(try store.metadata()["done"] == 3)
    #expect(try bench.context().count(FetchRequest("Person")) == 300)
  }
}
