import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// All problems of a file are reported together, each with its line and the most similar name.
@Suite struct ExtensionFindingsTests {
  private func findings(_ files: String...) -> [String] {
    do {
      _ = try ScriptBench(.memory, model: ThingBench.model, extensions: files)
      return []
    } catch let error as ScriptError {
      return error.all.map { "\($0)" }
    } catch {
      return ["\(error)"]
    }
  }

  private static let broken = """
    return {
      nam = "x", version = "one",
      transformers = { T = {
        transform = 1,
        revers = print } },
      entities = {
        P = {
          validate = { ss = print,
            s = 2 },
          normalise = {},
          derived = {
            a = { inputs = { "ss" }, get = "x" },
            b = { type = "strin", get = print },
            sum = { type = "string", stored = true, inputs = { "i" }, get = print },
          },
          methods = { id = print },
        },
        Q = {},
      },
    }
    """

  @Test func eachFindingHasItsLineAndTheNearestName() {
    let found = findings(Self.broken)
    let wanted = [
      "extension1.lua:2: nam: this key is unknown; did you mean name?",
      "extension1.lua:2: version: \"one\" is no version",
      "extension1.lua:4: transformers.T.transform: a function is expected, not a number",
      "extension1.lua:5: transformers.T.revers: this key is unknown; did you mean reverse?",
      "extension1.lua:8: P has no property ss; did you mean s?",
      "extension1.lua:9: entities.P.validate.s: a function is expected, not a number",
      "extension1.lua:10: entities.P.normalise: this key is unknown; did you mean normalize?",
      "extension1.lua:12: entities.P.derived.a.get: a function is expected, not a string",
      "extension1.lua:12: P.a: the input ss: P has no property ss; did you mean s?",
      "extension1.lua:13: entities.P.derived.b.type: strin is no attribute type; did you mean string?",
      "extension1.lua:14: P.sum is a string here, and a double in the model",
      "extension1.lua:16: P: the method id would hide the method id",
      "extension1.lua:18: the model has no entity Q",
    ]
    #expect(found.count == wanted.count, "\(found.joined(separator: "\n"))")
    for (finding, text) in zip(found, wanted) { #expect(finding.hasPrefix(text), "\(finding)\n\(text)") }
  }

  @Test func scriptsGetThemAsDetails() throws {
    let folder = try TemporaryFolder()
    try Data(Self.broken.utf8).write(to: folder.file("x.lua"))
    let domain = try ScriptDomain()
    defer { domain.close() }
    try domain.installOpen { description in
      let model = try LuaModelFile().read(ScriptSource(name: "m.lua", text: ThingBench.model))
      let extensions = try ScriptExtensions(description.extensions, for: model)
      return StoreHandle(
        coordinator: PersistentStoreCoordinator(model: extensions.resolvedModel), extensions: extensions)
    }
    let results = try domain.state.load(
      """
      local ok, err = pcall(moonbase.open, { extensions = { \("\"\(folder.file("x.lua").path)\"") } })
      return ok, #err.details, err.details[2].message, select(2, err.message:gsub("\\n", "")), err.details[5].key
      """, name: "s.lua")()
    #expect(results[0].booleanValue == false && results[1].integerValue == 13)
    #expect(results[2].textValue?.hasPrefix("version: \"one\" is no version") == true, "\(results)")
    #expect(results[3].integerValue == 12 && results[4].textValue == "ss", "\(results)")
  }

  @Test func severalFilesAreReadToTheirEnds() {
    let found = findings(
      "return {\n nam = 1, \(ThingBench.transformer) }",
      "return { entities = { P = { validate = {\n x = print } } },\n value_classes = { P = { s = 'C' } } }")
    #expect(found.map { $0.prefix(17) } == ["extension1.lua:2:", "extension2.lua:2:", "extension2.lua:3:"], "\(found)")
    let hundred = (1...200).map { "k\($0) = 1" }.joined(separator: ",\n")
    #expect(findings("return { \(hundred) }").count == 100)
  }

  @Test(arguments: [
    ("i = {\n type = 'string', stored = true, get = print }", "P.i is a string here, and an Integer 64 in the model"),
    ("x = {\n shadow = 'q', transformer = 'T' }", "P.x, its shadow: P.q is a relationship: a shadow is an attribute"),
    (
      "x = {\n shadow = 's', transformer = 'NSSecureUnarchiveFromData' }",
      "P.x: transformer NSSecureUnarchiveFromData makes bytes, and its shadow P.s is a string: make it binary"
    ),
    (
      "x = {\n shadow = 's', transformer = 'CompressedDataTransformer' }",
      "P.x: transformer CompressedDataTransformer makes bytes, and its shadow P.s is a string"
    ),
    ("x = { get = print,\n write = 'delayed' }", "entities.P.derived.x.write: a delayed write needs a function set"),
    ("x = { get = print,\n strict = true }", "entities.P.derived.x.strict: strict says that no input may be nil"),
  ])
  func derivedAttributesThatContradictThemselvesOrTheModel(_ derived: String, _ message: String) {
    let file =
      "return { transformers = { T = { transform = print, reverse = print } }, entities = { P = { derived = { \(derived) } } } }"
    let found = findings(file)
    #expect(found.count == 1 && found[0].hasPrefix("extension1.lua:2: \(message)"), "\(found)")
  }

  @Test func textTransformersMayHaveAShadowOfText() {
    let file = """
      return { entities = { P = { derived = { x = { shadow = "s", transformer = "PointTransformer" },
        y = { shadow = "bin", transformer = "NSSecureUnarchiveFromData" } } } } }
      """
    #expect(findings(ThingBench.transformer.isEmpty ? "" : "return { \(ThingBench.transformer) }", file) == [])
  }

  // MARK: Versions

  private static func requiring(_ text: String) -> String { "return { name = 'b', requires = {\n \(text) } }" }

  @Test(
    arguments: [
      ("moonbase = '1'", nil), ("moonbase = '1.0'", nil), ("moonbase = '>=0.9 <2'", nil), ("moonbase = '= 1.0.0'", nil),
      ("moonbase = '2'", "requires.moonbase: version 2 is asked for, and this is version 1.0"),
      ("moonbase = '1.1'", "requires.moonbase: version 1.1 is asked for"),
      ("moonbase = '<1'", "requires.moonbase: version <1 is asked for"),
      ("moonbase = 'one'", "requires.moonbase: \"one\" is no range of versions"),
      ("moonbase = ''", "requires.moonbase: \"\" is no range of versions"),
      ("extensions = { 'a' }", nil), ("extensions = { a = '1.2' }", nil), ("extensions = { a = '>=1.2.3 <1.3' }", nil),
      (
        "extensions = { a = '1.2.4' }",
        "extension a of version 1.2.4 is required, and extension1.lua is of version 1.2.3"
      ),
      ("extensions = { a = '2' }", "extension a of version 2 is required"),
      ("extensions = { a = '<1.2.3' }", "extension a of version <1.2.3 is required"),
      ("extensions = { c = '1' }", "extension c is required and was not given: add its file"),
      ("extensions = { a = 'x' }", "requires.extensions.a: \"x\" is no range of versions"),
      ("model = { P = 'xyz' }", "requires.model.P: the hash of an entity's version is expected"),
      ("model = { Q = '01234567' }", "the model has no entity Q"),
      (
        "model = { P = '01234567' }",
        "the extension is for a version of P with the hash 01234567, and the model's begins with"
      ),
      ("modl = {}", "requires.modl: this key is unknown; did you mean model?"),
    ] as [(String, String?)])
  func whatIsRequiredIsChecked(_ requires: String, _ message: String?) {
    let found = findings(
      "return { name = 'a', version = '1.2.3', \(ThingBench.transformer) }", Self.requiring(requires))
    if let message {
      #expect(found.count == 1 && found[0].hasPrefix("extension2.lua:2: \(message)"), "\(found)")
    } else {
      #expect(found == [])
    }
  }

  @Test func theHashOfTheModelWillDo() throws {
    let model = try LuaModelFile().read(ScriptSource(name: "m.lua", text: ThingBench.model)).resolved()
    let hash = try #require(model.versionHashes["P"]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    for text in [hash, String(hash.prefix(8)), hash.uppercased()] {
      #expect(findings("return { \(ThingBench.transformer) requires = { model = { P = '\(text)' } } }") == [])
    }
  }
}
