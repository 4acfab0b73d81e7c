import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Uniqueness constraints of the model.
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

  /// Each row, new or changed, with taken values is reported once.
  @Test(arguments: StoreKind.withFolder) func allTakenValuesOfASaveAreNamedTogether(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try ["a", "b", "c", "d"].map { try context.insert("Person", values: ["email": .string($0)]) }
    try context.save()
    // A value released by one object is free for another, also beside conflicting values.
    people[3]["email"] = "e"
    people[2]["email"] = "a"
    let new = try ["b", "d", "f", "c"].map { try context.insert("Employee", values: ["email": .string($0)]) }
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .constraintConflict)
    #expect(error?.message.hasPrefix("2 objects have values that must be unique") == true, "\(error as Any)")
    // A new object is identified by the ID that it would have got.
    #expect(error?.details.contains { $0.objectID == people[2].objectID } == true)
    #expect(error?.details.contains { $0.entity == "Employee" } == true && new[0].objectID.isTemporaryID)
    #expect(error?.details.allSatisfy { $0.property == "email" } == true)
    #expect(Set(error?.details.compactMap(\.value) ?? []) == ["a", "b"])
    for detail in error?.details ?? [] {
      #expect(detail.message.contains("the same email (\"\(detail.value?.string ?? "")\") as "), "\(detail)")
    }
    #expect(try bench.saved("Person", "email") == ["a", "b", "c", "d"])
    (people[2]["email"], new[0]["email"]) = ("g", "h")
    try context.save()
    #expect(try bench.saved("Person", "email") == ["a", "b", "c", "d", "e", "f", "g", "h"])
  }

  @Test(arguments: StoreKind.withFolder) func aSaveThatFailsLeavesUniqueValuesAsTheyWere(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let a = try context.insert("Person", values: ["email": "a"])
    let b = try context.insert("Person", values: ["email": "b"])
    try context.save()
    // A value is freed and another taken before the third row is refused.
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

  /// A check without a save, as the command's `each` uses for a dry run.
  @Test(arguments: StoreKind.withFolder) func takenValuesAreFoundBeforeASave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let saved = try context.insert("Person", values: ["email": "a"])
    try context.save()
    let new = try ["b", "c"].map { try context.insert("Employee", values: ["email": .string($0)]) }
    try context.prepareSave()
    // The value of another changed object, and that of a saved one.
    for email in ["b", "a"] {
      new[1]["email"] = .string(email)
      let error = #expect(throws: GraphError.self) { try context.prepareSave() }
      #expect(error?.code == .constraintConflict && error?.property == "email", "\(error as Any)")
    }
    saved["email"] = "d"
    try context.prepareSave()
    #expect(try bench.saved("Person", "email") == ["a"])
    try context.save()
    #expect(try bench.saved("Person", "email") == ["a", "b", "d"])
  }
}
