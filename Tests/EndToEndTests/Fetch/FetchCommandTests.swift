import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct FetchCommandTests {
  /// Transformed values are written as values and null as null, in any selection of columns.
  @Test(arguments: ["ndjson", "csv"]) func transformableValuesAreWritten(_ format: String) throws {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { P = { attributes = { name = 'string', tf = 'transformable' } } } }", to: "m.lua")
    try bench.write("name,tf\na,hello\nb,\n", to: "p.csv")
    let made = try bench.moonbase("import", "P", "p.csv", "--store", "s.sqlite", "--model", "m.lua")
    try #require(made.status == 0, "\(made)")
    for command in ["fetch", "export"] {
      let outcome = try bench.moonbase(
        command, "P", "--store", "s.sqlite", "--sort", "name", "--columns", "tf,name", "--format", format)
      let expected =
        format == "csv"
        ? "tf,name\nhello,a\n,b\n" : "{\"tf\": \"hello\", \"name\": \"a\"}\n{\"tf\": null, \"name\": \"b\"}\n"
      #expect(outcome.status == 0 && outcome.output == expected, "\(outcome)")
    }
  }

  @Test func aPredicateWithParametersAnOrderAndALimitSelect() throws {
    let bench = try Workbench.withPeople()
    func ages(_ arguments: String...) throws -> String {
      let words = ["fetch", "Person", "--store", "s.sqlite", "--columns", "age,name", "--format", "csv"]
      let outcome = try bench.moonbase(words + arguments)
      #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
      return outcome.output
    }
    #expect(try ages("--sort", "-age,name", "--limit", "2") == "age,name\n9007199254740993,\"Ann, \"\"A\"\"\"\n30,\n")
    #expect(try ages("--where", "age > %@", "--param", "30") == "age,name\n9007199254740993,\"Ann, \"\"A\"\"\"\n")
    #expect(try ages("--where", "name == %@", "--param", "30") == "age,name\n")
    #expect(
      try ages("--where", "born < %@ AND active == %@", "--param", "2002-01-01", "--param", "true").hasPrefix(
        "age,name\n9007199254740993"))
    #expect(try ages("--where", "salary == %@", "--param", "12345678901234567.89").contains("Ann"))
  }

  /// The type of a literal does not depend on the parameters' texts.
  @Test func aLiteralThatIsEqualToAParameterIsNotTypedLikeIt() throws {
    let bench = try Workbench.withPeople()
    func count(_ condition: String, _ parameters: String...) throws -> String {
      let words = ["fetch", "Person", "--store", "s.sqlite", "--count", "--where", condition]
      let outcome = try bench.moonbase(words + parameters.flatMap { ["--param", $0] })
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
    let all = try count("TRUEPREDICATE")
    #expect(try count("age == %@", "30") != all && count("age == %@ AND '30' == '30'", "30") == count("age == 30"))
    // A number could not be compared with a text.
    #expect(try count("age == %@ OR lowercase('30') == '30'", "30") == all)
    #expect(try count("%K == %@", "age", "30") == count("age == 30"))
    #expect(try count("%K == %@", "department.name", "Sales") == count("department.name == 'Sales'"))
    #expect(try count("age IN {%@, %@}", "30", "31") == count("age IN {30, 31}"))
  }

  @Test func jsonHasEveryTypeInTheFormOfTheDocumentation() throws {
    let bench = try Workbench.withPeople()
    let words = ["fetch", "Person", "--store", "s.sqlite", "--sort", "-age", "--limit", "1", "--format", "ndjson"]
    let line = try bench.moonbase(words).output
    for part in [
      #""name": "Ann, \"A\"""#, #""age": 9007199254740993"#, #""height": 1.5"#, #""salary": "12345678901234567.89""#,
      #""born": "2001-01-01T00:00:01.500Z""#, #""key": "AQI=""#, #""active": true"#,
      #""code": "00000000-0000-0000-0000-00000000000A""#, #""site": "https://example.org/a""#,
    ] { #expect(line.contains(part), "\(part) in \(line)") }
    #expect(line.contains(/"_id": "Person\/\d+"/))
    #expect(line.contains(/"department": "Department\/1"/))
    #expect(!line.contains("friends"), "to-many relationships come on request")
    #expect(try bench.moonbase(words + ["--dates", "reference"]).output.contains(#""born": 1.5"#))
    #expect(try bench.moonbase(words + ["--dates", "unix"]).output.contains(#""born": 978307201.5"#))
    let array = try bench.moonbase(
      "fetch", "Department", "--store", "s.sqlite", "--format", "json", "--columns", "name")
    #expect(array.output == "[\n{\"name\": \"Sales\"}\n]\n")
    let none = try bench.moonbase(
      "fetch", "Department", "--store", "s.sqlite", "--format", "json", "--where", "name == 'x'")
    #expect(none.output == "[]\n")
  }

  @Test func infinityIsNullInJSONAndAWarningSaysSo() throws {
    let bench = try Workbench.withPeople()
    let words = ["fetch", "Boss", "--store", "s.sqlite", "--columns", "height", "--format"]
    let json = try bench.moonbase(words + ["ndjson"])
    #expect(json.status == 0 && json.output == "{\"height\": null}\n")
    #expect(json.complaints.contains("height: 1 number is not finite"))
    #expect(try bench.moonbase(words + ["csv"]).output == "height\ninf\n")
  }

  @Test func csvTellsNoValueFromTheEmptyText() throws {
    let bench = try Workbench.withPeople()
    let words = [
      "fetch", "Person", "--store", "s.sqlite", "--where", "age == 30", "--sort", "-name", "--columns", "name",
      "--format", "csv",
    ]
    #expect(try bench.moonbase(words).output == "name\n\"\"\n\n")
    #expect(try bench.moonbase(words + ["--null", "NULL"]).output == "name\n\"\"\nNULL\n")
    let refused = try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--format", "json", "--null", "x")
    #expect(refused.status == 2 && refused.complaints.contains("JSON has a null of its own"))
  }

  @Test func columnsMayBeKeyPathsAndToManyRelationships() throws {
    let bench = try Workbench.withPeople()
    let paths = try bench.moonbase(
      "fetch", "Boss", "--store", "s.sqlite", "--columns",
      "title, department.name,department.people.@count,friends.name",
      "--format", "ndjson")
    #expect(
      paths.output
        == #"{"title": "Dr", "department.name": "Sales", "department.people.@count": 2, "friends.name": ["Ann, \"A\""]}"#
        + "\n")
    let friends = try bench.moonbase(
      "fetch", "Boss", "--store", "s.sqlite", "--columns", "friends", "--format", "ndjson")
    #expect(friends.output.contains(/\{"friends": \["Person\/\d"\]\}/))
  }

  @Test func aTableHasAHeadAndShowsNoControlCharacters() throws {
    let bench = try Workbench.withPeople()
    let code =
      "local d = moonbase.context:fetch('Department'):first() d.name = 'a\\n\\27[31mb' assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    let table = try bench.moonbase("fetch", "Department", "--store", "s.sqlite", "--columns", "name")
    let lines = table.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0] == "name" && lines[1].allSatisfy { $0 == "-" }, "\(table)")
    #expect(lines[2] == #"a\n\u{1B}[31mb"#)
  }

  @Test func aTableCutsLongTextsAndNoIDs() throws {
    let bench = try Workbench()
    let name = "AnEntityWithANameThatIsAsLongAsNamesInOldModelsAre"
    try bench.write("return { entities = { \(name) = { attributes = { x = 'string' } } } }", to: "m.lua")
    let code = "moonbase.context:insert('\(name)', { x = ('long'):rep(30) }) assert(moonbase.context:save())"
    try #require(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    let table = try bench.moonbase("fetch", name, "--store", "s.sqlite").output
    #expect(table.contains("\(name)/1  "), "\(table)")
    #expect(table.contains("longlong…"))
  }

  @Test func countAndExplainAnswerWithoutRows() throws {
    let bench = try Workbench.withPeople()
    #expect(try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--count").output == "3\n")
    let json = try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--count", "--format", "ndjson")
    #expect(json.output == "{\"count\": 3}\n")
    let explained = try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--explain", "--where", "age > 30")
    #expect(explained.output.contains("SELECT") && explained.output.contains("ZAGE"))
    let along = try bench.moonbase(
      "fetch", "Person", "--store", "s.sqlite", "--explain", "--columns", "name,friends.@count,department.name")
    #expect(along.output.hasSuffix("\nread along: friends, department\n"), "\(along)")
    let both = try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--count", "--explain")
    #expect(both.status == 2)
  }

  @Test func theStoreIsOnlyReadAndMayComeFromTheEnvironment() throws {
    let bench = try Workbench.withPeople()
    let before = try bench.contents()
    let outcome = try bench.program(
      "env", "MOONBASE_STORE=s.sqlite", Workbench.command.path, "fetch", "Department", "--columns", "name", "--format",
      "csv")
    #expect(outcome.status == 0 && outcome.output == "name\nSales\n", "\(outcome)")
    #expect(try bench.contents() == before)
  }

  @Test func aThousandAndMoreRowsAreWrittenInTheirOrder() throws {
    let bench = try Workbench.withPeople()
    let code =
      "for i = 1, 3000 do moonbase.context:insert('Department', { name = ('%05d'):format(i) }) end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "-e", code).status == 0)
    for format in ["csv", "table"] {
      let outcome = try bench.moonbase(
        "fetch", "Department", "--store", "s.sqlite", "--where", "name < 'A'", "--sort", "name", "--columns", "name",
        "--format", format)
      let names = outcome.output.split(separator: "\n").filter { $0.first == "0" }
      #expect(names == (1...3000).map { number in Substring(String("0000\(number)".suffix(5))) })
    }
  }
}
