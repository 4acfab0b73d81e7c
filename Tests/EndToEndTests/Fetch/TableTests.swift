import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Tables for people: the visible columns, and columns of numbers and URIs.
@Suite struct TableTests {
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { P = { attributes = { no = "integer64", d = "double", f = "float", n = "string", u = "uri",
        born = "date" } } } }
      """, to: "m.lua")
    let code = """
      local c = moonbase.context
      for i, n in ipairs { "名前", "e\u{301}🙂", "abcd" } do
        c:insert("P", { no = i, f = 0.1, n = n, born = "2024-01-27" })
      end
      assert(c:save())
      """
    let made = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  private func fetched(_ bench: Workbench, _ arguments: String...) throws -> ChildProcess.Outcome {
    try bench.moonbase(["fetch", "P", "--store", "s.sqlite", "--sort", "no"] + arguments)
  }

  @Test func wideCharactersAndFloatsKeepTheirColumns() throws {
    let bench = try bench()
    #expect(
      try fetched(bench, "--columns", "n,f,no").output == """
        n       f  no
        ----  ---  --
        名前  0.1   1
        e\u{301}🙂   0.1   2
        abcd  0.1   3

        """)
    for form in ["csv", "ndjson"] {
      let output = try fetched(bench, "--columns", "f", "--format", form, "--limit", "1").output
      #expect(output == (form == "csv" ? "f\n0.1\n" : "{\"f\": 0.1}\n"))
    }
  }

  @Test func flagsAreTwoColumnsWideAndSignsThatTurnTextAreWrittenOut() throws {
    let bench = try bench()
    let flags = "c:fetch('P'):where('#no = 1'):first().n = '🇩🇪' c:fetch('P'):where('#no = 2'):first().n = 'a\u{202E}b'"
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "-e", "local c = moonbase.context \(flags) assert(c:save())")
    #expect(made.status == 0, "\(made)")
    #expect(
      try fetched(bench, "--columns", "n,no").output == """
        n           no
        ----------  --
        🇩🇪           1
        a\\u{202E}b   2
        abcd         3

        """)
  }

  @Test func whatIsNoNumberOfADoubleAndNoURIIsRejected() throws {
    let bench = try bench()
    let rows = ["1e400,a:b", "-1e400,a:b", "1e-400,a:b", "0e-400,a:b", "inf,a:b", "1,no uri", "1,http://a b", "1,/a/b"]
    try bench.write("d,u\n" + rows.joined(separator: "\n") + "\n", to: "p.csv")
    let outcome = try bench.moonbase("import", "P", "p.csv", "--store", "s.sqlite")
    #expect(outcome.status == 4 && outcome.complaints.contains("8 rows: 3 inserted, 5 rejected"), "\(outcome)")
    let rejects = String(decoding: try bench.bytes(of: "p.rejects.csv"), as: UTF8.self)
    for words in ["1e400 is too large for a double", "1e-400 is too small", "no uri,is no URI"] {
      #expect(rejects.contains(words), "\(rejects)")
    }
    try bench.write("{\"d\": 1e400}\n", to: "p.ndjson")
    #expect(try bench.moonbase("import", "P", "p.ndjson", "--store", "s.sqlite").status == 4)
  }

  @Test func aStoreIsAnArgumentOrAnOption() throws {
    let bench = try bench()
    for place in [["s.sqlite"], ["--store", "s.sqlite"]] {
      for command in [
        ["fetch", "P", "--count"], ["info"], ["doctor"], ["each", "P", "--dry-run", "--do", "return"],
      ] {
        let count = ["info", "doctor"].contains(command[0]) ? 1 : 2
        let arguments = command.prefix(count) + place + command.dropFirst(2) + ["--read-only"]
        let outcome = try bench.moonbase(Array(arguments))
        #expect(outcome.status == 0, "\(command) \(place) \(outcome)")
      }
      let history = try bench.moonbase(["history"] + place)
      #expect(history.complaints.contains("s.sqlite keeps no history"), "\(history)")
    }
    #expect(
      try bench.moonbase("sql", "--store", "s.sqlite", "SELECT COUNT(*) AS n FROM P", "--format", "csv").output
        == "n\n3\n")
    #expect(try bench.moonbase("backup", "b.sqlite", "--store", "s.sqlite").status == 0)
    try bench.write("return { request = 'P', chunk = function() end }", to: "j.lua")
    for place in [["b.sqlite"], ["--store", "b.sqlite"]] {
      for command in [
        ["export", "P", "p.csv", "--force"], ["import", "P", "p.csv", "--dry-run"], ["batch", "run", "j.lua"],
        ["batch", "status", "j"], ["batch", "status"], ["batch", "resume", "j.lua"],
      ] {
        let words = command.prefix { !$0.hasPrefix("-") } + place + command.drop { !$0.hasPrefix("-") }
        let outcome = try bench.moonbase(Array(words))
        #expect(outcome.status == 0, "\(words) \(outcome)")
      }
      let rows = try bench.moonbase(["export", "P"] + place + ["--columns", "f", "--limit", "1"])
      #expect(rows.output == "{\"f\": 0.1}\n", "\(rows)")
      let folder = "folder\(place.count)"
      #expect(try bench.moonbase(["export", "--all", folder] + place).status == 0)
      func new(_ name: String) -> [String] { place.dropLast() + ["\(name)\(place.count).sqlite"] }
      #expect(try bench.moonbase(["import", "--all", folder] + new("all")).status == 0)
      #expect(try bench.moonbase(["import", "p.csv", "--infer"] + new("inferred")).status == 0)
    }
    for command in [["fetch", "P"], ["info"], ["import", "P", "p.csv"], ["batch", "run", "j.lua"]] {
      let both = try bench.moonbase(command + ["s.sqlite", "--store", "s.sqlite"])
      #expect(both.status == 2 && both.complaints.contains("two stores are named"), "\(both)")
      let none = try bench.moonbase(command)
      #expect(none.status == 2 && none.complaints.contains("--store"), "\(none)")
    }
  }

  @Test func whatLooksLikeSomethingElseInAPredicateIsTold() throws {
    let bench = try bench()
    #expect(try fetched(bench, "--where", "#no == 2", "--count").output == "1\n")
    let word = try fetched(bench, "--where", "no == 2")
    #expect(word.status == 1 && word.complaints.contains("the property is written #no"), "\(word)")
    #expect(try fetched(bench, "--where", "n != nil AND d == NO", "--count").status == 0)
    let date = try fetched(bench, "--where", "born > 2024-01-26")
    #expect(date.status == 1 && date.complaints.contains("write '2024-01-26' for the date"), "\(date)")
    #expect(
      try fetched(bench, "--where", "born > '2024-01-26' AND #no > 2024 - 01 - 27 - 2000", "--count").output == "3\n")
    let like = try fetched(bench, "--where", "n LIKE 'abc%'", "--count")
    #expect(
      like.output == "0\n"
        && like.complaints == "moonbase: LIKE 'abc%': the wildcards are * and ?, and % stands for itself\n")
    #expect(try fetched(bench, "--where", "n LIKE 'abc*'", "--count").complaints == "")
    let script = try bench.moonbase(
      "run", "--store", "s.sqlite", "-e", "print(moonbase.context:fetch('P'):where('no == 2'):count())")
    #expect(script.status == 1 && script.complaints.contains("#no"), "\(script)")
  }
}
