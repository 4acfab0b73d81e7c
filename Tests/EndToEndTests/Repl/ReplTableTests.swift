import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// The tables of a prompt at several widths: objects, lists, requests and tables of Lua.
@Suite struct ReplTableTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Book = { attributes = { title = "string", pages = "integer32", note = "string", isbn = "string", price = "double" },
          relationships = { author = { to = "Author", inverse = "books" } } },
        Author = { attributes = { name = "string" }, relationships = { books = { to_many = "Book", inverse = "author" } } },
      } }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "b.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      local a = c:insert("Author", { name = "夏目漱石" })
      c:insert("Book", { title = "吾輩は猫である", pages = 500, note = "a cat without a name tells of people\\nand of tea", isbn = "978-1",
        price = 7.5, author = a })
      c:insert("Book", { title = "Kokoro", pages = 12345, note = "short", isbn = "978-4003101117", price = 12, author = a })
      assert(c:save())
      """)
    try #require(made.status == 0, "\(made)")
  }

  private func shown(_ input: String, width: Int) throws -> String {
    let folder = bench.folder
    let outcome = try ChildProcess.run(
      Workbench.command, ["repl", "b.sqlite"], in: folder, input: input, environment: ["COLUMNS": "\(width)"])
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  @Test func aRequestFitsInTheTerminal() throws {
    let request = "moonbase.context:fetch('Book'):sort('pages')\n"
    for width in [40, 80, 160] {
      let text = try shown(request, width: width)
      for line in text.split(separator: "\n") where !line.hasPrefix("(not shown") {
        #expect(columns(of: line) <= width, "\(width): \(text)")
      }
      #expect(text.contains("12345") && text.contains("Book/1") && text.hasSuffix("(2 objects)\n"), "\(text)")
    }
    #expect(try shown(request, width: 40).contains("(not shown: "))
    #expect(try !shown(request, width: 160).contains("…") && !shown(request, width: 160).contains("not shown"))
  }

  /// The width of a text in columns; the characters of the test's book titles have two.
  private func columns(of text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { $0 + ($1.value > 0x3000 ? 2 : 1) }
  }

  @Test func tablesAtThreeWidths() throws {
    let request = "moonbase.context:fetch('Book'):sort('pages')\n"
    #expect(
      try shown(request, width: 40) == """
        _id     isbn      note      pages  price
        ------  --------  --------  -----  -----
        Book/1  978-1     a cat w…    500    7.5
        Book/2  978-400…  short     12345   12.0
        (not shown: title, author)
        (2 objects)

        """)
    #expect(
      try shown(request, width: 80) == """
        _id     isbn            note              pages  price  title           author
        ------  --------------  ----------------  -----  -----  --------------  --------
        Book/1  978-1           a cat without a…    500    7.5  吾輩は猫である  Author/1
        Book/2  978-4003101117  short             12345   12.0  Kokoro          Author/1
        (2 objects)

        """)
    #expect(
      try shown(request, width: 160) == """
        _id     isbn            note                                              pages  price  title           author
        ------  --------------  ------------------------------------------------  -----  -----  --------------  --------
        Book/1  978-1           a cat without a name tells of people\\nand of tea    500    7.5  吾輩は猫である  Author/1
        Book/2  978-4003101117  short                                             12345   12.0  Kokoro          Author/1
        (2 objects)

        """)
  }

  @Test func anObjectIsATableOfItsProperties() throws {
    let input = "b = moonbase.context:fetch('Book'):sort('pages'):first()\nb\nb.price = 8\nb\nb.author\n.undo\n"
    #expect(
      try shown(input, width: 40) == """
        Book/1
        ------  --------------------------------
        isbn    978-1
        note    a cat without a name tells of p…
        pages   500
        price   7.5
        title   吾輩は猫である
        author  Author/1
        Book/1  changed, not saved
        ------  --------------------------------
        isbn    978-1
        note    a cat without a name tells of p…
        pages   500
        price   8.0
        title   吾輩は猫である
        author  Author/1
        Author/1
        --------  ---------
        name      夏目漱石
        books     2 objects
        undone: b.price = 8

        """)
  }

  @Test func listsRelationshipsAndNewObjectsAreTables() throws {
    let input = """
      moonbase.context:fetch('Author'):first().books
      moonbase.context:fetch('Author'):all()
      n = moonbase.context:insert('Author', { name = 'new' })
      n
      { n, { author = n } }
      moonbase.context:fetch('Author'):where("name = 'nobody'")
      moonbase.context:fetch('Book'):group_by('author.name')
      moonbase.context:fetch('Book'):sort('pages'):dictionaries { 'title', 'pages' }
      { { a = 1 }, { b = "x" } }
      { { a = 1 }, { b = {} } }
      moonbase.model.entities
      moonbase.classes
      moonbase.context:rollback()

      """
    let text = try shown(input, width: 80)
    for part in [
      "(2 objects)\n", "Author/1  夏目漱石\n(1 object)\n", "Author (new)  new, not saved\n",
      "{ Author (new), { author = Author (new) } }\n",
      "no objects\n", "author.name\n-----------\n夏目漱石\n(1 row)\n",
      "pages  title\n-----  --------------\n  500  吾輩は猫である\n12345  Kokoro\n(2 rows)\n",
      "a  b\n-  -\n1\n   x\n(2 rows)\n",
      "{ { a = 1 }, { b = {} } }\n", "Author, Book\n",
    ] {
      #expect(text.contains(part), "\(part): \(text)")
    }
  }

  @Test func numbersOfLaterRowsAreNotCut() throws {
    let rows = """
      for i = 1, 120 do
        l[i] = { n = i < 101 and i or 123456789, name = i < 101 and 'a' or 'longer text' }
      end
      """
    let text = try shown(".rows 200\nlocal l = {} \(rows)\nl\n", width: 80)
    #expect(text.contains("\n123456789  lon…\n") && text.contains("\n100  a\n"), "\(text)")
  }

  @Test func tablesOfLuaAreBoundedAndReadable() throws {
    let input = """
      { 1, 2, 3, name = "x", ["a b"] = true, [10] = 1.5 }
      t = { list = {} } t.self = t for i = 1, 200 do t.list[i] = i end
      t
      d = {} e = d for i = 1, 20 do e.inner = {} e = e.inner end
      d
      ("x"):rep(5000)
      "\\xff\\0a"
      setmetatable({}, { __tostring = function() return "shown so" end })
      big = {} for i = 1, 300000 do big["k" .. i] = i end
      big
      print
      moonbase.date.unix(0)
      0.1 + 0.2, 1e15, 2^53, 1/0

      """
    let text = try shown(input, width: 60)
    for part in [
      "{ 1, 2, 3, [\"a b\"] = true, name = \"x\", [10] = 1.5 }\n", "    … 150 more\n",
      "  self = { … the table itself }\n",
      "    inner = { inner = { inner = { inner = { … } } } }\n", "… (5000 bytes in all)\n", "\"\\xFF\\x00a\"\n",
      "shown so\n", "  … 299950 more\n}\n",
      "1970-01-01T00:00:00", "0.3\t1e+15\t9.007199254741e+15\tinf\n",
    ] {
      #expect(text.contains(part), "\(part): \(text)")
    }
  }

  /// In narrow terminals help is wrapped, columns without values are dropped, and no name of a model is cut.
  @Test func aNarrowTerminalShowsAllThatCounts() throws {
    let help = try shown(".help\n", width: 60)
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(help)")
    #expect(try shown(".help\n", width: 40).contains("\n    lists the commands\n"))
    let model = try shown(".model\n.model Book\n", width: 40)
    #expect(model.contains("Book\n  attributes: ") && model.contains("  relationships: author\n"), "\(model)")
    #expect(!model.contains("…") && !model.contains("not shown"), "\(model)")
    let rows = try shown(
      "for _, book in ipairs(context:fetch('Book'):all()) do book.note = nil book.isbn = nil end\ncontext:fetch('Book')\n"
        + "context:rollback()\n", width: 50)
    #expect(rows.contains("(without values: isbn, note)") && rows.contains("author"), "\(rows)")
  }
}
