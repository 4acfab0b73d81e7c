import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Composite attributes in scripts, in printed output, and in files that are exported and imported.
@Suite struct CompositeCommandTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = { Person = { attributes = {
        name = "string",
        address = { "composite", elements = {
          city = "string", number = "integer16", rent = "decimal", since = "date", owned = "boolean", page = "uri",
          key = "uuid", photo = "binary", place = { "composite", elements = { latitude = "double", longitude = "double" } },
        } },
      } } } }
      """, to: "m.lua")
    let made = try run(
      """
      local c = moonbase.context
      local ann = c:insert("Person", { name = "Ann" })
      ann.address = {
        city = "Rome, \\"old\\"", number = 7, rent = "12345678901234567.89", owned = true, photo = "\\255\\0",
        since = moonbase.date.reference(1.5), page = moonbase.uri("https://example.org/a"),
        key = "00000000-0000-0000-0000-00000000000A", place = { latitude = 1.5, longitude = -2 },
      }
      local bob = c:insert("Person", { name = "Bob", address = { place = { latitude = 3 } } })
      local cyd = c:insert("Person", { name = "Cyd", address = {} })
      assert(cyd.address == nil and c:save())
      """)
    try #require(made.status == 0, "\(made)")
  }

  private func run(_ code: String, store: String = "s.sqlite") throws -> Workbench.Outcome {
    try bench.moonbase("run", "--store", store, "--model", "m.lua", "-e", code)
  }

  private static let check = """
    local c = moonbase.context
    local function person(name) return c:fetch("Person"):where("name == %@", name):first() end
    local a = person("Ann").address
    assert(a.city == "Rome, \\"old\\"" and a.number == 7 and a.owned == true and a.photo == "\\255\\0")
    assert(tostring(a.rent) == "12345678901234567.89" and a.place.latitude == 1.5 and a.place.longitude == -2)
    assert(tostring(a.page) == "https://example.org/a" and tostring(a.key) == "00000000-0000-0000-0000-00000000000A")
    assert(a.since == moonbase.date.reference(1.5))
    local b = person("Bob").address
    assert(b.place.latitude == 3 and b.city == nil and person("Cyd").address == nil)
    """

  @Test func scriptsReadAndAssignTables() throws {
    let outcome = try run(
      Self.check + """

        local ann = person("Ann")
        assert(not pcall(function() ann.address.city = "Oslo" end))
        assert(ann.address.city ~= "Oslo" and not ann:has_changes())
        local new = moonbase.copy(ann.address)
        new.city = "Oslo"
        ann.address = new
        assert(ann.address.city == "Oslo" and c:save())
        assert(#c:fetch("Person"):where("address.city == 'Oslo' AND address.place.latitude > 1"):all() == 1)
        local ok, why = pcall(function() ann.address = { town = "x" } end)
        assert(not ok and tostring(why):find("has no element town"), tostring(why))
        ok, why = pcall(function() ann.address = { number = 70000 } end)
        assert(not ok and tostring(why):find("number: 70000 does not fit"), tostring(why))
        """)
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test(arguments: ["json", "ndjson", "csv", "tsv"])
  func whatIsPrintedIsReadAgain(_ format: String) throws {
    let printed = try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--format", format, "--sort", "name")
    try #require(printed.status == 0, "\(printed)")
    try bench.write(printed.output, to: "people.\(format)")
    let read = try bench.moonbase(
      "import", "Person", "people.\(format)", "--store", "other.sqlite", "--model", "m.lua")
    #expect(read.status == 0, "\(read)")
    let checked = try run(Self.check, store: "other.sqlite")
    #expect(checked.status == 0, "\(checked)")
  }

  @Test func aColumnIsAnElement() throws {
    let printed = try bench.moonbase(
      "fetch", "Person", "--store", "s.sqlite", "--format", "csv", "--sort", "name", "--columns", "name,address.number",
      "--where", "address.place.latitude > 0")
    #expect(printed.output == "name,address.number\nAnn,7\nBob,\n", "\(printed)")
  }

  @Test func allOfAStoreIsWrittenAndReadAgain() throws {
    let out = try bench.moonbase("export", "--store", "s.sqlite", "--all", "out")
    #expect(out.status == 0, "\(out)")
    let back = try bench.moonbase("import", "--store", "new.sqlite", "--all", "out")
    #expect(back.status == 0, "\(back)")
    let checked = try bench.moonbase("run", "--store", "new.sqlite", "--model", "m.lua", "-e", Self.check)
    #expect(checked.status == 0, "\(checked)")
  }

  @Test func aRowWhoseElementIsWrongIsRejectedWithItsName() throws {
    try bench.write(#"{"name": "Dan", "address": {"city": "Rome", "number": "many"}}"# + "\n", to: "d.ndjson")
    let read = try bench.moonbase("import", "Person", "d.ndjson", "--store", "s.sqlite", "--model", "m.lua")
    let rejected = String(decoding: try bench.bytes(of: "d.rejects.ndjson"), as: UTF8.self)
    #expect(read.status == 4 && rejected.contains("number: takes an Integer 16, not string 'many'"), "\(rejected)")
    try bench.write("name,address.city\nDan,Rome\n", to: "d.csv")
    let column = try bench.moonbase("import", "Person", "d.csv", "--store", "s.sqlite", "--model", "m.lua")
    #expect(column.complaints.contains("Person.address is a composite, which is read whole"), "\(column)")
  }
}
