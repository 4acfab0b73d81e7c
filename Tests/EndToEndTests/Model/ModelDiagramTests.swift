import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase model diagram` draws a model.
@Suite struct ModelDiagramTests {
  private let bench: Workbench

  private static let model = """
    return { entities = {
      Animal = { abstract = true, class = "Zoo.Being<T> & \\"Co\\"", attributes = { name = { "string", optional = false } } },
      Person = { parent = "Animal", constraints = { { "badge" } }, attributes = {
          badge = "uuid", total = { "integer64", derivation = "friends.@count" }, note = { "string", transient = true },
          place = { "composite", elements = { city = "string" } } },
        relationships = {
          friends = { to_many = "Person", inverse = "friends" }, pet = { to = "Animal" },
          books = { to_many = "Book", ordered = true, inverse = "author", min = 1, optional = false } },
        fetched_properties = { peers = { "Person", "name != 'x'" } } },
      Book = { relationships = { author = { to = "Person", inverse = "books", optional = false } } },
    } }
    """

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "zoo.lua")
  }

  @Test func aPictureShowsWhatThereIs() throws {
    let run = try bench.moonbase("model", "diagram", "zoo.lua")
    #expect(run.status == 0 && run.complaints == "")
    let picture = try XMLCheck(Data(run.output.utf8))
    #expect(picture.root == "svg")
    for part in [
      "<title id=\"moonbase-diagram-title\">zoo</title>", "3 entities: Animal (name); ", ">UUID?</text>",
      "class=\"unique\">badge</text>", "class=\"italic\">note</text>", ">/ total</text>", ">city</text>",
      ">Book ≥ 1 ordered</text>", ">fetch Person</text>", ">abstract</text>", ">inherits</text>", ">one or more</text>",
      "<title>Person inherits from Animal</title>", "<title>Person.friends</title>",
      "<title>Person.pet → Animal</title>",
      "prefers-color-scheme: dark",
    ] {
      let isThere = run.output.contains(part)
      #expect(isThere || part == ">abstract</text>", "\(part)")
    }
    #expect(run.output.contains("Book.author ↔ Person.books") || run.output.contains("Person.books ↔ Book.author"))
  }

  @Test func markupInNamesStaysText() throws {
    let run = try bench.moonbase(
      "model", "diagram", "zoo.lua", "--title", "</title><script>alert(1)</script>\u{1b}[31m\u{202e}&")
    _ = try XMLCheck(Data(run.output.utf8))
    #expect(!run.output.contains("<script") && !run.output.contains("\u{1b}") && !run.output.contains("\u{202e}"))
    #expect(run.output.contains("&lt;/title&gt;&lt;script&gt;alert(1)"))
    #expect(run.output.contains("Zoo.Being&lt;T&gt; &amp; &quot;Co&quot;, abstract"))
  }

  @Test func mermaidHasClassesAndNumbers() throws {
    let run = try bench.moonbase("model", "diagram", "zoo.lua", "--format", "mermaid")
    #expect(run.status == 0 && run.output.hasPrefix("classDiagram\n"))
    for line in [
      "  class Animal {", "    <<abstract>>", "    name : String", "    badge : UUID?", "    note : String? transient",
      "    · city : String?", "    peers : Person fetched", "  Animal <|-- Person",
      "  Person \"*\" -- \"*\" Person : friends",
      "  Person --> \"0..1\" Animal : pet", "  class Book",
    ] { #expect(run.output.contains("\(line)\n"), "\(line)") }
    #expect(
      run.output.contains("  Book \"1..*\" -- \"1\" Person : author / books\n")
        || run.output.contains("  Person \"1\" -- \"1..*\" Book : books / author\n"))
  }

  @Test func mermaidHasTheTitleThatIsGiven() throws {
    let run = try bench.moonbase("model", "diagram", "zoo.lua", "--format", "mermaid", "--title", "a \"b\" \\\n---\nc")
    #expect(run.output.hasPrefix("---\ntitle: \"a \\\"b\\\" \\\\ --- c\"\n---\nclassDiagram\n"), "\(run.output)")
  }

  @Test(arguments: [
    (["zoo.png"], "zoo.png cannot be written: a diagram is .svg (SVG) or .mmd (Mermaid)"),
    (["zoo.png", "--format", "svg"], "--format says svg"), (["zoo.mmd", "--format", "svg"], "--format says svg"),
    (["zoo.SVG", "--format", "mermaid"], "--format says mermaid"), (["zoo.txt"], "or give --format"),
  ]) func aSuffixOfAnotherFormIsRefused(_ arguments: [String], _ message: String) throws {
    let run = try bench.moonbase(["model", "diagram", "zoo.lua", "--output"] + arguments)
    #expect(run.status == 2 && run.complaints.contains(message), "\(run.complaints)")
    #expect(try bench.names() == ["zoo.lua"])
    let text = try bench.moonbase("model", "diagram", "zoo.lua", "--output", "zoo.txt", "--format", "mermaid")
    #expect(text.status == 0)
  }

  @Test func aFileIsWrittenAndNotReplaced() throws {
    #expect(try bench.moonbase("model", "diagram", "zoo.lua", "--output", "zoo.svg").output == "")
    #expect(try bench.moonbase("model", "diagram", "zoo.lua", "--output", "zoo.mmd").status == 0)
    #expect(try String(decoding: bench.bytes(of: "zoo.svg"), as: UTF8.self).hasPrefix("<svg "))
    #expect(try String(decoding: bench.bytes(of: "zoo.mmd"), as: UTF8.self).hasPrefix("classDiagram"))
    let again = try bench.moonbase("model", "diagram", "zoo.lua", "--output", "zoo.svg")
    #expect(again.status == 1 && again.complaints.contains("zoo.svg is there already"))
    #expect(try bench.moonbase("model", "diagram", "zoo.lua", "--output", "zoo.svg", "--force").status == 0)
    let nowhere = try bench.moonbase("model", "diagram", "zoo.lua", "--output", "none/zoo.svg")
    #expect(nowhere.status == 1 && nowhere.complaints.contains("none/zoo.svg cannot be written"))
  }

  @Test func aProjectsModelNeedsNoName() throws {
    try bench.write("return { model = \"zoo.lua\" }", to: "moonbase.project.lua")
    #expect(try bench.moonbase("model", "diagram").output.contains("Person inherits from Animal"))
    let none = try bench.moonbase("model", "diagram", "--no-project")
    #expect(none.status == 2 && none.complaints.contains("there is no model"))
    #expect(try bench.moonbase("model", "diagram", "none.lua").status == 1)
    #expect(try bench.moonbase("model", "check").output.hasPrefix("zoo.lua: "))
    #expect(try bench.moonbase("model", "show").output.contains("Animal"))
    for command in ["check", "show"] {
      let none = try bench.moonbase("model", command, "--no-project")
      #expect(none.status == 2 && none.complaints.contains("there is no model"))
    }
  }

  @Test func emptyAndLargeModelsAreDrawn() throws {
    try bench.write("return { entities = {} }", to: "empty.lua")
    #expect(try bench.moonbase("model", "diagram", "empty.lua").output.contains("0 entities"))
    try bench.write(
      """
      local attributes = {}
      for i = 1, 3000 do attributes["a" .. i .. ("x"):rep(i % 90)] = "string" end
      return { entities = { Wide = { attributes = attributes } } }
      """, to: "large.lua")
    let run = try bench.moonbase("model", "diagram", "large.lua")
    #expect(run.status == 0 && run.output.contains("…</text>"))
    _ = try XMLCheck(Data(run.output.utf8))
  }
}
