import Moonbase
import MoonbaseLua
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Code for each object, run in one statement of the store and object by object: both give the same result.
@Suite struct EachInStoreTests {
  private typealias Bench = EachBench

  private static let codes = [
    "object.s = (object.s or 'none'):upper()", "object.s = object.t and object.t .. object.must .. #object.must",
    "object.n = (object.n or 0) * 2 // 3", "object.n = object.n", "object.long = object.long and object.long ~ 5",
    "object.d = object.n and object.n / 3", "object.d = -0.0", "object.d = 0", "object.n = 2.0",
    "if object.n and object.n > 0 then object.n = object.n - 1 end", "if not object.flag then object.flag = true end",
    "object.flag = object.n == nil", "object.bytes = object.bytes and object.bytes:reverse()",
    "object.t = nil", "object.at = '2001-01-01T00:00:05Z'", "object.at = object.at",
    "object.uuid = '01234567-89AB-CDEF-0123-456789ABCDEF'",
    "object.s = object.s and object.s:sub(1, 2)--[[ short ]] -- x",
    "object.t = math.type(object.n) or string.format('%s', object.flag)", "object.t = tostring(object.d)",
    // Several statements.
    "local a, b = object.n or 0, object.d object.n = a + 1 -- more",
    "local text = object.s or '' for i = 1, 3 do text = text .. i end object.s = text",
    "object.s = object.s or 'none' object.s = object.s:lower() .. '.'",
    "object.d = 1 object.d = object.d / 4 + object.d",
    "if object.flag then object.s = 'yes' return end object.s = 'no'",
    "local function twice(x) return x and x * 2 end object.n = math.min(1000, twice(object.n) or 0)",
    "object.n = 0 while object.n < 5 do object.n = object.n + 1 end",
    "local words = {} for word in (object.s or ''):gmatch('%a+') do words[#words + 1] = word end object.t = table.concat(words, '-')",
    "local t = { n = object.n, s = object.s } object.t = t.s object.n = t.n and t.n // 2",
    "local keys = { n = 1, ['s'] = 2, object.n } object.long = #keys + keys.n",
    "object.d = -0.0 object.t = tostring(object.d)",
    "local t = { f = function() object.n = 50 end, g = object.s } t.f() object.t = t.g",
    "local a, b = 1, 2 a = b object.n = a", "local t = { {}, object.n } t[1].x = 5 object.long = t[1].x",
    "object.s = object.t object.t = object.s object.flag = object.s == nil",
  ]

  @Test(arguments: [1, 2, 3], [false, true])
  func bothWaysLeaveTheSame(_ seed: UInt64, _ pipes: Bool) throws {
    let (one, other) = (try Bench(seed: seed, pipes: pipes), try Bench(seed: seed))
    for code in Self.codes {
      for condition in [nil, "n > 100"] {
        let done = try one.inStore(code, where: condition)
        let expected = try other.byObjects(code, where: condition)
        #expect(done?.matched == expected?.matched && done?.changed == expected?.changed, "\(code): \(done as Any)")
        #expect(done != nil, "\(code)")
        #expect(try one.contents() == other.contents(), "\(code) where \(condition ?? "")")
      }
    }
  }

  /// In these cases nothing is changed, and the run by objects names the failing object.
  @Test(
    arguments: [
      "object.n = object.n + 1", "object.n = object.n and object.n * 1e9", "object.s = object.s:upper()",
      "object.d = 0/0",
      "object.must = object.t", "object.t = object.bytes", "object.n = 'x'", "object.s = error", "object.at = 'soon'",
      "object.flag = 1", "object.n = object.d", "object.price = object.n", "object.n = object.price",
    ], [false, true])
  func whatFailsForARowIsLeftToObjects(_ code: String, _ pipes: Bool) throws {
    let bench = try Bench(pipes: pipes)
    let before = try bench.contents()
    #expect(try bench.inStore(code, where: nil) == nil)
    #expect(try bench.contents() == before)
  }

  /// An object checks each assigned value, not only the last one.
  @Test(
    arguments: [
      "object.n = 'x' object.n = 1", "object.n = 3.5 object.n = math.floor(object.n)",
      "object.s = '\\xff' object.s = 'a'",
      "for i = 1, 2 do object.n = i == 1 and 3e9 or 1 end", "object.d = 0/0 object.d = 1.0",
      "object.flag = 1 object.flag = true", "object.at = 'soon' object.at = object.at",
      "if object.n == nil then return end object.n = {} object.n = 1", "object.s = 'a' object.n = 'x'",
    ], [false, true])
  func aValueThatIsReplacedIsCheckedToo(_ code: String, _ pipes: Bool) throws {
    let bench = try Bench(pipes: pipes)
    let before = try bench.contents()
    #expect(try bench.inStore(code, where: nil) == nil)
    #expect(try bench.contents() == before)
  }

