import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Runs the examples of imports and batch jobs as their first lines say.
@Suite struct BatchExampleTests {
  private static func example(_ path: String) -> String {
    Workbench.checkout.appendingPathComponent("lua/examples/\(path)").path
  }

  private func run(_ bench: Workbench, _ arguments: String..., status: Int32 = 0, input: String = "") throws -> String {
    let outcome = try bench.moonbase(arguments, input: input)
    #expect(outcome.status == status, "\(outcome)")
    return outcome.output
  }

  @Test func installedPackagesAreImportedThroughAMap() throws {
    let bench = try Workbench()
    let rows = """
      Package\tVersion\tArchitecture\tSection\tMaintainer\tSize
      bash\t5.2-1\tamd64\tshells\tMatthias <m@x>\t7000
      zlib1g\t1:1.2.13\tamd64\tlibs\tMark <b@x>\t160
      gone\t\tamd64\tlibs\tMark <b@x>\t0
      dash\t0.5\tamd64\tshells\tMatthias <m@x>\t190

      """
    for _ in 0..<2 {
      _ = try run(
        bench, "import", "Package", "-", "--format", "tsv", "--create-missing", "--upsert", "name", "--store",
        "p.sqlite",
        "--force", "--model", Self.example("packages/model.lua"), "--extension", Self.example("packages/extension.lua"),
        "--map", Self.example("packages/map.lua"), status: 4, input: rows)
    }
    #expect(
      try run(
        bench, "fetch", "Package", "--store", "p.sqlite", "--sort", "name", "--format", "csv", "--columns",
        "name,section.name,maintainer.name,installedSize")
        == "name,section.name,maintainer.name,installedSize\nbash,shells,Matthias,7000\ndash,shells,Matthias,190\n"
        + "zlib1g,libs,Mark,160\n")
    #expect(try run(bench, "fetch", "Section", "--store", "p.sqlite", "--count") == "2\n")
    let rejects = String(decoding: try bench.bytes(of: "stdin.rejects.tsv"), as: UTF8.self)
    #expect(rejects.contains("gone") && rejects.contains("version is required"))
  }

  /// An import as a script: a second run changes nothing, and rejected rows are corrected and imported.
  @Test func peopleAreImportedByAScriptOfTwentyLines() throws {
    let script = Self.example("people/import.lua")
    let lines = try String(contentsOfFile: script, encoding: .utf8).split(separator: "\n")
    #expect(lines.filter { !$0.hasPrefix("--") }.count <= 20)
    let bench = try Workbench()
    try bench.write(
      "email,name,age,department\na@x,Ann,31,Tools\nb@x,Bob,abc,Tools\n,Cy,3,Arms\nd@x,Di,999,Arms\ne@x,\"Ed,4\n",
      to: "people.csv")
    let arguments = ["run", "--store", "p.sqlite", "--model", Self.example("people/model.lua"), script]
    for _ in 0..<2 {
      let outcome = try bench.moonbase(arguments + ["people.csv"])
      #expect(outcome.status == 4 && outcome.output == "5 rows, 4 rejected\n", "\(outcome)")
    }
    #expect(
      try run(bench, "fetch", "Department", "--store", "p.sqlite", "--columns", "name", "--format", "tsv")
        == "name\nTools\n")
    let rejects = String(decoding: try bench.bytes(of: "people.csv.rejects.csv"), as: UTF8.self)
    #expect(rejects.contains("\nd@x,Di,999,Arms,5,age,999,"), "\(rejects)")
    #expect(rejects.contains(#",a quote is opened and not closed,"e@x,""Ed,4""#), "\(rejects)")
    let mended = rejects.replacing(",abc,Tools", with: ",44,Tools").replacing("Di,999", with: "Di,99")
      .replacing(",Cy,3", with: "c@x,Cy,3").replacing(",,,,6", with: "e@x,Ed,4,,6")
    try bench.write(mended, to: "mended.csv")
    let outcome = try bench.moonbase(arguments + ["mended.csv"])
    #expect(outcome.status == 0 && outcome.output == "4 rows, 0 rejected\n", "\(outcome)")
    #expect(
      try run(
        bench, "fetch", "Person", "--store", "p.sqlite", "--sort", "email", "--columns", "name,age,department.name",
        "--format", "tsv")
        == "name\tage\tdepartment.name\nAnn\t31\tTools\nBob\t44\tTools\nCy\t3\tArms\nDi\t99\tArms\nEd\t4\t\n")
    #expect(try !bench.names().contains("mended.csv.rejects.csv"))
  }

  @Test func samplesAreRolledUpByDays() throws {
    let bench = try Workbench()
    var csv = "sensor,time,value\n"
    for hour in 0..<72 {
      csv += "a,2026-01-0\(1 + hour / 24)T\(hour % 24 < 10 ? "0" : "")\(hour % 24):30:00Z,\(hour)\n"
    }
    csv += "b,2026-01-02T00:00:00Z,-1.5\n"
    try bench.write(csv, to: "samples.csv")
    _ = try run(
      bench, "import", "Sample", "samples.csv", "--store", "s.sqlite", "--model", Self.example("series/model.lua"))
    for _ in 0..<2 {
      _ = try run(bench, "batch", "run", Self.example("series/rollup.lua"), "--store", "s.sqlite", "--chunk", "10")
      #expect(
        try run(
          bench, "fetch", "Day", "--store", "s.sqlite", "--sort", "sensor,day", "--format", "csv", "--columns",
          "sensor,day,count,sum,low,high") == """
            sensor,day,count,sum,low,high
            a,2026-01-01T00:00:00.000Z,24,276.0,0.0,23.0
            a,2026-01-02T00:00:00.000Z,24,852.0,24.0,47.0
            a,2026-01-03T00:00:00.000Z,24,1428.0,48.0,71.0
            b,2026-01-02T00:00:00.000Z,1,-1.5,-1.5,-1.5

            """)
    }
  }

  @Test func aCopyIsMadeAnonymous() throws {
    let bench = try Workbench.withPeople()
    _ = try run(bench, "backup", "s.sqlite", "copy.sqlite")
    _ = try run(
      bench, "each", "Person", "--store", "copy.sqlite", "--script", Self.example("anonymous/anonymous.lua"))
    func names(_ store: String) throws -> [Substring] {
      try run(bench, "fetch", "Person", "--store", store, "--columns", "name,age", "--format", "tsv").split(
        separator: "\n")
    }
    let (old, new) = (try names("s.sqlite"), try names("copy.sqlite"))
    #expect(old.count == new.count && old != new && old.map(\.count) == new.map(\.count))
    #expect(!new.contains { $0.contains("Ann") } && new.contains { $0.contains("9007199254740993") })
  }

  @Test func wordsOfNotesAreIndexed() throws {
    let bench = try Workbench()
    try bench.write(
      "{\"title\": \"one\", \"text\": \"Moon, moon and Café\"}\n{\"title\": \"two\", \"text\": \"cafe\"}\n{\"title\": \"three\"}\n",
      to: "notes.ndjson")
    _ = try run(
      bench, "import", "Note", "notes.ndjson", "--store", "n.sqlite", "--model", Self.example("words/model.lua"))
    let job = ["batch", "run", Self.example("words/words.lua"), "--store", "n.sqlite"]
    for _ in 0..<2 {
      #expect(try bench.moonbase(job).status == 0)
      #expect(
        try run(
          bench, "fetch", "Word", "--store", "n.sqlite", "--sort", "word", "--format", "csv", "--columns",
          "word,notes.@count") == "word,notes.@count\nand,1\ncafe,2\nmoon,1\n")
    }
    _ = try run(bench, "each", "Note", "--store", "n.sqlite", "--do", "object.text = 'moon'")
    #expect(try bench.moonbase(job).status == 0)
    #expect(try run(bench, "fetch", "Word", "--store", "n.sqlite", "--count") == "1\n")
  }
}
