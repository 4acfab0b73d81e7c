import MoonbaseGraph
import MoonbaseLua
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// `moonbase.import` inserts rows into a context in chunks, and writes failed rows to a file.
@Suite struct ImportModuleTests {
  /// A script with rows of people by name and age, which `take` turns into objects; rejected rows are printed.
  private static func script(_ rows: String, take: String = plainTake, options: String = "") -> String {
    """
    local csv, import = require "moonbase.csv", require "moonbase.import"
    local rows = csv.rows("name,age\\n\(rows)")
    local rejects = import.rejects(rows, function(text) print((text:gsub("\\n$", ""))) end)
    local function take(row, line) \(take) end
    local report = import.run(context, rows, take, { rejects = rejects, \(options) })
    print(report.rows, report.rejected, rejects.count)
    local names = {}
    for person in context:fetch("Person"):sort("firstName"):each() do names[#names + 1] = person.firstName end
    print(table.concat(names, " "), context.has_changes)
    """
  }

  private static let plainTake =
    "context:insert('Person', { firstName = row.name, age = tonumber(row.age) or row.age })"
  private static let header = "name,age,_line,_column,_value,_reason,_record"

  /// Rows fail when values are set, when they are saved, or because they are unreadable; all others are imported, for
  /// any chunk size.
  @Test(arguments: StoreKind.allCases, [1, 2, 3, 5, 1000]) func rowsThatFailArePutAside(
    _ kind: StoreKind, _ chunk: Int
  ) throws {
    let lines = try ScriptBench(kind).lines(
      Self.script("a,1\\nb,700\\nc,x\\nd,13\\ne\\nf,2\\ng,800\\nh,3\\n", options: "chunk = \(chunk)"))
    try #require(lines.count == 8 && lines.first == Self.header, "\(lines)")
    let beginnings = ["b,700,3,age,700,", "c,x,4,", "d,13,5,age,13,", ",,6,,,1 field", "g,800,8,age,800,"]
    for (line, beginning) in zip(lines.dropFirst(), beginnings) { #expect(line.hasPrefix(beginning), "\(line)") }
    #expect(lines[1].contains("Person.age") && lines[1].contains("150"), "\(lines[1])")
    #expect(lines[4].hasSuffix(",e"))
    #expect(Array(lines.suffix(2)) == ["8\t5\t5", "a f h\tfalse"])
  }

  /// A failed row leaves no changes, not even to other objects that the function made.
  @Test(arguments: StoreKind.allCases) func aRowThatFailsLeavesNothing(_ kind: StoreKind) throws {
    let take = """
      local department = context:upsert('Department', { 'name' }, { name = row.name })
      local person = context:insert('Person', { firstName = row.name, department = department })
      if row.age == '2' then return nil, 'it is two' end
      if row.age == '3' then error({}) end
      if row.age == '4' then error(nil) end
      person.age = tonumber(row.age)
      """
    let bench = try ScriptBench(kind)
    let lines = try bench.lines(
      Self.script("a,1\\nb,2\\nc,3\\nd,4\\ne,5\\n", take: take) + "print(context:fetch('Department'):count())")
    #expect(lines.contains("b,2,3,,,it is two,"), "\(lines)")
    #expect(Array(lines.suffix(3)) == ["5\t3\t3", "a e\tfalse", "2"], "\(lines)")
  }

  /// Each accepted row is inserted once, however often its chunk is retried, and bisection limits the attempts for a
  /// row.
  @Test func aChunkIsTriedByHalves() throws {
    let take = "calls = calls + 1 context:insert('Person', { firstName = 'p' .. line, age = tonumber(row.age) })"
    let rows = (1...1024).map { "x,\($0 == 700 ? 999 : 1)\\n" }.joined()
    let lines = try ScriptBench().lines(
      "local calls = 0\n" + Self.script(rows, take: take, options: "chunk = 1024")
        + "print(calls < 4 * 1024, context:fetch('Person'):count())")
    #expect(lines.last == "true\t1023")
  }

  @Test func manyBadRowsCostNoMoreThanOnceEach() throws {
    let take = "calls = calls + 1 \(Self.plainTake)"
    let rows = (1...2000).map { "x,\($0 % 2 == 0 ? "no" : "1")\\n" }.joined()
    let lines = try ScriptBench().lines(
      "local calls = 0\n" + Self.script(rows, take: take) + "print(calls < 3 * 2000, context:fetch('Person'):count())")
    #expect(lines.last == "true\t1000")
  }

  /// Without a reject file, the first failing row ends the import; earlier chunks are saved.
  @Test func withoutAFileTheFirstRowThatFailsEndsTheImport() throws {
    let lines = try ScriptBench().lines(
      """
      local import = require "moonbase.import"
      local number = 0
      local function rows()
        number = number + 1
        if number <= 10 then return { age = number == 8 and 999 or 1 } end
      end
      local ok, err = pcall(import.run, context, rows, function(row) context:insert("Person", row) end, { chunk = 4 })
      print(ok, err.key, err.value, context.has_changes, context:fetch("Person"):count())
      local lines = require("moonbase.json").lines('{}\\n{}\\n7\\n{}\\n')
      print(pcall(import.run, context, lines, function() context:insert("Person") end))
      print(context:fetch("Person"):count())
      """)
    #expect(lines == ["false\tage\t999\tfalse\t7", "false\tline 3: a row is expected, got 7", "9"])
  }

  /// Rejected rows of other formats than csv are written as lines of JSON.
  @Test func rowsOfJSONArePutAsideAsJSON() throws {
    let lines = try ScriptBench().lines(
      """
      local json, import = require "moonbase.json", require "moonbase.import"
      local rows = json.lines('{"firstName": "a"}\\n{"firstName": "b", "age": 900, "_line": 7}\\n\\n{"firstName"\\n7\\n')
      local rejects = import.rejects(rows, function(text) print((text:gsub("\\n$", ""))) end)
      local report = import.run(context, rows, function(row) row._line = nil context:insert("Person", row) end,
        { rejects = rejects })
      print(report.rows, report.rejected)
      """)
    try #require(lines.count == 4, "\(lines)")
    #expect(lines[0].contains(#""_column": "age", "_line": 2, "#) || lines[0].contains(#""_column":"age","_line":2"#))
    #expect(lines[1].contains(#"{\"firstName\""#) && lines[1].contains("_record"))
    #expect(lines[2].contains("a row is expected") && lines[3] == "4\t3")
  }

  /// A failure of the store is not attributed to a row: the import ends, and no row is rejected.
  @Test func aStoreThatFailsEndsTheImport() throws {
    let bench = try ScriptBench(
      .sqlite,
      wrap: {
        let store = FailingStore($0)
        store.fail(atCommit: true)
        return store
      })
    let outcome = try bench.run("local context = moonbase.context\n" + Self.script("a,1\\n"))
    #expect(outcome.status == 1 && outcome.message?.contains("does not answer") == true, "\(outcome)")
    #expect(bench.output == "")
  }

  @Test func aHeaderThatIsWrongEndsTheImport() throws {
    let outcome = try ScriptBench().run(
      """
      local csv, import = require "moonbase.csv", require "moonbase.import"
      local rows = csv.rows("a,a\\n1,2\\n")
      print(pcall(import.rejects, rows, "x.csv"))
      for row in rows do print(row) end
      import.run(moonbase.context, csv.rows("a,a\\n1,2\\n"), print)
      """)
    #expect(outcome.status == 1 && outcome.message?.contains("two columns are named \"a\"") == true, "\(outcome)")
  }

  @Test func aLimitEndsTheImportAndNoRow() throws {
    let outcome = try ScriptBench().run(
      "local context = moonbase.context\n" + Self.script("a,1\\n", take: "while true do end"),
      limits: LuaLimits(instructions: 1_000_000))
    #expect(outcome.status == 3, "\(outcome)")
  }

  @Test(arguments: [
    ("import.run(nil, rows, print)", "context expected"),
    ("import.run(context, {}, print)", "function expected"),
    ("import.run(context, rows)", "function expected"),
    ("import.run(context, rows, print, { rejects = {} })", "what 'rejects' of this module gives"),
    ("import.run(context, rows, print, { chunk = 0 })", "at least 1"),
    ("import.run(context, rows, print, { chunks = 1 })", "no option 'chunks'"),
    ("context:insert('Person') import.run(context, rows, print)", "unsaved changes"),
    ("import.rejects(rows)", "path, open file or function expected"),
    ("import.rejects(csv.rows('a', { header = false }), 'x')", "give 'header'"),
    ("import.rejects(rows, print):add({}, 'x', 'y')", "integer expected"),
  ]) func wrongCallsAreTold(_ call: String, _ message: String) throws {
    let outcome = try ScriptBench().run(
      """
      local csv, import = require "moonbase.csv", require "moonbase.import"
      local context = moonbase.context
      local rows = csv.rows("a\\n1\\n")
      \(call)
      """)
    #expect(outcome.status == 1 && outcome.message?.contains(message) == true, "\(outcome)")
    #expect(outcome.message?.contains("script.lua:4") == true, "\(outcome)")
  }
}
