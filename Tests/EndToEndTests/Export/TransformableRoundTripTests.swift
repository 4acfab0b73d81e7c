import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Values of the default transformer survive a round trip by csv, tsv and JSON, or are reported.
@Suite struct TransformableRoundTripTests {
  private static let values = [
    "{ 1, 'a', 2.5, { 3 }, true, moonbase.null }", "{ a = 1, b = { 'x' } }", "moonbase.null", "'plain'", "'[1, 2]'",
    "'{\"a\": 1}'",
    "' [] '", "'\"quoted\"'", "'\"'", "'[1,'", "''", "'5'", "'a\\tb, \"c\"\\nd'",
  ]

  private static let shown = """
    for t in moonbase.context:fetch("Thing"):sort("n"):each() do
      print(t.n, type(t.x) == "string", require("moonbase.json").encode(t.x))
    end
    """

  private func bench(_ values: [String]) throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { Thing = { attributes = { n = 'integer64', x = 'transformable' } } } }", to: "m.lua")
    let inserts = values.enumerated().map { "c:insert('Thing', { n = \($0), x = \($1) })" }.joined(separator: "\n")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      "local c = moonbase.context\n\(inserts)\nassert(c:save())")
    try #require(made.status == 0, "\(made)")
    return bench
  }

  @Test(arguments: ["csv", "tsv", "json"]) func listsMapsAndTextsComeBack(_ format: String) throws {
    let bench = try bench(Self.values)
    let exported = try bench.moonbase("export", "Thing", "t.\(format)", "--store", "s.sqlite")
    #expect(exported.status == 0 && !exported.complaints.contains("are written as texts"), "\(exported)")
    let taken = try bench.moonbase("import", "Thing", "t.\(format)", "--store", "n.sqlite", "--model", "m.lua")
    #expect(taken.status == 0, "\(taken)")
    let before = try bench.moonbase("run", "--store", "s.sqlite", "-e", Self.shown)
    let after = try bench.moonbase("run", "--store", "n.sqlite", "-e", Self.shown)
    #expect(before.status == 0 && before.output == after.output, "\(before)\n\(after)")
  }

  @Test(arguments: [
    ("csv", "x: UUIDs, dates, decimals, numbers, truth values in 5 values are written as texts"),
    ("ndjson", "x: UUIDs, dates, decimals in 3 values are written as texts"),
  ]) func whatBecomesATextIsToldOnce(_ format: String, _ warning: String) throws {
    let bench = try bench([
      "moonbase.date.now()", "{ moonbase.decimal('1.5') }", "5", "true",
      "{ a = moonbase.uuid('0E4A5B4E-9F0C-4D1F-8C55-6F0A3B7C1D2E') }", "'text'",
    ])
    let exported = try bench.moonbase("export", "Thing", "t.\(format)", "--store", "s.sqlite")
    #expect(exported.status == 0 && exported.complaints.contains(warning), "\(exported)")
    #expect(exported.complaints.components(separatedBy: "are written as texts").count == 2)
    let fetched = try bench.moonbase("fetch", "Thing", "--format", format, "--store", "s.sqlite")
    #expect(!fetched.complaints.contains("are written as texts"))
  }
}
