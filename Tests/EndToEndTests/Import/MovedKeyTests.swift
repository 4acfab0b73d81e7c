import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Rows find objects by attributes that other rows of the same import change.
@Suite struct MovedKeyTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = { P = { attributes = { k = "string", name = "string" },
        relationships = { boss = { to = "P", inverse = "team" }, team = { to_many = "P", inverse = "boss" } } } } }
      """, to: "m.lua")
  }

  private func takes(_ rows: String, _ arguments: String..., status: Int32 = 0) throws {
    try bench.write(rows, to: "rows.csv")
    try bench.imports(["P", "rows.csv"] + arguments, status: status)
  }

  private func bosses() throws -> String {
    try bench.fetched("P", "--format", "csv", "--columns", "k,boss.k", "--sort", "k")
  }

  @Test func objectsAreFoundByWhatTheyHaveNow() throws {
    try takes("k,name\n1,X\n2,Z\n3,W\n")
    try takes("k,name,boss.name\n1,Z,\n2,X,\n3,W,X\n", "--upsert", "k")
    #expect(try bosses() == "k,boss.k\n1,\n2,\n3,2\n")
    // A name that no object had before, and a name that no object has any more.
    try takes("k,name,boss.name\n1,Y,\n2,Z,Y\n3,W,Y\n", "--upsert", "k")
    #expect(try bosses() == "k,boss.k\n1,\n2,1\n3,1\n")
    try takes("k,name,boss.name\n1,Q,\n2,Z,Y\n", "--upsert", "k", status: 4)
  }

  @Test func aKeyThatSeveralObjectsHaveByNowIsRefused() throws {
    try takes("k,name\n1,X\n2,Z\n3,W\n")
    try takes("k,name,boss.name\n2,X,\n3,W,X\n", "--upsert", "k", status: 4)
    #expect(try bosses() == "k,boss.k\n1,\n2,\n3,\n")
  }

  @Test func objectsThatAreMadeForOneColumnAreFoundByTheOthers() throws {
    try takes("k,name,boss.k\n1,X,2\n2,Z,\n", "--upsert", "k", "--create-missing")
    #expect(try bench.fetched("P", "--format", "csv", "--columns", "k,name", "--sort", "k") == "k,name\n1,X\n2,Z\n")
  }

  @Test func aHookOfASaveMayChangeKeys() throws {
    try bench.write(
      """
      return { name = "n", version = "1", entities = { P = { will_save = function(object)
        if object.k == "a" then object:set_primitive("k", "b") end
      end } } }
      """, to: "n.lua")
    try takes("k,name\na,1\nc,2\nb,3\na,4\n", "--upsert", "k", "--batch", "1", "--extension", "n.lua")
    #expect(
      try bench.fetched("P", "--format", "csv", "--columns", "k,name", "--extension", "n.lua")
        == "k,name\nb,3\nc,2\nb,4\n")
  }
}
