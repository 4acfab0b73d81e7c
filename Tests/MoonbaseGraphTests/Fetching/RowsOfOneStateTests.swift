import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Rows that a fetch reads individually have the state of the fetch, whatever the row cache contains.
@Suite struct RowsOfOneStateTests {
  /// A store in which a person has the department's name, and a context whose row cache has the department.
  private struct Bench {
    let bench: StoreBench
    let store: FailingStore
    let context: ManagedObjectContext
    private let keeper: ManagedObjectContext

    init(_ kind: StoreKind) throws {
      (bench, store) = try StoreBench.failing(kind)
      let writer = bench.stranger()
      let department = try writer.insert("Department", values: ["name": "old"])
      try writer.insert("Person", values: ["lastName": "old", "department": .objectID(department.objectID)])
      try writer.save()
      (context, keeper) = (bench.context(), bench.context())
      #expect(try keeper.object(with: department.objectID).value(forKey: "name") == "old")
    }

    /// Renames both in one save.
    static func rename(to name: Value, in context: ManagedObjectContext) throws {
      for person in try context.fetch(FetchRequest("Person")) {
        try person.setValue(name, forKey: "lastName")
        try person.object(forKey: "department")?.setValue(name, forKey: "name")
      }
      try context.save()
    }

    /// How many people differ in name from their department, evaluated row by row in the context.
    func differingCount() throws -> Int { try Self.differingCount(in: context) }

    static func differingCount(in context: ManagedObjectContext) throws -> Int {
      try context.count(FetchRequest("Person", where: "lastName != department.name OR fullName == 'nobody'"))
    }
  }

  /// Another context saves after the rows are read and before their destinations are, so the row cache has the new
  /// rows.
  @Test(arguments: StoreKind.withFolder) func whatIsSavedMeanwhileIsOfAnotherState(_ kind: StoreKind) throws {
    let bench = try Bench(kind)
    let coordinator = bench.bench.coordinator
    for name in ["new", "newer"] {
      bench.store.meddle {
        try Bench.rename(
          to: .string(name), in: ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry()))
      }
      #expect(try bench.differingCount() == 0)
      #expect(try bench.bench.saved("Person", "lastName") == [.string(name)])
    }
  }

  /// A store has committed a save, and the row cache is not updated yet.
  @Test(arguments: StoreKind.withFolder) func whatIsJustBeingSavedIsNotTakenFromTheRowCache(_ kind: StoreKind) throws {
    let bench = try Bench(kind)
    try bench.bench.coordinator.committing {
      try Bench.rename(to: "new", in: bench.bench.stranger())
      #expect(try bench.differingCount() == 0)
    }
  }

  /// Another read puts the new row into the row cache between the reads of the rows and of their destinations.
  @Test(arguments: StoreKind.withFolder) func whatAnotherReadOfASaveThatIsBeingCommittedIsNotTaken(
    _ kind: StoreKind
  ) throws {
    let bench = try Bench(kind)
    let (coordinator, stranger) = (bench.bench.coordinator, bench.bench.stranger().coordinator)
    bench.store.meddle {
      coordinator.rows.beginCommit()
      try Bench.rename(to: "new", in: ManagedObjectContext(stranger, extensionRegistry: ExtensionRegistry()))
      #expect(
        try Bench.differingCount(in: ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())) == 0)
    }
    defer { coordinator.rows.endCommit() }
    #expect(try bench.differingCount() == 0)
  }
}
