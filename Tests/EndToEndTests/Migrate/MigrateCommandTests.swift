import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// `moonbase migrate`.
@Suite struct MigrateCommandTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write("return { entities = { P = { attributes = { name = 'string', age = 'string' } } } }", to: "old.lua")
    try bench.write(
      "return { entities = { P = { attributes = { name = 'string', age = 'integer16', new = 'date' } } } }",
      to: "new.lua")
  }

  private func fill(_ age: String) throws {
    let run = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "old.lua", "-e",
      "local c = moonbase.context c:insert('P', { name = 'Ann', age = '\(age)' }) assert(c:save())")
    #expect(run.status == 0, "\(run.complaints)")
  }

  private func ages() throws -> String {
    try bench.moonbase(
      "run", "--store", "s.sqlite", "-e", "for p in moonbase.context:fetch('P'):each() do print(p.age) end"
    ).output
  }

  @Test func thePlanIsToldAndThenTheStoreIsMigrated() throws {
    try fill("32")
    let before = try bench.bytes(of: "s.sqlite")
    let plan = try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua", "--plan")
    #expect(plan.status == 0 && plan.output == "~ P (1 row): ~ age: string → integer16, + new\n", "\(plan)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let done = try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua")
    #expect(done.status == 0 && done.output == plan.output, "\(done)")
    #expect(try ages() == "32\n")
    #expect(try bench.names() == ["new.lua", "old.lua", "s.sqlite"])
  }

  /// The plan reports values that a mapping model leaves missing, and the migration is refused.
  @Test func aRequiredValueThatRowsLackIsToldOfAMappingModelToo() throws {
    try bench.write("return { entities = { P = { attributes = { n = 'integer16' } } } }", to: "one.lua")
    try bench.write(
      "return { entities = { P = { attributes = { n = { 'integer16', optional = false } } } } }", to: "two.lua")
    let run = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "one.lua", "-e",
      "local c = moonbase.context c:insert('P', {}) c:insert('P', { n = 1 }) assert(c:save())")
    #expect(run.status == 0, "\(run)")
    try FileManager.default.createDirectory(at: bench.file("m.xcmappingmodel"), withIntermediateDirectories: false)
    try bench.write(Self.mapping, to: "m.xcmappingmodel/xcmapping.xml")
    let arguments = ["migrate", "s.sqlite", "--to", "two.lua", "--mapping", "m.xcmappingmodel"]
    let plan = try bench.moonbase(arguments + ["--plan", "--read-only"])
    #expect(
      plan.status == 1 && plan.output.contains("! P.n: 1 row has no value, and one is required (row 1)"), "\(plan)")
    let refused = try bench.moonbase(arguments)
    #expect(refused.status == 1 && refused.complaints.contains("allow the loss by --allow-loss"), "\(refused)")
    let done = try bench.moonbase(arguments + ["--allow-loss"])
    #expect(done.status == 0, "\(done)")
    #expect(try bench.moonbase("fetch", "P", "--count", "--store", "s.sqlite").output == "2\n")
    #expect(try bench.moonbase("migrate", "s.sqlite", "--to", "two.lua", "--read-only").status == 2)
    let shown = try bench.moonbase("model", "show", "--store", "s.sqlite")
    #expect(shown.status == 0 && shown.output.contains("integer16"), "\(shown)")
    #expect(try bench.moonbase("model", "show").status == 2)
  }

  private static let mapping = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database>
      <databaseInfo><version>134481920</version><UUID>5B8C2F2D-0F7A-4B7C-9B2E-0A1B2C3D4E5F</UUID><nextObjectID>109</nextObjectID></databaseInfo>
      <object type="XDDEVMAPPINGMODEL" id="z100">
        <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z101"></relationship>
      </object>
      <object type="XDDEVENTITYMAPPING" id="z101">
        <attribute name="mappingtypename" type="string">Undefined</attribute>
        <attribute name="mappingnumber" type="int16">1</attribute>
        <attribute name="name" type="string">PToP</attribute>
        <attribute name="sourcename" type="string">P</attribute>
        <attribute name="destinationname" type="string">P</attribute>
        <attribute name="autogenerateexpression" type="bool">1</attribute>
        <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z100"></relationship>
        <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z103"></relationship>
        <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING"></relationship>
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z103">
        <attribute name="name" type="string">n</attribute>
        <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z101"></relationship>
      </object>
    </database>
    """

  /// The advice depends on the loss.
  @Test(arguments: [
    (
      "P = { attributes = { name = 'string' } }",
      "give what was renamed its renaming identifier, change the rows, or say by a mapping what becomes of it (--mapping), or allow"
    ),
    (
      "P = { attributes = { name = 'string', age = 'integer16' } }",
      "because something would be lost: change the rows, or say by a mapping what becomes of it (--mapping), or allow"
    ),
    (
      "P = { attributes = { name = 'string', age = 'string' }, relationships = { q = { to = 'Q', inverse = 'p', optional = false } } }, Q = { relationships = { p = { to = 'P', inverse = 'q' } } }",
      "make P.q optional, or say by a mapping what it is (--mapping), or allow"
    ),
    (
      "P = { attributes = { name = 'string', age = 'string' }, relationships = { qs = { to_many = 'Q', inverse = 'p', min = 1, optional = false } } }, Q = { relationships = { p = { to = 'P', inverse = 'qs' } } }",
      "P.qs: 1 row leads to no object, and one is required (row 1)"
    ),
    (
      "Q = { attributes = { name = 'string' } }",
      "give what was renamed its renaming identifier, change the rows, or say by a mapping"
    ),
  ]) func theAdviceIsOfWhatIsLost(_ entities: String, _ words: String) throws {
    try fill("young")
    try bench.write("return { entities = { \(entities) } }", to: "new.lua")
    let refused = try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua")
    #expect(refused.status == 1 && refused.complaints.contains(words), "\(refused)")
  }

  @Test func whatWouldBeLostIsToldAndNothingIsDone() throws {
    try fill("young")
    let before = try bench.bytes(of: "s.sqlite")
    let plan = try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua", "--plan")
    #expect(
      plan.status == 1 && plan.output.contains("! P.age: 1 row holds what integer16 cannot keep (row 1)"), "\(plan)")
    let refused = try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua")
    #expect(
      refused.status == 1 && refused.complaints.contains("P.age: 1 row holds what integer16 cannot keep (row 1)\n")
        && refused.complaints.contains("allow the loss by --allow-loss\n"), "\(refused)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    #expect(try bench.moonbase("migrate", "s.sqlite", "--to", "new.lua", "--allow-loss").status == 0)
    #expect(try ages() == "nil\n")
  }

  @Test func runMigratesNothing() throws {
    try fill("32")
    let run = try bench.moonbase("run", "--store", "s.sqlite", "--model", "new.lua", "-e", "print(1)")
    #expect(run.status == 1 && run.complaints.contains("another version of the model"), "\(run)")
    #expect(try ages() == "32\n")
  }

  @Test func aWrongModelEmptiesNoStore() throws {
    try fill("32")
    try bench.write("return { entities = { Q = { attributes = { name = 'string' } } } }", to: "wrong.lua")
    let before = try bench.bytes(of: "s.sqlite")
    let refused = try bench.moonbase("migrate", "s.sqlite", "--to", "wrong.lua")
    #expect(refused.status == 1, "\(refused)")
    let loss = "P: 1 row would go, because the newer model has no such entity (row 1)"
    #expect(refused.complaints.components(separatedBy: loss).count == 2, "\(refused)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let plan = try bench.moonbase("migrate", "s.sqlite", "--to", "wrong.lua", "--plan")
    #expect(plan.status == 1 && plan.output == "- P (1 row)\n+ Q\n! \(loss)\n", "\(plan)")
    #expect(try bench.moonbase("migrate", "s.sqlite", "--to", "wrong.lua", "--allow-loss").output == plan.output)
  }

  @Test func luaModelsAreStagesInTheOrderInWhichTheyAreNamed() throws {
    func model(_ attribute: String) -> String { "return { entities = { P = { attributes = { \(attribute) } } } }" }
    try bench.write(model("b = { 'string', renamed_from = 'name' }"), to: "z.lua")
    try bench.write(model("c = { 'string', renamed_from = 'b' }"), to: "a.lua")
    try fill("")
    try bench.execute("UPDATE ZP SET ZAGE = NULL", in: "s.sqlite")
    // The store's model is no version of `a`.
    let other = try bench.moonbase("migrate", "s.sqlite", "--to", "a.lua", "--staged")
    #expect(other.status == 1 && other.complaints.contains("P.name: 1 row holds a value"), "\(other)")
    let done = try bench.moonbase(
      "migrate", "s.sqlite", "--from", "old.lua", "--from", "z.lua", "--to", "a.lua", "--staged")
    #expect(
      done.output == "to z.lua\n~ P (1 row): ~ b (was name), - age\nto a.lua\n~ P (1 row): ~ c (was b)\n", "\(done)")
    let read = try bench.moonbase("run", "--store", "s.sqlite", "-e", "print(moonbase.context:fetch('P'):first().c)")
    #expect(read.output == "Ann\n", "\(read)")
  }

  @Test func stagesBeginWithTheModelThatTheStoreCarries() throws {
    func model(_ attribute: String) -> String { "return { entities = { P = { attributes = { \(attribute) } } } }" }
    try bench.write(model("b = { 'string', renamed_from = 'name' }, age = 'string'"), to: "2.lua")
    try bench.write(model("c = { 'string', renamed_from = 'b' }, age = 'string'"), to: "3.lua")
    try fill("32")
    let stages = ["migrate", "s.sqlite", "--from", "2.lua", "--to", "3.lua", "--staged"]
    let plan = try bench.moonbase(stages + ["--plan"])
    #expect(
      plan.output == "to 2.lua\n~ P (1 row): ~ b (was name)\nto 3.lua\n~ P (1 row): ~ c (was b)\n", "\(plan)")
    try bench.execute("CREATE TABLE KEPT AS SELECT * FROM Z_MODELCACHE; DELETE FROM Z_MODELCACHE", in: "s.sqlite")
    let none = try bench.moonbase(stages)
    #expect(none.status == 1 && none.complaints.contains("before those that follow it (--from)"), "\(none)")
    try bench.execute("INSERT INTO Z_MODELCACHE SELECT * FROM KEPT; DROP TABLE KEPT", in: "s.sqlite")
    #expect(try bench.moonbase(stages).output == plan.output)
    let read = try bench.moonbase("run", "--store", "s.sqlite", "-e", "print(moonbase.context:fetch('P'):first().c)")
    #expect(read.output == "Ann\n", "\(read)")
  }

  @Test func whatStagesWouldLoseIsPlanned() throws {
    func model(_ attributes: String) -> String { "return { entities = { P = { attributes = { \(attributes) } } } }" }
    try bench.write(model("name = 'string', age = 'integer16'"), to: "2.lua")
    try bench.write(model("name = 'string'"), to: "3.lua")
    try fill("32")
    let before = try bench.bytes(of: "s.sqlite")
    let chain = ["migrate", "s.sqlite", "--from", "old.lua", "--from", "2.lua", "--to", "3.lua", "--staged"]
    let plan = try bench.moonbase(chain + ["--plan"])
    #expect(
      plan.status == 1
        && plan.output == """
          to 2.lua
          ~ P (1 row): ~ age: string → integer16
          to 3.lua
          ~ P (1 row): - age
          ! P.age: 1 row holds a value, and the newer model has no such attribute (row 1)

          """,
      "\(plan)")
    let refused = try bench.moonbase(chain)
    #expect(refused.status == 1 && refused.complaints.contains("P.age: 1 row holds a value"), "\(refused)")
    #expect(try bench.bytes(of: "s.sqlite") == before && !bench.names().contains { $0.contains("migration") })
    #expect(try bench.moonbase(chain + ["--allow-loss"]).output == plan.output)
  }

  @Test func aStoreGoesThroughTheVersionsOfItsModel() throws {
    func version(_ attribute: String) -> String {
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\"><entity name=\"P\">\(attribute)</entity></model>"
    }
    // Only the second version has the renaming identifier for `c`.
    let versions = [
      ("M", #"<attribute name="a" optional="YES" attributeType="String"/>"#),
      ("M 2", #"<attribute name="b" optional="YES" attributeType="String" elementID="a"/>"#),
      ("M 3", #"<attribute name="c" optional="YES" attributeType="String" elementID="b"/>"#),
    ]
    for (name, attribute) in versions {
      let folder = bench.file("M.xcdatamodeld/\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try bench.write(version(attribute), to: "M.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    try bench.write(
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>M 3.xcdatamodel</string></dict></plist>",
      to: "M.xcdatamodeld/.xccurrentversion")
    let filled = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "M.xcdatamodeld/M.xcdatamodel", "-e",
      "local c = moonbase.context c:insert('P', { a = 'kept' }) assert(c:save())")
    #expect(filled.status == 0, "\(filled)")
    let direct = try bench.moonbase("migrate", "s.sqlite", "--to", "M.xcdatamodeld", "--plan")
    let advice = "M 2 lies in between: --staged goes through it, and may find more of what was renamed\n"
    #expect(direct.status == 1 && direct.output.hasPrefix("~ P (1 row): + c, - a\n! P.a: 1 row holds"), "\(direct)")
    #expect(direct.output.hasSuffix("\n? \(advice)"), "\(direct)")
    let refused = try bench.moonbase("migrate", "s.sqlite", "--to", "M.xcdatamodeld")
    #expect(refused.status == 1 && refused.complaints.contains("by --allow-loss; \(advice)"), "\(refused)")
    let before = try bench.bytes(of: "s.sqlite"), names = try bench.names()
    let plan = try bench.moonbase("migrate", "s.sqlite", "--to", "M.xcdatamodeld", "--staged", "--plan")
    #expect(plan.status == 0, "\(plan)")
    #expect(try bench.bytes(of: "s.sqlite") == before && bench.names() == names)
    let done = try bench.moonbase("migrate", "s.sqlite", "--to", "M.xcdatamodeld", "--staged")
    #expect(done.output == plan.output, "\(done)")
    #expect(done.output == "to M 2\n~ P (1 row): ~ b (was a)\nto M 3\n~ P (1 row): ~ c (was b)\n", "\(done)")
    let read = try bench.moonbase("run", "--store", "s.sqlite", "-e", "print(moonbase.context:fetch('P'):first().c)")
    #expect(read.output == "kept\n", "\(read)")
  }

  #if os(Linux)
    @Test func anInterruptedMigrationLeavesNothing() throws {
      try fill("32")
      try bench.execute(
        """
        WITH RECURSIVE r(n) AS (VALUES (2) UNION ALL SELECT n + 1 FROM r WHERE n < 200000)
        INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZAGE) SELECT n, 1, 1, '32' FROM r;
        UPDATE Z_PRIMARYKEY SET Z_MAX = 200000
        """, in: "s.sqlite")
      let before = try bench.bytes(of: "s.sqlite")
      let run = try bench.beginInterruptible(["migrate", "s.sqlite", "--to", "new.lua"])
      for _ in 0..<10_000 {
        if try bench.names().contains(where: { $0.hasSuffix(".migration") }) { break }
        usleep(2_000)
      }
      run.interrupt()
      #expect(try run.end() == 130)
      #expect(run.outcome().complaints.contains("interrupted: s.sqlite is as it was"))
      #expect(try bench.bytes(of: "s.sqlite") == before)
      #expect(try bench.names() == ["new.lua", "old.lua", "s.sqlite"])
    }
  #endif

  @Test func whoeverDiesInAMigrationLeavesAStoreOfOneOfTheModels() throws {
    let filled = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "old.lua", "-e",
      "local c = moonbase.context for i = 1, 5000 do c:insert('P', { name = 'n' .. i, age = tostring(i) }) end assert(c:save())"
    )
    #expect(filled.status == 0, "\(filled)")
    var random = SplitMix(7)
    var isNew = false
    for _ in 0..<12 {
      let (to, from) = isNew ? ("old.lua", "new.lua") : ("new.lua", "old.lua")
      let victim = try bench.begin("migrate", "s.sqlite", "--to", to)
      usleep(UInt32(random.next(400)) * 1000)
      victim.kill()
      let file = try bench.connection(to: "s.sqlite", mode: .readWrite)
      #expect(try file.text("PRAGMA integrity_check") == "ok")
      #expect(try file.integer("SELECT COUNT(*) FROM ZP WHERE ZAGE = Z_PK") == 5000)
      isNew = try file.integer("SELECT COUNT(*) FROM pragma_table_info('ZP') WHERE name = 'ZNEW'") == 1
      let plan = try bench.moonbase("migrate", "s.sqlite", "--to", isNew ? "old.lua" : "new.lua", "--plan")
      #expect(plan.status == 0 && plan.output.hasPrefix("~ P (5000 rows)"), "from \(from) to \(to): \(plan)")
    }
  }
}