  /// Calling the code twice, or with values instead of objects, would be noticed.
  @Test(arguments: [
    "count = (count or 0) + 1 object.n = count", "do local n = 1 end n = 2 object.n = n",
    "print(object.s) object.n = 1",
    "object.n = math.random(9)", "object.n, object.long = 1, 2", "local a a, object.n = 1, 2", "object:delete()",
    "object.n = context and 1", "object.n = #object.kind.items", "local o = object o.n = 1", "object['n'] = 1",
    "object.s = ...", "string.upper = nil object.n = 1", "local s = string object.s = s.upper('a')",
    "object.n = _G and 1",
    "goto done object.n = 1 ::done::", "object.n = 1, 2", "local object = {} object.n = 1",
    "object.n = __check_n and 1",
    "object.s = os.date()", "object.n = function() end", "object.missing = 1", "object.n = object.missing",
    "object.kind = nil",
    "setmetatable({}, {}) object.n = 1", "function f() end object.n = 1",
    "object.price = 1 object.price = 2",
    "local t = {} object.n, t[1] = 50, 6 object.long = 1",
    "local t = {} t[1], object.n, t[2] = 5, 6, 7 object.long = 1",
    "local function f() return {} end object.n, f().y = 1, 2 object.long = 1",
    "local x local t = { f = function() object.n, x = 50, 6 end } t.f() object.long = 1",
    "local a next, a = 2, 1 object.n = next", "local a string.n, a = 1, 2 object.n = 1",
    "function type() end object.n = 1",
    "function string.x() end object.n = 1", "object.d = 9007199254740993 object.t = tostring(object.d)",
    "local seen = {} seen[object.at or 1] = 1 object.n = seen[object.at or 1]",
    "object.flag = rawequal(object.at, object.at)",
    "local x <close> = nil object.n = 1", "local t = { n } object.n = 1", "local t = {} t.x, n = 1, 2 object.n = 1",
  ])
  func codeThatAsksForMoreThanValuesIsLeftToObjects(_ code: String) throws {
    let bench = try Bench()
    let before = try bench.contents()
    #expect(try bench.inStore(code, where: nil) == nil)
    #expect(try bench.contents() == before)
  }

  @Test(arguments: [false, true]) func rulesOfTheModelAreAskedOfEachRow(_ pipes: Bool) throws {
    let bench = try Bench(", max = 1500", pipes: pipes)
    let before = try bench.contents()
    #expect(try bench.inStore("object.n = (object.n or 0) + 600", where: nil) == nil)
    #expect(try bench.contents() == before)
    let done = try bench.inStore("object.n = (object.n or 0) + 500", where: nil)
    #expect(done?.changed == 300)
    // A row that was invalid before would be refused by a save.
    try bench.raw().executeScript("UPDATE ZITEM SET ZMUST = NULL WHERE Z_PK = 7")
    #expect(try bench.inStore("object.t = 'new'", where: nil) == nil)
    #expect(try bench.inStore("object.t = 'new'", where: "must != NULL")?.changed == 299)
  }

  /// Rows whose entity or version a save would refuse.
  @Test(
    arguments: ["Z_ENT = NULL", "Z_ENT = 99", "Z_OPT = 9223372036854775807", "Z_OPT = 'x'", "Z_OPT = 2.5"],
    [false, true])
  func aDamagedRowIsLeftToObjects(_ damage: String, _ pipes: Bool) throws {
    let bench = try Bench(pipes: pipes)
    try bench.raw().executeScript("UPDATE ZITEM SET \(damage) WHERE Z_PK = 7")
    let before = try bench.contents()
    for code in ["object.n = (object.n or 0) + 1", "object.n = object.n"] {
      #expect(try bench.inStore(code, where: nil) == nil, "\(code)")
    }
    #expect(try bench.contents() == before)
  }

  /// On two threads, a second connection reads the table.
  @Test(arguments: [false, true]) func aWholeTableIsOneStatement(_ pipes: Bool) throws {
    let bench = try Bench(pipes: pipes)
    let function = try bench.function("object.s = (object.s or '') .. '!'")
    let written = Lock<[String]>([])
    bench.store.statements.listen { sql in
      if ["UPDATE", "INSERT", "DELETE", "SELECT", "WITH"].contains(where: sql.hasPrefix) {
        written.withLock { $0.append(sql) }
      }
    }
    let done = try bench.domain.state.run {
      try function.runInStore(FetchRequest("Item"), in: bench.context)
    }
    #expect(done?.changed == 300)
    let asked = written.withLock { $0.filter { $0.contains("ZITEM") && !$0.contains("MAX(Z_PK)") } }
    #expect(asked.count == 1 && asked[0].contains("_TAKEN(") == pipes, "\(asked)")
  }

