import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

extension Workbench {
  /// A bench with `m.lua`: people with values of many types and rules, and departments.
  static func forImports() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Person = {
          attributes = {
            name = { "string", optional = false }, age = { "integer16", min = 0, max = 150 }, email = "string", born = "date",
            score = "double", active = "boolean", balance = "decimal", uid = "uuid", site = "uri", photo = "binary",
          },
          relationships = {
            department = { to = "Department", inverse = "people" }, boss = { to = "Person", inverse = "reports" },
            reports = { to_many = "Person", inverse = "boss" }, tags = { to_many = "Tag", inverse = "people" },
          },
          constraints = { { "email" } },
        },
        Department = { attributes = { name = "string" }, relationships = { people = { to_many = "Person", inverse = "department" } } },
        Tag = { attributes = { name = "string" }, relationships = { people = { to_many = "Person", inverse = "tags" } } },
      } }
      """, to: "m.lua")
    return bench
  }

  /// Runs an import and expects a status.
  @discardableResult
  func imports(_ arguments: [String], status: Int32 = 0, input: String = "") throws -> Outcome {
    let outcome = try moonbase(["import"] + arguments + ["--store", "s.sqlite", "--model", "m.lua"], input: input)
    #expect(outcome.status == status, "\(outcome)")
    return outcome
  }

  func number(_ sql: String) throws -> Int64? {
    try connection(to: "s.sqlite", mode: .readWrite).integer(sql)
  }

  func fetched(_ arguments: String...) throws -> String {
    let outcome = try moonbase(["fetch"] + arguments + ["--store", "s.sqlite"])
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output
  }
}

@Suite struct ImportCommandTests {
  /// A class from a built-in module reads and writes its texts like an extension's class.
  @Test func coloursAreReadFromTheirTextsAndWrittenAsTexts() throws {
    let bench = try Workbench()
    let attributes = "name = 'string', color = { 'transformable', transformer = 'SRGBColorTransformer' }"
    try bench.write("return { entities = { Paint = { attributes = { \(attributes) } } } }", to: "m.lua")
    try bench.write("name,color\nlime,#00ff00\nnone,\n", to: "in.csv")
    let outcome = try bench.moonbase("import", "Paint", "in.csv", "--store", "s.sqlite", "--model", "m.lua")
    #expect(outcome.status == 0, "\(outcome)")
    let exported = try bench.moonbase("fetch", "Paint", "s.sqlite", "--columns", "name,color", "--format", "csv")
    #expect(exported.output == "name,color\nlime,#00ff00\nnone,\n", "\(exported)")
  }

  @Test func valuesOfAllTypesAreConvertedAsTheModelSays() throws {
    let bench = try Workbench.forImports()
    try bench.write(
      """
      name,age,email,born,score,active,balance,uid,site,photo
      Ann,32,ann@x,2001-02-03,1.5,yes,12345678901234567890.25,00000000-0000-0000-0000-00000000000A,https://x.org/a,AQI=
      Bob,,,2001-02-03T04:05:06.5+01:00,-2e3,0,-0.1,,,
      "",0,"",,inf,,,,,
      """, to: "p.csv")
    let outcome = try bench.imports(["Person", "p.csv"])
    #expect(outcome.complaints.contains("3 rows: 3 inserted, 0 rejected") && outcome.output == "")
    let columns = "name,age,email,born,score,active,balance,uid,site,photo"
    #expect(
      try bench.fetched("Person", "--format", "csv", "--columns", columns) == """
        \(columns)
        Ann,32,ann@x,2001-02-03T00:00:00.000Z,1.5,true,12345678901234567890.25,00000000-0000-0000-0000-00000000000A,https://x.org/a,AQI=
        Bob,,,2001-02-03T03:05:06.500Z,-2000.0,false,-0.1,,,
        "",0,"",,inf,,,,,

        """)
    #expect(try bench.names() == ["m.lua", "p.csv", "s.sqlite"])
  }

  @Test(arguments: ["csv", "tsv", "json", "ndjson"]) func eachFormIsReadFromFilesAndStandardInput(_ form: String) throws
  {
    let bench = try Workbench.forImports()
    let texts = [
      "csv": "name,age\nAnn,32\nBob,\n", "tsv": "name\tage\nAnn\t32\nBob\t\n",
      "json": #"[{"name": "Ann", "age": 32}, {"name": "Bob"}]"#,
      "ndjson": "{\"name\": \"Ann\", \"age\": 32}\n{\"name\": \"Bob\", \"age\": null}\n",
    ]
    let text = try #require(texts[form])
    try bench.write(text, to: "p.\(form)")
    try bench.imports(["Person", "p.\(form)"])
    try bench.imports(["Person", "-", "--format", form], input: text)
    #expect(
      try bench.fetched("Person", "--format", "csv", "--columns", "name,age", "--sort", "name")
        == "name,age\nAnn,32\nAnn,32\nBob,\nBob,\n")
  }

  @Test func relationshipsAreFoundByAttributesOfTheirDestinations() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\nSales\nIT\n", to: "d.csv")
    try bench.imports(["Department", "d.csv"])
    try bench.write(
      """
      name,department.name,boss.name,tags.name
      Ann,Sales,,"[""red"", ""blue""]"
      Bob,IT,Ann,"[""red""]"
      Cy,Ops,Bob,
      Di,,Zed,
      """, to: "p.csv")
    try bench.imports(["Person", "p.csv"], status: 4)
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.contains("Ann") && rejects.contains("there is no Tag with name 'red'; --create-missing makes it"))
    try FileManager.default.removeItem(at: bench.file("p.rejects.csv"))
    try FileManager.default.removeItem(at: bench.file("s.sqlite"))
    try bench.imports(["Department", "d.csv"])
    try bench.imports(["Person", "p.csv", "--create-missing"])
    #expect(
      try bench.fetched(
        "Person", "--format", "csv", "--columns", "name,department.name,boss.name,tags.@count", "--sort", "name",
        "--where", "name IN {'Ann', 'Bob', 'Cy', 'Di'}") == """
          name,department.name,boss.name,tags.@count
          Ann,Sales,,2
          Bob,IT,Ann,1
          Cy,Ops,Bob,0
          Di,,Zed,0

          """)
    #expect(try bench.fetched("Tag", "--count") == "2\n")
    #expect(try bench.fetched("Department", "--count") == "3\n")
  }

  @Test func rowsOfObjectsThatAreThereUpdateThem() throws {
    let bench = try Workbench.forImports()
    try bench.write("email,name,age\na,Ann,1\nb,Bob,2\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"])
    try bench.write(
      "{\"email\": \"a\", \"age\": 5}\n{\"email\": \"c\", \"name\": \"Cy\"}\n{\"email\": \"c\", \"age\": 7}\n",
      to: "q.ndjson")
    let outcome = try bench.imports(["Person", "q.ndjson", "--upsert", "email"])
    #expect(outcome.complaints.contains("3 rows: 1 inserted, 2 updated, 0 rejected"), "\(outcome)")
    #expect(
      try bench.fetched("Person", "--format", "csv", "--columns", "email,name,age", "--sort", "email")
        == "email,name,age\na,Ann,5\nb,Bob,2\nc,Cy,7\n")
    // A repeated import changes nothing.
    let versions = "SELECT SUM(Z_OPT) FROM ZPERSON"
    let before = try bench.number(versions)
    try bench.imports(["Person", "p.csv", "--upsert", "email"])
    let once = try bench.number(versions)
    try bench.imports(["Person", "p.csv", "--upsert", "email"])
    #expect(try bench.number(versions) == once && before != once)
  }

  /// Each row but the first has a new value in one column, of each type in turn.
  @Test func rowsThatSayWhatIsThereAreUnchangedAndTheOthersUpdate() throws {
    let bench = try Workbench.forImports()
    try bench.write(
      """
      return { entities = { Base = { abstract = true, attributes = { id = "string", s = "string" } }, T = { parent = "Base",
        attributes = { a = "integer16", b = "integer32", c = "integer64", d = "decimal", e = "double", f = "float",
          g = "boolean", h = "date", i = "uuid", j = "uri", k = "binary", l = "transformable", m = { "composite",
            elements = { city = "string" } } } }, U = { parent = "T" } } }
      """, to: "m.lua")
    let names = ["s", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]
    let first = [
      "x", "1", "-2", "3", "1.50", "0.1", "0.1", "true", "2020-01-02T03:04:05Z", "0B5D1E0E-6C5C-4C5B-9A5D-000000000001",
      "https://a.example/b", "AAH/", "\"\"text\"\"", "{\"\"city\"\": \"\"X\"\"}",
    ]
    let second = [
      "", "2", "", "4", "1.51", "0.2", "0.25", "false", "2020-01-02T03:04:06Z", "0B5D1E0E-6C5C-4C5B-9A5D-000000000002",
      "https://a.example/c", "AAH+", "\"\"other\"\"", "{\"\"city\"\": \"\"Y\"\"}",
    ]
    func file(_ isChanged: Bool) -> String {
      let rows = (0...names.count).map { row in
        let values = names.indices.map { isChanged && $0 == row - 1 ? second[$0] : first[$0] }
        return ["row\(row)"] + values.map { $0.contains("\"") ? "\"\($0)\"" : $0 }
      }
      return ([["id"] + names] + rows).map { $0.joined(separator: ",") + "\n" }.joined()
    }
    try bench.write(file(false), to: "p.csv")
    try bench.imports(["T", "p.csv"])
    try bench.write("id,s\nrow99,u\n", to: "u.csv")
    try bench.imports(["U", "u.csv"])
    let upsert = ["T", "p.csv", "--upsert", "id", "--batch", "4"]
    let same = try bench.imports(upsert)
    #expect(same.complaints.contains("15 rows: 0 inserted, 0 updated, 15 unchanged, 0 rejected"), "\(same)")
    try bench.write(
      file(true) + "row99,v" + String(repeating: ",", count: 13) + "\nrow100,n" + String(repeating: ",", count: 13)
        + "\n", to: "p.csv")
    let others = try bench.imports(upsert)
    #expect(others.complaints.contains("17 rows: 1 inserted, 15 updated, 1 unchanged, 0 rejected"), "\(others)")
    #expect(try bench.imports(upsert).complaints.contains("0 inserted, 0 updated, 17 unchanged"))
    #expect(try bench.number("SELECT COUNT(*) FROM ZBASE") == 17)
    #expect(try bench.number("SELECT COUNT(*) FROM ZBASE WHERE Z_OPT = 2") == 15)
  }

  /// Validation runs only for rows that change an object.
  @Test func hooksHearOfObjectsThatAreReadAndRulesOfThoseThatChange() throws {
    let bench = try Workbench.forImports()
    try bench.write("email,name,age\na,Ann,1\nb,Bob,2\nc,Cy,3\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"])
    try bench.write(
      "return { name = 'rules', entities = { Person = { validate = { age = function(age) return age ~= 9, 'is nine' end }, will_save = "
        + "function(person) person:set_primitive('name', person.name .. '!') end } } }", to: "e.lua")
    try bench.write("email,name,age\na,Ann,1\nb,Bob,9\nc,Cy,4\nc,Cy,5\n", to: "q.csv")
    let outcome = try bench.imports(["Person", "q.csv", "--upsert", "email", "--extension", "e.lua"], status: 4)
    #expect(outcome.complaints.contains("1 unchanged, 1 rejected"), "\(outcome)")
    let people = try bench.fetched(
      "Person", "--format", "csv", "--columns", "name,age", "--sort", "email", "--without-extension", "rules")
    #expect(people == "name,age\nAnn,1\nBob,2\nCy!,5\n", "\(people)")
  }

  @Test func aRowWithoutItsKeyIsRejectedAndNotThatOfAnother() throws {
    let bench = try Workbench.forImports()
    try bench.write("email,name\n,Ann\n,Bob\nc,Cy\n", to: "p.csv")
    let outcome = try bench.imports(["Person", "p.csv", "--upsert", "email"], status: 4)
    #expect(outcome.complaints.contains("3 rows: 1 inserted, 0 updated, 2 rejected"), "\(outcome)")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.contains(",Ann,2,email,,") && rejects.contains(",Bob,3,email,,"), "\(rejects)")
  }

  /// A dry run makes all checks of a save, also the store's; the store need not exist.
  @Test func aDryRunSavesNothingAndSaysWhatWouldBe() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age,email\nAnn,1,a\nBob,999,b\nCy,x,c\nDi,2,a\nEd,3,d\n", to: "p.csv")
    let first = try bench.imports(["Person", "p.csv", "--dry-run"], status: 4)
    #expect(first.complaints.contains("5 rows: would be 2 inserted, 3 rejected"), "\(first)")
    #expect(try bench.names() == ["m.lua", "p.csv", "p.dry-run.rejects.csv"])
    #expect(String(decoding: try bench.bytes(of: "p.dry-run.rejects.csv"), as: UTF8.self).contains("Di,2,a,5,email,a,"))

    // A reject file of a dry run obstructs neither the real import nor another dry run.
    try bench.imports(["Person", "p.csv", "--dry-run"], status: 4)
    try bench.imports(["Person", "p.csv"], status: 4)
    let keys = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'"
    let before = (objects: try bench.fetched("Person"), last: try bench.number(keys))
    try bench.write("name,age,email\nAnna,1,a\nEd,3,d\nEd,999,x\nFi,4,d\nGo,5,g\n", to: "q.csv")
    let second = try bench.imports(["Person", "q.csv", "--dry-run", "--upsert", "email", "--batch", "2"], status: 4)
    #expect(second.complaints.contains("would be 1 inserted, 2 updated, 1 unchanged, 1 rejected"), "\(second)")
    let third = try bench.imports(["Person", "q.csv", "--dry-run"], status: 4)
    #expect(third.complaints.contains("would be 1 inserted, 4 rejected"), "\(third)")
    #expect(try bench.fetched("Person") == before.objects && bench.number(keys) == before.last)
  }

  /// An unknown name fails for every row.
  @Test func aMistakeOfTheMapEndsTheImportAtItsFirstRow() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\n" + (0..<50).map { "n\($0)\n" }.joined(), to: "p.csv")
    try bench.write("return { row = function(row) row.name = trimm(row.name) return row end }", to: "map.lua")
    let outcome = try bench.imports(["Person", "p.csv", "--map", "map.lua"], status: 1)
    let lines = outcome.complaints.split(separator: "\n")
    #expect(outcome.complaints.contains("'trimm'") && lines.count < 12, "\(outcome)")
    #expect(try !bench.names().contains("p.rejects.csv"))
  }

  /// An object that another import saved meanwhile is read again and updated; its row is not rejected.
  @Test func twoImportsOfTheSameRowsRejectNone() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,email\n", to: "none.csv")
    try bench.imports(["Person", "none.csv"])
    let arguments = [
      "--store", "s.sqlite", "--model", "m.lua", "--upsert", "email", "--batch", "20", "--busy-timeout", "60",
    ]
    let children = try ["a", "b"].map { name in
      let rows = (0..<400).map { "\(name)\($0),mail\(name == "a" ? $0 : 399 - $0)\n" }
      try bench.write("name,email\n" + rows.joined(), to: "\(name).csv")
      return try bench.begin(["import", "Person", "\(name).csv"] + arguments)
    }
    for child in children {
      let outcome = child.outcome()
      #expect(outcome.status == 0, "\(outcome)")
    }
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON") == 400)
    #expect(try bench.number("SELECT COUNT(DISTINCT ZEMAIL) FROM ZPERSON") == 400)
  }

  /// A rejection reason names the column of the file, not the property, for the person who corrects the row.
  @Test func aRejectedRowNamesTheColumnOfTheFile() throws {
    let bench = try Workbench.forImports()
    try bench.write("who,years,mail\nAnn,1.5,a\nBob,999,b\n,3,c\nDi,4,a\nEd,4,a\n", to: "p.csv")
    try bench.write("return { columns = { who = 'name', years = 'age', mail = 'email' } }", to: "map.lua")
    try bench.imports(["Person", "p.csv", "--map", "map.lua"], status: 4)
    let text = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    let lines = text.split(separator: "\n").dropFirst().map(String.init)
    try #require(lines.count == 4, "\(text)")
    #expect(lines[0].hasPrefix("Ann,1.5,a,2,years,1.5,is no whole number,"), "\(lines[0])")
    #expect(lines[1].hasPrefix("Bob,999,b,3,years,999,"), "\(lines[1])")
    #expect(lines[2].hasPrefix(",3,c,4,who,,"), "\(lines[2])")
    #expect(lines[3].hasPrefix("Ed,4,a,6,mail,a,"), "\(lines[3])")
  }

  @Test func rejectedRowsAreMendedAndImportedAgain() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age,email\nAnn,1,a\n,2,b\nCy,999,c\nDi,x,d\nEd,5,a\nFi\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"], status: 4)
    let text = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines[0] == "name,age,email,_line,_column,_value,_reason,_record")
    #expect(lines[1].hasPrefix(",2,b,3,name,,Person.name is required and missing"))
    #expect(lines[2].hasPrefix("Cy,999,c,4,age,999,Person.age (999) must be at most 150"))
    #expect(lines[3].hasPrefix("Di,x,d,5,age,x,is no whole number,"))
    #expect(lines[4].hasPrefix("Ed,5,a,6,email,a,") && lines[4].contains("has the same email"))
    #expect(!text.contains("x-coredata:///"), "an object that was never saved is known by its line")
    #expect(lines[5].hasPrefix(",,,7,,,1 field where 3 are expected,Fi"))
    // Imported without corrections, the rows are rejected again, and unreadable parts are preserved.
    try bench.imports(["Person", "p.rejects.csv", "--rejects", "again.csv"], status: 4)
    let again = String(decoding: try bench.bytes(of: "again.csv"), as: UTF8.self)
    #expect(again.hasPrefix("\(lines[0])\n") && again.hasSuffix(",Fi\n"), "\(again)")
    let mended = text.replacing(",2,b", with: "Bob,2,b").replacing("999,c", with: "99,c").replacing("x,d", with: "4,d")
      .replacing("5,a", with: "5,e").replacing(",,,7", with: "Fi,,,7")
    try bench.write(mended, to: "p.rejects.csv")
    try bench.imports(["Person", "p.rejects.csv"])
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON") == 6)
  }

  @Test func rejectedRowsKeepWhatStandsForNoValueAndTheirBytes() throws {
    let bench = try Workbench.forImports()
    let lines = ["name,age,email", "Ann,999,", "Bob,998,-", "Cy,997,\"-\"", "Di\u{1},996,d\u{1}"]
    // The last row is not UTF-8.
    let input = lines.joined(separator: "\n").utf8.map { $0 == 1 ? 0xe9 : $0 }
    try Data(input).write(to: bench.file("p.csv"))
    try bench.imports(["Person", "p.csv", "--null", "-"], status: 4)
    let rejects = try bench.bytes(of: "p.rejects.csv")
    let rows = rejects.split(separator: 10).map(Array.init)
    for (row, begun) in zip(rows.dropFirst(), input.split(separator: 10).dropFirst()) {
      // An empty field is a text with these options, and is written with quotes.
      let begun = begun.last == UInt8(ascii: ",") ? Array(begun) + Array("\"\"".utf8) : Array(begun)
      #expect(row.starts(with: begun + [UInt8(ascii: ",")]), "\(String(decoding: row, as: UTF8.self))")
    }
    // Imported without corrections, the rows are rejected again, with a single header.
    try bench.imports(["Person", "p.rejects.csv", "--null", "-", "--rejects", "again.csv"], status: 4)
    let again = try bench.bytes(of: "again.csv").split(separator: 10).map(Array.init)
    #expect(again.count == rows.count && again[0] == rows[0])
    for (row, other) in zip(again.dropFirst(), rows.dropFirst()) {
      #expect(row.split(separator: 44).prefix(3) == other.split(separator: 44).prefix(3))
    }
  }

  @Test func aMapSaysWhatColumnsAndRowsBecome() throws {
    let bench = try Workbench.forImports()
    try bench.write(
      """
      return {
        columns = { Name = "name", Dept = "department.name", Since = "born" },
        row = function(row)
          if row.Name == "TOTAL" then return false end
          if row.Name == "BAD" then return nil, "a bad one" end
          if row.Name == "RAISE" then error("raised") end
          row.active, row.Status = row.Status ~= "left", nil
          row.age = row.Years and math.tointeger(tonumber(row.Years))
          row.Years = nil
          return row
        end,
      }
      """, to: "map.lua")
    try bench.write(
      "Name,Dept,Since,Status,Years\nAnn,Sales,2001-02-03,left,3\nTOTAL,,,,\nBAD,,,,\nRAISE,,,,\nBob,Sales,,here,\n",
      to: "p.csv")
    let outcome = try bench.imports(["Person", "p.csv", "--map", "map.lua", "--create-missing"], status: 4)
    #expect(outcome.complaints.contains("5 rows: 2 inserted, 1 passed over, 2 rejected"), "\(outcome)")
    #expect(
      try bench.fetched(
        "Person", "--format", "csv", "--columns", "name,department.name,born,active,age", "--sort", "name")
        == "name,department.name,born,active,age\nAnn,Sales,2001-02-03T00:00:00.000Z,false,3\nBob,Sales,,true,\n")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.contains("a bad one") && rejects.contains("map.lua:6: raised"))
  }

  /// A column of the file that the map ignores, and one that its function leaves: the other rows would have it, too.
  @Test func aMapIgnoresColumnsAndUnknownColumnsEndTheImportTogether() throws {
    let bench = try Workbench.forImports()
    try bench.write("Name,Room,Floor\nAnn,7,1\nBob,8,2\n", to: "p.csv")
    try bench.write("return { columns = { Name = 'name' }, row = function() end }", to: "map.lua")
    let refused = try bench.imports(["Person", "p.csv", "--map", "map.lua"], status: 1)
    #expect(refused.complaints.contains("column 'Room'") && refused.complaints.contains("column 'Floor'"), "\(refused)")
    try bench.write("return { columns = { Name = 'name', Room = false }, row = function(r) r.Floor = nil end }", to: "map.lua")
    try bench.imports(["Person", "p.csv", "--map", "map.lua"])
    try bench.write("return { columns = { Name = 'name', Room = false, Floor = false } }", to: "map.lua")
    try bench.imports(["Person", "p.csv", "--map", "map.lua"])
    #expect(try bench.fetched("Person", "--format", "csv", "--columns", "name") == "name\nAnn\nBob\nAnn\nBob\n")
  }

  @Test func rulesNormalisersAndHooksAreInForce() throws {
    let bench = try Workbench.forImports()
    try bench.write(
      """
      return { name = "people", entities = { Person = {
        normalize = { email = function(value) return value:lower() end },
        validate = { name = function(value) return value ~= "Nobody", "is nobody" end },
        awake_from_insert = function(person) person.score = 7 end,
        will_save = function(person) if person.age == nil then person.age = 18 end end,
      } } }
      """, to: "x.lua")
    try bench.write("name,email\nAnn,ANN@X\nNobody,n@x\n", to: "p.csv")
    try bench.imports(["Person", "p.csv", "--extension", "x.lua"], status: 4)
    #expect(
      try bench.fetched("Person", "--format", "csv", "--columns", "name,email,score,age")
        == "name,email,score,age\nAnn,ann@x,7.0,18\n")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.contains("Nobody") && rejects.contains("is nobody"))
  }

  @Test func whatFailsAmongManyChunksIsRejectedAlone() throws {
    let bench = try Workbench.forImports()
    var text = "name,age,email\n"
    var bad = 0
    for number in 0..<5000 {
      let isBad = number % 97 == 13
      if isBad { bad += 1 }
      // Some rows fail at conversion, some at validation, some when the store finds the value taken.
      let age = isBad && number % 3 == 0 ? "old" : isBad && number % 3 == 1 ? "999" : "\(number % 100)"
      text += "p\(number),\(age),\(isBad && number % 3 == 2 ? "e0" : "e\(number)")\n"
    }
    try bench.write(text, to: "p.csv")
    let outcome = try bench.imports(["Person", "p.csv", "--batch", "300"], status: 4)
    #expect(outcome.complaints.contains("5000 rows: \(5000 - bad) inserted, \(bad) rejected"), "\(outcome)")
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON") == Int64(5000 - bad))
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    let lines = rejects.split(separator: "\n").dropFirst().compactMap { $0.split(separator: ",")[3] }.map { Int($0) }
    #expect(lines == (0..<5000).filter { $0 % 97 == 13 }.map { $0 + 2 })
  }
}
