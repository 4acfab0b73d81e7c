import Moonbase
import MoonbaseLua
import MoonbaseTestSupport
import Testing

/// Errors for an app whose extensions exceed a limit or do not run: graph errors with entity and property, and script
/// errors. `LuaError` is not exported.
@Suite struct LimitErrorTests {
  private let model = ManagedObjectModel {
    EntityDescription("P") {
      AttributeDescription("n", type: .integer64)
      AttributeDescription("slow", type: .integer64).with { $0.isTransient = true }
      AttributeDescription("t", type: .transformable).with { $0.valueTransformerName = "T" }
    }
  }

  private static let transformer = "transformers = { T = { transform = forever, reverse = forever } }"
  private static let derived = "entities = { P = { derived = { slow = { inputs = { 'n' }, get = forever } } } }"

  private func container(
    _ body: String = "", before: String = ""
  ) throws -> PersistentContainer {
    let text = """
      local function forever()
        local n = 0
        while true do n = n + 1 end
      end
      \(before)
      return { \(Self.transformer), \(body) }
      """
    return try PersistentContainer(
      model: model, store: .inMemory, extensions: [.text(text, name: "slow.lua")],
      limits: LuaLimits(instructions: 100_000))
  }

  private func expectLimit(of property: String?, _ body: () throws -> Void) {
    let error = #expect(throws: GraphError.self) { try body() }
    #expect(error?.code == .limitExceeded)
    #expect(error?.entity == "P")
    #expect(error?.property == property)
    #expect(error?.message.contains("slow.lua:3: the script used up its instructions") == true, "\(error as Any)")
  }

  @Test(arguments: [
    ("will_save = forever", nil), ("awake_from_insert = forever", nil), ("validate = { n = forever }", "n"),
    ("did_save = forever", nil),
  ])
  @MainActor func aSaveSaysWhichHookPassedTheLimit(_ hook: String, property: String?) throws {
    let context = try container("entities = { P = { \(hook) } }").viewContext
    expectLimit(of: property) {
      try context.insert("P", values: ["n": 1])
      try context.save()
    }
  }

  @Test @MainActor func aFetchByADerivedAttributeSaysItsName() throws {
    let context = try container(Self.derived).viewContext
    let object = try context.insert("P", values: ["n": 1])
    expectLimit(of: "slow") { _ = try object.value(forKey: "slow") }
    try context.save()
    expectLimit(of: "slow") { _ = try context.fetch(FetchRequest("P", where: Predicate(format: "slow = 1"))) }
  }

  @Test @MainActor func anAccessorThatCannotThrowKeepsTheError() throws {
    let context = try container(Self.derived).viewContext
    let object = try context.insert("P", values: ["n": 1])
    #expect(object["slow"] == .null)
    let errors = context.drainAccessorErrors()
    #expect((errors.first as? GraphError)?.code == .limitExceeded, "\(errors)")
  }

  @Test @MainActor func aTransformerSaysItsAttribute() throws {
    let context = try container().viewContext
    expectLimit(of: "t") { try context.insert("P", values: ["t": "x"]) }
  }

  @Test func aFileThatPassesTheLimitIsAnErrorOfScripts() {
    let error = #expect(throws: ScriptError.self) { try container(before: "forever()") }
    #expect(error?.code == .limitExceeded)
    #expect(error?.location == SourceLocation(file: "slow.lua", line: 3))
  }

  @Test func aFileThatDoesNotRunIsAnErrorOfScripts() {
    for (text, line) in [("error('no')", 5), ("local = 1", 5), ("local x = nil + 1", 5)] {
      let error = #expect(throws: ScriptError.self) { try container(before: text) }
      #expect(error?.code == .invalidExtension)
      #expect(error?.location == SourceLocation(file: "slow.lua", line: line), "\(text)")
    }
  }
}
