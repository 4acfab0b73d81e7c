import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

import struct MoonbaseModel.SortDescriptor

/// Contexts adopt reloaded extensions automatically, between their operations.
@Suite struct FollowedReloadTests {
  private typealias Bench = ReloadBench

  private enum Edge: CaseIterable {
    case fetch, count, ids, save, events

    func pass(_ context: ManagedObjectContext) throws {
      switch self {
      case .fetch: _ = try context.fetch(FetchRequest("P"))
      case .count: _ = try context.count(FetchRequest("P"))
      case .ids: _ = try context.fetchIDs(FetchRequest("P"))
      case .save: try context.save()
      case .events: try context.processPendingChanges()
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func eachEdgeTakesOverWhatWasRead(_ kind: StoreKind) throws {
    for edge in Edge.allCases {
      let bench = try Bench(kind, ["a.lua": Bench.labelled(1)])
      let context = try bench.context()
      let object = try context.insert("P", values: ["s": "x"])
      #expect(object["label"] == "x1")
      try bench.reload(Bench.labelled(2))
      #expect(object["label"] == "x1", "\(edge)")
      try edge.pass(context)
      #expect(object["label"] == "x2", "\(edge)")
      #expect(object["s"] == "x")
    }
  }

  /// A list over an attribute that a reload removed reports an error to its owner, and follows again when the attribute
  /// returns.
  @Test(arguments: StoreKind.allCases) func resultsByANameThatIsGoneSayThatTheyDoNotFollow(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    try context.insert("P", values: ["s": "b"])
    try context.insert("P", values: ["s": "a"])
    var request = FetchRequest("P")
    request.sortDescriptors = [SortDescriptor("label")]
    let results = try FetchedResultsController<ManagedObject>(request, in: context)
    var failures: [String] = []
    results.didFail = { failures.append("\($0)") }
    try results.performFetch()
    try bench.reload("return { name = 'a' }")
    try context.processPendingChanges()
    #expect(failures.count == 1 && failures.first?.contains("label") == true, "\(failures)")
    #expect(results.failure != nil && results.count == 2)
    try context.insert("P", values: ["s": "c"])
    try context.processPendingChanges()
    #expect(failures.count == 1 && results.count == 2)
    try bench.reload(Bench.labelled(2))
    try context.processPendingChanges()
    #expect(results.failure == nil && results.count == 3)
    #expect(results.fetchedObjects?.map { $0["s"] } == ["a", "b", "c"])
  }

  @Test func resultsOfAScriptRaiseWhileTheyCannotFollow() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(
      of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions))
    try domain.setContext(context)
    let environment = try domain.state.environment()
    func run(_ code: String) throws -> String {
      let chunk = try domain.state.load(
        "local context = moonbase.context \(code)", name: "script.lua", in: environment)
      return try chunk().first?.textValue ?? ""
    }
    _ = try run("context:insert('P', { s = 'a' }) results = context:fetch('P'):sort('label'):follow()")
    #expect(try run("return #results .. results[1].label") == "1a1")
    try bench.reload("return { name = 'a' }")
    try context.processPendingChanges()
    for code in ["#results", "results[1]", "results:all()", "results:sections()"] {
      let message = try run("local _, err = pcall(function() return \(code) end) return tostring(err)")
      #expect(message.contains("these results cannot follow their context any more: ") && message.contains("label"))
    }
    try bench.reload(Bench.labelled(2))
    try context.processPendingChanges()
    #expect(try run("return #results .. results[1].label") == "1a2")
  }

  @Test func childrenFollowWithTheirParents() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    let child = ManagedObjectContext(parent: context)
    let object = try context.insert("P", values: ["s": "x"])
    let below = try child.object(with: object.objectID)
    #expect(below["label"] == "x1")
    try bench.reload(Bench.labelled(2))
    _ = try child.count(FetchRequest("P"))
    #expect(below["label"] == "x2" && object["label"] == "x2")
    try bench.reload(Bench.labelled(3))
    try below.setValue("y", forKey: "s")
    try child.save()
    #expect(below["label"] == "y3" && object["label"] == "y3")
  }

