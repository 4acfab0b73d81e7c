import Moonbase
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

  /// Converts from form to form and back.
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

  /// A model whose older version has no pets.
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
      "m.lua says more than is kept in the form xcdatamodel:", "- fetch request f: ", "- entity A: user info n is ",
      "- A.x: a model of Xcode cannot say which values are allowed", "- A.y: a model of Xcode cannot say validation",
      "--allow-loss",
    ] { #expect(refused.complaints.contains(part), "\(part)") }
    #expect(try bench.names() == ["m.lua", "rich.lua"])
    let allowed = try bench.moonbase("model", "convert", "m.lua", "m.xcdatamodel", "--allow-loss")
    #expect(allowed.status == 0 && allowed.complaints.hasPrefix("lost: fetch request f: "))
    #expect(allowed.complaints.split(separator: "\n").count == 4)
    #expect(try bench.moonbase("model", "show", "m.xcdatamodel").output.contains("x = \"string\""))
  }

  @Test(arguments: ["xcdatamodel", "lua", "mom"]) func whatNoDescriptionKeepsOfAModelOfXcodesIsNamed(_ form: String)
    throws
  {
    try bench.write(
      """
      <?xml version="1.0"?><model usedWithCloudKit="YES" usedWithSwiftData="NO">
      <entity name="Song" representedClassName=".Song" syncable="NO">
      <attribute name="title" attributeType="String" optional="YES" syncable="NO"/>
      <attribute name="place" attributeType="Composite" optional="YES" compositeName="Place"/></entity>
      <composite name="Place"><attribute name="city" attributeType="String" optional="YES"/></composite>
      <configuration name="Main" usedWithCloudKit="YES"><memberEntity name="Song"/></configuration></model>
      """, to: "contents")
    let refused = try bench.moonbase("model", "convert", "contents", "m.\(form)")
    #expect(
      refused.status == 1 && refused.complaints.contains("contents says more than is kept in the form \(form):\n"))
    let losses = [
      "contents:1: the model: usedWithCloudKit=\"YES\"",
      "contents:5: composite Place: its name: each attribute of it has its elements instead",
      "contents:2: entity Song: syncable=\"NO\"", "contents:3: entity Song, attribute title: syncable=\"NO\"",
      "contents:6: configuration Main: usedWithCloudKit=\"YES\"",
    ]
    let told = refused.complaints.split(separator: "\n").filter { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }
    #expect(told == losses.map { $0[...] }, "\(refused.complaints)")
    #expect(try bench.names() == ["contents", "rich.lua"])
    let allowed = try bench.moonbase("model", "convert", "contents", "m.\(form)", "--allow-loss")
    #expect(allowed.status == 0 && allowed.complaints == losses.map { "lost: \($0)\n" }.joined(), "\(allowed)")
    let again = try bench.moonbase("model", "convert", "m.\(form)", "--to", "xml")
    #expect(again.status == 0 && again.complaints == "", "\(again)")
    #expect(again.output.contains("representedClassName=\".Song\""), "the dot: \(again.output)")
  }

  @Test(arguments: ["xcdatamodel", "lua", "mom"]) func aDefaultThatIsNoneOfItsTypeIsKeptOrNamed(_ form: String) throws {
    try bench.write(
      """
      <?xml version="1.0"?><model><entity name="A">
      <attribute name="id" attributeType="UUID" optional="YES" defaultValueString="nope"/>
      <attribute name="n" attributeType="Integer 16" optional="YES" defaultValueString="99999"/>
      <attribute name="b" attributeType="Integer 16" optional="YES" minValueString="x"/>
      <attribute name="m" attributeType="Integer 16" optional="YES" defaultValueString="7"/></entity></model>
      """, to: "contents")
    let run = try bench.moonbase("model", "convert", "contents", "m.\(form)")
    guard form != "xcdatamodel" else {
      #expect(run.status == 0 && run.complaints == "")
      return #expect(try bench.moonbase("model", "diff", "contents", "m.xcdatamodel").status == 0)
    }
    #expect(run.status == 1 && run.complaints.contains("--allow-loss"))
    for part in [
      "- contents:2: A.id has the default nope, which is not a UUID: it is left out\n",
      "- contents:3: A.n has the default 99999, which is not ", "- contents:4: A.b has the minimum x, which is not ",
    ] { #expect(run.complaints.contains(part), "\(run.complaints)") }
    #expect(!run.complaints.contains("A.m"))
    let allowed = try bench.moonbase("model", "convert", "contents", "m.\(form)", "--allow-loss")
    #expect(allowed.status == 0 && allowed.complaints.hasPrefix("lost: contents:2: A.id has the default nope"))
    let shown = try bench.moonbase("model", "show", "m.\(form)").output
    #expect(shown.contains("default = 7") && !shown.contains("99999") && !shown.contains("nope"), "\(shown)")
  }

  @Test func aVersionIsTakenByItsNameWhereNoneIsCurrent() throws {
    try makeVersions()
    try FileManager.default.removeItem(at: bench.file("M.xcdatamodeld/.xccurrentversion"))
    let refused = try bench.moonbase("model", "convert", "M.xcdatamodeld", "x.lua")
    #expect(refused.status == 1 && refused.complaints.contains("they are M, M 2: name the path of one, or take one by"))
    #expect(refused.complaints.contains("--model-version"))
    try bench.write("<nonsense/>", to: "M.xcdatamodeld/M 2.xcdatamodel/contents")
    let run = try bench.moonbase("model", "convert", "M.xcdatamodeld", "x.lua", "--model-version", "M")
    #expect(run.status == 0 && run.complaints == "", "\(run)")
    #expect(try bench.moonbase("model", "diff", "x.lua", "old.lua").status == 0)
  }

  @Test func aModelIsShownAsLuaWhateverItHolds() throws {
    let archive = try ManagedObjectModel(entities: [Self.photographed]).resolved().archive()
    try archive.write(to: bench.file("m.mom"))
    let shown = try bench.moonbase("model", "show", "m.mom")
    #expect(shown.status == 0 && shown.output.hasPrefix("-- not in this file: A.photo: a default value that is "))
    try bench.write(shown.output, to: "shown.lua")
    #expect(try bench.moonbase("model", "check", "shown.lua").status == 0, "\(shown.output)")
  }

  private static var photographed: EntityDescription {
    var photo = AttributeDescription("photo", type: .binaryData)
    photo.defaultValue = .data(Data([0, 1, 255]))
    var entity = EntityDescription("A")
    entity.attributes = [photo]
    return entity
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
