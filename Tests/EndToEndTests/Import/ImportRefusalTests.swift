import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Invalid input, and options that cannot be combined.
@Suite struct ImportRefusalTests {
  @Test func whatCannotBeginIsToldAndNothingIsWritten() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,naem\nAnn,1\n", to: "unknown.csv")
    try bench.write("name,name\nAnn,1\n", to: "twice.csv")
    try bench.write("{\"naem\": 1}\n", to: "unknown.ndjson")
    try bench.write("", to: "empty.csv")
    try bench.write("name\nAnn\n", to: "p.csv")
    try bench.write("return { colums = {} }", to: "bad.lua")
    try Data([0xff, 0xfe, 0x6e, 0]).write(to: bench.file("wide.csv"))
    func complaint(_ arguments: String..., status: Int32 = 1) throws -> String {
      let outcome = try bench.imports(arguments, status: status)
      #expect(outcome.output == "")
      return outcome.complaints
    }
    #expect(
      try complaint("Person", "unknown.csv").contains(
        "unknown.csv: column 'naem': Person has no property naem; did you mean name?"))
    #expect(
      try complaint("Person", "unknown.ndjson").contains(
        "unknown.ndjson: column 'naem': Person has no property naem; did you mean name?"))
    #expect(try complaint("Person", "twice.csv").contains("columns 1 and 2 are both named 'name'"))
    #expect(try complaint("Person", "empty.csv").contains("empty.csv, line 1: the file is empty"))
    #expect(try complaint("Person", "wide.csv").contains("UTF-16"))
    #expect(try complaint("Person", "none.csv").contains("none.csv: No such file"))
    #expect(try complaint("Person", "m.lua").contains("give --format"))
    #expect(try complaint("Person", "-", status: 2).contains("give --format"))
    #expect(try complaint("Person", "-", "--infer", status: 2).contains("give --format"))
    #expect(try complaint("Person", ".").contains("give --format"))
    #expect(try complaint("Person", ".", "--format", "csv").contains("folder"))
    #expect(try complaint("Persn", "p.csv").contains("did you mean Person?"))
    #expect(try complaint("Person", "p.csv", "--upsert", "mail").contains("did you mean email?"))
    #expect(try complaint("Person", "p.csv", "--upsert", "boss").contains("no attribute"))
    #expect(try complaint("Person", "p.csv", "--upsert", "email").contains("has no column"))
    #expect(try complaint("Person", "p.csv", "--map", "bad.lua").contains("did you mean columns?"))
    #expect(try complaint("Person", "p.csv", "--batch", "0", status: 2).contains("--batch takes a number"))
    #expect(try complaint("Person", "p.csv", "--format", "xml", status: 2).contains("--format"))
    #expect(try bench.names().filter { $0.contains("rejects") } == [])
    #expect(try bench.fetched("Person", "--count") == "0\n")
  }

  /// The work does not grow with the square of the number of columns, and the message is short.
  @Test func aHeaderOfVeryManyColumnsIsRefusedAtOnce() throws {
    let bench = try Workbench.forImports()
    for (names, word) in [
      ((0..<200_000).map { "column\($0)" }, "Person has no property column0"),
      ((0..<200_000).map { "_c\($0)" } + ["_c0"], "columns 1 and 200001 are both named '_c0'"),
      ([String(repeating: "x", count: 1 << 20)], "Person has no property xxx"),
    ] {
      try bench.write(names.joined(separator: ",") + "\n", to: "wide.csv")
      let outcome = try bench.moonbase(
        "import", "Person", "wide.csv", "--store", "s.sqlite", "--model", "m.lua")
      #expect(outcome.status == 1 && outcome.complaints.contains(word), "\(outcome.complaints.prefix(1000))")
      #expect(outcome.complaints.utf8.count < 1000)
    }
    try bench.write((0..<200_000).map { "column\($0)" }.joined(separator: ",") + "\n", to: "wide.csv")
    let inferred = try bench.moonbase("import", "wide.csv", "--infer", "--store", "new.sqlite")
    #expect(inferred.status == 1 && inferred.complaints.contains("at most 1900"), "\(inferred.complaints.prefix(1000))")
  }

  @Test func anEarlierRejectFileIsNotWrittenOver() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age\nAnn,x\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"], status: 4)
    let rejects = try bench.bytes(of: "p.rejects.csv")
    let outcome = try bench.imports(["Person", "p.csv"], status: 2)
    #expect(outcome.complaints.contains("p.rejects.csv is there from an earlier import"))
    #expect(try bench.bytes(of: "p.rejects.csv") == rejects)
    try bench.imports(["Person", "p.csv", "--rejects", "other.csv"], status: 4)
    #expect(try bench.bytes(of: "other.csv") == rejects)
    try bench.imports(["Person", "p.csv", "--force"], status: 4)
    #expect(try bench.bytes(of: "p.rejects.csv") == rejects)
  }

  /// The input file is not overwritten, even through links.
  @Test func rejectedRowsDoNotTakeThePlaceOfWhatIsRead() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age\nAnn,1\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"])
    try bench.write("name,age\nAnn,x\n", to: "p.csv")
    try bench.write("return { columns = {} }", to: "map.lua")
    try FileManager.default.createSymbolicLink(
      atPath: bench.file("link").path, withDestinationPath: bench.file("p.csv").path)
    let before = try bench.contents()
    for place in ["p.csv", "./p.csv", "link", "s.sqlite", "m.lua", "map.lua"] {
      for more in [[], ["--dry-run"]] {
        let outcome = try bench.imports(
          ["Person", "p.csv", "--map", "map.lua", "--rejects", place, "--force"] + more, status: 2)
        #expect(outcome.complaints.contains("\(place) is read by this import"), "\(outcome)")
      }
    }
    #expect(
      try bench.imports(["Person", "p.csv", "--rejects", "-"], status: 2).complaints.contains("not standard output"))
    #expect(try bench.contents() == before)
  }

  /// Two imports of one file would write to the same reject file.
  @Test func aFileThatAnotherImportHasIsLeftToIt() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age\nAnn,x\nBob,2\n", to: "p.csv")
    let other = open(bench.file("p.csv").path, O_RDONLY)
    defer { close(other) }
    #expect(flock(other, LOCK_EX) == 0)
    let outcome = try bench.imports(["Person", "p.csv"], status: 75)
    #expect(outcome.complaints.contains("p.csv: another import of this file is at work"), "\(outcome)")
    #expect(try bench.names().filter { $0.contains("rejects") } == [])
    flock(other, LOCK_UN)
    try bench.imports(["Person", "p.csv"], status: 4)
  }

  @Test func aMapThatNamesNoColumnOfTheFileIsRefused() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,Birthday\nAnn,2001-02-03\n", to: "p.csv")
    try bench.write("return { columns = { Birhtday = 'born' } }", to: "map.lua")
    let outcome = try bench.imports(["Person", "p.csv", "--map", "map.lua"], status: 1)
    #expect(
      outcome.complaints.contains(
        "p.csv: --map: columns names 'Birhtday', and the file has no such column; did you mean Birthday?"), "\(outcome)"
    )
    #expect(try bench.names() == ["m.lua", "map.lua", "p.csv"])
    for arguments in [["Person", "p.csv"], ["Person", "p.csv", "--upsert", "email"], ["Persn", "p.csv"]] {
      try bench.imports(arguments, status: 1)
      #expect(try bench.names() == ["m.lua", "map.lua", "p.csv"])
    }
  }

  /// The error names column and value if an extension's class refuses the text.
  @Test func aTextThatAClassRefusesIsNamed() throws {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { P = { attributes = { n = 'string', c = { 'transformable', transformer = 'Colors' } } } } }",
      to: "m.lua")
    try bench.write(
      """
      local Color = {}
      Color.__index = Color
      Color.parse = function(text) if text == "bad" then return nil, "it is bad" end if text == "worse" then error("worse") end return setmetatable({ text = text }, Color) end
      return { classes = { Color = Color }, transformers = { Colors = {
        class = "Color", transform = function(c) return c.text end,
        reverse = function(text) return setmetatable({ text = text }, Color) end } } }
      """, to: "e.lua")
    try bench.write("n,c\na,bad\nb,worse\n", to: "p.csv")
    let outcome = try bench.moonbase(
      "import", "P", "p.csv", "--store", "s.sqlite", "--model", "m.lua", "--extension", "e.lua")
    #expect(outcome.status == 4, "\(outcome)")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(
      rejects.contains("a,bad,2,c,bad,") && rejects.contains("it is bad") && rejects.contains("b,worse,3,c,worse,"),
      "\(rejects)")
  }

  @Test func twoColumnsForOnePropertyAreRefused() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,years,age\nAnn,1,2\n", to: "p.csv")
    try bench.write("return { columns = { years = 'age' } }", to: "map.lua")
    let outcome = try bench.imports(["Person", "p.csv", "--map", "map.lua"], status: 1)
    #expect(outcome.complaints.contains("column 'age': column 'years' is Person.age already"), "\(outcome)")
  }

  /// A reject file without corrections makes no empty objects.
  @Test(arguments: ["csv", "ndjson"]) func recordsThatWaitToBeMendedAreRejectedAgain(_ form: String) throws {
    let bench = try Workbench.forImports()
    try bench.write(form == "csv" ? "name,people\nA\nB,[]\n" : "{\"name\": \n{\"name\": \"B\"}\n", to: "d.\(form)")
    try bench.imports(["Department", "d.\(form)"], status: 4)
    let outcome = try bench.imports(["Department", "d.rejects.\(form)"], status: 4)
    #expect(outcome.complaints.contains("0 inserted, 1 rejected"), "\(outcome)")
    let again = String(decoding: try bench.bytes(of: "d.rejects.rejects.\(form)"), as: UTF8.self)
    #expect(
      again.contains("waits in _record to be mended") && again.contains(form == "csv" ? ",A\n" : "{\\\"name\\\": "),
      "\(again)")
  }

  /// An error of a hook after a save is reported.
  @Test func whatFailsAfterASaveIsTold() throws {
    let bench = try Workbench.forImports()
    try bench.write(
      "return { name = 'x', entities = { Person = { did_save = function(p) if p.name == 'Bob' then error('no') end end } } }",
      to: "x.lua")
    try bench.write("name\nAnn\nBob\nCy\n", to: "p.csv")
    let outcome = try bench.imports(["Person", "p.csv", "--extension", "x.lua"], status: 4)
    #expect(
      outcome.complaints.contains("it is saved, but then: ") && outcome.complaints.contains("3 inserted, 0 rejected"),
      "\(outcome)")
    #expect(try bench.fetched("Person", "--count") == "3\n")
  }

  @Test func hostileRowsAreRejectedAndTheOthersTaken() throws {
    let bench = try Workbench.forImports()
    var bytes = Data("name,age\nAnn,1\n".utf8)
    bytes.append(contentsOf: [0x4a, 0xe9, 0x2c, 0x32, 0x0a])
    bytes.append(contentsOf: Data("N\0L,3\nBob,4,5\nCy\nDi,5\n".utf8))
    bytes.append(contentsOf: Data(String(repeating: "x", count: 10 << 20).utf8))
    bytes.append(contentsOf: Data(",6\n\"Ed,7\nFi,8\n".utf8))
    try bytes.write(to: bench.file("p.csv"))
    let outcome = try bench.imports(["Person", "p.csv"], status: 4)
    #expect(outcome.complaints.contains("9 rows: 4 inserted, 5 rejected"), "\(outcome)")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    for word in ["not UTF-8", "NUL byte", "3 fields where 2", "1 field where 2", "not closed"] {
      #expect(rejects.contains(word), "\(word)")
    }
    #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON WHERE LENGTH(ZNAME) = 10485760") == 1)
  }

  @Test func textInUTF16IsToldWithoutAMarkToo() throws {
    let bench = try Workbench.forImports()
    for (name, encoding) in [("a.csv", "UTF-16LE"), ("b.csv", "UTF-16BE"), ("c.json", "UTF-16LE")] {
      try Data("[{\"name\": 1}]\n".utf8.flatMap { encoding == "UTF-16LE" ? [$0, 0] : [0, $0] }).write(
        to: bench.file(name))
      let outcome = try bench.imports(["Person", name], status: 1)
      #expect(outcome.complaints.contains("\(name), line 1: the file is UTF-16"), "\(outcome)")
      #expect(outcome.complaints.contains("give --encoding \(encoding.lowercased())"), "\(outcome)")
    }
  }

  /// A record that cannot be read is written to the reject file in a readable form.
  @Test func aRecordWithANULByteWaitsToBeMendedWithItsPicture() throws {
    let bench = try Workbench.forImports()
    try bench.write("name,age\nA\0n,1\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"], status: 4)
    let text = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(text.hasSuffix(",,2,,,a NUL byte: is the file text?,\"A\u{2400}n,1\"\n"), "\(text)")
    try bench.imports(["Person", "p.rejects.csv", "--rejects", "again.csv"], status: 4)
    #expect(
      try bench.bytes(of: "again.csv").split(separator: 44).last
        == bench.bytes(of: "p.rejects.csv").split(separator: 44).last)
  }

  /// A value that no object can have rejects only its row.
  @Test func keysThatAreNoneAreRejected() throws {
    let bench = try Workbench.forImports()
    let rows = [
      #"{"email": "a", "name": "Ann", "tags.name": ["x"]}"#, #"{"email": ["b"], "name": "B"}"#,
      #"{"email": {"c": 1}, "name": "C"}"#, #"{"email": "d", "name": "D", "tags.name": ["x", null]}"#,
      #"{"email": "e", "name": "E", "tags.name": [["x"]]}"#,
      #"{"email": "f", "name": "F", "department.name": {"a": 1}}"#,
      #"{"email": "g", "name": "G", "department.name": ["a"]}"#, #"{"email": "h", "name": "H", "tags.name": "x"}"#,
      #"{"email": "i", "name": "I", "department.name": "IT", "tags.name": ["x", 7]}"#,
    ]
    try bench.write(rows.joined(separator: "\n"), to: "p.ndjson")
    let outcome = try bench.imports(["Person", "p.ndjson", "--upsert", "email", "--create-missing"], status: 4)
    #expect(outcome.complaints.contains("9 rows: 2 inserted, 0 updated, 7 rejected"), "\(outcome)")
    let found = try bench.fetched("Tag", "--format", "csv", "--columns", "name", "--sort", "name")
    #expect(found == "name\n7\nx\n")
    #expect(try bench.fetched("Department", "--format", "csv", "--columns", "name") == "name\nIT\n")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.ndjson"), as: UTF8.self).split(separator: "\n")
    #expect(rejects.count == 7 && rejects[0].contains(#""_column": "email""#), "\(rejects)")
    #expect(rejects[2].contains("not by null, a list or an object"), "\(rejects)")
  }

  @Test func manyBadRowsKeepTheMemoryFlat() throws {
    let bench = try Workbench.forImports()
    var text = "name,age\n"
    for number in 0..<100_000 { text += "p\(number),old\n" }
    try bench.write(text, to: "p.csv")
    let outcome = try bench.moonbase(
      megabytes: 400, "import", "Person", "p.csv", "--store", "s.sqlite", "--model", "m.lua")
    #expect(outcome.status == 4 && outcome.complaints.contains("0 inserted, 100000 rejected"), "\(outcome)")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.count { $0 == "\n" } == 100_001)
  }

  @Test func aStoreThatIsBusyEndsTheImportWithItsStatus() throws {
    let bench = try Workbench.forImports()
    try bench.write("name\nAnn\n", to: "p.csv")
    try bench.imports(["Person", "p.csv"])
    let locker = try bench.lock("s.sqlite")
    try bench.imports(["Person", "p.csv", "--busy-timeout", "0.05"], status: 75)
    locker.end()
    #expect(try bench.fetched("Person", "--count") == "1\n")
    try bench.imports(["Person", "p.csv"])
  }

  @Test func anObjectWithAnUnknownNameIsRejectedAndThoseBehindItAreTaken() throws {
    let bench = try Workbench.forImports()
    try bench.write("{\"name\": \"Ann\"}\n{\"name\": \"Bob\", \"naem\": 1}\n{\"name\": \"Cy\"}\n{bad\n", to: "p.ndjson")
    try bench.imports(["Person", "p.ndjson"], status: 4)
    #expect(
      try bench.fetched("Person", "--format", "csv", "--columns", "name", "--sort", "name") == "name\nAnn\nCy\n")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.ndjson"), as: UTF8.self).split(separator: "\n")
    #expect(
      rejects.count == 2 && rejects[0].hasPrefix(#"{"name": "Bob", "naem": 1, "_line": 2, "_reason": "#), "\(rejects)")
    #expect(rejects[0].contains("did you mean name?") && rejects[1].hasSuffix(#""_record": "{bad"}"#), "\(rejects)")
  }

  @Test(arguments: ["json", "ndjson"]) func whatIsNoObjectIsRejectedAndThoseBehindItAreTaken(_ form: String) throws {
    let bench = try Workbench.forImports()
    let values = [
      #"{"name": "Ann"}"#, "7", #""text""#, "[1, 2]", "null", #"{"name": "\ud800"}"#, #"{"name": "Bob"}"#,
    ]
    try bench.write(
      form == "json" ? "[\(values.joined(separator: ",\n"))]" : values.joined(separator: "\n"), to: "p.\(form)")
    let outcome = try bench.imports(["Person", "p.\(form)"], status: 4)
    #expect(outcome.complaints.contains("7 rows: 2 inserted, 5 rejected"), "\(outcome)")
    #expect(try bench.fetched("Person", "--format", "csv", "--columns", "name", "--sort", "name") == "name\nAnn\nBob\n")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.ndjson"), as: UTF8.self).split(separator: "\n")
    #expect(
      rejects.first == #"{"_line": 2, "_reason": "an object is expected, found a number", "_record": "7"}"#,
      "\(rejects)")
    #expect(rejects.count == 5 && rejects.last?.contains("surrogates") == true, "\(rejects)")
  }

  @Test func anArrayThatBreaksOffEndsTheImportBehindWhatWasRead() throws {
    let bench = try Workbench.forImports()
    try bench.write("[{\"name\": \"Ann\"}, {\"name\": \"Bob\"}, {\"name\": ", to: "p.json")
    let outcome = try bench.imports(["Person", "p.json"], status: 1)
    #expect(outcome.complaints.contains("p.json: line 1") && outcome.complaints.contains("2 inserted"), "\(outcome)")
    #expect(try bench.fetched("Person", "--count") == "2\n")
  }
}
