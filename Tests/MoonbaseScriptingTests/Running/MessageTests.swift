import MoonbaseModel
import MoonbaseScripting
import Testing

/// Messages about mistakes for authors of scripts.
@Suite struct MessageTests {
  /// Names that other libraries use for the same.
  @Test(arguments: [
    ("context:insert('Person'):delete()", "; write context:delete(object)"), ("context:commit()", "did you mean save?"),
    ("context:insert('Person').friends:append(1)", "did you mean add?"),
    ("os.execute('ls')", "preset standard has no os.execute: --sandbox trusted has all of Lua"),
    ("dofile('x.lua')", "preset standard has no dofile"),
    ("context:insert('Person').born = 5", "make a date of the number, in Lua by moonbase.date.unix(SECONDS)"),
    ("return moonbase.date.unix(0).year", "did you mean require(\"moonbase.date\").fields(date).year?"),
  ]) func aNameOfAnotherLibrarySaysWhatToWrite(_ code: String, _ message: String) throws {
    let outcome = try ScriptBench().run("local context = moonbase.context\n\(code)")
    #expect(outcome.status == 1 && outcome.message?.contains(message) == true, "\(outcome)")
  }

  static let operands: [(code: String, message: String)] = [
    ("return p.born < 5", "attempt to compare date (field 'born') with number (date expected)"),
    ("return p.born > 5", "attempt to compare number with date (field 'born') (date expected)"),
    ("return p.born < q.born", "attempt to compare date (field 'born') with nil (field 'born') (date expected)"),
    ("if q.born >= all[1].born then end", "attempt to compare date (field 'born') with nil (field 'born')"),
    (
      "if not q.born or #all == 0 then end return all[1].born <= q.born",
      "attempt to compare date (field 'born') with nil (field 'born')"
    ),
    ("return p.salary + nil", "attempt to calculate decimal (field 'salary') + nil (decimal expected)"),
    ("return nil * p.salary", "attempt to calculate nil * decimal (field 'salary') (decimal expected)"),
    ("return p.salary / 'x'", "attempt to calculate decimal (field 'salary') / string ('x' is no decimal)"),
    (
      "return p.salary < p.born",
      "attempt to compare decimal (field 'salary') with date (field 'born') (decimal expected)"
    ),
    ("return p.born + q.born", "attempt to calculate date (field 'born') + nil (field 'born') (number expected)"),
    ("return p.born .. {}", "attempt to concatenate date with table (string expected)"),
    // An operand is called a field only if that is certain.
    ("return 1 + p.salary + nil", "attempt to calculate decimal + nil (decimal expected)"),
    ("return p.salary + p.born.unix * 1", "attempt to calculate decimal (field 'salary') + number (a float has"),
    ("return p.salary + - p.born.unix", "attempt to calculate decimal (field 'salary') + number (a float has"),
    (
      "return p.salary < p.salary * 2 .. 'x'", "attempt to compare decimal (field 'salary') with string ('"
    ),
    (
      "return p.salary <\n nil and p.born < p.born", "attempt to compare decimal with nil (decimal expected)"
    ),
    (
      "return p.salary < p.born.unix\n + 1", "attempt to compare decimal with number (a float has"
    ),
    ("return p.salary < p:id()", "attempt to compare decimal (field 'salary') with object ID (decimal expected)"),
    ("table.sort({ p.born, 1 })", "attempt to compare number with date (date expected)"),
  ]

  /// An operand of a comparison or calculation is named with its attribute, where the line shows it.
  @Test(arguments: operands.indices) func operandsAreNamedWithTheirFields(_ index: Int) throws {
    let slip = Self.operands[index]
    let outcome = try ScriptBench().run(
      """
      local context = moonbase.context
      local p = context:insert("Person", { born = moonbase.date.unix(0), salary = moonbase.decimal("1.5") })
      local q, all = context:insert("Person"), { p }
      \(slip.code)
      """)
    #expect(outcome.status == 1)
    #expect(outcome.message?.contains(slip.message) == true, "\(outcome)")
  }

