import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase model convert` writes a model in another form.
@Suite struct ModelConvertTests {
  private let bench: Workbench

  private static let rich = """
    return { version = "2", entities = {
      Animal = { abstract = true, attributes = { name = { "string", optional = false, max_length = 80 } } },
      Person = { parent = "Animal", class = "App.Person", attributes = {
          born = { "date", default = 0.25 }, salary = { "decimal", default = "1.10", min = "0" }, photo = {
            "binary", external_storage = true }, badge = { "uuid", default = "0B5D1E0E-6C5C-4C5B-9A5D-000000000001" },
          color = { "transformable", transformer = "T" }, count = { "integer64", derivation = "friends.@count" },
          note = { "string", transient = true, default = "a \\"<b>\\" & 'c'", scalar = true } },
        relationships = {
          friends = { to_many = "Person", inverse = "friends", min = 1, max = 9 }, pet = { to = "Animal" },
          books = { to_many = "Book", ordered = true, inverse = "author", delete = "cascade" } },
        fetched_properties = { peers = { "Person", "name != 'x'" } }, user_info = { a = "b" },
        constraints = { { "badge" } }, indexes = { byBirth = { "-born" } } },
      Book = { relationships = { author = { to = "Person", inverse = "books", optional = false } } },
    }, fetch_requests = { named = { "Person", "name == $NAME", limit = 3 } },
      configurations = { Main = { "Animal", "Person", "Book" } } }
    """

  private static let examples = ["colors", "packages", "people", "series", "words"]

  init() throws {
    bench = try Workbench()
    try bench.write(Self.rich, to: "rich.lua")
  }

  private func hashes(of model: String) throws -> [String] {
    let report = try bench.moonbase("model", "show", "--json", model).output
    return report.split(separator: "\n").filter { $0.contains("\"versionHash\"") }.map(String.init).sorted()
  }

  /// From form to form and back.
  private func check(_ model: String) throws {
    var last = model
    for form in ["mom", "xcdatamodel", "momd", "xml", "xcdatamodeld", "lua"] {
      let name = "of_\(form).\(form)"
      let run = try bench.moonbase("model", "convert", last, name)
      #expect(run.status == 0 && run.output == "" && run.complaints == "", "\(model) as \(form): \(run.complaints)")
      last = name
    }
    #expect(try bench.moonbase("model", "diff", model, last).output == "the models say the same\n", "\(model)")
    let expected = try hashes(of: model)
    #expect(try !expected.isEmpty && hashes(of: last) == expected && hashes(of: "of_mom.mom") == expected)
  }

  @Test func aModelGoesThroughAllForms() throws { try check("rich.lua") }

  @Test(arguments: examples) func theExamplesGoThroughAllForms(_ name: String) throws {
    try check(Workbench.checkout.appendingPathComponent("lua/examples/\(name)/model.lua").path)
  }

  @Test func formsOfOneFileArePrinted() throws {
    let xml = try bench.moonbase("model", "convert", "rich.lua", "--to", "xml")
    #expect(xml.output.hasPrefix("<?xml") && xml.status == 0)
    try bench.write(xml.output, to: "contents")
    let lua = try bench.moonbase("model", "convert", "contents", "--to", "lua")
    #expect(lua.output.hasPrefix("return {\n") && lua.status == 0)
    let folder = try bench.moonbase("model", "convert", "rich.lua", "--to", "momd")
    #expect(folder.status == 2 && folder.complaints.contains("an .momd is a folder, which cannot be printed"))
  }

  /// A model of which an older version has no pets.
  private func makeVersions() throws {
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "old.lua")
    #expect(try bench.moonbase("model", "convert", "old.lua", "M.xcdatamodeld").status == 0)
    #expect(try bench.moonbase("model", "convert", "rich.lua", "M.xcdatamodeld/M 2.xcdatamodel").status == 0)
    let list = bench.file("M.xcdatamodeld/.xccurrentversion")
    let text = try String(contentsOf: list, encoding: .utf8)
    #expect(text.contains("<string>M.xcdatamodel</string>"))
    try text.replacingOccurrences(of: "M.xcdatamodel", with: "M 2.xcdatamodel")
      .write(to: list, atomically: true, encoding: .utf8)
  }

  @Test func allVersionsAreKeptAndTheCurrentOne() throws {
    try makeVersions()
    let compiled = try bench.moonbase("model", "convert", "M.xcdatamodeld", "M.momd")
    #expect(compiled.status == 0 && compiled.complaints == "")
    let folder = bench.file("M.momd").path
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["M 2.mom", "M.mom", "VersionInfo.plist"])
    #expect(try bench.moonbase("model", "diff", "M.momd", "rich.lua").status == 0)
    #expect(try bench.moonbase("model", "convert", "M.momd", "N.xcdatamodeld").status == 0)
    #expect(try bench.moonbase("model", "diff", "N.xcdatamodeld", "rich.lua").status == 0)
    #expect(try bench.moonbase("model", "diff", "N.xcdatamodeld/M.xcdatamodel", "old.lua").status == 0)
  }

  @Test func aVersionCanBeNamed() throws {
    try makeVersions()
    let current = try bench.moonbase("model", "convert", "M.xcdatamodeld", "now.lua")
    #expect(current.complaints.contains("the current version, M 2, is written, without M: --model-version"))
    #expect(try bench.moonbase("model", "diff", "now.lua", "rich.lua").status == 0)
    let older = try bench.moonbase("model", "convert", "M.xcdatamodeld", "then.lua", "--model-version", "M")
    #expect(older.status == 0 && older.complaints == "")
    #expect(try bench.moonbase("model", "diff", "then.lua", "old.lua").status == 0)
    let unknown = try bench.moonbase("model", "convert", "M.xcdatamodeld", "x.lua", "--model-version", "M 3")
    #expect(unknown.status == 1 && unknown.complaints.contains("has no version M 3: its versions are M, M 2"))
    let none = try bench.moonbase("model", "convert", "rich.lua", "x.mom", "--model-version", "M")
    #expect(none.status == 1 && none.complaints.contains("it has no versions"))
    #expect(try !bench.names().contains("x.lua") && !bench.names().contains("x.mom"))
  }

  @Test func whatAFormCannotHoldIsNamedAndNotLost() throws {
    try bench.write(
      """
      return { entities = { A = { user_info = { n = 3 }, attributes = {
        x = { "string", one_of = { "a" } }, y = { "string", rules = { { "SELF != 'b'", "no b" } } } } } },
        fetch_requests = { f = { "A", sort = "x" } } }
      """, to: "m.lua")
    let refused = try bench.moonbase("model", "convert", "m.lua", "m.xcdatamodel")
    #expect(refused.status == 1 && refused.output == "")
    for part in [
      "m.lua says more than the form xcdatamodel can hold:", "- fetch request f: ", "- entity A: user info n is ",
      "- A.x: a model of Xcode cannot say which values are allowed", "- A.y: a model of Xcode cannot say validation",
      "--allow-loss",
    ] { #expect(refused.complaints.contains(part), "\(part)") }
    #expect(try bench.names() == ["m.lua", "rich.lua"])
    let allowed = try bench.moonbase("model", "convert", "m.lua", "m.xcdatamodel", "--allow-loss")
    #expect(allowed.status == 0 && allowed.complaints.hasPrefix("lost: fetch request f: "))
    #expect(allowed.complaints.split(separator: "\n").count == 4)
    #expect(try bench.moonbase("model", "show", "m.xcdatamodel").output.contains("x = \"string\""))
  }

  @Test func whatIsThereStays() throws {
    try bench.write("mine", to: "m.mom")
    let refused = try bench.moonbase("model", "convert", "rich.lua", "m.mom")
    #expect(refused.status == 1 && refused.complaints.contains("m.mom is there already"))
    #expect(try bench.bytes(of: "m.mom") == Data("mine".utf8))
    #expect(try bench.moonbase("model", "convert", "rich.lua", "m.mom", "--force").status == 0)
    #expect(try bench.moonbase("model", "diff", "m.mom", "rich.lua").status == 0)
    for _ in 0..<2 {
      let run = try bench.moonbase("model", "convert", "rich.lua", "m.momd", "--force")
      #expect(run.status == 0 && run.complaints == "")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.file("m.momd").path)
    #expect(names.sorted() == ["VersionInfo.plist", "m.mom"])
    try bench.write("mine", to: "m.momd/notes.txt")
    let strange = try bench.moonbase("model", "convert", "rich.lua", "m.momd", "--force")
    #expect(strange.status == 1 && strange.complaints.contains("m.momd holds notes.txt, which is no part of an .momd"))
    let again = try bench.moonbase("model", "convert", "rich.lua", "m.momd")
    #expect(again.status == 1 && again.complaints.contains("m.momd is there already"))
    #expect(try bench.names() == ["m.mom", "m.momd", "rich.lua"])
  }

  @Test(
    arguments: [
      (["rich.lua"], 2, "name what is to be written, as in 'model convert rich.lua model.lua'"),
      (["rich.lua", "m.json"], 2, "m.json has the suffix of no form; the suffixes are lua, xcdatamodel"),
      (["rich.lua", "--to", "yaml"], 2, "there is no form 'yaml'"),
      (["none.lua", "m.mom"], 1, "none.lua"), (["rich.lua", "none/m.mom"], 1, "none/m.mom cannot be written"),
      (["rich.lua", "none/m.momd"], 1, "none/m.momd cannot be written"),
      (["broken.lua", "m.mom"], 1, "broken.lua:1: "),
    ]) func whatCannotBeDoneIsSaid(_ arguments: [String], _ status: Int32, _ message: String) throws
  {
    try bench.write("return { entities = { A = { parent = 'B' } } }", to: "broken.lua")
    let run = try bench.moonbase(["model", "convert"] + arguments)
    #expect(run.status == status && run.output == "" && run.complaints.contains(message), "\(run.complaints)")
    #expect(try bench.names() == ["broken.lua", "rich.lua"])
  }
}
