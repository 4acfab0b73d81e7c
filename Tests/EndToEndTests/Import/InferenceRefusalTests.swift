import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Unusual input of `--infer`, and options that cannot be combined.
@Suite struct InferenceRefusalTests {
  @Test func rejectedRowsOfBeforeAreLookedAtBeforeAnythingIsMade() throws {
    let bench = try Workbench()
    try bench.write("id,name\n1,a\n", to: "p.csv")
    try bench.write("id\n", to: "p.rejects.csv")
    let outcome = try bench.moonbase("import", "p.csv", "--infer", "--store", "s.sqlite")
    #expect(
      outcome.status == 2 && outcome.complaints.contains("p.rejects.csv is there from an earlier import"), "\(outcome)")
    #expect(try bench.names() == ["p.csv", "p.rejects.csv"])
  }

  private func inferred(_ bench: Workbench, _ file: String, status: Int32 = 0) throws -> Workbench.Outcome {
    let outcome = try bench.moonbase("import", "Row", file, "--infer", "--store", "s.sqlite")
    #expect(outcome.status == status, "\(outcome)")
    return outcome
  }

  @Test func whatCannotBeginIsToldAndNothingIsWritten() throws {
    let bench = try Workbench()
    try bench.write("a,b\n1,2\n", to: "p.csv")
    try bench.write("", to: "empty.csv")
    try bench.write("a,a\n1,2\n", to: "twice.csv")
    try bench.write("[]", to: "none.json")
    try bench.write("[{\"a\": 1}, {\"a\": ", to: "broken.json")
    try bench.write((0..<2500).map { "c\($0)" }.joined(separator: ",") + "\n", to: "wide.csv")
    let before = try bench.names()
    let cases: [([String], Int32, String)] = [
      (["Row", "empty.csv"], 1, "empty.csv, line 1: the file is empty"),
      (["Row", "twice.csv"], 1, "columns 1 and 2 are both named 'a'"),
      (["Row", "none.json"], 1, "none.json: there is no object that a model could be guessed from"),
      (["Row", "broken.json"], 1, "broken.json: line 1"),
      (["Row", "wide.csv"], 1, "it has 2500 columns, and an entity for them at most 1900"),
      (["Row", "missing.csv"], 1, "missing.csv: No such file"), (["Row", "."], 1, "give --format"),
      (["-", "--format", "csv"], 2, "standard input has no name for an entity"),
      (["1 x", "p.csv"], 1, "a name consists of letters, digits and underscores"),
      (["Row", "p.csv", "--map", "m.lua"], 2, "--map does not go with --infer"),
      (["Row", "p.csv", "--dates", "unix"], 2, "--dates does not go with --infer"),
      (["Row", "p.csv", "--create-missing"], 2, "--create-missing does not go with --infer"),
      (["Row", "p.csv", "--restart"], 2, "--restart does not go with --infer"),
      (["Row", "p.csv", "--read-only"], 2, "leave --read-only out"),
      (["Row", "p.csv", "--store", "A=x.sqlite"], 2, "--infer makes one store"),
    ]
    for (arguments, status, words) in cases {
      let store = arguments.contains("--store") ? [] : ["--store", "s.sqlite"]
      let outcome = try bench.moonbase(["import"] + arguments + ["--infer"] + store)
      #expect(outcome.status == status && outcome.complaints.contains(words), "\(arguments): \(outcome)")
      #expect(try bench.names() == before, "\(arguments)")
    }
    let none = try bench.moonbase("import", "Row", "p.csv", "--infer")
    #expect(none.status == 2 && none.complaints.contains("there is no store to work on"), "\(none)")
  }

  @Test func hostileRowsAreRejectedAndTheOthersKept() throws {
    let bench = try Workbench()
    var bytes = Data("name,text\n".utf8)
    for row in 0..<30 { bytes.append(contentsOf: Data("n\(row),\"two\nlines \"\"\(row)\"\"\"\n".utf8)) }
    bytes.append(contentsOf: [0x4a, 0xe9, 0x2c, 0x32, 0x0a])
    bytes.append(contentsOf: Data("N\0L,3\nBob,4,5\nCy\n".utf8))
    bytes.append(contentsOf: Data(String(repeating: "x", count: 10 << 20).utf8))
    bytes.append(contentsOf: Data(",6\n".utf8))
    try bytes.write(to: bench.file("p.csv"))
    let outcome = try inferred(bench, "p.csv", status: 4)
    #expect(outcome.complaints.contains("35 rows: 31 inserted, 4 rejected"), "\(outcome)")
    #expect(
      try bench.number("SELECT COUNT(*) FROM ZROW WHERE LENGTH(ZNAME) = 10485760 OR ZTEXT GLOB 'two\nlines \"*\"'")
        == 31)
    let model = String(decoding: try bench.bytes(of: "s.lua"), as: UTF8.self)
    #expect(model.contains("32 rows, and 3 that cannot be read."), "\(model)")
  }

  @Test func headersWithoutRowsAndManyColumnsMakeAModel() throws {
    let bench = try Workbench()
    let header = (0..<1000).map { "column \($0)" }.joined(separator: ",")
    try bench.write(header + "\n", to: "p.csv")
    _ = try inferred(bench, "p.csv")
    #expect(try bench.moonbase("fetch", "Row", "--count", "--store", "s.sqlite").output == "0\n")
    // Further rows with the data's columns match the attributes.
    try bench.write(header + "\n" + (0..<1000).map(String.init).joined(separator: ",") + "\n", to: "q.csv")
    let more = try bench.moonbase("import", "Row", "q.csv", "--store", "s.sqlite")
    #expect(more.status == 0, "\(more)")
    let found = try bench.moonbase(
      "fetch", "Row", "--store", "s.sqlite", "--columns", "column999", "--format", "ndjson")
    #expect(found.output == "{\"column999\": \"999\"}\n", "\(found)")
  }

  @Test func theModelThatWasEditedTakesTheSameFile() throws {
    let bench = try Workbench()
    try bench.write("Full Name,Born\nAnn,2001\nBob,2002\n", to: "p.csv")
    let printed = try bench.moonbase("import", "p.csv", "--infer", "--dry-run")
    let edited = printed.output.replacing("fullName", with: "name").replacing("\"integer64\"", with: "\"string\"")
    try bench.write(edited, to: "m.lua")
    let outcome = try bench.moonbase("import", "P", "p.csv", "--model", "m.lua", "--store", "s.sqlite")
    #expect(outcome.status == 0, "\(outcome) \(printed)")
    #expect(
      try bench.moonbase("fetch", "P", "--store", "s.sqlite", "--format", "csv", "--columns", "name,born").output
        == "name,born\nAnn,2001\nBob,2002\n")
  }

  @Test func objectsOfJSONKeepListsTruthAndAbsence() throws {
    let bench = try Workbench()
    try bench.write(
      """
      [{"id": 1, "on": true, "list": [1, {"a": null}], "text": "5"},
       {"id": 2, "on": null, "text": "x\\u0041", "n": 1.5}]
      """, to: "p.json")
    _ = try inferred(bench, "p.json")
    let found = try bench.moonbase(
      "run", "--store", "s.sqlite", "-e",
      """
      for row in moonbase.context:fetch("Row"):sort("id"):each() do
        print(row.id, row.on, row.list and row.list[1], row.text, row.n)
      end
      """)
    #expect(found.output == "1\ttrue\t1\t5\tnil\n2\tnil\tnil\txA\t1.5\n", "\(found)")
  }

  @Test func aPipeIsReadTwice() throws {
    let bench = try Workbench()
    let rows = (0..<3000).map { "\($0),x\($0)\n" }.joined()
    let outcome = try bench.moonbase(
      "import", "Row", "-", "--format", "csv", "--infer", "--store", "s.sqlite", "--model", "m.lua",
      input: "id,v\n" + rows)
    #expect(outcome.status == 0 && outcome.complaints.contains("3000 inserted"), "\(outcome)")
    #expect(try bench.names() == ["m.lua", "s.sqlite"])
    #expect(try bench.number("SELECT COUNT(DISTINCT ZV) FROM ZROW") == 3000)
  }

  @Test func memoryStaysFlat() throws {
    let bench = try Workbench()
    var text = "id,name,kind\n"
    for number in 0..<300_000 { text += "\(number),name number \(number) of many,k\(number % 5)\n" }
    try bench.write(text, to: "p.csv")
    let outcome = try bench.moonbase(
      megabytes: 400, "import", "Row", "p.csv", "--infer", "--store", "s.sqlite")
    #expect(outcome.status == 0 && outcome.complaints.contains("300000 inserted"), "\(outcome)")
  }
}
