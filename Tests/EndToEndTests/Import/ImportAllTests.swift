import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// A folder written by `export --all` is imported into an equal store.
@Suite struct ImportAllTests {
  private func export(_ bench: Workbench, _ store: String, to folder: String) throws {
    let outcome = try bench.moonbase("export", "--all", folder, "--store", store)
    try #require(outcome.status == 0, "\(outcome)")
  }

  /// The lines of all files, which are equal if the stores are, except for the UUID.
  private func lines(_ bench: Workbench, _ folder: String) throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: bench.file(folder).path)
    where name.hasSuffix(".ndjson") {
      let text = String(decoding: try bench.bytes(of: "\(folder)/\(name)"), as: UTF8.self)
      result[name] = text.split(separator: "\n").map { line in
        String(line).replacing(/x-coredata:\/\/[0-9A-F-]+\//, with: "x-coredata://-/")
      }
    }
    return result
  }

  private func roundTrip(_ bench: Workbench, _ store: String, exported: Bool = false) throws {
    if !exported { try export(bench, store, to: "one") }
    let outcome = try bench.moonbase("import", "--all", "one", "--store", "new.sqlite")
    #expect(outcome.status == 0, "\(outcome)")
    try export(bench, "new.sqlite", to: "two")
    let (one, two) = (try lines(bench, "one"), try lines(bench, "two"))
    #expect(one.keys.sorted() == two.keys.sorted())
    for (name, lines) in one {
      let isEqual = lines == two[name]
      #expect(
        isEqual,
        "\(name): \(zip(lines, two[name] ?? []).first { $0 != $1 }.map { "\($0.prefix(300))\n\($1.prefix(300))" } ?? "")"
      )
    }
    let checked = try bench.moonbase("doctor", "new.sqlite")
    #expect(checked.status == 0, "\(checked)")
  }

  /// Lists of subentities whose files come first, ordered lists within one entity, and copies of values defined later.
  @Test func nothingDependsOnTheOrderOfFiles() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Aa = { parent = "Zz", attributes = { x = "string" } },
        Zz = { attributes = { n = "string", d = { "string", derivation = "mm.n" } }, relationships = {
          list = { to_many = "Mm", inverse = "owners", ordered = true }, mm = { to = "Mm", inverse = "zs" },
          next = { to_many = "Zz", inverse = "last", ordered = true }, last = { to_many = "Zz", inverse = "next", ordered = true },
        } },
        Mm = { attributes = { n = "string" }, relationships = {
          owners = { to_many = "Zz", inverse = "list", ordered = true }, zs = { to_many = "Zz", inverse = "mm" } } },
      } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "old.sqlite", "--model", "m.lua", "-e",
      """
      local c, ms, zs = moonbase.context, {}, {}
      for i = 1, 6 do ms[i] = c:insert("Mm", { n = "m" .. i }) end
      for i = 1, 4 do zs[i] = c:insert(i % 2 == 0 and "Aa" or "Zz", { n = "z" .. i, mm = ms[i] }) end
      for i, z in ipairs(zs) do
        z.list = { ms[6 - i], ms[i], ms[6] }
        z.next = { zs[4], zs[i % 4 + 1], zs[1] }
      end
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    try roundTrip(bench, "old.sqlite")
  }

  @Test func objectsRelationshipsOrderAndExternalDataComeBack() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Album = {
          attributes = { title = "string", count = { "integer64", derivation = "photos.@count" } },
          relationships = {
            photos = { to_many = "Photo", inverse = "album", ordered = true, delete = "cascade" },
            likers = { to_many = "Person", inverse = "likes", ordered = true },
          },
        },
        Photo = {
          attributes = { scan = { "binary", external_storage = true }, taken = "date", size = "double" },
          relationships = { album = { to = "Album", inverse = "photos" } },
        },
        Person = {
          attributes = { name = { "string", optional = false }, balance = "decimal", uid = "uuid", site = "uri", extra = "transformable" },
          relationships = {
            likes = { to_many = "Album", inverse = "likers" }, friends = { to_many = "Person", inverse = "friends" },
            partner = { to = "Person", inverse = "partner" },
          },
        },
        Boss = { parent = "Person", attributes = { level = "integer16" } },
      } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      local people = {}
      for i = 1, 40 do
        people[i] = c:insert(i % 4 == 0 and "Boss" or "Person", {
          name = "p\\n" .. i, balance = "0." .. i, uid = "00000000-0000-0000-0000-0000000000" .. (10 + i % 80),
          extra = { list = { i, "x" } }, site = moonbase.uri("https://x.org/" .. i),
        })
      end
      assert(c:save())
      for i = 1, 39 do people[i].friends:add(people[i + 1]) end
      people[3].friends:add(people[3])
      people[1].partner = people[9]
      for i = 1, 10 do
        local album = c:insert("Album", { title = "a" .. i })
        local photos = {}
        for k = 1, 7 do
          photos[k] = c:insert("Photo", { size = k / 3, taken = moonbase.date.reference(i * 1000 + k / 8), scan = string.rep("\\1\\0x", k * 20000) })
        end
        for k = 7, 1, -1 do album.photos:add(photos[k]) end
        for k = 1, 5 do album.likers:add(people[(i * 7 + k * 3) % 40 + 1]) end
      end
      assert(c:save())
      c:delete(people[5])
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
    try roundTrip(bench, "s.sqlite")
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: Workbench.realStores.path)),
    arguments: [
      "Bookmarks_V5", "CoreDataPlus-SampleModel2_V1", "CoreDataPlus-SampleModel3_V1", "CoreDataPlus-SampleModel_V1",
      "LoopKit-Model.v1", "SyncMetadata_V3", "plaso-NoteStore",
    ]) func realStoresComeBack(_ name: String) throws
  {
    let bench = try Workbench()
    try #require(try bench.takeRealStore(name))
    try roundTrip(bench, "s.sqlite")
  }

  /// A run killed at its beginning leaves such a file.
  @Test func anEmptyFileIsFilled() throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    try Data().write(to: bench.file("new.sqlite"))
    try roundTrip(bench, "s.sqlite", exported: true)
  }

  /// The package index of this machine, or a generated one in the same form.
  @Test func thePackageIndexComesBack() throws {
    let bench = try Workbench()
    let index = (try? Data(contentsOf: URL(fileURLWithPath: "/var/lib/dpkg/status"))).map {
      String(decoding: $0, as: UTF8.self)
    }
    let made = (0..<500).map { number in
      """
      Package: p\(number)
      Version: 1:\(number).0-1
      Architecture: all
      Section: s\(number % 7)
      Maintainer: M\(number % 50) <m\(number % 50)@example.org>
      Installed-Size: \(number)
      Depends: p\(number * 7 % 500), p\(number * 13 % 500) (>= 1), p\(number / 2)
      Description: number \(number)

      """
    }
    try bench.write(index ?? made.joined(separator: "\n"), to: "index")
    let run = try bench.moonbase("run", PackagesExampleTests.script, "index")
    try #require(run.status == 0, "\(run)")
    try roundTrip(bench, "moonbase-packages.sqlite")
  }

  @Test func whatIsNoWholeExportIsRefused() throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    func complaint(_ arguments: String..., status: Int32 = 1) throws -> String {
      let outcome = try bench.moonbase(["import"] + arguments)
      #expect(outcome.status == status, "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint("--all", "none", "--store", "n1.sqlite").contains("has no export.json"))
    let line = String(decoding: try bench.bytes(of: "one/Person.ndjson"), as: UTF8.self)
    try bench.write(line.replacing("/Person/p1\"", with: "/Person/p9223372036854775807\""), to: "one/Person.ndjson")
    let full = try complaint("--all", "one", "--store", "n1.sqlite")
    #expect(full.contains("Person.ndjson, line 1: the key of ") && full.contains("leaves none"), "\(full)")
    try bench.write(line, to: "one/Person.ndjson")
    #expect(try complaint("--all", "one", "--store", "s.sqlite").contains(" already: import --all makes a new store"))
    #expect(try complaint("--all", "one", "Person", "--store", "n1.sqlite", status: 2).contains("leave 'Person' out"))
    #expect(
      try complaint("--all", "one", "--upsert", "name", "--store", "n1.sqlite", status: 2).contains(
        "--upsert is for rows"))
    let file = "one/Person.ndjson"
    let text = String(decoding: try bench.bytes(of: file), as: UTF8.self)
    func broken(_ change: (String) -> String) throws -> String {
      try bench.write(change(text), to: file)
      let store = "n\(UUID().uuidString).sqlite"
      let said = try complaint("--all", "one", "--store", store)
      // After a correction the import continues.
      try bench.write(text, to: file)
      #expect(try bench.moonbase("import", "--all", "one", "--store", store).status == 0)
      #expect(try bench.moonbase("fetch", "Person", "--store", store, "--count").output == "3\n")
      return said
    }
    let lines = text.split(separator: "\n").map(String.init)
    #expect(try broken { _ in lines[0] + "\n" }.contains("the file is not whole"))
    #expect(try broken { _ in lines[0] + "\n" + lines[0] + "\n" }.contains("two objects of the _id"))
    let lost = try broken { $0.replacing(/Department\/p\d+/, with: "Department/p999") }
    #expect(lost.contains("there is no such object"), "\(lost)")
    #expect(try broken { $0.replacing("\"_id\"", with: "\"id\"") }.contains("line 1: it has no _id"))
    #expect(try broken { String($0.dropLast(20)) }.contains("line 2"))
  }

  /// If the two sides of a pair contradict each other, the import refuses the folder.
  @Test func sidesThatContradictEachOtherAreRefused() throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    let text = String(decoding: try bench.bytes(of: "one/Department.ndjson"), as: UTF8.self)
    let boss = try #require(text.firstMatch(of: /"x-coredata:[^"]*Boss\/p\d+"/)?.output)
    try bench.write(
      text.replacing("," + boss, with: "").replacing(", " + boss, with: "").replacing(boss + ",", with: ""),
      to: "one/Department.ndjson")
    let outcome = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
    #expect(
      outcome.status == 1 && outcome.complaints.contains("one/Boss.ndjson, line 1, department: ")
        && outcome.complaints.contains("does not say the same in its "), "\(outcome)")
    let twice = text.replacing(boss, with: boss + "," + boss)
    try bench.write(twice, to: "one/Department.ndjson")
    let doubled = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
    #expect(doubled.status == 1 && doubled.complaints.contains("one/Department.ndjson, line 1, "), "\(doubled)")
    #expect(doubled.complaints.contains("stands there twice"), "\(doubled)")
    try bench.write(text, to: "one/Department.ndjson")
    let other = open(bench.file("one/export.json").path, O_RDONLY)
    #expect(flock(other, LOCK_EX) == 0)
    let busy = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
    #expect(busy.status == 75 && busy.complaints.contains("another import of this folder is at work"), "\(busy)")
    close(other)
    #expect(try bench.moonbase("import", "--all", "one", "--store", "n.sqlite").status == 0)
  }

  /// Either of two to-one sides may be empty, as in stores of apps, but must not name another object.
  @Test(arguments: [
    (["null", "A/p1", "A/p2"], ["null", "null", "null"], "A.ndjson, line 3, mate: "),
    (["A/p2", "A/p3", "null"], ["null", "null", "null"], "A.ndjson, line 1, mate: "),
    (["null", "A/p1", "A/p1"], ["null", "null", "null"], nil),
    (["null", "null", "null"], ["B/p2", "null", "null"], nil),
    (["null", "null", "null"], ["B/p2 A/p2", "B/p1 A/p2", "null"], "A.ndjson, line 1, b: "),
    (["null", "null", "null"], ["B/p1 A/p1", "B/p1 null", "null"], "A.ndjson, line 2, b: "),
    (["A/p1", "A/p3", "A/p2"], ["B/p1 A/p1", "B/p2 A/p2", "B/p3 A/p2"], "A.ndjson, line 3, b: "),
    (["null", "null", "null"], ["B/p1 A/p1", "null A/p1", "null"], "B.ndjson, line 2, a: "),
    (["A/p1", "A/p3", "A/p2"], ["B/p1 A/p1", "B/p2 A/p2", "B/p3 A/p3"], nil),
  ]) func oneToOneSidesThatContradictEachOtherAreRefused(mates: [String], pairs: [String], place: String?) throws {
    let bench = try Workbench()
    try FileManager.default.createDirectory(at: bench.file("one"), withIntermediateDirectories: false)
    try bench.write(
      """
      return { entities = {
        A = { relationships = { mate = { to = "A", inverse = "mate" }, b = { to = "B", inverse = "a" } } },
        B = { relationships = { a = { to = "A", inverse = "b" } } } } }
      """, to: "one/model.lua")
    func uri(_ name: Substring) -> String {
      name == "null" ? "null" : "\"x-coredata://F4AAD52A-4A2E-4242-868F-65EAB6C335EB/\(name)\""
    }
    let sides = pairs.map { pair -> [Substring] in
      let sides = pair.split(separator: " ")
      return [sides[0], sides.count > 1 ? sides[1] : "null"]
    }
    let count = sides.count
    try bench.write(
      (0..<count).map {
        "{\"_id\": \(uri("A/p\($0 + 1)")), \"mate\": \(uri(mates[$0][...])), \"b\": \(uri(sides[$0][0]))}\n"
      }.joined(), to: "one/A.ndjson")
    try bench.write(
      (0..<count).map { "{\"_id\": \(uri("B/p\($0 + 1)")), \"a\": \(uri(sides[$0][1]))}\n" }.joined(),
      to: "one/B.ndjson")
    try bench.write(
      """
      {"format": "moonbase-export", "version": 1, "store": "F4AAD52A-4A2E-4242-868F-65EAB6C335EB", "model": "model.lua",
       "entities": {"A": {"file": "A.ndjson", "count": 3}, "B": {"file": "B.ndjson", "count": 3}}}
      """, to: "one/export.json")
    let outcome = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
    #expect(outcome.status == (place == nil ? 0 : 1), "\(outcome)")
    if place == nil { #expect(outcome.complaints.contains("6 objects of 2 entities"), "\(outcome)") }
    guard let place else { return #expect(try bench.moonbase("doctor", "n.sqlite").status == 0) }
    #expect(outcome.complaints.contains(place) && outcome.complaints.contains("does not say the same"), "\(outcome)")
    let rows = try bench.moonbase("fetch", "A", "--count", "--store", "n.sqlite", "--model", "one/model.lua")
    #expect(rows.output == "0\n", "\(rows)")
  }

  /// A folder that changed since its first part was read is refused when the import is resumed.
  @Test func aFolderThatChangedSinceIsNotGoneOnWith() throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    let files = ["one/Boss.ndjson", "one/Person.ndjson"]
    let (boss, person) = (try bench.bytes(of: files[0]), try bench.bytes(of: files[1]))
    let text = String(decoding: person, as: UTF8.self)
    try bench.write(text.replacing(/"name": *"/, with: "\"nam\": \""), to: files[1])
    #expect(try bench.moonbase("import", "--all", "one", "--store", "n.sqlite").status == 1)
    try bench.write(text, to: files[1])
    try bench.write(
      String(decoding: boss, as: UTF8.self).replacing(/"name": *"/, with: "\"name\": \"x"), to: files[0])
    let outcome = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
    #expect(outcome.status == 1 && outcome.complaints.contains("what was read of it has changed since"), "\(outcome)")
    try bench.write(String(decoding: boss, as: UTF8.self), to: files[0])
    #expect(try bench.moonbase("import", "--all", "one", "--store", "n.sqlite").status == 0)
  }

  /// A process killed while it makes the store leaves a database without tables.
  @Test(arguments: ["", "CREATE TABLE a (b); DROP TABLE a"]) func aStoreThatWasNotMadeYetIsMade(sql: String) throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    try bench.write("", to: "n.sqlite")
    if !sql.isEmpty { try bench.connection(to: "n.sqlite", mode: .readWrite).executeScript(sql) }
    let outcome = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try bench.moonbase("fetch", "Person", "--store", "n.sqlite", "--count").output == "3\n")
  }

  /// The author of the folder must not control which other files of this machine are read. No entry is silently
  /// omitted, and a store has a UUID.
  @Test func anIndexThatLeavesFilesOutIsRefused() throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    let index = String(decoding: try bench.bytes(of: "one/export.json"), as: UTF8.self)
    let uuid = try #require(index.firstMatch(of: /[0-9A-F-]{36}/)?.output)
    for (text, words) in [
      (index.replacing(uuid, with: "any text"), "store is 'any text', which is no UUID"),
      (
        index.replacing(/"entities" ?: ?\{[\s\S]*\}\s*,/, with: "\"entities\": {},"),
        "does not name the file 'Boss.ndjson'"
      ),
    ] {
      try bench.write(text, to: "one/export.json")
      let outcome = try bench.moonbase("import", "--all", "one", "--store", "n.sqlite")
      #expect(outcome.status == 1 && outcome.complaints.contains(words), "\(outcome)")
    }
    #expect(try !bench.names().contains("n.sqlite"))
  }

  @Test func anIndexThatNamesFilesOutsideItsFolderIsRefused() throws {
    let bench = try Workbench.withPeople()
    try export(bench, "s.sqlite", to: "one")
    let index = String(decoding: try bench.bytes(of: "one/export.json"), as: UTF8.self)
    try bench.write(String(decoding: try bench.bytes(of: "one/Boss.ndjson"), as: UTF8.self), to: "x.ndjson")
    try bench.write(String(decoding: try bench.bytes(of: "one/model.lua"), as: UTF8.self), to: "x.lua")
    try FileManager.default.createDirectory(at: bench.file("one/sub"), withIntermediateDirectories: false)
    for (name, target) in [("link.ndjson", "../x.ndjson"), ("link.lua", "../x.lua")] {
      try FileManager.default.createSymbolicLink(
        atPath: bench.file("one/\(name)").path, withDestinationPath: target)
    }
    for name in ["../x.ndjson", bench.file("x.ndjson").path, "sub/../../x.ndjson", "link.ndjson", "..", "sub", ""] {
      let ending = name.hasSuffix(".ndjson") ? String(name.dropLast(7)) + ".lua" : name
      for (own, other) in [("Boss.ndjson", name), ("model.lua", ending)] {
        try bench.write(index.replacing("\"\(own)\"", with: "\"\(other)\""), to: "one/export.json")
        let outcome = try bench.moonbase("import", "--all", "one", "--store", "new.sqlite")
        #expect(
          outcome.status == 1 && outcome.complaints.contains("one/export.json names the file '\(other.prefix(40))"),
          "\(outcome)")
        #expect(try !bench.names().contains("new.sqlite"))
      }
    }
    for (own, other) in [
      ("Boss.ndjson", "Person.ndjson"), ("Boss.ndjson", "model.lua"), ("Boss.ndjson", "none.ndjson"),
    ] {
      try bench.write(index.replacing("\"\(own)\"", with: "\"\(other)\""), to: "one/export.json")
      let outcome = try bench.moonbase("import", "--all", "one", "--store", "new.sqlite")
      #expect(
        outcome.status == 1 && outcome.complaints.contains("one/export.json names the file '\(other)'"), "\(outcome)")
      #expect(try !bench.names().contains("new.sqlite"))
    }
    try bench.write(index, to: "one/export.json")
    #expect(try bench.moonbase("import", "--all", "one", "--store", "new.sqlite").status == 0)
  }
}
