import MoonbaseScripting
import Testing

/// Completion in the prompt, which runs no code.
@Suite struct PromptCompletionTests {
  private let bench: PromptBench

  init() throws {
    bench = try PromptBench()
    for input in [
      "p = moonbase.context:insert('Person', { firstName = 'Ann' })", "c = moonbase.context", "r = c:fetch('Person')",
      "t = { list = { p }, deep = { inner = 1, call = function() end } }",
    ] {
      #expect(try bench.enter(input) == "")
    }
  }

  private func candidates(_ line: String) -> [String] { bench.prompt.completion(of: Array(line.utf8)).candidates }

  @Test(arguments: [
    ("moonb", "moonbase"), ("moonbase.con", "context"), ("moonbase.mod", "model"), ("moonbase.classes.Co", "Color"),
    ("moonbase.context:fetch_", "fetch_template("), ("c:fetch('Pers", "Person"), ("c:fetch \"Dep", "Department"),
    ("c:insert(\"Empl", "Employee"), ("c:fetch_template('old", "olderThan"), ("c.undo_l", "undo_levels"),
    ("p.firs", "firstName"), ("p.full", "fullName"), ("p.depart", "department"), ("p.department.na", "name"),
    ("p.department.employees:coun", "count("), ("p:is_f", "is_fault("), ("p.firstName:rever", "reverse("),
    ("p.born.uni", "unix"), ("r:wher", "where("), ("r:sort('age'):limit(3):prefe", "prefetch("),
    ("r:first().sala", "salary"), ("r:all()[1].titl", ""), ("r:all()[1].heig", "height"),
    ("c:fetch('Person'):where('age > 3'):firs", "first("), ("c:fetch('Person'):where('depart", "department"),
    ("c:fetch('Person'):where('department.na", "name"), ("c:fetch('Person'):where('age > 3 AND firs", "firstName"),
    ("r:sort('-heig", "height"), ("c:find('Person', { firstName = 'Ann' }).emai", "email"), ("t.dee", "deep"),
    ("t.deep.inn", "inner"), ("t.deep.cal", "call("), ("t.list[1].pag", "page"), ("string.revers", "reverse("),
    ("require('moonbase.js", "moonbase.json"), ("whi", "while"), ("print(p.heig", "height"), ("x = p.heig", "height"),
    ("p.friends:wher", "where("), ("p.friends[1].heig", "height"), ("p:context():fetc", "fetch"), ("nosuch.x", ""),
    ("p.favoriteColor.", ""), ("1.", ""), ("'text':up", "upper("), ("(p).", ""), ("c:fetch('Person", ""),
    ("x .. p.heig", "height"),
  ])
  func namesAreCompleted(_ line: String, _ wanted: String) {
    let found = candidates(line)
    #expect(
      wanted.isEmpty ? found.isEmpty : found.first == wanted || found.first?.hasPrefix(wanted) == true,
      "\(line): \(found)")
  }

  @Test func namesThatCannotBeWrittenBehindADotAreNoCandidates() throws {
    #expect(try bench.enter("odd = { ['end'] = 1, ['größe'] = 2, ['a b'] = 3, ['1st'] = 4, fine = 5 }") == "")
    #expect(candidates("odd.") == ["fine"])
  }

  @Test func allNamesBehindASignAreCandidates() {
    #expect(candidates("p.department.") == ["employees", "name"])
    #expect(candidates("p.").contains("fullName") && candidates("p.").contains("friends"))
    #expect(candidates("p:").contains("observe("))
    #expect(candidates("").isEmpty)
  }

  @Test(arguments: ["dofile('src/", "io.open(\"a", "moonbase.open { store = 'x", "io.lines '"])
  func namesOfFilesAreAskedFor(_ line: String) {
    #expect(bench.prompt.completion(of: Array(line.utf8)).wantsFile)
  }

  @Test func nothingOfTheScriptRuns() throws {
    let counting = """
      reads = 0
      return { name = "counting", entities = { Person = { derived = {
        loud = { type = "string", inputs = { "firstName" }, get = function() error("it ran") end },
        list = { type = "string", get = function(object) error("it ran") end },
      } } } }
      """
    let bench = try PromptBench(extensions: [ScriptBench.colors, counting])
    #expect(try bench.enter("p = moonbase.context:insert('Person', { firstName = 'Ann' })") == "")
    #expect(try bench.prompt.save().count == 1)
    #expect(try bench.enter("moonbase.context:refresh(p, false)") == "")
    #expect(try bench.enter("trap = setmetatable({}, { __index = function() error('it ran') end })") == "")
    for line in ["p.", "p.loud:", "p.list.", "p.friends[1].", "trap.", "trap.x.", "p.department.name:", "p:"] {
      _ = bench.prompt.completion(of: Array(line.utf8))
    }
    #expect(try bench.enter("p:is_fault()") == "true")
  }

  @Test func anyBytesAreCompletedWithSomething() {
    var generator = SystemRandomNumberGenerator()
    let pieces = [
      "p", ".", ":", "(", ")", "[", "]", "'", "\"", "[[", "{", "}", " ", "c", "fetch", "\\", "\u{E9}", "1", "--", "=",
    ]
    for _ in 0..<2000 {
      let line = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
        pieces.randomElement(using: &generator) ?? ""
      }
      _ = bench.prompt.completion(of: Array(line.joined().utf8))
    }
    _ = bench.prompt.completion(of: [0xFF, 0x2E, 0xC3])
  }
}
