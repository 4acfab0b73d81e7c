import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Groups, templates, windows and trees of `moonbase fetch`.
@Suite struct GroupTests {
  /// Six books of three kinds, by two authors.
  private static func books() throws -> Workbench {
    let bench = try Workbench()
    try bench.write(
      """
      return {
        entities = {
          Book = { attributes = { title = "string", kind = "string", pages = "integer32", day = "date" },
            relationships = { author = { to = "Author", inverse = "books" } } },
          Author = { attributes = { name = "string" }, relationships = { books = { to_many = "Book", inverse = "author" } } },
        },
        fetch_requests = { longer = { "Book", "pages > $PAGES AND kind == $KIND" }, all = { "Book" } },
      }
      """, to: "m.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      """
      local c = moonbase.context
      local one, two = c:insert("Author", { name = "Ann" }), c:insert("Author", { name = "王小明" })
      for i, kind in ipairs { "a", "b", "a", "c", "b", "a" } do
        c:insert("Book", { title = "T" .. i, kind = kind, pages = i * 100, author = i < 3 and one or two,
          day = i == 1 and "2020-02-03T00:00:00Z" or "2020-02-03T04:05:06Z" })
        assert(c:save())
      end
      """)
    try #require(made.status == 0, "\(made)")
    return bench
  }

  private func fetch(_ bench: Workbench, _ arguments: [String]) throws -> Workbench.Outcome {
    try bench.moonbase(["fetch"] + arguments + ["--store", "s.sqlite"])
  }

  @Test(arguments: [
    (["--group-by", "kind", "--sort", "kind"], "kind,count\na,3\nb,2\nc,1\n"),
    (
      ["--group-by", "kind", "--columns", "kind,total=@sum.pages", "--sort", "-total"],
      "kind,total\na,1000\nb,700\nc,400\n"
    ),
    (["--group-by", "kind", "--columns", "kind", "--sort", "@sum.pages"], "kind\nc\nb\na\n"),
    (["--group-by", "kind", "--having", "@count > 1", "--sort", "-@count", "--limit", "1"], "kind,count\na,3\n"),
    (
      ["--group-by", "kind", "--having", "-1 < @count", "--sort", "kind", "--offset", "1", "--first"],
      "kind,count\nb,2\n"
    ),
    (
      [
        "--group-by", "author.name", "--where", "pages > 100", "--columns", "author.name,@min.pages", "--sort",
        "@min.pages",
      ],
      "author.name,@min.pages\nAnn,200\n王小明,300\n"
    ),
    (["--group-by", "kind", "--count"], "3\n"),
    (["--columns", "title", "--sort", "-pages", "--first"], "title\nT6\n"),
    (["--columns", "title", "--sort", "pages", "--offset", "4"], "title\nT5\nT6\n"),
    (
      ["--template", "longer", "--param", "PAGES=150", "--param", "KIND=a", "--columns", "title", "--sort", "title"],
      "title\nT3\nT6\n"
    ),
    (["--template", "all", "--count"], "6\n"),
  ]) func groupsWindowsAndTemplates(_ arguments: [String], _ expected: String) throws {
    let bench = try Self.books()
    let form = arguments.contains("--count") ? [] : ["--format", "csv"]
    let outcome = try fetch(bench, ["Book"] + arguments + form)
    #expect(outcome.status == 0 && outcome.output == expected, "\(outcome)")
  }

  @Test func whatMakesNoSenseIsRefused() throws {
    let bench = try Self.books()
    func complaint(_ arguments: String...) throws -> String {
      let outcome = try fetch(bench, arguments)
      #expect(outcome.status != 0 && outcome.output == "", "\(outcome)")
      return outcome.complaints
    }
    #expect(try complaint("Book", "--having", "@count > 1").contains("--having is for the groups of --group-by"))
    #expect(try complaint("Book", "--group-by", "knd").contains("did you mean kind?"))
    #expect(try complaint("Book", "--group-by", "kind", "--columns", "kind,@sum.pags").contains("did you mean pages?"))
    #expect(try complaint("Book", "--group-by", "kind", "--columns", "title").contains("title"))
    #expect(try complaint("Book", "--template", "longr").contains("did you mean longer?"))
    #expect(try complaint("Author", "--template", "longer", "--param", "PAGES=1").contains("is of Book, not of Author"))
    #expect(try complaint("Book", "--template", "longer", "--param", "PGES=1").contains("did you mean PAGES?"))
    #expect(try complaint("Book", "--template", "longer", "--param", "PAGES=1").contains("KIND"))
    #expect(
      try complaint("Book", "--template", "longer", "--param", "1").contains("--param of a template is NAME=VALUE"))
    #expect(try complaint("Book", "--template", "longer", "--where", "pages > 1").contains("leave --where out"))
    #expect(try complaint("Book", "--offset=-1").contains("--offset takes a number"))
    #expect(try complaint("Book", "--first", "--limit", "3").contains("leave --limit out"))
    #expect(try complaint("Book", "--tree", "athor").contains("did you mean author?"))
    #expect(try complaint("Book", "--tree", "title").contains("is an attribute"))
    #expect(try complaint("Book", "--tree", "author", "--format", "csv").contains("leave --format out"))
  }

  @Test func daysAreDaysInTablesAndWideCharactersTakeTwoPlaces() throws {
    let bench = try Self.books()
    let outcome = try fetch(
      bench, ["Book", "--columns", "author.name,day,title", "--where", "pages IN {100, 300}", "--sort", "pages"])
    #expect(
      outcome.output == """
        author.name  day                       title
        -----------  ------------------------  -----
        Ann          2020-02-03                T1
        王小明       2020-02-03T04:05:06.000Z  T3

        """, "\(outcome)")
    let rows = try fetch(bench, ["Book", "--columns", "day", "--where", "pages = 100", "--format", "csv"])
    #expect(rows.output == "day\n2020-02-03T00:00:00.000Z\n")
  }

  @Test func aTreeHasObjectsBelowTheObjectsThatLeadToThem() throws {
    let bench = try Self.books()
    let outcome = try fetch(
      bench, ["Author", "--tree", "books.author", "--where", "name = 'Ann'", "--columns", "name"])
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 5 && lines[0].hasPrefix("Author/") && lines[0].hasSuffix("  name: Ann"), "\(outcome)")
    #expect(lines.filter { $0.hasPrefix("  books: Book/") && $0.contains("kind: ") }.count == 2, "\(outcome)")
    #expect(lines.filter { $0.hasPrefix("    author: Author/") && $0.contains("name: Ann") }.count == 2, "\(outcome)")
  }

  /// Also for code that visits objects.
  @Test func eachTakesATemplate() throws {
    let bench = try Self.books()
    let outcome = try bench.moonbase(
      "each", "Book", "s.sqlite", "--template", "longer", "--param", "PAGES=150", "--param", "KIND=a", "--do",
      "object.pages = 0")
    #expect(outcome.status == 0 && outcome.complaints.contains("2 objects visited: 2 changed"), "\(outcome)")
  }

  @Test func columnsAreInTheModelsOrder() throws {
    let bench = try Self.books()
    let outcome = try fetch(bench, ["Book", "--model", "m.lua", "--format", "csv", "--limit", "1", "--sort", "pages"])
    #expect(outcome.output.hasPrefix("_id,title,kind,pages,day,author\n"), "\(outcome)")
  }
}
