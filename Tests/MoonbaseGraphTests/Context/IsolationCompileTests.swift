import MoonbaseTestSupport
import Testing

/// What the compiler must refuse. The first test proves that the harness can tell.
@Suite struct IsolationCompileTests {
  private func compile(_ body: String) throws -> CompileCheck {
    try CompileCheck("import MoonbaseGraph\nimport MoonbaseModel\n\(body)")
  }

  @Test func returningIDsCompiles() throws {
    let check = try compile(
      """
      func ids(_ background: BackgroundContext) async throws -> [ManagedObjectID] {
        try await background.perform { context in try context.fetchIDs(FetchRequest("Person")) }
      }
      func count(_ background: BackgroundContext) throws -> Int {
        try background.performAndWait { context in try context.count(FetchRequest("Person")) }
      }
      """)
    #expect(check.succeeded, "\(check.output)")
  }

  @Test(arguments: [
    // Returned from perform.
    """
    func objects(_ background: BackgroundContext) async throws -> [ManagedObject] {
      try await background.perform { context in try context.fetch(FetchRequest("Person")) }
    }
    """,
    // Returned from performAndWait.
    """
    func object(_ background: BackgroundContext) throws -> ManagedObject {
      try background.performAndWait { context in try context.insert("Person") }
    }
    """,
    // Carried in from another context.
    """
    func touch(_ background: BackgroundContext, _ context: ManagedObjectContext) async throws {
      let person = try context.insert("Person")
      try await background.perform { _ in try person.setValue(1, forKey: "age") }
      print(person)
    }
    """,
    // The context itself kept.
    """
    func context(_ background: BackgroundContext) async -> ManagedObjectContext {
      await background.perform { context in context }
    }
    """,
  ])
  func crossingObjectsDoesNotCompile(_ source: String) throws {
    let check = try compile(source)
    #expect(!check.succeeded)
    #expect(check.output.contains("risks causing data races") || check.output.contains("sending"), "\(check.output)")
    #expect(!check.output.contains("missing required module"), "\(check.output)")
  }
}
