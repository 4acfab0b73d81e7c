import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase model swift` writes classes. `SwiftModelTests` checks that they compile.
@Suite struct ModelSwiftTests {
  private let bench: Workbench

  private static let model = """
    return { entities = {
      Animal = { abstract = true, class = "Animal", attributes = {
        name = { "string", optional = false }, legs = { "integer16", scalar = true } } },
      Person = { parent = "Animal", class = "App.Person", attributes = {
          born = "date", page = "uri", place = { "composite", elements = { city = "string", zip = "integer32" } },
          ["end"] = { "string", user_info = { documentation = "Where it ends." } },
          total = { "integer64", derivation = "friends.@count" } },
        relationships = {
          friends = { to_many = "Person", inverse = "friends" }, pet = { to = "Animal" },
          books = { to_many = "Book", ordered = true, inverse = "author" } },
        fetched_properties = { peers = { "Person", "legs = 2" } } },
      Book = { relationships = { author = { to = "Person", inverse = "books", optional = false } } },
    }, fetch_requests = { named = { "Person", "name == $NAME" } } }
    """

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "shop.lua")
  }

  @Test func aClassHasATypedPropertyForEachProperty() throws {
    let run = try bench.moonbase("model", "swift", "shop.lua")
    #expect(run.status == 0)
    #expect(
      run.complaints
        == "moonbase: the model names no class for Book: open it with ShopClasses.named(model), or name the classes in the model\n"
    )
    for part in [
      "class Animal: ManagedObject {", "class Person: Animal {", "class Book: ManagedObject {",
      "static let name = Attribute<Animal, String>(\"name\")",
      "static var name: Attribute<Self, String> { .init(Animal.Keys.name) }", "var legs: Int16 {", "var born: Date? {",
      "var page: URL? {",
      "/// A map of city, zip.\n  var place: Value {", "/// Where it ends.\n  var end: String? {",
      "var total: Int64? { self[Person.Keys.total] }", "static let friends = ToMany<Person, Person>(\"friends\")",
      "var pet: Animal? {", "var books: [Book] {", "func addToFriends(_ object: Person) throws",
      "func insertIntoBooks(_ object: Book, at index: Int) throws",
      "func addToBooks(_ objects: some Sequence<Book>) throws",
      "func removeFromBooks(at index: Int) throws", "func replaceBooks(at index: Int, with object: Book) throws",
      "var peers: [Person] {\n    get throws {",
      "// override func willSave() throws {}", "\"App.Person\": Person.self,",
      "  /// `name == $NAME`\n  static func named_(",
      "PropertyKeyPath(\\Person.name, Person.name)", "import Foundation\nimport Moonbase\n",
    ] { #expect(run.output.contains(part), "\(part)") }
    let open = try bench.moonbase("model", "swift", "shop.lua", "--public", "--quiet")
    #expect(open.complaints == "" && open.output.contains("open class Person: Animal {"))
    #expect(open.output.contains("public import Moonbase\n") && open.output.contains("  public var pet: Animal? {"))
  }

  @Test func filesOfHandStayAndTheOthersAreWrittenAnew() throws {
    let first = try bench.moonbase("model", "swift", "shop.lua", "--output", "Classes", "--quiet")
    #expect(first.status == 0 && first.output == "" && first.complaints == "")
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.file("Classes").path).sorted()
    #expect(
      names == [
        "Animal+Properties.swift", "Animal.swift", "Book+Properties.swift", "Book.swift", "Person+Properties.swift",
        "Person.swift", "ShopClasses.swift",
      ])
    try bench.write("class Person: Animal {} // mine", to: "Classes/Person.swift")
    try bench.write(Self.model.replacingOccurrences(of: "born = \"date\"", with: "age = \"integer16\""), to: "shop.lua")
    #expect(try bench.moonbase("model", "swift", "shop.lua", "--output", "Classes", "--quiet").status == 0)
    #expect(try bench.bytes(of: "Classes/Person.swift") == Data("class Person: Animal {} // mine".utf8))
    #expect(try String(decoding: bench.bytes(of: "Classes/Person+Properties.swift"), as: UTF8.self).contains("var age"))
    try bench.write("mine", to: "Classes/Book+Properties.swift")
    let refused = try bench.moonbase("model", "swift", "shop.lua", "--output", "Classes", "--quiet")
    #expect(refused.status == 1 && refused.complaints.contains("Classes/Book+Properties.swift is there and was not"))
    #expect(try bench.bytes(of: "Classes/Book+Properties.swift") == Data("mine".utf8))
  }

  @Test func whatCannotBeWrittenIsSaid() throws {
    try bench.write("return { entities = { A = { class = 'a-b' }, B = { class = '1x' } } }", to: "odd.lua")
    let odd = try bench.moonbase("model", "swift", "odd.lua")
    #expect(odd.status == 1 && odd.output == "")
    #expect(odd.complaints.contains("\"a-b\" is no name of a class in Swift") && odd.complaints.contains("\"1x\""))
    try bench.write("", to: "file")
    let folder = try bench.moonbase("model", "swift", "shop.lua", "--output", "file/below")
    #expect(folder.status == 1 && folder.complaints.contains("file/below cannot be made a folder"))
    #expect(try bench.moonbase("model", "swift", "none.lua").status == 1)
    #expect(try bench.moonbase("model", "swift").complaints.contains("there is no model"))
    try bench.write("return { model = \"shop.lua\" }", to: "moonbase.project.lua")
    #expect(try bench.moonbase("model", "swift", "--quiet").output.contains("class Person: Animal {"))
  }

  /// Names that differ in the case of their first letter, and names like those that resolve such clashes.
  @Test func noTwoMethodsAreEqual() throws {
    try bench.write(
      """
      return { entities = {
        A = { relationships = { books = { to_many = "B", inverse = "a" }, Books = { to_many = "B", inverse = "b" },
          _books = { to_many = "B", inverse = "c" } } },
        D = { parent = "A", relationships = { _Books = { to_many = "B", inverse = "d" } } },
        B = { relationships = { a = { to = "A", inverse = "books" }, b = { to = "A", inverse = "Books" },
          c = { to = "A", inverse = "_books" }, d = { to = "D", inverse = "_Books" } } },
      } }
      """, to: "names.lua")
    let text = try bench.moonbase("model", "swift", "names.lua", "--quiet").output
    let heads = text.split(separator: "\n").filter { $0.contains("func addTo") }.map { $0.prefix { $0 != "{" } }
    #expect(heads.count == 8 && Set(heads).count == 8, "\(heads)")
  }
}
