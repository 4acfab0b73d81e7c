import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Object IDs are written in short form, as `Person/12`, and accepted wherever URIs are.
@Suite struct ShortIDTests {
  @Test func idsAreShortAndWithUriWhole() throws {
    let bench = try Workbench.withPeople()
    func output(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(
        ["fetch", "Person", "s.sqlite", "--where", "age = 30 AND name != nil"] + arguments)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
    let columns = "_id,department,friends"
    #expect(
      try output("--columns", columns, "--format", "ndjson")
        == #"{"_id": "Boss/2", "department": "Department/1", "friends": ["Person/1"]}"# + "\n")
    #expect(
      try output("--columns", "_id,department", "--format", "json").contains(
        #"{"_id": "Boss/2", "department": "Department/1"}"#))
    #expect(
      try output("--columns", columns, "--format", "csv")
        == "_id,department,friends\nBoss/2,Department/1,\"[\"\"Person/1\"\"]\"\n")
    #expect(try output("--columns", columns).contains("Boss/2  Department/1  [\"Person/1\"]"))
    #expect(
      try output("--columns", "_id,department", "--format", "ndjson", "--uri").contains(
        /"_id": "x-coredata:\/\/[0-9A-F-]{36}\/Boss\/p2", "department": "x-coredata:[^"]*\/Department\/p1"/))
  }

  @Test func shortIDsAreTakenWhereURIsAre() throws {
    let bench = try Workbench.withPeople()
    func names(_ arguments: String...) throws -> String {
      let outcome = try bench.moonbase(
        ["fetch", "Person", "s.sqlite", "--columns", "_id", "--sort", "age", "--format", "csv"] + arguments)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
    #expect(try names("--where", "department = %@", "--param", "Department/1") == "_id\nBoss/2\nPerson/1\n")
    // The row of a boss is also a row of Person.
    #expect(try names("--where", "SELF = %@", "--param", "Person/2") == "_id\nBoss/2\n")
    #expect(try names("--where", "name = %@", "--param", "Department/1") == "_id\n")
    try bench.write("name,department\nDan,Department/1\nEve,Department/x\n", to: "new.csv")
    let imported = try bench.moonbase("import", "Person", "new.csv", "s.sqlite")
    #expect(imported.status == 4 && imported.complaints.contains("1 inserted, 1 rejected"), "\(imported)")
    #expect(
      try String(decoding: bench.bytes(of: "new.rejects.csv"), as: UTF8.self).contains(
        "no ID of an object of this store"))
    #expect(
      try names("--where", "department = %@ AND name = 'Dan'", "--param", "Department/1").hasPrefix("_id\nPerson/"))
    let history = try bench.moonbase(
      "run", "--store", "s.sqlite", "--keep-history", "-e",
      "moonbase.context:fetch('Person'):sort('age'):first().age = 1 assert(moonbase.context:save())")
    #expect(history.status == 0)
    let changes = try bench.moonbase("history", "s.sqlite", "--where", "changedObjectID = 'Boss/2'", "--format", "csv")
    #expect(changes.status == 0, "\(changes)")
  }
}