  @Test(arguments: [false, true]) func whatIsToEndLeavesNothing(_ pipes: Bool) throws {
    let bench = try Bench(pipes: pipes)
    let before = try bench.contents()
    let function = try bench.function("object.s = ('x'):rep(10):upper():lower():upper():lower()")
    bench.domain.state.limits.instructions = 1500
    let error = #expect(throws: (any Error).self) {
      try bench.domain.state.run { try function.runInStore(FetchRequest("Item"), in: bench.context) }
    }
    #expect(error.map { "\($0)" }?.contains("instructions") == true, "\(error as Any)")
    #expect(try bench.contents() == before)
  }

  // MARK: Rules

  private static let rule =
    "s = function(text) return #text < 200, 'is too long' end, must = function() return true end"

  @Test func aRuleOfOneValueIsAskedOfEachRow() throws {
    let codes = ["object.s = (object.s or 'none') .. object.must", "object.t = 'new'", "object.s = nil"]
    let (one, other) = (try ruled(Self.rule, pipes: true), try ruled(Self.rule))
    for code in codes {
      #expect(try one.inStore(code, where: nil)?.changed == other.byObjects(code, where: nil)?.changed, "\(code)")
      #expect(try one.contents() == other.contents(), "\(code)")
    }
    let before = try one.contents()
    #expect(try one.inStore("object.s = string.rep('x', object.n or 1)", where: nil) == nil)
    #expect(try one.contents() == before)
  }

  private func ruled(_ rules: String, extending: String = "", pipes: Bool = false) throws -> Bench {
    try Bench(rules: rules, extending: extending, pipes: pipes)
  }

  /// A template may have a limit, but an update changes all matching rows.
  @Test func aLimitIsKept() throws {
    let bench = try Bench()
    var request = FetchRequest("Item")
    let function = try bench.function("object.n = 1")
    func done() throws -> Bool {
      try bench.domain.state.run { try function.runInStore(request, in: bench.context) } != nil
    }
    request.fetchLimit = 3
    #expect(try !done())
    (request.fetchLimit, request.fetchOffset) = (0, 3)
    #expect(try !done())
    (request.fetchOffset, request.includesSubentities) = (0, false)
    #expect(try !done())
    request.includesSubentities = true
    #expect(try done())
  }

  /// A parameter of the file hides a function of the library.
  @Test(arguments: ["(object, object) object.n = 3", "(object, type) object.s = type(object.n)"])
  func parametersThatHideNamesAreLeftToObjects(_ text: String) throws {
    let bench = try Bench()
    let source = ScriptSource(name: "each.lua", text: "return function\(text) end")
    let done = try bench.domain.state.run {
      try ObjectFunction(source, in: bench.domain).runInStore(FetchRequest("Item"), in: bench.context)
    }
    #expect(done == nil)
  }

  @Test(arguments: [
    "n = function(n) moonbase.context:insert('Kind') return true end",
    "n = function(n) return not moonbase.context.has_changes end",
    "s = function(text, object) return true end", "s = function(...) return true end", "s = math.abs",
    "t = function(text) return text ~= 't', { 'is t', severity = 'warning' } end",
    "must = function(text) return false end", "must = function(text) end", "must = function(text) error('no') end",
    "must = function(text) pcall(function() moonbase.context:fetch('Kind'):count() end) return true end",
  ])
  func whoSeesMoreThanAValueOrFindsAFaultIsAskedByObjects(_ rule: String) throws {
    let bench = try ruled(rule, pipes: true)
    let before = try bench.contents()
    #expect(try bench.inStore("object.n = 1", where: nil) == nil, "\(rule)")
    #expect(try bench.contents() == before)
  }

  @Test func derivedAttributesThatNobodyStoresAreNotInTheWay() throws {
    let bench = try ruled(
      Self.rule, extending: "derived = { twice = { inputs = { 's' }, get = function(s) return s and s .. s end } }")
    #expect(try bench.inStore("object.n = 1", where: nil) != nil)
    let storing = try ruled(
      Self.rule,
      extending: "derived = { t = { inputs = { 's' }, stored = true, get = function(s) return s and s .. s end } }")
    #expect(try storing.inStore("object.s = 'a'", where: nil) == nil)
  }

  /// A row alone does not tell which entity's rules apply.
  @Test func rulesOfEntitiesWithSubentitiesAreAskedByObjects() throws {
    let folder = try Workplace()
    let text = """
      return { entities = { A = { attributes = { n = "integer64" } }, B = { parent = "A" } } }
      """
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: text))
    try Data("return { entities = { A = { validate = { n = function(n) return n < 9 end } } } }".utf8)
      .write(to: folder.url("rules.lua"))
    let container = try PersistentContainer(
      model: model, store: .sqlite(folder.url("s.sqlite")), extensions: [.file(folder.url("rules.lua"))])
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: container.opened)
    try domain.setContext(context)
    try context.insert("B", values: ["n": .int(1)])
    try context.save()
    let done = try domain.state.run {
      try ObjectFunction(body: ScriptSource(name: "--do", text: "object.n = 2"), in: domain)
        .runInStore(FetchRequest("A"), in: context)
    }
    #expect(done == nil)
  }
}

