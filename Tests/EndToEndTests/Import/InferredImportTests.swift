import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase import --infer` makes a model and a store from the data alone.
@Suite struct InferredImportTests {
  @Test func aModelIsGuessedWrittenAndFilled() throws {
    let bench = try Workbench()
    var text = "id,First Name,zip,price,height,active,born,ver,class\n"
    for row in 1...40 {
      text += "\(row),n\(row % 7),0\(row),\(row).50,\(row).25,\(row % 2 == 0 ? "yes" : "no"),2001-02-03,1.\(row),\n"
    }
    try bench.write(text, to: "people.csv")
    let printed = try bench.moonbase("import", "Person", "people.csv", "--infer", "--dry-run")
    #expect(printed.status == 0, "\(printed)")
    #expect(try bench.names() == ["people.csv"])
    for line in [
      "id = { \"integer64\", optional = false },", "zip = { \"string\", optional = false },",
      "price = { \"decimal\", optional = false },", "active = { \"boolean\", optional = false },",
      "born = { \"date\", optional = false },", "ver = { \"string\", optional = false },",
      "user_info = { column = \"First Name\" },", "constraints = { { \"id\" } },",
      "-- no value in any of 40 rows: its type is not known",
    ] {
      #expect(printed.output.contains(line), "\(line)\n\(printed.output)")
    }
    let outcome = try bench.moonbase("import", "Person", "people.csv", "--infer", "--store", "new.sqlite")
    #expect(outcome.status == 0 && outcome.complaints.contains("40 rows: 40 inserted, 0 rejected"), "\(outcome)")
    #expect(try bench.names() == ["new.lua", "new.sqlite", "people.csv"])
    #expect(String(decoding: try bench.bytes(of: "new.lua"), as: UTF8.self) == printed.output)
    #expect(try bench.moonbase("model", "diff", "new.lua", "new.sqlite").status == 0)
    let row = try bench.moonbase(
      "fetch", "Person", "--store", "new.sqlite", "--format", "csv", "--where", "id = 4", "--columns",
      "id,firstName,zip,price,height,active,born,ver,classValue")
    #expect(row.output.hasSuffix("\n4,n4,04,4.5,4.25,true,2001-02-03T00:00:00.000Z,1.4,\n"), "\(row)")
  }
}
