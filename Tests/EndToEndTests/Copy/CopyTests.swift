import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase copy` makes a complete store or none.
@Suite struct CopyTests {
  /// A bench with `s.sqlite`: people with gaps between their keys, some with values in external files.
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Person = { attributes = { name = "string", photo = { "binary", external_storage = true } } } } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      for i = 1, 900 do c:insert("Person", { name = "n" .. i, photo = i % 9 == 0 and ("x"):rep(150000) .. i or nil }) end
      assert(c:save())
      for i, person in ipairs(c:fetch("Person"):all()) do if i % 7 == 0 then c:delete(person) end end
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  private func rows(_ bench: Workbench, _ store: String) throws -> String {
    try bench.moonbase("fetch", "Person", store, "--columns", "_id,name", "--format", "csv").output
  }

  private func values(_ bench: Workbench, _ store: String) throws -> Int {
    let folder = bench.file(".\(store)_SUPPORT/_EXTERNAL_DATA").path
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
  }

  @Test func aKilledCopyLeavesNothingBehindForTheNext() throws {
    let bench = try bench()
    let (expected, valueCount) = (try rows(bench, "s.sqlite"), try values(bench, "s"))
    #expect(expected.contains("Person/900,n900") && !expected.contains("Person/7,") && valueCount > 50)
    for _ in 0..<(TestLength.isLong ? 40 : 6) {
      let killed = try bench.begin("copy", "s.sqlite", "c.sqlite", "--quiet")
      usleep(UInt32.random(in: 20_000...1_200_000))
      killed.kill()
      if try !bench.names().contains("c.sqlite") {
        let copied = try bench.moonbase("copy", "s.sqlite", "c.sqlite")
        #expect(copied.status == 0, "\(copied)")
        // A killed process leaves a folder, which the next copy removes.
        #expect(try !bench.names().contains { $0.hasSuffix(".copy") })
      }
      #expect(try rows(bench, "c.sqlite") == expected)
      #expect(try values(bench, "c") == valueCount)
      for name in try bench.names() where name.hasPrefix("c.sqlite") || name == ".c_SUPPORT" {
        try FileManager.default.removeItem(at: bench.file(name))
      }
    }
  }

  #if os(Linux)
    @Test func anInterruptedCopyLeavesNothing() throws {
      let bench = try bench()
      let names = try bench.names()
      let process = try bench.beginInterruptible(["copy", "s.sqlite", "c.sqlite"])
      for _ in 0..<500 where try !bench.names().contains(where: { $0.hasSuffix(".copy") }) { usleep(2_000) }
      process.interrupt()
      let status = try process.end()
      // The copy may have been complete by then.
      if status == 130 { #expect(try bench.names().filter { !$0.hasPrefix("s.sqlite-") } == names) }
      #expect(status == 130 || status == 0)
    }
  #endif

  @Test func aStoreThatIsThereIsNoNewOne() throws {
    let bench = try bench()
    let empty = try bench.moonbase("run", "--store", "e.sqlite", "--model", "m.lua", "-e", "print(1)")
    try #require(empty.status == 0, "\(empty)")
    let before = try bench.bytes(of: "e.sqlite")
    let refused = try bench.moonbase("copy", "s.sqlite", "e.sqlite")
    #expect(refused.status == 1 && refused.complaints.contains("e.sqlite is there already"), "\(refused)")
    #expect(try bench.bytes(of: "e.sqlite") == before)
  }

  /// Rows of no entity are no objects; every command reports them.
  @Test func rowsOfNoEntityAreTold() throws {
    let bench = try Workbench.withPeople()
    try bench.execute(
      "UPDATE ZPERSON SET Z_ENT = 99 WHERE Z_PK = 3", in: "s.sqlite")
    let copied = try bench.moonbase("copy", "s.sqlite", "c.sqlite")
    let exported = try bench.moonbase("export", "--all", "folder", "--store", "s.sqlite")
    for outcome in [copied, exported] {
      #expect(outcome.status == 4, "\(outcome)")
      #expect(outcome.complaints.contains("1 row of ZPERSON has Z_ENT 99"), "\(outcome)")
    }
    let report = try bench.moonbase("copy", "s.sqlite", "d.sqlite", "--json")
    #expect(report.output.contains(#""leftOut""#) && report.output.contains("ZPERSON"), "\(report)")
    #expect(try bench.moonbase("doctor", "c.sqlite").complaints.contains("nothing is wrong"))
  }

  /// A table of a single entity is read without a condition on the entity, except by a copy.
  @Test func rowsOfNoEntityAreToldInATableOfASingleEntity() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("UPDATE ZDEPARTMENT SET Z_ENT = 99", in: "s.sqlite")
    let copied = try bench.moonbase("copy", "s.sqlite", "c.sqlite")
    let exported = try bench.moonbase("export", "--all", "folder", "--store", "s.sqlite")
    for outcome in [copied, exported] {
      #expect(outcome.status == 4 && outcome.complaints.contains("1 row of ZDEPARTMENT has Z_ENT 99"), "\(outcome)")
    }
    #expect(try bench.moonbase("doctor", "c.sqlite").complaints.contains("nothing is wrong"))
    let imported = try bench.moonbase("import", "--all", "folder", "--store", "i.sqlite")
    #expect(imported.status == 0, "\(imported)")
    let equal = try bench.moonbase("diff", "c.sqlite", "i.sqlite")
    #expect(equal.status == 0 && equal.output == "", "\(equal)")
  }
}