  @Test func aBackgroundContextFollowsWherePerformBegins() async throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let background = try BackgroundContext(bench.coordinator, extensions: bench.extensions)
    func label() async throws -> Value {
      try await background.perform { context in
        let object = try context.registeredObjects.first ?? context.insert("P", values: ["s": "x"])
        return try object.value(forKey: "label")
      }
    }
    #expect(try await label() == "x1")
    try bench.reload(Bench.labelled(2))
    #expect(try await label() == "x2")
    try bench.reload(Bench.labelled(3))
    #expect(try background.performAndWait { try $0.registeredObjects[0].value(forKey: "label") } == "x3")
    try await background.close()
  }

  /// A Swift hook that reloads during a save.
  @Test(arguments: StoreKind.allCases) func aSaveAndItsHooksEndWithTheirVersion(_ kind: StoreKind) throws {
    let later = Lock<(@Sendable () throws -> Void)?>(nil)
    let hook = ExtensionSource.entity("P") {
      var person = EntityExtension()
      person.willSave = { _ in try later.withLock { $0 }?() }
      return person
    }
    @Sendable func file(_ version: Int) -> String {
      Bench.labelled(version, "will_save = function(p) if p.kept == nil then p.kept = p.label .. 'w\(version)' end end")
    }
    let bench = try Bench(kind, ["a.lua": file(1)], beside: [hook])
    let context = try bench.context()
    let (extensions, url) = (bench.extensions, bench.folder.file("e/a.lua"))
    later.withLock {
      $0 = {
        try Data(file(2).utf8).write(to: url)
        try extensions.reload()
        later.withLock { $0 = nil }
      }
    }
    let object = try context.insert("P", values: ["s": "x"])
    try context.save()
    #expect(object["kept"] == "x1w1" && object["label"] == "x2")
    try object.setValue(.null, forKey: "kept")
    try context.save()
    #expect(object["kept"] == "x2w2")
  }

  @Test(arguments: StoreKind.allCases) func walksAndTransactionsEndWithTheirVersion(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    for name in ["a", "b", "c"] { try context.insert("P", values: ["s": .string(name)]) }
    try context.save()
    var labels: [Value] = []
    try context.transaction {
      try bench.reload(Bench.labelled(2))
      for object in try context.fetch(FetchRequest("P")) { labels.append(object["label"]) }
    }
    #expect(Set(labels.map { "\($0)".suffix(2) }.map(String.init)).count == 3 && labels.contains("a1"))
    #expect(try context.fetch(FetchRequest("P", where: "label == 'a2'")).count == 1)
    guard kind != .memory else { return }
    let walk = try context.fetchedObjects(FetchRequest("P", where: "label BEGINSWITH 'b' OR s == 'c'"))
    try bench.reload(Bench.labelled(3))
    for object in walk {
      #expect("\(object["label"])".hasSuffix("2"))
      _ = try context.count(FetchRequest("P"))
    }
  }

  @Test func aMethodThatAsksForObjectsEndsWithItsVersion() throws {
    func file(_ version: Int) -> String {
      Bench.labelled(
        version, "methods = { mine = function(p) local n = #p:context():fetch('P'):all() return p.label .. n end }")
    }
    let bench = try Bench(["a.lua": file(1)])
    let context = try bench.context()
    let object = try context.insert("P", values: ["s": "x"])
    try bench.reload(file(2))
    #expect(try object.call("mine") == "x11")
    try context.processPendingChanges()
    #expect(try object.call("mine") == "x21")
  }

  /// Between two requests a script runs the version it began with; requests and saves adopt the new version.
  @Test func aScriptFollowsWhereItAsksOrSaves() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions))
    try domain.setContext(context)
    let (extensions, url) = (bench.extensions, bench.folder.file("e/a.lua"))
    try domain.state.setGlobal(
      "change",
      to: domain.state.function { call in
        try Data(Bench.labelled(Int(call.integer(0))).utf8).write(to: url)
        try extensions.reload()
        call.return(true)
      })
    let results = try domain.state.load(
      """
      local context = moonbase.context
      local p = context:insert("P", { s = "x" })
      local found = { p.label }
      change(2)
      found[#found + 1] = p.label
      context:fetch("P"):count()
      found[#found + 1] = p.label
      change(3)
      context:save()
      found[#found + 1] = p.label
      return table.concat(found, " ")
      """, name: "script.lua")()
    #expect(results.first?.textValue == "x1 x1 x2 x3")
  }

  // MARK: What fails

  @Test(arguments: StoreKind.allCases) func anErrorOfTheHookLeavesTheContextAsItWas(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    context.name = "people"
    let object = try context.insert("P", values: ["s": "x"])
    let heard = Heard()
    let observation = bench.extensions.observeReloads { heard.add($0) }
    let hook = """
      on_reload = function(old)
        local c = moonbase.context
        error("no " .. old.version)
      end,
      """
    try bench.reload(
      Bench.labelled(
        2, "methods = { more = function() return 1 end }, validate = { s = function() return false, 'no' end }",
        top: hook)
    )
    #expect(heard.next() == "reloaded a 1.2")
    try context.save()
    #expect(object["label"] == "x1")
    let refusal = heard.next()
    #expect(
      refusal.hasPrefix("the context people keeps its former extensions: on_reload of extension a: "), "\(refusal)")
    #expect(refusal.contains("a.lua:") && refusal.contains("no 1.1"), "\(refusal)")
    #expect(throws: GraphError.self) { try object.call("more") }
    // A failed adoption is not repeated.
    try context.save()
    _ = try context.count(FetchRequest("P"))
    #expect(heard.all.isEmpty)
    #expect(throws: GraphError.self) { try context.reloadExtensions() }
    #expect(object["label"] == "x1")
    // Another context runs its own version.
    #expect(throws: GraphError.self) {
      let other = try bench.context()
      _ = try other.insert("P", values: ["s": "y"])
      try other.save()
    }
    try bench.reload(Bench.labelled(3))
    try context.save()
    #expect(object["label"] == "x3")
    observation.cancel()
  }

  /// Changes that the hook made before its error are reverted for all objects.
  @Test func changesOfAHookThatFailsAreUndone() throws {
    let seen = Lock<[Value]>([])
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions))
    try domain.setContext(context)
    let object = try context.insert("P", values: ["s": "x"])
    func top(_ end: String) -> String {
      """
      on_reload = function()
        local context = moonbase.context
        for _, p in ipairs(context:fetch("P"):all()) do p.s = p.s .. "!" end
        context:insert("P", { s = "new" })
        \(end)
      end,
      """
    }
    let observation = bench.extensions.observeReloads { outcome in
      if case .refused(let refusal) = outcome { seen.withLock { $0.append(.string("\(refusal.error)")) } }
    }
    try bench.reload(Bench.labelled(2, top: top("error('no')")))
    try context.processPendingChanges()
    #expect(object["s"] == "x" && context.insertedObjects.count == 1 && object["label"] == "x1")
    // The hook must not save.
    try bench.reload(Bench.labelled(3, top: top("assert(context:save())")))
    try context.processPendingChanges()
    #expect(object["s"] == "x" && context.insertedObjects.count == 1 && object["label"] == "x1")
    #expect("\(seen.withLock { $0 })".contains("while the context runs a hook"), "\(seen.withLock { $0 })")
    try bench.reload(Bench.labelled(4, top: top("")))
    try context.processPendingChanges()
    #expect(object["s"] == "x!" && context.insertedObjects.count == 2 && object["label"] == "x!4")
    observation.cancel()
  }

  @Test func aReloadThatFailsReachesNoContextAndTellsObservers() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    let object = try context.insert("P", values: ["s": "x"])
    let heard = Heard()
    let observation = bench.extensions.observeReloads { heard.add($0) }
    let failing = [
      "return return",  // load
      "return { entities = { P = { validate = { gone = print } } } }",  // check
      "return { requires = { moonbase = '7' } }",
      "return require 'nowhere'",
      """
      return { transformers = { T = { transform = function(v) return v end, reverse = function(b) return b end,
        examples = { { "a", "b" } } } } }
      """,
    ]
    for text in failing {
      #expect(throws: ScriptError.self) { try bench.reload(text) }
      #expect(heard.next().hasPrefix("the extensions stay as they are: "))
      try context.processPendingChanges()
      #expect(object["label"] == "x1")
    }
    try bench.reload(Bench.labelled(2))
    #expect(heard.next() == "reloaded a 1.2")
    observation.cancel()
    try bench.reload(Bench.labelled(3))
    #expect(heard.all.isEmpty)
  }

  /// An observer that fetches while the context returns to its former version, and a controller that fetches again.
  @Test(arguments: StoreKind.allCases) func observersMayFetchWhileAContextGoesBack(_ kind: StoreKind) throws {
    let bench = try Bench(kind, ["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    let object = try context.insert("P", values: ["s": "x"])
    try context.save()
    #expect(object["label"] == "x1")
    var counts: [Int] = []
    let observation = try object.observe("label") { _ in counts.append((try? context.count(FetchRequest("P"))) ?? -1) }
    var request = try FetchRequest("P", where: "s == 'x'")
    request.sortDescriptors = [SortDescriptor("label", ascending: true)]
    let controller = try FetchedResultsController<ManagedObject>(request, in: context)
    try controller.performFetch()
    let heard = Heard()
    let watching = bench.extensions.observeReloads { heard.add($0) }
    try bench.reload(Bench.labelled(2, top: "on_reload = function() error('no') end,"))
    #expect(heard.next() == "reloaded a 1.2")
    try context.processPendingChanges()
    #expect(heard.next().contains("keeps its former extensions") && heard.all.isEmpty)
    #expect(object["label"] == "x1" && controller.fetchedObjects?.count == 1)
    #expect(counts.allSatisfy { $0 == 1 })
    try bench.reload(Bench.labelled(3))
    try context.processPendingChanges()
    #expect(object["label"] == "x3" && controller.fetchedObjects?.count == 1)
    withExtendedLifetime(observation) { watching.cancel() }
  }

  @Test func aHookOfSwiftCodeCannotHaveItsContextAdopt() throws {
    let told = Lock<[String]>([])
    let hook = ExtensionSource.entity("P") {
      var person = EntityExtension()
      person.willSave = { object in
        guard let context = object.managedObjectContext else { return }
        do { try context.reloadExtensions() } catch { told.withLock { $0.append("\(error)") } }
      }
      return person
    }
    let bench = try Bench(.memory, ["a.lua": Bench.labelled(1)], beside: [hook])
    let context = try bench.context()
    try context.insert("P", values: ["s": "x"])
    try context.save()
    #expect(told.withLock { $0.count == 1 && $0[0].contains("while the same context saves") })
  }

  // MARK: Values

  /// A delayed value waits for its transformation, which the setter of the new version performs.
  @Test func aDelayedValueIsTakenByTheVersionOfItsSave() throws {
    func file(_ version: Int) -> String {
      Bench.labelled(
        version,
        derived: """
          later = { type = "string", inputs = { "kept" }, get = function(k) return k end, write = "delayed",
            set = function(value, p) p.kept = value .. "\(version)" end },
          """)
    }
    let bench = try Bench(["a.lua": file(1)])
    let context = try bench.context()
    let object = try context.insert("P", values: ["s": "x"])
    try object.setValue("v", forKey: "later")
    try bench.reload(file(2))
    try context.processPendingChanges()
    #expect(object["later"] == "v" && object["kept"] == .null)
    try context.save()
    #expect(object["kept"] == "v2")
  }

  @Test func observersAreToldOfNewDerivedValues() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1)])
    let context = try bench.context()
    let object = try context.insert("P", values: ["s": "x"])
    #expect(object["label"] == "x1")
    var told: [Value] = []
    let observation = try object.observe("label") { told.append($0.new) }
    try bench.reload(Bench.labelled(2))
    try context.processPendingChanges()
    #expect(told == ["x2"])
    withExtendedLifetime(observation) {}
  }

  // MARK: What changed

  @Test func modulesAndFilesThatComeAndGoAreListed() throws {
    let bench = try Bench(["a.lua": Bench.labelled(1), "c.lua": "return { name = 'c' }"])
    #expect("\(try bench.extensions.reload())" == "reloaded the extensions, of which none changed")
    try FileManager.default.createDirectory(at: bench.folder.file("e/m"), withIntermediateDirectories: true)
    try bench.write("return 1", to: "m/names.lua")
    try bench.write("local n = require 'm.names' return { name = 'b', version = '2' }", to: "b.lua")
    try FileManager.default.removeItem(at: bench.folder.file("e/c.lua"))
    let first = try bench.extensions.reload()
    #expect("\(first)" == "reloaded b 2; removed c" && first.generation == 2)
    #expect(first.changes.map(\.kind) == [.added, .removed])
    try bench.write("return 2", to: "m/names.lua")
    #expect("\(try bench.extensions.reload())" == "reloaded b 2")
  }

  /// Repeated reloads do not accumulate memory.
  @Test(arguments: StoreKind.allCases) func manyReloadsDoNotGrow(_ kind: StoreKind) throws {
    func file(_ version: Int) -> String {
      Bench.labelled(
        version % 7, "methods = { m = function() return \(version % 5) end },",
        top: "classes = { C = {} }, on_reload = function(old) assert(old) end, ",
        derived: "twice = { type = 'integer64', inputs = { 'i' }, pure = true, get = function(i) return i * 2 end },")
    }
    let bench = try Bench(kind, ["a.lua": file(0)])
    let context = try bench.context()
    let scripts = try #require(ScriptDomain.of(context))
    let object = try context.insert("P", values: ["s": "x", "i": 3])
    try context.save()
    func used() -> Int {
      scripts.state.collectGarbage()
      return scripts.state.memoryUsed
    }
    var before = 0
    let count = Repetition.reloads.count
    for number in 0..<count {
      try bench.reload(file(number))
      #expect(try context.count(FetchRequest("P", where: "twice == 6")) == 1)
      if number == count / 2 { before = used() }
    }
    #expect(object["label"] != .null)
    #expect(used() < before + 65_536, "\(before) -> \(used())")
  }
}
