import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase repl` without a terminal: input comes from a pipe or a file.
@Suite struct ReplPipeTests {
  let bench: Workbench

  init() throws { bench = try Workbench.withPeople() }

  private func repl(_ input: String, _ options: String...) throws -> ChildProcess.Outcome {
    try bench.moonbase(["repl", "s.sqlite"] + options, input: input)
  }

  @Test func valuesArePrintedAndStatementsAreNot() throws {
    let outcome = try repl(
      """
      1 + 1, "a\\n"
      local x = { 1, 2, name = "x" }
      x
      nil
      for i = 1, 2 do
        print(i)
      end
      _
      """)
    #expect(outcome.output == "2\t\"a\\n\"\n{ 1, 2, name = \"x\" }\nnil\n1\n2\n{ 1, 2, name = \"x\" }\n", "\(outcome)")
    #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
  }

  @Test func anErrorNamesItsLineAndTheOthersRun() throws {
    let outcome = try repl("a = 1\n\nfunction f(x)\n  return x.y.z\nend\nf({})\na + 1\n")
    #expect(outcome.status == 1 && outcome.output == "2\n", "\(outcome)")
    #expect(
      outcome.complaints.hasPrefix(
        """
        moonbase repl: stdin:4: attempt to index a nil value (field 'y')
          3 | function f(x)
        > 4 |   return x.y.z
            |            ^
          5 | end
        """), "\(outcome)")
    let syntax = try repl("a = 1\n  b = = 2\n")
    #expect(
      syntax.complaints == "moonbase repl: stdin:2: unexpected symbol near '='\n> 2 |   b = = 2\n    |       ^\n",
      "\(syntax)")
    let name = try repl("p = moonbase.context:fetch('Person'):first()\np.nam\n")
    #expect(
      name.complaints.contains("did you mean name?") && name.complaints.contains("> 2 | p.nam\n    |   ^"), "\(name)")
  }

  @Test func theMessageShowsTheLineAsItWasWritten() throws {
    let outcome = try repl("local x = 1; error('no')\nlocal y = nothing.z\n")
    #expect(outcome.complaints.contains("> 1 | local x = 1; error('no')\n"), "\(outcome)")
    #expect(outcome.complaints.contains("> 2 | local y = nothing.z\n"), "\(outcome)")
  }

  /// Lines of a block whose first line is wrong are not executed separately.
  @Test(arguments: [
    ("for i = 1, 3 d\nprint('no')\nif true then\nprint('no')\nend\nend\nprint('yes')\n", "lines 2 to 6 belong"),
    ("funtcion f()\n  print('no')\nend\nprint('yes')\n", "lines 2 to 3 belong"),
    ("while true od\n\nprint('no')\nend\n.rows\nprint('yes')\n", "lines 2 to 4 belong"),
    ("x = = { 1,\n2 }\nprint('yes')\n", "line 2 belongs"),
  ]) func theRestOfAWrongBlockDoesNotRun(_ input: String, _ message: String) throws {
    let outcome = try repl(input)
    #expect(outcome.status == 1 && outcome.output.hasSuffix("yes\n") && !outcome.output.contains("no\n"), "\(outcome)")
    #expect(outcome.complaints.contains("moonbase repl: \(message) to the input that failed, and did not run\n"))
    #expect(outcome.complaints.components(separatedBy: "stdin:").count == 2, "\(outcome)")
  }

  @Test func aMarkOfUTF8IsNoPartOfTheFirstLine() throws {
    #expect(try repl("\u{FEFF}1 + 1\n").output == "2\n")
    #expect(try repl("\u{FEFF}.rows\n").status == 0)
  }

  @Test func theStatusOfAScriptStaysBehindAFailure() throws {
    #expect(try repl("error('no')\nos.exit(0)\n").status == 0)
    #expect(try repl("error('no')\nos.exit(true)\n").status == 0)
    #expect(try repl("error('no')\n").status == 1)
  }

  @Test func namesInTheTableOfAModelAreWhole() throws {
    let name = String(repeating: "veryLong", count: 9)
    try bench.write(
      "return { entities = { \(name) = { attributes = { \(name)Too = { 'string', max_length = 9 } } } } }",
      to: "long.lua")
    let outcome = try bench.moonbase(["repl", "--model", "long.lua"], input: ".model\n.model \(name)\n")
    #expect(outcome.output.hasPrefix("\(name)\n") && outcome.output.contains("\n\(name)Too\n"), "\(outcome)")
  }

  #if os(Linux)
    @Test func anInterruptionTellsOfChangesThatAreLost() throws {
      let child = try bench.beginInterruptible(["repl", "s.sqlite"])
      child.say("moonbase.context:fetch('Person'):first().name = 'Bea'")
      child.say("print('there') io.stdout:flush()")
      try child.wait(for: "there")
      child.interrupt()
      let outcome = child.outcome()
      #expect(outcome.status == 130, "\(outcome)")
      #expect(outcome.complaints.contains("1 changed object is not saved"), "\(outcome)")
    }
  #endif

  @Test func anInputThatIsCutOffIsTold() throws {
    let outcome = try repl("x = 1\nf(\n  2,\n")
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.complaints == "moonbase repl: stdin:2: the input that begins here is not complete\n")
  }

  @Test func changesThatAreNotSavedAreTold() throws {
    let change = "moonbase.context:fetch('Person'):first().name = 'Bea'\n"
    for end in ["", ".quit\n", "os.exit(0)\n"] {
      let outcome = try repl(change + end)
      #expect(outcome.status == 1, "\(outcome)")
      #expect(
        outcome.complaints
          == "moonbase repl: 1 changed object is not saved: call context:save() or .save to keep changes\n")
    }
    #expect(try repl(change + "os.exit(9)\n").status == 9)
    let saved = try repl(change + ".save\n")
    #expect(saved.status == 0 && saved.output == "saved 1 object\n", "\(saved)")
    #expect(try bench.moonbase("fetch", "Person", "s.sqlite", "--where", "name = 'Bea'", "--count").output == "1\n")
  }

  @Test func undoTakesBackAnInput() throws {
    let outcome = try repl(
      """
      p = moonbase.context:fetch('Person'):sort('name'):first()
      p.name = "A" p.age = 1
      .undo
      p.age
      .redo
      p.age
      .undo
      .undo
      .redo
      p.age = 2 error("no")
      .undo
      """)
    #expect(
      outcome.output == """
        undone: p.name = "A" p.age = 1
        30
        done again: p.name = "A" p.age = 1
        1
        undone: p.name = "A" p.age = 1
        there is nothing to undo
        done again: p.name = "A" p.age = 1
        undone: p.age = 2 error("no")

        """, "\(outcome)")
    #expect(outcome.complaints.contains("what the input changed before is kept: .undo takes it back"), "\(outcome)")
  }

  @Test func commandsShowModelRowsAndPlans() throws {
    let outcome = try repl(
      """
      .model
      .model Boss
      .sql SELECT name FROM Department
      .explain moonbase.context:fetch("Person"):where("age > 3")
      .rows 1
      context:fetch("Person")
      """)
    for text in [
      "Boss\n  parent: Person\n  attributes: active, age, ",
      "department  one Department  inverse people",
      "Sales\n(1 row)\n",
      "the store: SELECT", "(1 of 3 objects)\n",
    ] {
      #expect(outcome.output.contains(text), "\(text): \(outcome)")
    }
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test func aRequestThatCannotBeShownNamesItsInput() throws {
    let outcome = try repl("1\ncontext:fetch('Person'):where('agee > 3')\n")
    #expect(
      outcome.complaints == """
        moonbase repl: stdin:2: Person has no property agee; did you mean age?
        > 2 | context:fetch('Person'):where('agee > 3')
            |                                ^

        """, "\(outcome)")
  }

  @Test func mistakesOfCommandsAreTold() throws {
    let wrong = [
      (".modle", "did you mean model?"), (".model Persn", "did you mean Person?"), (".rows x", ".rows takes a number"),
      (".explain moonbase.context:fetch('Person'):all()", "leave :all()"),
      (".explain", ".explain takes a fetch request"),
      (".explain f(", "goes on"), (".sql", ".sql takes one SQL statement"),
      (".sql DELETE FROM Person", "cannot modify Person"),
      (".run nosuch.lua", "there is no such file"), (".run", ".run takes a file"),
      (".help nosuch", "there is no command"), (".save foo.sqlite", ".save takes no argument, not 'foo.sqlite'"),
      (".undo 3", ".undo takes no argument"), (".quit now", ".quit takes no argument"), (".rows 0", "not '0'"),
    ]
    let outcome = try repl(wrong.map { "\($0.0)\n7\n" }.joined())
    #expect(outcome.output == wrong.map { _ in "7\n" }.joined() && outcome.status == 1, "\(outcome)")
    for (index, (_, text)) in wrong.enumerated() {
      #expect(outcome.complaints.contains(text), "\(text): \(outcome)")
      #expect(outcome.complaints.contains("moonbase repl: stdin:\(2 * index + 1): "), "\(text): \(outcome)")
    }
    #expect(outcome.complaints.components(separatedBy: "moonbase repl: ").count == wrong.count + 1, "\(outcome)")
    let none = try bench.moonbase("repl", input: ".model\n.sql SELECT 1\n.undo\n1\n")
    #expect(none.status == 1 && none.output == "1\n", "\(none)")
    #expect(none.complaints.components(separatedBy: "there is no store").count == 4, "\(none)")
  }

  @Test func sqlAsksTheStoreThatItNames() throws {
    try bench.write(
      """
      return { entities = { A = { attributes = { n = "integer64" } }, B = { attributes = { n = "integer64" } } },
        configurations = { Local = { "A" }, Far = { "B" } } }
      """, to: "two.lua")
    let outcome = try bench.moonbase(
      ["repl", "--model", "two.lua", "--store", "Local=l.sqlite", "--store", "Far=f.sqlite"],
      input: """
        context:insert("A", { n = 1 }) context:insert("B", { n = 2 })
        .sql Local: SELECT count(*) AS c FROM A
        .save
        .sql Far: SELECT n FROM B
        .sql SELECT n FROM B
        """)
    #expect(outcome.output == "c\n-\n0\n(1 row)\nsaved 2 objects\nn\n-\n2\n(1 row)\n", "\(outcome)")
    #expect(
      outcome.complaints == """
        moonbase: l.sqlite is a new store
        moonbase: f.sqlite is a new store
        moonbase repl: .sql shows what is saved, and there are changes that are not
        moonbase repl: stdin:5: there are several stores: name one, as in .sql NAME: SELECT ...; the names are Local, Far

        """, "\(outcome)")
  }

  @Test func aFileSeesTheVariablesOfThePrompt() throws {
    try bench.write("y = x + 1\nreturn y", to: "f.lua")
    let outcome = try repl("local x = 4\n.run f.lua\ny * 2\n")
    #expect(outcome.output == "5\n10\n", "\(outcome)")
  }

  @Test func scriptsReadTheLinesThatFollow() throws {
    #expect(try repl("s = io.read()\nthe line\ns\n").output == "\"the line\"\n")
    let pipe = try bench.program(
      "sh", "-c", "printf 's = io.read()\\nthe line\\ns' | '\(Workbench.command.path)' repl")
    #expect(pipe.output == "\"the line\"\n", "\(pipe)")
  }

  @Test func codeOfTheCommandLineRunsFirst() throws {
    #expect(try repl("x + y\n", "-e", "x = 3", "-e", "local y = 4").output == "7\n")
    let strange = try bench.moonbase("repl", "--limit-instructions", "100000", input: "while true do end\n1\n")
    #expect(strange.output == "1\n" && strange.status == 1 && strange.complaints.contains("instructions"), "\(strange)")
  }

  @Test func hostileBytesAreRefusedAndLeaveTheRest() throws {
    let garbage = [UInt8](0...255).filter { $0 != 10 }
    try (Data(garbage) + Data("\n1 + 1\n".utf8) + Data(repeating: 0x61, count: 1 << 20) + Data(" = 1\n2 + 2\r\n".utf8))
      .write(to: bench.file("in"))
    let outcome = try bench.program("sh", "-c", "'\(Workbench.command.path)' repl < in")
    #expect(outcome.output == "2\n4\n" && outcome.status == 1, "\(outcome.output) \(outcome.complaints.prefix(300))")
    #expect(outcome.complaints.contains("not UTF-8") && outcome.complaints.contains("more than 1048576"))
  }

  /// Parsing each line of a long input with all previous lines would be quadratic.
  @Test func aLongInputIsReadInOneGo() throws {
    let lines = (0..<5000).map { "  { number = \($0), text = 'text' }," }
    let input = "t = {\n" + lines.joined(separator: "\n") + "\n}\n#t\n"
    let outcome = try bench.moonbase("repl", "--limit-source", "4M", input: input)
    #expect(outcome.output == "5000\n" && outcome.status == 0, "\(outcome.complaints.prefix(300))")
  }

  @Test func hooksThatFailAndAStoreThatIsGoneAreTold() throws {
    try bench.write(
      """
      return { name = "hooks", entities = { Person = { will_save = function(object) error("not today") end,
        derived = { loud = { type = "string", inputs = { "name" }, get = function(name) error("too loud") end } } } } }
      """, to: "hooks.lua")
    let outcome = try repl(
      """
      p = moonbase.context:fetch("Person"):first()
      p.age = 3
      moonbase.context:save()
      .save
      p
      os.remove("s.sqlite")
      moonbase.context:fetch("Department"):count()
      moonbase.context:rollback()
      """, "--extension", "hooks.lua")
    #expect(outcome.complaints.contains("not today") && outcome.output.contains("not today"), "\(outcome)")
    #expect(outcome.output.contains("loud        (error: "), "\(outcome)")
    #expect(outcome.status == 1, "\(outcome)")
  }

  @Test func wordsOfOtherPromptsGetAHint() throws {
    let outcome = try repl("quit\nexit()\nhelp\nexit = 4\nexit\n")
    #expect(
      outcome.output
        == ".quit leaves, as Ctrl-D does\n.quit leaves, as Ctrl-D does\n.help lists the commands\n4\n", "\(outcome)")
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test func warningsAndErrorsBehindASaveAreTold() throws {
    try bench.write(
      """
      return { name = "hooks", entities = { Person = {
        validate = { age = function(age) return age < 50, { "is high", severity = "warning" } end },
        did_save = function(object) error("too late") end } } }
      """, to: "hooks.lua")
    let outcome = try repl(
      "moonbase.context:fetch('Boss'):first().age = 60\n.save\n1\n", "--extension", "hooks.lua")
    #expect(outcome.output == "saved 1 object\n1\n", "\(outcome)")
    #expect(outcome.complaints.contains("warning: ") && outcome.complaints.contains("is high"), "\(outcome)")
    #expect(outcome.complaints.contains("the data is saved, but a did_save hook failed"), "\(outcome)")
    #expect(try bench.moonbase("fetch", "Boss", "s.sqlite", "--columns", "age").output.contains("60"))
  }

  @Test func aLimitEndsATableThatIsPrinted() throws {
    try bench.write(
      """
      return { name = "slow", entities = { Person = { derived = {
        slow = { type = "string", inputs = { "name" }, get = function() while true do end end } } } } }
      """, to: "slow.lua")
    let outcome = try repl(
      "moonbase.context:fetch('Person')\n1\n", "--extension", "slow.lua", "--limit-instructions", "300000")
    #expect(outcome.output == "1\n" && outcome.status == 1, "\(outcome)")
    #expect(outcome.complaints.contains("instructions"), "\(outcome)")
  }

  @Test func changesOfChildrenAreToldToo() throws {
    let outcome = try repl(
      "child = moonbase.context:child()\nchild:insert('Person', { name = 'x' })\n.save\n")
    #expect(outcome.status == 1 && outcome.complaints.contains("1 changed object is not saved"), "\(outcome)")
    #expect(outcome.output.contains("there is nothing to save here: a child context has changes"), "\(outcome)")
    let undo = try repl("child = moonbase.context:child()\nchild:insert('Person', { name = 'x' })\n.undo\n")
    #expect(undo.output.contains("there is nothing to undo here: a child context has changes"), "\(undo)")
  }

  @Test func aLimitBehindASaveSaysThatTheDataIsSaved() throws {
    try bench.write(
      """
      return { name = "hooks", entities = { Person = { did_save = function(object) while true do end end } } }
      """, to: "hooks.lua")
    for save in [".save", "moonbase.context:save()"] {
      let outcome = try repl(
        "moonbase.context:fetch('Boss'):first().age = \(save.utf8.count)\n\(save)\n", "--extension", "hooks.lua",
        "--limit-instructions", "1000000")
      #expect(
        outcome.complaints.contains("the data is saved, but a did_save hook failed: ")
          && outcome.complaints.contains("instructions") && !outcome.complaints.contains("not saved"), "\(outcome)")
      let saved = try bench.moonbase("fetch", "Boss", "s.sqlite", "--columns", "age")
      #expect(saved.output.contains("\(save.utf8.count)"), "\(saved)")
    }
  }

  @Test func inputThatCannotBeReadIsNotItsEnd() throws {
    let outcome = try bench.program("sh", "-c", "'\(Workbench.command.path)' repl < .")
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.complaints == "moonbase repl: standard input cannot be read: Is a directory\n", "\(outcome)")
  }

  @Test func theBeginningOfANameHasHelp() throws {
    let outcome = try repl(".help mod\n.help .sa\n.help r\n")
    #expect(outcome.status == 0, "\(outcome)")
    for text in [".model [ENTITY]", ".save", ".run FILE", ".rows [N]", ".redo"] {
      #expect(outcome.output.contains(text), "\(text): \(outcome)")
    }
    #expect(!outcome.output.contains(".quit"), "\(outcome)")
  }

  @Test func aPureSandboxReadsAndThePromptGoesOn() throws {
    let outcome = try repl("moonbase.context:fetch('Person'):count()\nos.remove('x')\n1\n", "--sandbox", "pure")
    #expect(outcome.output == "3\n1\n" && outcome.complaints.contains("preset pure has no os"), "\(outcome)")
  }
}
