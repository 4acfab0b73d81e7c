import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Values that the model wants to be unique.
@Suite struct UniquenessTests {
  @Test(arguments: StoreKind.withFolder) func aUniqueValuePassesFromOneRowToAnotherInOneSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let a = try context.insert("Person", values: ["email": "a"])
    let b = try context.insert("Employee", values: ["email": "b"])
    try context.save()
    a["email"] = "b"
    b["email"] = "a"
    try context.save()
    try context.delete(a)
    let c = try context.insert("Person", values: ["email": "b"])
    try context.save()
    #expect(try context.count(FetchRequest("Person")) == 2 && c["email"] == "b")
  }

  @Test(arguments: StoreKind.withFolder) func aSaveThatFailsLeavesUniqueValuesAsTheyWere(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let a = try context.insert("Person", values: ["email": "a"])
    let b = try context.insert("Person", values: ["email": "b"])
    try context.save()
    // One value is freed and another taken before the third row is refused.
    a["email"] = "new"
    let d = try context.insert("Person", values: ["email": "d"])
    let c = try context.insert("Employee", values: ["email": "b"])
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
    let other = try ManagedObjectContext(coordinator)
    _ = try other.insert("Person", values: ["email": "a"])
    #expect { try other.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
    try other.rollback()
    _ = try other.insert("Person", values: ["email": "new"])
    try other.save()
    for email in ["d", "c"] { _ = try other.insert("Person", values: ["email": .string(email)]) }
    try other.save()
    (a["email"], d["email"], c["email"], b["email"]) = ("b", "e", "f", "a")
    try context.save()
    #expect(try other.count(FetchRequest("Person")) == 7)
  }
}