  @Test func aPropertyThatHidesAMethodIsToldOf() throws {
    let model = "return { entities = { Person = { attributes = { id = 'string' } } } }"
    let outcome = try ScriptBench(model: model, extensions: []).run(
      "local p = moonbase.context:insert('Person', { id = 'x' }) print(p:id())")
    #expect(outcome.message?.contains("moonbase.object.id(object) where a property hides it") == true, "\(outcome)")
  }

  @Test func aPositionOfARelationshipIsNotAssigned() throws {
    let model = """
      return { entities = { Box = { relationships = { parts = { to_many = "Part", inverse = "box", ordered = true } } },
        Part = { relationships = { box = { to = "Box", inverse = "parts" } } } } }
      """
    let outcome = try ScriptBench(model: model, extensions: []).run(
      "local c = moonbase.context c:insert('Box').parts[1] = c:insert('Part')")
    #expect(outcome.message?.contains("Box.parts: a position is not assigned") == true, "\(outcome)")
  }

  @Test func anErrorJoinsWithText() throws {
    let lines = try ScriptBench().lines(
      """
      local p = moonbase.context:insert("Person")
      p.age = 999
      local _, err = moonbase.context:save()
      print("failed: " .. err, err .. "!" == tostring(err) .. "!", (pcall(function() return err .. {} end)))
      """, leavingChanges: true)
    #expect(lines.count == 1 && lines[0].hasPrefix("failed: Person.age (999)") && lines[0].hasSuffix("true\tfalse"))
  }

  @Test func anArgumentOfNilIsNoneThatIsTooMany() throws {
    #expect(try ScriptBench().lines("print(context:save(nil), #context:fetch('Person'):all(nil, nil))") == ["true\t0"])
  }

  @Test(arguments: [
    "moonbase.context:insert('A')", "local c = moonbase.context c:fetch('A')", "print(#moonbase.model.entities)",
  ])
  func aMissingContextSaysHowToGetOne(_ code: String) throws {
    let domain = try ScriptDomain()
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: code)])
    #expect(outcome.message?.contains("--store") == true && outcome.message?.contains("moonbase.open{") == true)
  }

  @Test func whatMayBeAbsentIsProbed() throws {
    #expect(try ScriptBench().lines("print(moonbase.open, moonbase.context ~= nil)") == ["nil\ttrue"])
  }

  /// Messages about hooks use the names of the script.
  @Test(arguments: [
    ("will_save", "will_save: extension1.lua:1: no"),
    ("prepare_for_deletion", "prepare_for_deletion: extension1.lua:1: no"),
    ("awake_from_insert", "awake_from_insert: extension1.lua:1: no"),
    ("validate_for_insert", "validate_for_insert: extension1.lua:1: no"),
  ])
  func hooksAreNamedAsScriptsNameThem(hook: String, message: String) throws {
    let bench = try ScriptBench(
      extensions: ["return { entities = { Person = { \(hook) = function() error 'no' end } } }", ScriptBench.colors])
    let outcome = try bench.run(
      """
      local p = moonbase.context:insert("Person")
      assert(moonbase.context:save())
      moonbase.context:delete(p)
      """)
    #expect(outcome.message?.contains(message) == true, "\(outcome)")
  }

  @Test func endlessHooksAreNamedAsScriptsNameThem() throws {
    let endless = "will_save = function(p) p.age = (p.age + 1) % 100 end"
    let bench = try ScriptBench(
      extensions: ["return { entities = { Person = { \(endless) } } }", ScriptBench.colors])
    let outcome = try bench.run("moonbase.context:insert('Person') assert(moonbase.context:save())")
    #expect(outcome.message?.contains("Person: will_save changes or inserts objects again and again") == true)
  }
}
