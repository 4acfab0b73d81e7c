import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// How `diff` matches the objects and properties of two stores.
@Suite struct DifferentObjectTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = { P = { attributes = { s = "string", d = "date", n = "decimal", t = "transformable" },
        relationships = { one = { to = "P", inverse = "many" }, many = { to_many = "P", inverse = "one" } } },
        Q = { parent = "P", attributes = { q = "string" } } } }
      """, to: "m.lua")
  }

  private func store(_ name: String, _ code: String, model: String = "m.lua") throws {
    let made = try bench.moonbase(
      "run", "--store", name, "--model", model, "-e",
      "local c, date = moonbase.context, moonbase.date.reference \(code) assert(c:save())")
    try #require(made.status == 0, "\(made)")
  }

  private func differ(_ arguments: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["diff", "a.sqlite", "b.sqlite"] + arguments)
  }

  @Test func objectsOfTwoEntitiesAreTwoObjects() throws {
    try store("a.sqlite", "c:insert('P', { s = 'x' })")
    try store("b.sqlite", "c:insert('Q', { s = 'x' })")
    for arguments in [[], ["--by", "s"]] {
      let outcome = try bench.moonbase(["diff", "a.sqlite", "b.sqlite", "--format", "csv"] + arguments)
      #expect(outcome.status == 1, "\(outcome)")
      #expect(outcome.output.contains("insert,Q") && outcome.output.contains("delete,P"), "\(outcome)")
    }
  }

  @Test func valuesThatLookAlikeAreTwoValues() throws {
    try store("a.sqlite", "c:insert('P', { d = date(5), s = '\\u{e9}', one = c:insert('P', { d = date(1.0001) }) })")
    try store("b.sqlite", "c:insert('P', { d = date(5), s = 'e\\u{301}', one = c:insert('P', { d = date(1.0002) }) })")
    let dates = try differ("--by", "d", "--format", "csv")
    for row in ["insert,P d=", "delete,P d=", ",one,", ",s,"] { #expect(dates.output.contains(row), "\(dates)") }
    try store("a.sqlite", "c:insert('P', {})")
    try store("b.sqlite", "c:insert('P', { s = 'nil' })")
    let texts = try differ("--by", "s", "--format", "csv")
    // Two objects of the first store have no s, and an object of the second has none.
    #expect(texts.output.components(separatedBy: "insert,").count == 3, "\(texts)")
    #expect(texts.output.components(separatedBy: "delete,").count == 3, "\(texts)")
  }

  /// The hash of a value ignores its deeply nested parts.
  @Test func keysThatDifferDeepInsideAreTwoKeys() throws {
    let deep = "local function deep(x) for i = 1, 12 do x = { x } end return x end"
    try store("a.sqlite", "\(deep) c:insert('P', { s = 'x', t = deep('a') }) c:insert('P', { s = 'y', t = deep('b') })")
    try store("b.sqlite", "\(deep) c:insert('P', { s = 'z', t = deep('b') }) c:insert('P', { s = 'w', t = deep('c') })")
    let outcome = try differ("--by", "t", "--format", "csv")
    #expect(outcome.output.components(separatedBy: "insert,").count == 2, "\(outcome)")
    #expect(outcome.output.components(separatedBy: "delete,").count == 2, "\(outcome)")
    #expect(outcome.output.contains(",s,y,z"), "\(outcome)")
  }

  /// Objects with equal keys are matched in order: first with first, second with second.
  @Test func objectsWithEqualKeysAreComparedInTheirOrder() throws {
    let insert = "for _, s in ipairs(names) do c:insert('P', { d = date(5), s = s }) assert(c:save()) end"
    try store("a.sqlite", "local names = { '1', '2', '3' } \(insert) c:insert('P', { d = date(6), s = '0' })")
    try store("b.sqlite", "c:insert('P', { d = date(6), s = '0' }) local names = { '1', '4' } \(insert)")
    let outcome = try differ("--by", "d", "--format", "csv")
    let rows = outcome.output.split(separator: "\n").dropFirst()
    #expect(rows.count == 2 && rows[1].hasSuffix(",s,2,4") && rows[2].hasPrefix("delete,P d="), "\(outcome)")
  }

  @Test func aPropertyOfTheFirstStoreAloneIsTold() throws {
    try store("a.sqlite", "c:insert('P', { s = 'x', n = 1 })")
    try bench.write(
      "return { entities = { P = { attributes = { s = 'string', d = 'date', t = 'transformable' } } } }", to: "n.lua")
    try store("b.sqlite", "c:insert('P', { s = 'x' })", model: "n.lua")
    let outcome = try differ()
    for name in ["P.n", "P.one"] {
      #expect(outcome.complaints.contains("\(name) is only in a.sqlite: it is not compared\n"), "\(outcome)")
    }
    #expect(!outcome.complaints.contains("P.many") && !outcome.complaints.contains("P.s"), "\(outcome)")
  }

  @Test func aScriptWritesNestedValuesAsTheyAre() throws {
    let first = "for i = 1, 3 do c:insert('P', { s = '' .. i }) end assert(c:save())"
    try store("a.sqlite", first)
    try store(
      "b.sqlite",
      """
      \(first) local null, decimal = moonbase.null, moonbase.decimal
      local function at(s) return c:find('P', { s = s }) end
      at('1').t, at('2').t, at('3').n = { a = null, b = { null, 3 } }, { decimal("1.50") }, "2.5"
      """)
    try bench.write(try differ("--script").output, to: "changes.lua")
    let run = try bench.moonbase("run", "--store", "a.sqlite", "changes.lua")
    #expect(run.status == 0, "\(run)")
    let outcome = try differ()
    #expect(outcome.status == 0, "\(outcome)")
  }
}
