import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// What a fetch reads one by one beside its rows is of their state, whatever the row cache has by then.
@Suite struct RowsOfOneStateTests {
  /// A store in which a person has the name of her department, and a context of which the row cache knows the department.
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

    /// Gives both another name, in one save.
    static func rename(to name: Value, in context: ManagedObjectContext) throws {
      for person in try context.fetch(FetchRequest("Person")) {
        try person.setValue(name, forKey: "lastName")
        try person.object(forKey: "department")?.setValue(name, forKey: "name")
      }
      try context.save()
    }

    /// How many people have another name than their department, as the context finds who judges each row itself.
    func differingCount() throws -> Int { try Self.differingCount(in: context) }

    static func differingCount(in context: ManagedObjectContext) throws -> Int {
      try context.count(FetchRequest("Person", where: "lastName != department.name OR fullName == 'nobody'"))
    }
  }

  /// Another context saves when the rows are read and what they lead to is not: the row cache has the new row then.
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

  /// A store has committed a save of which the row cache was not told yet.
  @Test(arguments: StoreKind.withFolder) func whatIsJustBeingSavedIsNotTakenFromTheRowCache(_ kind: StoreKind) throws {
    let bench = try Bench(kind)
    try bench.bench.coordinator.committing {
      try Bench.rename(to: "new", in: bench.bench.stranger())
      #expect(try bench.differingCount() == 0)
    }
  }

  /// The same while the rows are there and what they lead to is not, and somebody else has read the new row into the row cache.
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
