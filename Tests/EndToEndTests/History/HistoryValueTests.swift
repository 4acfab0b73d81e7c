import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `history --values` shows the values that a history determines, and no others.
@Suite struct HistoryValueTests {
  private static let model = """
    return { entities = {
      Person = { attributes = { name = { "string", keep_in_history = true }, age = "integer16", mood = "string",
          photo = { "transformable", transformer = "JSONTransformer" } },
        relationships = { home = { to = "Home", inverse = "people" } } },
      Boss = { parent = "Person", attributes = { title = { "string", keep_in_history = true } } },
      Home = { attributes = { street = "string" }, relationships = { people = { to_many = "Person", inverse = "home" } } },
    } }
    """

  /// Ann stays and is changed twice; Bob is deleted; Cid is deleted before any change.
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
    try run(
      bench,
      """
      local home = c:insert("Home", { street = "Main" })
      assert(c:save())
      local ann = c:insert("Person", { name = "Ann", age = 30, photo = { 1, { a = true } } })
      assert(c:save())
      local bob = c:insert("Boss", { name = "Bob", age = 1, title = "Dr" })
      assert(c:save())
      ann.name, ann.age = "Anna", 31
      assert(c:save())
      ann.age, ann.home = 32, home
      bob.age = 2
      assert(c:save())
      bob.name = "Rob"
      assert(c:save())
      c:delete(bob)
      assert(c:save())
      """)
    return bench
  }

  private func run(_ bench: Workbench, _ code: String) throws {
    let made = try bench.moonbase(
      "run", "--store", "h.sqlite", "--model", "m.lua", "--keep-history", "-e", "local c = moonbase.context\n" + code)
    try #require(made.status == 0, "\(made)")
  }

  /// The change, the object, and the old and new values of each row.
  private func rows(_ bench: Workbench, _ arguments: String...) throws -> [String] {
    let outcome = try bench.moonbase(["history", "h.sqlite", "--values", "--format", "ndjson"] + arguments)
    #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
    return outcome.output.split(separator: "\n").map { line in
      String(line.replacing(#/^.*"change": "/#, with: "").replacing(#/"properties".*?"old": /#, with: "old: "))
        .replacing("\"", with: "")
    }
  }

  @Test func eachChangeHasTheValuesThatNothingReplaced() throws {
    let bench = try bench()
    let before = try bench.contents()
    let rows = try rows(bench)
    #expect(
      rows == [
        "insert, _id: Home/1, old: null, new: {street: Main}}",
        "insert, _id: Person/1, old: null, new: {mood: null, photo: [1, {a: true}]}}",
        // Its age was changed; all other values are lost.
        "insert, _id: Boss/2, old: null, new: {title: Dr}}",
        "update, _id: Person/1, old: null, new: {name: Anna}}",
        "update, _id: Person/1, old: null, new: {age: 32, home: Home/1}}",
        "update, _id: Boss/2, old: null, new: null}",
        "update, _id: Boss/2, old: null, new: {name: Rob}}",
        "delete, _id: Boss/2, old: {name: Rob, title: Dr}, new: null}",
      ])
    #expect(try bench.contents() == before)
  }

  /// Works for the properties of many different updates, and for tombstones of objects deleted together.
  @Test func manyDifferentUpdatesAndManyDeletionsAreKnown() throws {
    let bench = try Workbench()
    try bench.write(
      """
      local attributes = { name = { "string", keep_in_history = true } }
      for i = 1, 8 do attributes["a" .. i] = "integer64" end
      return { entities = { P = { attributes = attributes } } }
      """, to: "m.lua")
    try run(
      bench,
      """
      local one = c:insert("P")
      assert(c:save())
      for i = 1, 255 do
        for bit = 0, 7 do if i >> bit & 1 == 1 then one["a" .. bit + 1] = i end end
        assert(c:save())
      end
      one.a1 = -1
      assert(c:save())
      local others = {}
      for i = 1, 70 do others[i] = c:insert("P", { name = "p" .. i }) end
      assert(c:save())
      for _, other in ipairs(others) do c:delete(other) end
      assert(c:save())
      """)
    let rows = try rows(bench)
    #expect(rows[0] == "insert, _id: P/1, old: null, new: {name: null}}")
    #expect(rows[1..<255].allSatisfy { $0.hasSuffix("old: null, new: null}") })
    let last = (2...8).map { "a\($0): 255" }.joined(separator: ", ")
    #expect(rows[255].hasSuffix("new: {\(last)}}"), "\(rows[255])")
    #expect(rows[256].hasSuffix("new: {a1: -1}}"), "\(rows[256])")
    let names = Set((1...70).map { "{name: p\($0)}" })
    #expect(Set(rows[257..<327].map { $0.replacing(/^.*new: |}$/, with: "") }) == names, "\(rows[257])")
    #expect(rows[327...].count == 70 && rows[327...].allSatisfy { $0.hasPrefix("delete") })
  }

  /// Changes outside the selection still count as later changes.
  @Test func aPartHasTheSameValues() throws {
    let bench = try bench()
    let all = try rows(bench)
    #expect(try rows(bench, "--limit", "4") == Array(all.prefix(4)))
    #expect(try rows(bench, "--where", "changeType == 0") == Array(all.prefix(3)))
    #expect(try rows(bench, "--since", "2001-01-01") == all)
    let token = try bench.moonbase("history", "h.sqlite", "--token").output.split(separator: "\n")[0]
    #expect(try rows(bench, "--since", String(token).replacing(/7$/, with: "6")) == Array(all.suffix(1)))
    let table = try bench.moonbase("history", "h.sqlite", "--values", "--limit", "1", "--format", "csv")
    #expect(table.output.hasPrefix("transaction,date,author,context,change,_id,properties,tombstone,old,new\n"))
  }

  /// A change without property names may concern any property.
  @Test func aChangeWithoutNamesMakesEarlierValuesUnknown() throws {
    let bench = try bench()
    try bench.execute("UPDATE ACHANGE SET ZCOLUMNS = NULL WHERE ZTRANSACTIONID = 5", in: "h.sqlite")
    let rows = try rows(bench, "--entity", "Person", "--where", "changedEntity == 'Person'")
    #expect(
      rows == [
        "insert, _id: Person/1, old: null, new: null}", "update, _id: Person/1, old: null, new: null}",
        "update, _id: Person/1, old: null, new: null}",
      ])
  }

  @Test func valuesThatCannotBeReadAreToldAndTheRestIsPrinted() throws {
    let bench = try bench()
    try bench.execute("UPDATE ZPERSON SET ZAGE = 'old' WHERE ZNAME = 'Anna'", in: "h.sqlite")
    let outcome = try bench.moonbase("history", "h.sqlite", "--values", "--format", "ndjson")
    #expect(outcome.status == 1 && outcome.complaints.contains("age"), "\(outcome)")
    #expect(outcome.output.split(separator: "\n").count == 8 && outcome.output.contains(#""new": {"home": "Home/1"}"#))
  }

  @Test func valuesAreOfChangesThatArePrinted() throws {
    let bench = try bench()
    #expect(try bench.moonbase("history", "h.sqlite", "--values", "--token").status == 2)
    #expect(try bench.moonbase("history", "h.sqlite", "--values", "--keep", "1").status == 2)
  }
}
