import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase export --all`.
@Suite struct ExportAllTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return {
        entities = {
          Person = {
            attributes = {
              name = "string", height = "double", born = "date", salary = "decimal", active = "boolean", age = "integer64",
              code = "uuid", site = "uri", photo = { "binary", external_storage = true }, extra = "transformable",
              memory = { "string", transient = true },
            },
            relationships = {
              department = { to = "Department", inverse = "people" },
              friends = { to_many = "Person", inverse = "friends" },
            },
          },
          Boss = { parent = "Person", attributes = { title = "string" } },
          Department = {
            attributes = { name = "string" },
            relationships = { people = { to_many = "Person", inverse = "department", ordered = true } },
          },
          Unused = { attributes = { name = "string" } },
        },
      }
      """, to: "m.lua")
    let code = """
      local c = moonbase.context
      local sales = c:insert("Department", { name = "Sales\\0\\n" })
      local ann = c:insert("Person", {
        name = "Ann", age = 9007199254740993, height = 0.1, salary = "12345678901234567.89", active = true,
        born = moonbase.date.reference(0.123456789), photo = ("x"):rep(300000), extra = { a = 1 },
        code = "00000000-0000-0000-0000-00000000000A", site = moonbase.uri("https://example.org/a"),
      })
      assert(c:save())
      local bob = c:insert("Boss", { name = "", height = -1 / 0, title = "Dr" })
      sales.people = { bob, ann }
      bob.friends:add(ann)
      assert(c:save())
      """
    let made = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code)
    try #require(made.status == 0, "\(made)")
  }

  private func all(_ arguments: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["export", "--store", "s.sqlite"] + arguments)
  }

  private func lines(_ name: String) throws -> [[String: Any]] {
    try String(decoding: bench.bytes(of: name), as: UTF8.self).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  private func text(_ name: String) throws -> String { String(decoding: try bench.bytes(of: name), as: UTF8.self) }

  @Test func everyEntityWithRowsHasAFileOfItsOwnRows() throws {
    let before = try bench.contents(of: "s.sqlite")
    let outcome = try all("--all", "out")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(outcome.complaints.hasSuffix(" objects of 3 entities in out\n"), "\(outcome)")
    #expect(
      try bench.names(in: "out") == ["Boss.ndjson", "Department.ndjson", "Person.ndjson", "export.json", "model.lua"])
    #expect(try bench.contents(of: "s.sqlite") == before)
    let contents = try #require(
      try JSONSerialization.jsonObject(with: bench.bytes(of: "out/export.json")) as? [String: Any])
    #expect(contents["format"] as? String == "moonbase-export" && contents["version"] as? Int == 1)
    let info = try bench.moonbase("info", "s.sqlite", "--json")
    #expect(info.output.contains(try #require(contents["store"] as? String)))
    let entities = try #require(contents["entities"] as? [String: [String: Any]])
    #expect(entities.keys.sorted() == ["Boss", "Department", "Person"])
    #expect(entities["Boss"]?["file"] as? String == "Boss.ndjson" && entities["Boss"]?["count"] as? Int == 1)
    let difference = try bench.moonbase("model", "diff", "m.lua", "out/model.lua")
    #expect(difference.status == 0 && difference.output == "the models say the same\n", "\(difference)")
  }

  @Test func nothingIsLostOfAnyValue() throws {
    #expect(try all("--all", "out").status == 0)
    let ann = try lines("out/Person.ndjson")[0]
    #expect(ann["born"] as? Double == 0.123456789 && ann["height"] as? Double == 0.1)
    #expect(ann["salary"] as? String == "12345678901234567.89" && ann["active"] as? Bool == true)
    #expect(try text("out/Person.ndjson").contains("\"age\": 9007199254740993,"))
    #expect(ann["code"] as? String == "00000000-0000-0000-0000-00000000000A")
    #expect(ann["site"] as? String == "https://example.org/a")
    let photo = try #require((ann["photo"] as? String).flatMap { Data(base64Encoded: $0) })
    #expect(photo == Data(repeating: UInt8(ascii: "x"), count: 300_000))
    let extra = try bench.program("sqlite3", "s.sqlite", "SELECT hex(ZEXTRA) FROM ZPERSON WHERE ZNAME = 'Ann'").output
    let stored = try #require((ann["extra"] as? String).flatMap { Data(base64Encoded: $0) })
    #expect(stored.map { String(format: "%02X", $0) }.joined() + "\n" == extra)
    #expect(ann.keys.contains("memory") == false && ann.keys.contains("department"))
    let bob = try lines("out/Boss.ndjson")[0]
    #expect(bob["height"] as? String == "-inf" && bob["title"] as? String == "Dr" && bob["name"] as? String == "")
    #expect(bob["age"] is NSNull && bob["friends"] as? [String?] == [ann["_id"] as? String])
    let sales = try lines("out/Department.ndjson")[0]
    #expect(sales["name"] as? String == "Sales\0\n")
    #expect(sales["people"] as? [String?] == [bob["_id"], ann["_id"]].map { $0 as? String })
    #expect(ann["department"] as? String == sales["_id"] as? String)
  }

  @Test func onlyAFolderThatIsNewOrEmptyOrAnExportIsWritten() throws {
    try FileManager.default.createDirectory(at: bench.file("empty"), withIntermediateDirectories: false)
    #expect(try all("--all", "empty/").status == 0)
    #expect(try bench.names(in: "empty").count == 5)
    let refused = try all("--all", "empty")
    #expect(refused.status == 1 && refused.complaints.contains("--force"), "\(refused)")
    try bench.write("old", to: "empty/Old.ndjson")
    #expect(try all("--all", "empty", "--force").status == 0)
    #expect(try bench.names(in: "empty").count == 5)
    try bench.write("mine", to: "empty/notes.txt")
    let stranger = try all("--all", "empty", "--force")
    #expect(stranger.status == 1 && stranger.complaints.contains("holds notes.txt"), "\(stranger)")
    let here = try all("--all", ".", "--force")
    #expect(here.status == 1 && here.complaints.contains("no export"), "\(here)")
    #expect(try all("--all", "m.lua").status == 1)
    for arguments in [["Person", "--all", "out"], ["--all", "out", "--where", "age > 1"], ["--all", ""], []] {
      #expect(try bench.moonbase(["export", "--store", "s.sqlite"] + arguments).status == 2)
    }
    #expect(try bench.names() == ["empty", "m.lua", "s.sqlite", ".s_SUPPORT"].sorted())
  }

  @Test func whatCannotBeReadEndsItAndLeavesNothing() throws {
    try bench.execute("UPDATE ZPERSON SET ZNAME = CAST(x'ff41' AS TEXT) WHERE ZNAME = 'Ann'", in: "s.sqlite")
    let damaged = try all("--all", "out")
    #expect(damaged.status == 1 && damaged.complaints.contains("Person.name"), "\(damaged)")
    try bench.execute("UPDATE ZPERSON SET ZNAME = 'Ann' WHERE ZNAME IS NOT ''", in: "s.sqlite")
    let full = try bench.program(
      "bash", "-c", "ulimit -f 40; exec \"$0\" \"$@\"", Workbench.command.path, "export", "--all", "out", "--store",
      "s.sqlite")
    #expect(full.status == 1 && full.complaints.contains("out/Person.ndjson cannot be written"), "\(full)")
    for name in try bench.names(in: ".s_SUPPORT/_EXTERNAL_DATA") {
      try FileManager.default.removeItem(at: bench.file(".s_SUPPORT/_EXTERNAL_DATA/\(name)"))
    }
    let missing = try all("--all", "out")
    #expect(missing.status == 1 && missing.complaints.contains("Person.photo of x-coredata://"), "\(missing)")
    #expect(!(try bench.names().contains { $0.hasPrefix("out") }))
  }

  @Test func aStoreWithoutALogIsWrittenTooAndOneThatIsWrittenToIsOneState() throws {
    try bench.execute("PRAGMA journal_mode = DELETE", in: "s.sqlite")
    #expect(try all("--all", "out").status == 0)
    let writer = try bench.begin(
      "run", "--store", "s.sqlite", "-e",
      """
      local c = moonbase.context print('begun') io.stdout:flush()
      for i = 1, 100000 do c:insert('Department', { name = 'd' }) c:insert('Unused', {}) assert(c:save()) end
      """)
    try writer.wait(for: "begun")
    for _ in 0..<5 {
      #expect(try all("--all", "out", "--force").status == 0)
      // Both are saved in one transaction.
      let departments = try lines("out/Department.ndjson").count
      let others = try bench.names(in: "out").contains("Unused.ndjson") ? try lines("out/Unused.ndjson").count : 0
      #expect(departments == others + 1)
    }
    writer.kill()
  }
}

extension Workbench {
  fileprivate func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file(folder).path).sorted()
  }

  fileprivate func contents(of name: String) throws -> [Data] {
    try names().filter { $0.hasPrefix(name) }.map { try bytes(of: $0) }
  }
}
