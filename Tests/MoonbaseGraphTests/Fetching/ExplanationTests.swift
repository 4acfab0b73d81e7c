import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Explanations of fetches: the store's part, the context's part, and the reasons.
@Suite struct ExplanationTests {
  @Test func aStoreInMemoryGoesThroughAnIndexOrAllRowsAndLeavesTheRest() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context()
    var request = try FetchRequest("Person", where: "age >= 30")
    request.sortDescriptors = [SortDescriptor("lastName", ascending: false)]
    (request.fetchLimit, request.fetchOffset) = (10, 5)
    #expect(
      try context.explain(request).split(separator: "\n") == [
        "the store: all rows of Person, Employee",
        "the context judges age >= 30: a store in memory leaves it to the context",
        "the context sorts by -lastName: a store in memory leaves it to the context",
        "the context applies limit 10, offset 5",
      ])
    #expect(
      try context.explain(FetchRequest("Employee", where: "firstName == 'Ada' AND age == 3"))
        .hasPrefix("the store: an index of firstName, age over Employee\n"))
    #expect(try context.explain(FetchRequest("Department")) == "the store: all rows of Department")
  }

  @Test func aFileRunsAStatementAndLeavesWhatSQLCannotSay() throws {
    let bench = try StoreBench(.sqlite)
    let context = bench.context()
    var request = try FetchRequest("Person", where: "age >= 30 AND fullName == 'x'")
    request.sortDescriptors = [SortDescriptor("age")]
    request.fetchLimit = 10
    let lines = try context.explain(request).split(separator: "\n")
    #expect(lines[0].hasPrefix("the store: SELECT "))
    #expect(lines[0].hasSuffix(" FROM ZPERSON t0 WHERE t0.ZAGE >= ?"), "\(lines[0])")
    #expect(
      lines.dropFirst() == [
        "  SCAN t0",
        #"the context judges fullName == "x": fullName is computed by the context"#,
        "the context sorts by age: only it knows which rows match", "the context applies limit 10",
      ])
    request.predicate = try Predicate(format: "age >= 30")
    let end = "WHERE t0.ZAGE >= ? ORDER BY t0.ZAGE ASC, t0.Z_PK ASC LIMIT ? OFFSET ?"
    #expect(try context.explain(request).contains(end + "\n  SCAN t0\n  USE TEMP B-TREE FOR ORDER BY"))
    request.sortDescriptors = [SortDescriptor("lastName", comparator: .localizedCompare)]
    #expect(
      try context.explain(request).split(separator: "\n").dropFirst() == [
        "  SCAN t0",
        "the context sorts by lastName (localizedCompare): the order of lastName is that of a person's language",
        "the context applies limit 10",
      ])
  }

  @Test func stepsThatBelongToAnotherOneStandBelowIt() throws {
    let bench = try StoreBench(.sqlite)
    let condition = "SUBQUERY(employees, $e, $e.age > 3 AND ANY $e.friends.age > 3).@count > 1"
    let explanation = try bench.context().explain(FetchRequest("Department", where: condition))
    let steps = explanation.split(separator: "\n").dropFirst()
    #expect(steps.allSatisfy { $0.hasPrefix("  ") })
    #expect(steps.contains { $0.hasPrefix("    SEARCH ") }, "\(steps)")
  }

  @Test(arguments: StoreKind.allCases) func unsavedChangesAreSaidToComeOnTopAndNothingIsRead(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.context()
    try context.insert("Person")
    store.fail(afterReads: 0)
    let request = try FetchRequest("Person", where: "age >= 30")
    #expect(try context.explain(request).contains("\nunsaved changes: "))
    #expect(throws: ModelError.self) { try context.explain(FetchRequest("Person", where: "nosuch == 1")) }
    try context.rollback()
    #expect(try !context.explain(request).contains("unsaved changes"))
  }

  @Test(arguments: StoreKind.allCases) func eachOfSeveralStoresHasItsPart(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    #expect {
      try ManagedObjectContext(coordinator).explain(FetchRequest("Person"))
    } throws: {
      "\($0)".contains("no open store holds Person")
    }
    for _ in 0..<2 { try coordinator.add(kind.store(for: model, in: folder)) }
    var request = FetchRequest("Department")
    request.sortDescriptors = [SortDescriptor("name")]
    request.fetchLimit = 3
    let lines = try ManagedObjectContext(coordinator).explain(request).split(separator: "\n")
    #expect(lines.count == (kind == .memory ? 6 : 8))
    #expect(lines.contains("    SCAN t0") == (kind == .sqlite))
    #expect(lines.filter { $0.hasPrefix("in ") }.count == 2)
    #expect(
      lines.suffix(2) == ["the context sorts the rows of the stores together", "the context applies limit 3"])
  }

  /// Counting makes no objects, even if the store cannot sort the rows.
  @Test(arguments: StoreKind.allCases) func aCountNeedsNoOrder(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for age in 0..<5 { try context.insert("Person", values: ["age": .int(Int64(age))]) }
    try context.save()
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("lastName", comparator: .localizedCompare)]
    request.fetchOffset = 2
    let fresh = bench.stranger()
    #expect(try fresh.count(request) == 3)
    #expect(fresh.registeredObjects.isEmpty)
  }
}