/// The function runs on one thread, and another thread writes its results.
@Suite struct EachOnTwoThreadsConcurrencyTests {
  /// More rows than the pipe between the two threads holds, some long and some unchanged.
  @Test(arguments: [
    "object.s = object.s and ('x'):rep((object.n or 0) % 97) .. object.s", "object.n = 7", "object.t = nil",
  ])
  func manyRowsBecomeWhatTheyBecomeOneByOne(_ code: String) throws {
    let (one, other) = (try EachBench(count: 20_000, pipes: true), try EachBench(count: 20_000))
    let done = try one.inStore(code, where: nil)
    let expected = try other.inStore(code, where: nil)
    #expect(done != nil && done?.matched == expected?.matched && done?.changed == expected?.changed)
    #expect(try one.contents() == other.contents())
  }

  /// Either may fail first: the function, early or late, or the statement.
  @Test func whoeverFailsEndsBoth() throws {
    let bench = try EachBench(count: 12_000, pipes: true)
    try bench.raw().executeScript("UPDATE ZITEM SET ZLONG = Z_PK")
    let before = try bench.contents()
    for key in [1, 1023, 1024, 1025, 9000, 12_000] {
      let code = "if object.long == \(key) then object.s = {} else object.s = 'new' .. object.long end"
      #expect(try bench.inStore(code, where: nil) == nil, "\(key)")
      #expect(try bench.contents() == before)
    }
    for key in [1, 2000, 11_990] {
      let raw = try bench.raw()
      try raw.executeScript("UPDATE ZITEM SET Z_OPT = 'x' WHERE Z_PK = \(key)")
      let damaged = try bench.contents()
      #expect(try bench.inStore("object.s = 'new' .. object.long", where: nil) == nil, "\(key)")
      #expect(try bench.contents() == damaged)
      try raw.executeScript("UPDATE ZITEM SET Z_OPT = 1 WHERE Z_PK = \(key)")
    }
    #expect(try bench.inStore("object.s = 'new' .. object.long", where: nil)?.changed == 12_000)
  }

  /// A run ends at its limit, whatever both threads are doing.
  @Test(arguments: [20_000, 100_000, 300_000]) func aLimitEndsBoth(_ instructions: Int64) throws {
    let bench = try EachBench(count: 12_000, pipes: true)
    let before = try bench.contents()
    let function = try bench.function("object.s = (object.s or ''):upper():lower():upper() .. 'x'")
    bench.domain.state.limits.instructions = instructions
    #expect(throws: (any Error).self) {
      try bench.domain.state.run { try function.runInStore(FetchRequest("Item"), in: bench.context) }
    }
    #expect(try bench.contents() == before)
    bench.domain.state.limits.instructions = nil
    #expect(try bench.inStore("object.s = 'new'", where: nil)?.matched == 12_000)
  }
}

/// A store of items with every value that a column may hold.
private final class EachBench {
  let folder: URL
  let container: PersistentContainer
  let domain: ScriptDomain
  let context: ManagedObjectContext
  let store: SQLiteStore
  private let hasSubentity: Bool

