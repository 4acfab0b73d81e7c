import Moonbase
import MoonbaseLua
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// After a run ends during host work, the program can continue to use the container.
@Suite struct HostLimitTests {
  private static let model = """
    return { entities = { P = {
      attributes = { n = 'integer64' },
      relationships = {
        friends = { to_many = 'P', inverse = 'friendOf' }, friendOf = { to_many = 'P', inverse = 'friends' },
      },
    } } }
    """

  /// Half a minute of work for SQLite, so that even a fast machine reaches the limit first.
  private static let count = """
    moonbase.context:fetch('P'):where('SUBQUERY(friends, $a, SUBQUERY($a.friends, $b, SUBQUERY($b.friends, $c, SUBQUERY('
      .. '$c.friends, $d, SUBQUERY($d.friends, $e, $e.n * $d.n * $b.n * $c.n * $a.n = -1).@count > 0).@count > 0).@count > 0'
      .. ').@count > 0).@count > 0'):count()
    """

  enum End: CaseIterable {
    case deadline, instructions, interruption

    var limits: LuaLimits {
      switch self {
      case .deadline: LuaLimits(deadline: .seconds(1.5))
      case .instructions: LuaLimits(instructions: 3_000_000)
      case .interruption: LuaLimits()
      }
    }
  }

  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Limits-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  private func filledContainer(isStored: Bool) throws -> PersistentContainer {
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.model))
    let file = folder.appendingPathComponent("s.sqlite")
    let container = try PersistentContainer(model: model, store: isStored ? .sqlite(file) : .inMemory, extensions: [])
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let objects = try (0..<60).map { try context.insert("P", values: ["n": .int($0)]) }
    for (i, object) in objects.enumerated() {
      try object.setObjects((0..<20).map { objects[(i * 7 + $0 * 13) % 60] }, forKey: "friends")
    }
    try context.save()
    return container
  }

  @Test(arguments: End.allCases, [false, true])
  func aContextIsUsableAfterTheHostHadToStop(_ end: End, isStored: Bool) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try filledContainer(isStored: isStored)
    let domain = try ScriptDomain(limits: end.limits)
    defer { domain.close() }
    let context = try domain.context(
      of: container.opened)
    try domain.setContext(context)
    let statements = Lock(0)
    interrupt(domain, for: end, in: container) { statements.withLock { $0 += 1 } }
    let script = "print('ready') pcall(function() \(Self.count) end)"
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
    #expect(outcome.status == (end == .interruption ? 130 : 3), "\(outcome)")
    #expect(statements.withLock { $0 } == (isStored ? 1 : 0))
    #expect(context.brokenInvariants() == [])
    try context.insert("P")
    try context.save()
    #expect(try context.count(FetchRequest("P")) == 61)
    #expect(context.brokenInvariants() == [])
  }

  /// Interrupts a run once SQLite has begun the tested statement, or without SQLite shortly after the start of the
  /// script.
  private func interrupt(
    _ domain: ScriptDomain, for end: End, in container: PersistentContainer, _ note: @escaping @Sendable () -> Void
  ) {
    let interrupter = domain.state.interrupter
    guard let store = container.coordinator.persistentStores[0] as? SQLiteStore else {
      guard end == .interruption else { return }
      domain.state.output = LuaOutput { _, _ in
        Thread.detachNewThread {
          usleep(200_000)
          interrupter.interrupt()
        }
      }
      return
    }
    store.statements.listen { sql in
      guard sql.count > 300 else { return }
      note()
      if end == .interruption { interrupter.interrupt() }
    }
  }

  private func end(_ script: String, instructions: Int64? = nil, memory: UInt64? = nil) throws -> (Int32, String) {
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.model))
    let container = try PersistentContainer(model: model, store: .inMemory, extensions: [])
    let domain = try ScriptDomain(limits: LuaLimits(instructions: instructions, memory: memory))
    defer { domain.close() }
    try domain.installOpen { try PersistentContainer($0).opened }
    let opened = StoreHandle(coordinator: container.coordinator, extensions: container.extensions)
    try domain.setContext(try domain.context(of: opened))
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
    return (outcome.status, outcome.message ?? "")
  }

  private static let mistakes = """
    local e, count = {}, %
    for i = 1, count do e["E" .. i] = { parent = "SomethingElse" .. i } end
    local ok, message = pcall(moonbase.open, { model = { entities = e } })
    assert(not ok and tostring(message):find("its parent Something"), tostring(message))
    """

  /// Each of the first hundred mistakes is compared with all names, and no later mistake.
  @Test func mistakesOfAModelCostAsMuchAsItHasNames() throws {
    let script = { (count: Int) in Self.mistakes.replacing("%", with: "\(count)") }
    #expect(try end(script(500), instructions: 3_000_000).0 == 0)
    // Comparing each of the four thousand with all names would take minutes.
    var status: Int32 = -1
    let seconds = try processorSeconds { status = try end(script(4000), instructions: 24_000_000).0 }
    #expect(status == 0 && seconds < 30, "\(status), \(seconds)")
    #expect(try end(script(4000), instructions: 3_000_000).0 == 3)
  }

  /// A pass over a long text checks whether the run must end.
  @Test(arguments: [
    "name BEGINSWITH[cd] %@", "name =[cd] %@", "name IN[cd] {%@}", "name CONTAINS[d] %@",
    "canonical:(name) = canonical:(%@)",
  ])
  func longTextsAreFoldedInPieces(_ condition: String) throws {
    let script = """
      local c = moonbase.open{ model = { entities = { T = { attributes = { name = "string" } } } } }.context
      c:insert("T", { name = "x" })
      c:fetch("T"):where("\(condition)", ("é"):rep(4000000)):count()
      c:reset()
      """
    #expect(try end(script, instructions: 500_000).0 == 3)
    #expect(try end(script, instructions: 50_000_000) == (0, ""))
  }

  /// The text of a predicate is charged as it is parsed, its lists element by element, and a result's column like a
  /// predicate.
  @Test(arguments: [
    ("local list = ('1,'):rep(300000) .. '1'", "c:fetch('T'):where('n IN {' .. list .. '}')"),
    ("local list = ('n = 1 OR '):rep(100000) .. 'n = 1'", "c:fetch('T'):where(list)"),
    ("local blank = (' '):rep(8000000)", "c:fetch('T'):where('n' .. blank .. '= 1')"),
    (
      "local columns, text = {}, ('n+'):rep(200) .. 'n' for i = 1, 900 do columns['c' .. i] = text end",
      "c:fetch('T'):dictionaries(columns)"
    ),
    ("c:insert('T', { name = ('é'):rep(4000000) })", "c:fetch('T'):where('uppercase:(name) = NULL'):count()"),
    ("c:insert('T', { name = ('é'):rep(4000000) })", "c:fetch('T'):where('lowercase:(name) = NULL'):count()"),
    ("local t, name = c:insert('T'), ('x'):rep(8000000)", "local x = t[name]"),
  ])
  func whatARequestIsMadeOfIsCounted(_ preparation: String, _ work: String) throws {
    let opening = """
      local c = moonbase.open{ model = { entities = { T = { attributes = { n = "integer64", name = "string" } } } } }.context
      \(preparation)
      c:process_pending_changes()

      """
    let units: Int64 = 300_000
    #expect(try end(opening + "c:reset()", instructions: units) == (0, ""))
    #expect(try end(opening + "pcall(function() \(work) end) c:reset()", instructions: units).0 == 3)
  }

  /// A text too long for a name or for parsing is refused at once.
  @Test(arguments: [
    ("fetch('P'):sort(('x.'):rep(5e6)):all()", "a key path has at most 65536 bytes, and this one has 10000000: x.x."),
    ("fetch('P'):prefetch(('x.'):rep(5e6)):all()", "a key path has at most 65536 bytes"),
    ("fetch('P'):group_by(('x.'):rep(5e6)):dictionaries{'n'}", "a key path has at most 65536 bytes"),
    ("fetch('P'):where('%K = 1', ('x.'):rep(5e6)):all()", "%K takes at most 65536 bytes, not 10000000: x.x."),
    ("fetch('P'):where(('x'):rep(5e6) .. ' = 1'):all()", "a name has at most 65536 bytes, and this one has 5000000"),
    (
      "fetch('P'):where('\"a\" LIKE %@', ('?'):rep(5e6)):all()",
      "a pattern of 5000000 bytes, and at most 65536 are allowed: ???"
    ),
    ("fetch('P'):where('\"a\" MATCHES %@', ('a|'):rep(5e6)):all()", "a pattern of 10000000 bytes, and at most 65536"),
    ("insert('P', { [('x'):rep(5e6)] = 1 })", "P has no property xxx"),
    (
      "fetch('P'):dictionaries(columns)",
      "dictionaries takes at most 1000 columns, and these are 1001"
    ),
    ("insert('P', { n = moonbase.decimal(('9'):rep(5e6)) })", "a numeral of 5000000 bytes is no decimal of 38 digits"),
    ("object('x-coredata://' .. ('x'):rep(5e6) .. '/P/p1')", "no URI of an object of an open store"),
    ("insert(('x'):rep(5e6))", "the model has no entity xxx"), ("fetch(('x'):rep(5e6)):all()", "no entity xxx"),
    ("fetch_template(('x'):rep(5e6))", "the model has no fetch request template xxx"),
    ("insert('P', moonbase[('x'):rep(5e6)])", "moonbase has no 'xxx"),
    ("insert('P', moonbase.model[('x'):rep(5e6)])", "moonbase.model has no 'xxx"),
    ("insert('P', moonbase.model.entities[('x'):rep(5e6)])", "the model has no entity xxx"),
    ("insert('P', moonbase.date[('x'):rep(5e6)])", "moonbase.date has no 'xxx"),
    ("insert('P', moonbase.date.unix(0)[('x'):rep(5e6)])", "a date has no 'xxx"),
    ("insert('P', moonbase.context[('x'):rep(5e6)])", "a context has no 'xxx"),
    ("insert('P', moonbase.context:fetch('P')[('x'):rep(5e6)])", "a fetch request has no 'xxx"),
    ("insert('P', moonbase.open{ [('x'):rep(5e6)] = 1 })", "moonbase.open: xxx"),
    ("insert('P', require(('x'):rep(5e6)))", "is no module name"),
    (
      "fetch('P'):all(moonbase.open{ store = ('x'):rep(5e6) })",
      "cannot be opened: File name too long (5000000 bytes; 4095 at most)"
    ),
    (
      "fetch('P'):all(moonbase.open{ model = { entities = { E = { attributes = { a = { 'string', matches = ('a|'):rep(5e6) } } } } } })",
      "E.a has a pattern of 10000000 bytes, and at most 65536 are allowed: a|a|"
    ),
  ])
  func whatIsTooLongIsRefused(_ call: String, _ message: String) throws {
    let columns = "local columns = {} for i = 1, 1001 do columns['c' .. i] = 'n' end"
    let (status, text) = try end("\(columns) moonbase.context:\(call)", instructions: 5_000_000)
    #expect(status == 1 && text.contains(message), "\(text.prefix(1000))")
    #expect(text.utf8.count < 5000, "\(text.utf8.count) bytes")
    #expect(text.utf8.count < 3000)
  }

  /// A table used in many places of a model exists once for the script and many times for the host.
  private static let nested = """
    local t = { 1 } for i = 1, 12 do local n = {} for j = 1, 40 do n[j] = t end t = n end
    local model = { entities = { E = { attributes = { a = "string" }, user_info = { a = t } } } }

    """

  @Test func whatAModelBecomesCountsAsMemoryOfTheScript() throws {
    let (status, message) = try end(Self.nested + "pcall(moonbase.open, { model = model })", memory: 8 << 20)
    #expect(status == 3 && message.contains("memory"), "\(message)")
  }

  @Test func whatAModelFileBecomesIsBounded() throws {
    let error = try #require(throws: ModelError.self) {
      try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.nested + "return model"))
    }
    #expect(error.code == .limitExceeded, "\(error)")
  }

  @Test func eachFileOfExtensionsIsCounted() throws {
    let extensions = folder.appendingPathComponent("e.lua")
    try Data("return { name = 'e' } --\(String(repeating: "x", count: 1 << 20 - 100))".utf8).write(to: extensions)
    let script = """
      local list = {} for i = 1, 1000 do list[i] = "\(extensions.path)" end
      pcall(moonbase.open, { model = { entities = { E = { attributes = { a = "string" } } } }, extensions = list })
      """
    #expect(try end(script, instructions: 1_000_000).0 == 3)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("return { name = 'e' } --\(String(repeating: "x", count: 1 << 20 - 100))".utf8).write(to: extensions)
    #expect(try end(script, memory: 16 << 20).0 == 3)
  }

  /// A value too large for the script is not read, not even by SQLite.
  @Test(arguments: [
    "for o in c:fetch('E'):each() do print(o.a) end", "print(c:fetch('E'):where('a CONTAINS %@', 'y'):count())",
    "print(#c:fetch('E'):sort('a'):all())", "print(#c:fetch('E'):dictionaries())",
  ])
  func aValueLargerThanTheMemoryIsNotRead(_ fetch: String) throws {
    let file = folder.appendingPathComponent("large.sqlite")
    let model = "{ entities = { E = { attributes = { a = 'string' } } } }"
    do {
      let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: "return \(model)"))
      let container = try PersistentContainer(model: model, store: .sqlite(file), extensions: [])
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      try context.insert("E", values: ["a": .string(String(repeating: "x", count: 20 << 20))])
      try context.save()
    }
    let script = "local c = moonbase.open{ store = \"\(file.path)\", model = \(model) }.context \(fetch)"
    let (status, message) = try end(script, memory: 16 << 20)
    #expect(status == 3 && message.contains("a value is larger than the memory of the script allows"), "\(message)")
  }
}
