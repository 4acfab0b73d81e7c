import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Infinite recursion of Swift hooks ends with an error, as in scripts.
@Suite struct HookRecursionTests {
  /// Each method reads a value that calls the method again.
  final class Endless: ManagedObject {
    private func tell(_ body: () throws -> Void) {
      do { try body() } catch { managedObjectContext?.didFail(error) }
    }

    override func awakeFromInsert() {
      tell { try managedObjectContext?.insert("Person") }
    }

    override func awakeFromFetch() {
      tell {
        for other in try objects(forKey: "friends") { _ = try other.value(forKey: "firstName") }
      }
    }

    override func prepareForDeletion() {
      tell {
        guard let next = try managedObjectContext?.fetch(FetchRequest("Person")).first(where: { !$0.isDeleted }) else {
          return
        }
        try managedObjectContext?.delete(next)
      }
    }

    override func validateForInsert() throws { try validate() }
    override func validateValue(_ value: inout Value, forKey key: String) throws { try validate(value, forKey: key) }
  }

  private static let code = "hooks called each other"

  private func context(_ bench: StoreBench, isEndless: Bool = true) throws -> ManagedObjectContext {
    if isEndless { bench.coordinator.register(Endless.self, forClassName: "Endless") }
    return bench.context()
  }

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Endless"
    return try StoreBench(kind, model)
  }

  /// A chain of friends, in which each person is the only friend of the previous one.
  private func fill(_ bench: StoreBench, _ count: Int) throws {
    let context = try context(bench, isEndless: false)
    var last: ManagedObject?
    for _ in 0..<count {
      let person = try context.insert("Person", values: ["firstName": "A"])
      if let last { try last.add(person, to: "friends") }
      last = person
    }
    try context.save()
  }

  @Test(arguments: StoreKind.allCases) func anEndlessAwakeFromInsertIsAnError(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = try context(bench)
    try context.insert("Person")
    #expect(context.pendingErrors.contains { "\($0)".contains("awakeFromInsert: 100 \(Self.code)") })
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aLongChainOfAwakeFromFetchIsAnError(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    try fill(bench, 150)
    let context = try context(bench)
    let first = try #require(try context.fetch(FetchRequest("Person")).first)
    _ = try first.value(forKey: "firstName")
    #expect(context.pendingErrors.contains { "\($0)".contains("awakeFromFetch: 100 \(Self.code)") })
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aLongChainOfPrepareForDeletionIsAnError(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    try fill(bench, 2)
    bench.coordinator.register(Endless.self, forClassName: "Endless")
    var extensions = ClosureExtensions()
    extensions.extend("Person") {
      var entry = EntityExtension()
      entry.prepareForDeletion = { object in
        try object.managedObjectContext?.delete(object.managedObjectContext?.insert("Department") ?? object)
      }
      return entry
    }
    extensions.extend("Department") {
      var entry = EntityExtension()
      entry.prepareForDeletion = { object in
        try object.managedObjectContext?.delete(object.managedObjectContext?.insert("Department") ?? object)
      }
      return entry
    }
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    let department = try context.insert("Department")
    #expect { try context.delete(department) } throws: { "\($0)".contains("prepareForDeletion: 100 \(Self.code)") }
    #expect(context.brokenInvariants() == [])
    try context.rollback()
    #expect(!context.hasChanges)
  }

  @Test(arguments: StoreKind.allCases) func endlessRulesAreErrors(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    try fill(bench, 1)
    let context = try context(bench)
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    #expect { try person.validate("B", forKey: "firstName") } throws: {
      "\($0)".contains("validateValue: 100 \(Self.code)")
    }
    let new = try context.insert("Department")
    #expect(!new.isDeleted)
  }
}

extension ManagedObjectContext {
  /// Keeps an error caught in a method that cannot throw.
  fileprivate func didFail(_ error: any Error) {
    // An accessor that cannot throw keeps its error in the context; this assignment fails for that purpose.
    if let object = registeredObjects.first { object["no such property: \(error)"] = .null }
  }
}