  /// `rules` are Lua rules for attributes of items, `extending` is the remainder of the extension. `pipes` runs the
  /// function in parallel to the update, which small tables otherwise do not.
  init(
    _ additions: String = "", rules: String? = nil, extending: String = "", seed: UInt64 = 1, count: Int = 300,
    pipes: Bool = false
  ) throws {
    hasSubentity = rules == nil
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("Each-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let text = """
      return { entities = {
        Item = {
          attributes = {
            n = { "integer32" \(additions) }, long = "integer64", s = "string", t = "string", d = "double", at = "date",
            flag = "boolean", bytes = "binary", uuid = "uuid", price = "decimal", must = { "string", optional = false },
          },
          relationships = { kind = { to = "Kind", inverse = "items" } },
        },
        \(rules == nil ? "Special = { parent = 'Item', attributes = { extra = 'string' } }," : "")
        Kind = { relationships = { items = { to_many = "Item", inverse = "kind" } } },
      } }
      """
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: text))
    let file = folder.appendingPathComponent("rules.lua")
    let entity = "{ validate = { \(rules ?? "") }, \(extending) }"
    try Data("return { entities = { Item = \(entity) } }".utf8).write(to: file)
    let plain = try PersistentContainer(
      model: model, store: .sqlite(folder.appendingPathComponent("s.sqlite")), extensions: [])
    try Self.fill(plain, hasSubentity: hasSubentity, seed: seed, count: count)
    container = try PersistentContainer(
      model: model, store: .sqlite(folder.appendingPathComponent("s.sqlite")),
      extensions: rules == nil ? [] : [.file(file)])
    store = try #require(container.coordinator.persistentStores[0] as? SQLiteStore)
    if pipes { store.fewRows.withLock { $0 = 0 } }
    domain = try ScriptDomain()
    context = try domain.context(of: container.opened)
    try domain.setContext(context)
  }

  deinit {
    domain.close()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func fill(
    _ container: PersistentContainer, hasSubentity: Bool, seed: UInt64, count: Int
  ) throws {
    let context = try ManagedObjectContext(container.coordinator)
    var random = SplitMix(seed)
    func some(_ value: Value) -> Value { random.next(8) == 0 ? .null : value }
    for _ in 0..<count {
      let number = Int64(random.next(2000)) - 1000
      let text = String(repeating: "aé ", count: random.next(4)) + "\(number)"
      try context.insert(
        random.next(4) == 0 && hasSubentity ? "Special" : "Item",
        values: [
          "n": some(.int(number)), "long": some(.int(Int64(bitPattern: random.next()))), "s": some(.string(text)),
          "d": some(.double(Double(number) / 4)),
          "at": some(.date(Date(timeIntervalSinceReferenceDate: Double(number)))),
          "flag": some(.bool(random.next(2) == 0)), "bytes": some(.data(Data([UInt8(random.next(256)), 0, 200]))),
          "t": some("t"), "must": "m", "price": some(.decimal(Decimal(number))),
        ])
    }
    try context.save()
  }

  /// The contents of the tables.
  func contents() throws -> String? {
    let columns =
      [
        "Z_PK", "Z_ENT", "Z_OPT", "ZN", "ZLONG", "ZS", "ZT", "ZD", "ZAT", "ZFLAG", "ZBYTES", "ZUUID",
      ] + (hasSubentity ? ["ZEXTRA"] : [])
    let text = columns.map { "typeof(\($0)) || quote(\($0))" }.joined(separator: " || ' ' || ")
    return try raw().text(
      "SELECT group_concat(line, char(10)) FROM (SELECT \(text) AS line FROM ZITEM ORDER BY Z_PK)")
  }

  func raw() throws -> Connection {
    try Connection(folder.appendingPathComponent("s.sqlite").path, mode: .readWrite)
  }

  func function(_ code: String) throws -> ObjectFunction {
    try domain.state.run { try ObjectFunction(body: ScriptSource(name: "--do", text: code), in: domain) }
  }

  func inStore(_ code: String, where condition: String?) throws -> (matched: Int, changed: Int)? {
    let done = try domain.state.run {
      try function(code).runInStore(Self.request(condition), in: context)
    }
    return done.map { ($0.matched, $0.changed) }
  }

  /// Runs the code object by object; nil if an object fails.
  func byObjects(_ code: String, where condition: String?) throws -> (matched: Int, changed: Int)? {
    let function = try function(code)
    let objects = try context.fetch(Self.request(condition))
    do {
      try domain.state.run { for object in objects { try function.call(object, in: context) } }
      let changed = context.updatedObjects.count(where: \.hasPersistentChangedValues)
      try context.save()
      return (objects.count, changed)
    } catch {
      try context.rollback()
      return nil
    }
  }

  private static func request(_ condition: String?) throws -> FetchRequest {
    try FetchRequest("Item", where: condition.map { try Predicate(format: $0) })
  }
}

/// A folder that is deleted with the instance.
private final class Workplace {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Each-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
