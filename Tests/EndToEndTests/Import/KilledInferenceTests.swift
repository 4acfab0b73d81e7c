import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

/// Imports with `--infer` killed at random moments and run again; `MOONBASE_CYCLES` sets the number of kills.
@Suite(.serialized) struct KilledInferenceTests {
  private static let cycles = Repetition.killedInferences.count

  /// Kills the command at random moments and runs it until it ends normally.
  private func run(_ bench: Workbench, _ arguments: [String], kills: inout Int) throws -> Int32 {
    var random = SplitMix(UInt64.random(in: 0...UInt64.max))
    for _ in 0..<40 {
      let victim = try ChildProcess(Workbench.command, arguments, in: bench.folder)
      for _ in 0..<(20 + random.next(700)) where victim.isRunning { usleep(1000) }
      guard victim.isRunning else { return try victim.end() }
      victim.kill()
      kills += 1
    }
    return try bench.moonbase(arguments).status
  }

  @Test func rowsAreTakenOnceHoweverOftenItIsKilled() throws {
    var kills = 0
    while kills < Self.cycles {
      let bench = try Workbench()
      var text = "id,Full Name\n"
      for number in 0..<6000 { text += number % 500 == 9 ? "\(number)\n" : "\(number),n\(number)\n" }
      try bench.write(text, to: "p.csv")
      let arguments = ["import", "Person", "p.csv", "--infer", "--store", "s.sqlite", "--batch", "100"]
      // After a kill at the very end, the command reports that the store exists.
      #expect([4, 2].contains(try run(bench, arguments, kills: &kills)))
      #expect(try bench.number("SELECT COUNT(*) FROM ZPERSON") == 5988)
      #expect(try bench.number("SELECT COUNT(DISTINCT ZID) FROM ZPERSON") == 5988)
      let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
      #expect(rejects.count { $0 == "\n" } == 13)
      let again = try bench.moonbase(arguments)
      #expect(again.status == 2 && again.complaints.contains("s.sqlite is there, and has objects"), "\(again)")
    }
  }

  @Test func rowsOfADatabaseAreTakenAndLinkedOnce() throws {
    var kills = 0
    while kills < Self.cycles {
      let bench = try Workbench()
      try bench.connection(to: "plain.db").executeScript(
        """
        CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE person (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES person, tag INTEGER REFERENCES tag);
        CREATE TABLE tags (person INTEGER REFERENCES person, tag INTEGER REFERENCES tag, PRIMARY KEY (person, tag));
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO tag SELECT i, 't' || i FROM n;
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
          INSERT INTO person SELECT i, NULLIF(i / 2, 0), i % 50 + 1 FROM n;
        INSERT INTO tags SELECT p.id, t.id FROM person p JOIN tag t ON t.id % 17 = p.id % 17;
        """)
      let arguments = ["import", "plain.db", "--infer", "--store", "s.sqlite", "--batch", "100"]
      #expect([0, 2].contains(try run(bench, arguments, kills: &kills)))
      let raw = try bench.connection(to: "s.sqlite", mode: .readWrite)
      try raw.execute("ATTACH '\(bench.file("plain.db").path)' AS plain")
      #expect(try raw.integer("SELECT COUNT(*) FROM ZPERSON") == 3000)
      #expect(
        try raw.integer(
          """
          SELECT COUNT(*) FROM plain.person a JOIN ZPERSON p ON p.ZID = a.id LEFT JOIN ZPERSON b ON b.Z_PK = p.ZBOSS
          LEFT JOIN ZTAG t ON t.Z_PK = p.ZTAG WHERE b.ZID IS a.boss AND t.ZID IS a.tag
          """) == 3000)
      let join = try raw.text("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") ?? ""
      #expect(try raw.integer("SELECT COUNT(*) FROM \(join)") == raw.integer("SELECT COUNT(*) FROM plain.tags"))
      #expect(try bench.moonbase("doctor", "s.sqlite").status == 0)
    }
  }

  /// The file left by a process killed between making the file and making the tables.
  @Test(arguments: ["", "CREATE TABLE a (b); DROP TABLE a"]) func aStoreThatWasNotMadeYetIsMade(sql: String) throws {
    let bench = try Workbench()
    try bench.connection(to: "plain.db").executeScript(
      "CREATE TABLE tag (id INTEGER PRIMARY KEY); INSERT INTO tag VALUES (1)")
    try bench.write("id,name\n1,a\n", to: "tag.csv")
    for input in ["plain.db", "tag.csv"] {
      let store = input + ".sqlite"
      try bench.write("", to: store)
      if !sql.isEmpty { try bench.connection(to: store, mode: .readWrite).executeScript(sql) }
      let outcome = try bench.moonbase("import", input, "--infer", "--store", store)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try bench.moonbase("fetch", "Tag", "--store", store, "--count").output == "1\n")
    }
  }

  @Test func whatChangedSinceIsNotGoneOnWith() throws {
    let bench = try Workbench()
    let text = "id,name\n" + (0..<20_000).map { "\($0),n\($0)\n" }.joined()
    try bench.write(text, to: "p.csv")
    let arguments = ["import", "Person", "p.csv", "--infer", "--store", "s.sqlite", "--batch", "100"]
    let limited = try bench.program(
      "sh", ["-c", "ulimit -f 800; exec \"$@\"", "sh", Workbench.command.path] + arguments)
    #expect(limited.status == 1 && limited.complaints.contains("run it again to go on"), "\(limited)")
    try bench.write(text + "x,y\n", to: "p.csv")
    let refused = try bench.moonbase(arguments)
    #expect(refused.status == 1 && refused.complaints.contains("has changed since: remove "), "\(refused)")
    #expect(refused.complaints.contains("s.sqlite to begin anew"), "\(refused)")
    try bench.write(text, to: "q.csv")
    let other = try bench.moonbase("import", "Person", "q.csv", "--infer", "--store", "s.sqlite")
    #expect(other.status == 2 && other.complaints.contains("s.sqlite is there, and has objects"), "\(other)")
  }

  @Test func standardInputIsKnownAgainByWhatCame() throws {
    let bench = try Workbench()
    let text = "id,name\n" + (0..<20_000).map { "\($0),n\($0)\n" }.joined()
    let arguments = ["import", "Person", "-", "--format", "csv", "--infer", "--store", "s.sqlite", "--batch", "100"]
    let limited = try bench.run(
      URL(fileURLWithPath: "/bin/sh"),
      ["-c", "ulimit -f 800; exec \"$@\"", "sh", Workbench.command.path] + arguments, input: text)
    #expect(limited.status == 1, "\(limited)")
    let again = try bench.moonbase(arguments, input: text)
    #expect(again.status == 0 && again.complaints.contains("it goes on in line"), "\(again)")
    #expect(try bench.number("SELECT COUNT(DISTINCT ZID) FROM ZPERSON") == 20_000)
  }
}
