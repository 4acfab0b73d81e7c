import Moonbase
import MoonbaseLua
import MoonbasePlatform
import MoonbaseStoreKit
import Testing

/// A script fetches, SQLite calls a pure function in another Lua state: after every kind of end everything remains
/// usable.
@Suite struct HardVerticalTests {
  /// A store with 200 items, whose extension can be rewritten.
  private final class Bench {
    static let model = """
      return { entities = { Item = { attributes = { number = { "integer64", optional = false, default = 0 } } } } }
      """
    let folder: URL
    let container: PersistentContainer

    init(_ body: String, limits: LuaLimits = LuaLimits()) throws {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent("Vertical-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Self.write(body, to: folder)
      let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.model))
      container = try PersistentContainer(
        model: model, store: .sqlite(folder.appendingPathComponent("store.sqlite")),
        extensions: [.file(folder.appendingPathComponent("extension.lua"))], limits: limits)
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      for number in 1...200 { try context.insert("Item", values: ["number": .int(Int64(number))]) }
      try context.save()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static func write(_ body: String, to folder: URL) throws {
      let text = """
        return { entities = { Item = { derived = {
          score = { type = "integer64", inputs = { "number" }, pure = true, strict = true, get = function(number)
        \(body)
        end } } } } }
        """
      try Data(text.utf8).write(to: folder.appendingPathComponent("extension.lua"))
    }

    func domain(limits: LuaLimits = LuaLimits()) throws -> ScriptDomain {
      let domain = try ScriptDomain(limits: limits)
      let opened = container.opened
      try domain.setContext(try domain.context(of: opened))
      return domain
    }

    func run(_ text: String, in domain: ScriptDomain) -> (ScriptRunner.Outcome, String) {
      let output = Lock("")
      domain.state.output = LuaOutput { bytes, _ in
        let text = String(decoding: bytes, as: UTF8.self)
        output.withLock { $0 += text }
      }
      let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: text)])
      return (outcome, output.withLock { $0 })
    }
  }

  private let fetch = "print(moonbase.context:fetch('Item'):where('score > 100'):count())"

  @Test func pureAttributeRunsInsideTheStore() throws {
    let bench = try Bench("return number * 2")
    let store = bench.container.coordinator.persistentStores[0]
    let model = bench.container.coordinator.model
    var query = StoreQuery(entity: try #require(model.entity("Item")), in: model)
    query.functions = try bench.container.extensions.makeRegistry().pureFunctions
    query.predicate = try Predicate(format: "score > 100")
    #expect(try store.plan(query).isComplete)
    let domain = try bench.domain()
    let (outcome, output) = bench.run(fetch, in: domain)
    #expect(outcome.status == 0 && output == "150\n", "\(outcome)")
    domain.close()
  }

  @Test func endlessFunctionIsChargedToTheScriptThatFetches() throws {
    let bench = try Bench("if number == 50 then while true do end end return number")
    let limits = LuaLimits(instructions: 2_000_000)
    let domain = try bench.domain(limits: limits)
    let (outcome, _) = bench.run("pcall(function() \(fetch) end) print('swallowed')", in: domain)
    #expect(outcome.status == 3, "\(outcome)")
    // State, connection and functions remain usable.
    let (second, output) = bench.run("print(moonbase.context:fetch('Item'):where('number > 100'):count())", in: domain)
    #expect(second.status == 0 && output == "100\n", "\(second)")
    let (third, text) = bench.run(
      "print(moonbase.context:fetch('Item'):where('number > 60 AND score > 100'):count())", in: domain)
    #expect(third.status == 0 && text == "100\n", "\(third)")
    domain.close()
  }

  @Test func cheapScriptPaysForADearFunction() throws {
    let bench = try Bench("local n = 0 for i = 1, 10000 do n = n + i end return number")
    let poor = try bench.domain(limits: LuaLimits(instructions: 500_000))
    #expect(bench.run(fetch, in: poor).0.status == 3)
    poor.close()
    let rich = try bench.domain(limits: LuaLimits(instructions: 100_000_000))
    let (outcome, output) = bench.run(fetch, in: rich)
    #expect(outcome.status == 0 && output == "100\n", "\(outcome)")
    rich.close()
  }

  @Test func raisedErrorComesThroughWithItsPlace() throws {
    let bench = try Bench("if number == 50 then error('fifty is refused') end return number")
    let domain = try bench.domain()
    let (outcome, output) = bench.run(
      """
      local ok, err = pcall(function() \(fetch) end)
      print(ok, tostring(err))
      print(moonbase.context:fetch('Item'):where('number > 60 AND score > 100'):count())
      """, in: domain)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      output.hasPrefix("false\t") && output.contains("fifty is refused") && output.contains("extension.lua:3"),
      "\(output)")
    #expect(output.hasSuffix("100\n"))
    domain.close()
  }

  @Test func reloadHalfwayLeavesTheFetchWithItsGeneration() async throws {
    let bench = try Bench("local n = 0 for i = 1, 20000 do n = n + 1 end return number")
    let background = try bench.container.newBackgroundContext()
    let extensions = bench.container.extensions
    let folder = bench.folder
    let (found, afterwards) = try await background.perform { context in
      let walk = try context.fetchedObjects(FetchRequest("Item", where: Predicate(format: "score > 100")))
      try Bench.write("return -number", to: folder)
      try extensions.reload()
      // The walk uses the former generation; the next request adopts the new version.
      let found = walk.map(\.objectID).count
      return (found, try context.count(FetchRequest("Item", where: Predicate(format: "score > 0"))))
    }
    #expect(found == 100 && afterwards == 0)
  }

  @Test func reloadThatFailsLeavesTheRunningOneInPlace() throws {
    let bench = try Bench("return number")
    let domain = try bench.domain()
    try Bench.write("return return", to: bench.folder)
    let (outcome, output) = bench.run(
      "local ok, err = pcall(moonbase.context.fetch, moonbase.context, 'Item') print(ok)\n" + fetch, in: domain)
    #expect(outcome.status == 0 && output == "true\n100\n", "\(outcome) \(output)")
    #expect { try bench.container.extensions.reload() } throws: { "\($0)".contains("extension.lua") }
    #expect(bench.run(fetch, in: domain).1 == "100\n")
    domain.close()
  }
}
