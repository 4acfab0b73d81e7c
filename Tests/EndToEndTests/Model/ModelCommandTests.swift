import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct ModelCommandTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(Models.people(), to: "people.xml")
  }

  @Test func showPrintsALuaModelFile() throws {
    let shown = try bench.moonbase("model", "show", "people.xml")
    #expect(shown.status == 0)
    #expect(shown.complaints == "")
    try bench.write(
      "local model = (function()\n\(shown.output)\nend)()\nprint(model.entities.Person.attributes.name[1] or model.entities.Person.attributes.name)",
      to: "read.lua")
    #expect(try bench.program("lua5.4", "read.lua").output == "string\n")
  }

  @Test func showAsJSONHasTheVersionHashOfEachEntity() throws {
    let shown = try bench.moonbase("model", "show", "people.xml", "--json")
    #expect(shown.status == 0)
    let report = try JSONDecoder().decode(Report.self, from: Data(shown.output.utf8))
    let person = try #require(report.entities.first)
    #expect(person.name == "Person")
    #expect(person.versionHash.count == 64)
    #expect(person.attributes.map(\.name) == ["age", "name"])
    #expect(Data(base64Encoded: report.digest)?.count == 64)
  }

  @Test func showAsJSONLeavesNothingOut() throws {
    try bench.write(
      """
      return { entities = { A = {
        attributes = { x = { "integer16", default = 3, min = 1, max = 9, user_info = { a = 1 }, renamed_from = "w" },
          y = { "string", min_length = 2, max_length = 4, one_of = { "ab" }, matches = "a+", rules = { { "SELF != 'b'", "no b" } } },
          d = { "date", default = "2001-01-01" } },
        relationships = { r = { to_many = "A", inverse = "r", min = 1, max = 7 } },
        fetched_properties = { f = { "A", "x > 1", sort = "-x" } },
        indexes = { i = { "-x" } }, user_info = { b = "c" }, renamed_from = "Z" } },
        fetch_requests = { t = { "A", "x > $X", limit = 4 } } }
      """, to: "m.lua")
    let shown = try bench.moonbase("model", "show", "m.lua", "--json")
    let text = shown.output.split(whereSeparator: \.isWhitespace).joined()
    for part in [
      #""default":3"#, #""min":1"#, #""max":9"#, #""userInfo":{"a":1}"#, #""minLength":2"#, #""maxLength":4"#,
      #""oneOf":["ab"]"#,
      #""matches":"a+""#, #""message":"nob""#, #""default":"2001-01-01T00:00:00.000Z""#, #""minCount":1"#,
      #""maxCount":7"#,
      #""name":"f""#, #""sort":["-x"]"#, #""name":"i""#, #""ascending":false"#, #""userInfo":{"b":"c"}"#,
      #""renamingIdentifier":"Z""#, #""renamingIdentifier":"w""#, #""limit":4"#, #""predicate":"x>$X""#,
    ] { #expect(text.contains(part), "\(part) in \(shown.output)") }
  }

  @Test func checkCountsEntities() throws {
    let checked = try bench.moonbase("model", "check", "people.xml")
    #expect(checked.status == 0)
    #expect(checked.output == "people.xml: 1 entity, 0 warnings\n")
    let report = try bench.moonbase("model", "check", "people.xml", "--json")
    #expect(report.status == 0)
    #expect(report.output.contains(#""entities" : 1"#) && report.output.contains(#""warnings" : ["#))
  }

  @Test func diffOfAModelWithItselfFindsNothing() throws {
    let compared = try bench.moonbase("model", "diff", "people.xml", "people.xml")
    #expect(compared.status == 0 && compared.complaints == "")
    #expect(compared.output == "the models say the same\n")
  }

  @Test func diffNamesTheNewAttributeAndAsksForMigration() throws {
    try bench.write(
      Models.people(extraAttribute: #"<attribute name="born" optional="YES" attributeType="Date"/>"#), to: "newer.xml")
    let compared = try bench.moonbase("model", "diff", "people.xml", "newer.xml")
    #expect(compared.status == 1)
    #expect(compared.output.contains("born"))
    #expect(compared.output.contains("must be migrated to open with the other; the mapping can be inferred"))
    let report = try bench.moonbase("model", "diff", "people.xml", "newer.xml", "--json")
    #expect(report.status == 1)
    for part in [
      #""equal" : false"#, #""needsMigration" : true"#, #""kind" : "added""#, #""name" : "born""#,
      #""name" : "PersonToPerson""#, #""kind" : "transform""#,
    ] { #expect(report.output.contains(part), "\(part)") }
  }

  @Test func diffSaysWhatCannotBeInferred() throws {
    try bench.write("return { entities = { Person = { attributes = { name = 'boolean' } } } }", to: "flagged.lua")
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "named.lua")
    let compared = try bench.moonbase("model", "diff", "named.lua", "flagged.lua")
    #expect(compared.status == 1)
    #expect(compared.output.contains("the mapping cannot be inferred:\n- "), "\(compared.output)")
    let report = try bench.moonbase("model", "diff", "named.lua", "flagged.lua", "--json")
    #expect(report.output.contains("\"notInferred\" : [\n    \""), "\(report.output)")
  }

  @Test func diffSaysWhatAMigrationAsksOfTheRows() throws {
    try bench.write("return { entities = { Person = { attributes = { name = 'date' } } } }", to: "dated.lua")
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "named.lua")
    let compared = try bench.moonbase("model", "diff", "named.lua", "dated.lua")
    #expect(
      compared.output.contains("the mapping can be inferred, and the rows must allow it:\n- "), "\(compared.output)")
    let report = try bench.moonbase("model", "diff", "named.lua", "dated.lua", "--json")
    #expect(report.output.contains("\"conditions\" : [\n    \""), "\(report.output)")
  }

  @Test func aModelThatNeverEndsIsALimit() throws {
    try bench.write("while true do end", to: "endless.lua")
    let shown = try bench.moonbase("model", "show", "endless.lua")
    #expect(shown.status == 3 && shown.output == "")
    #expect(shown.complaints.contains("endless.lua:1: "))
  }

  private struct Report: Decodable {
    struct Entity: Decodable {
      struct Attribute: Decodable {
        let name: String
      }

      let name: String
      let versionHash: String
      let attributes: [Attribute]
    }

    let entities: [Entity]
    let digest: String
  }
}
