import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct SQLCommandTests {
  @Test func entitiesAndTheirPropertiesGoByTheirNames() throws {
    let bench = try Workbench.withPeople()
    func answer(_ query: String) throws -> String {
      let outcome = try bench.moonbase("sql", "s.sqlite", query, "--format", "csv")
      #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
      return outcome.output
    }
    for (query, rows) in SQLCases.answers(friends: "\"Person.friends\"") {
      #expect(try answer(query) == rows, "\(query)")
    }
    #expect(try answer("SELECT born FROM Person WHERE born IS NOT NULL") == "born\n1.5\n")
  }

  /// Triggers fill an R-tree, which SQLite reports as unsafe before it reports that the statement would write.
  @Test func whatWouldWriteIsRefusedWhereTriggersWriteToo() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Place = { attributes = { x = "double", y = "double" },
        indexes = { at = { { "x", kind = "rtree" }, { "y", kind = "rtree" } } } } } }
      """, to: "m.lua")
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "").status == 0)
    let outcome = try bench.moonbase("sql", "s.sqlite", "DELETE FROM ZPLACE")
    #expect(
      outcome.status == 1 && outcome.complaints.contains("is only read, and the statement would write"), "\(outcome)")
  }

  @Test func theAnswerMayBeATableOrJSON() throws {
    let bench = try Workbench.withPeople()
    let table = try bench.moonbase("sql", "s.sqlite", "SELECT name, 1 AS n FROM Department")
    #expect(table.output == "name   n\n-----  -\nSales  1\n")
    let json = try bench.moonbase("sql", "s.sqlite", "SELECT x'0102' b, NULL n, 1.5 d, 1 d", "--format", "json")
    #expect(json.output == "[\n{\"b\": \"AQI=\", \"n\": null, \"d\": 1.5, \"d:1\": 1}\n]\n")
  }

  @Test func nothingIsWritten() throws {
    let bench = try Workbench.withPeople()
    let before = try bench.contents()
    for query in SQLCases.writing + [
      "VACUUM INTO 'copy.sqlite'", "ATTACH 'other.sqlite' AS o", "CREATE TABLE x (y)", "PRAGMA user_version = 3",
    ] {
      let outcome = try bench.moonbase("sql", "s.sqlite", query)
      #expect(outcome.status == 1 && outcome.output == "" && outcome.complaints != "", "\(query): \(outcome)")
    }
    #expect(try bench.contents() == before)
  }

  @Test func mistakesAreNamed() throws {
    let bench = try Workbench.withPeople()
    func complaint(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(["sql"] + arguments)
      #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint("s.sqlite", "SELECT * FROM Persn").contains("no such table: Persn; did you mean Person?"))
    #expect(try complaint("s.sqlite", "SELECT nme FROM Person").contains("no such column: nme"))
    for (query, words) in SQLCases.mistakes { #expect(try complaint("s.sqlite", query).contains(words), "\(query)") }
    #expect(
      try complaint("s.sqlite", "SELECT 1; SELECT 2").contains("follows: SELECT 2; ask them one after the other\n"))
    #expect(try complaint("none.sqlite", "SELECT 1").contains("there is no such store"))
    #expect(try complaint("m.lua", "SELECT 1").contains("not a SQLite database"))
  }

  @Test func anotherModelThanTheStoresIsRefused() throws {
    let bench = try Workbench.withPeople()
    try bench.write("return { entities = { Person = { attributes = { nick = 'string' } } } }", to: "other.lua")
    let refused = try bench.moonbase("sql", "s.sqlite", "SELECT 1", "--model", "other.lua")
    #expect(refused.status == 1 && refused.complaints.contains("version"), "\(refused)")
  }
}
