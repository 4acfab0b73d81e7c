import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Files other than comma-separated UTF-8: separators, encodings, compressed files, and files without headers.
@Suite struct InputFormTests {
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { P = { attributes = { name = 'string', age = 'integer64' } } } }", to: "m.lua")
    return bench
  }

  private func imported(_ bench: Workbench, _ arguments: [String], status: Int32 = 0) throws -> String {
    let outcome = try bench.moonbase(["import"] + arguments)
    try #require(outcome.status == status, "\(outcome)")
    return outcome.complaints
  }

  private let plain = ["P", "--store", "s.sqlite", "--model", "m.lua"]

  @Test func packedFilesInOtherEncodingsAreImportedAndGoOn() throws {
    let bench = try bench()
    let rows = "name;age\nJosé;1\nZoë;many\nÅsa;3\n"
    try #require(rows.data(using: .windowsCP1252)).write(to: bench.file("p.csv"))
    try #require(try bench.program("gzip", "p.csv").status == 0)
    let words = try imported(bench, ["P", "p.csv.gz", "--encoding", "cp1252"] + plain.dropFirst(), status: 4)
    #expect(words.contains("3 rows: 2 inserted, 1 rejected"))
    // Reject files have the separator of the input, and are UTF-8.
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    #expect(rejects.hasPrefix("name;age;_line;_column;_value;_reason;_record\nZoë;many;3;age;many;"), "\(rejects)")
    try bench.write(rejects.replacing("many", with: "2"), to: "q.csv")
    #expect(try imported(bench, ["P", "q.csv"] + plain.dropFirst()).contains("1 row: 1 inserted"))
    let found = try bench.moonbase(
      "fetch", "P", "--store", "s.sqlite", "--sort", "age", "--columns", "name", "--format", "csv")
    #expect(found.output == "name\nJosé\nZoë\nÅsa\n")
  }

  @Test func whatComesOutAsOneColumnIsAWord() throws {
    let bench = try bench()
    try bench.write("name;age\nAnn;1\n", to: "p.csv")
    let words = try imported(bench, ["p.csv", "--infer", "--separator", ",", "--store", "s.sqlite"])
    #expect(
      words.contains(
        "p.csv comes out as one column, \"name;age\", split at \",\": name the separator with --separator"),
      "\(words)")
    #expect(!(try imported(bench, ["p.csv", "--infer", "--store", "t.sqlite"]).contains("one column")))
  }

  @Test func aPackedFileIsGuessedAndOneWithoutNamesToo() throws {
    let bench = try bench()
    try bench.write("1,a\n2,b\n", to: "people.csv")
    try #require(try bench.program("gzip", "people.csv").status == 0)
    _ = try imported(bench, ["people.csv.gz", "--infer", "--no-header", "--store", "s.sqlite"])
    let found = try bench.moonbase(
      "fetch", "People", "--store", "s.sqlite", "--columns", "column1,column2", "--format", "csv")
    #expect(found.output == "column1,column2\n1,a\n2,b\n", "\(found)")
  }

  /// A column `_id` of a foreign file becomes the attribute `id`. An export writes both, with the object's own ID as
  /// `_id`.
  @Test func aStoreInferredFromAColumnOfIDsTakesItsOwnExport() throws {
    let bench = try bench()
    try bench.write("_id,name\n507f,a\n", to: "mo.csv")
    _ = try imported(bench, ["mo.csv", "--infer", "--store", "mo.sqlite"])
    #expect(try bench.moonbase("export", "Mo", "out.csv", "mo.sqlite").status == 0)
    _ = try imported(bench, ["Mo", "out.csv", "--store", "new.sqlite", "--model", "mo.sqlite"])
    let found = try bench.moonbase("fetch", "Mo", "new.sqlite", "--columns", "id,name", "--format", "csv")
    #expect(found.output == "id,name\n507f,a\n", "\(found)")
  }

  @Test func aDamagedPackedFileIsRefused() throws {
    let bench = try bench()
    try bench.write("name,age\n" + String(repeating: "Ann,1\n", count: 1000), to: "p.csv")
    try #require(try bench.program("gzip", "p.csv").status == 0)
    let bytes = try bench.bytes(of: "p.csv.gz")
    try bytes.dropLast(9).write(to: bench.file("p.csv.gz"))
    #expect(try imported(bench, ["P", "p.csv.gz"] + plain.dropFirst(), status: 1).contains("its gzip data is cut off"))
  }

  @Test(arguments: [
    ["--separator", "ab"], ["--separator", "\""], ["--encoding", "klingon"], ["--separator", ";", "--format", "json"],
    ["--no-header", "--format", "ndjson"],
  ])
  func optionsThatMeanNothingAreRefused(_ options: [String]) throws {
    let bench = try bench()
    try bench.write("name,age\n", to: "p.csv")
    let outcome = try bench.moonbase(["import", "P", "p.csv"] + plain.dropFirst() + options)
    #expect(outcome.status == 2 && outcome.complaints.contains(options[0]), "\(outcome)")
  }
}
