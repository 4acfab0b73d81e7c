import MoonbaseModel
import MoonbaseScripting
import Testing

/// What a script's author reads after a slip.
@Suite struct MessageTests {
  static let slips: [(code: String, message: String)] = [
    ("context.save()", "bad argument #1 to 'save' (context expected, got no value: call it with ':', not with '.')"),
    ("context.fetch('Person')", "got string: call it with ':', not with '.'"),
    ("local p = context:insert('Person') p.validate()", "call it with ':', not with '.'"),
    ("context:fech('Person')", "a context has no 'fech'; did you mean fetch?"),
    ("context:fetch('Person'):wher('age = 1')", "a fetch request has no 'wher'; did you mean where?"),
    ("context.has_change = 1", "a context has no 'has_change'; did you mean has_changes?"),
    ("local d = context:insert('Department') d.employees:ad(1)", "a relationship has no 'ad'; did you mean add?"),
    ("for p in context:fetch('Person') do end", "write for object in request:each() do"),
    ("for _, p in pairs(context:fetch('Person')) do end", "write for object in request:each() do"),
    ("for _, p in ipairs(context:fetch('Person')) do end", "write for object in request:each() do"),
    ("return context:fetch('Person')[1]", "a fetch request has no elements"),
    ("context:fetch('Person'):save_every(5):all()", "all saves nothing: save_every belongs to a walk"),
    ("context:fetch('Person'):save_every(5):count()", "count saves nothing: save_every belongs to a walk"),
    ("context:fetch('Person'):save_every(5):dictionaries { 'age' }", "dictionaries saves nothing"),
    ("context:fetch('Person'):save_every(0)", "a number of at least 1 is expected, got 0"),
    ("context:find('Person', { age = nil })", "no values to find by (a nil in a table is none)"),
    ("return #context:fetch('Person')", "a fetch request has no length: call its method count()"),
    ("local d = context:insert('Department') for p in d.employees do end", "write for object in object.NAME:each() do"),
    ("context:insert('Person'):entiy()", "Person has no property entiy; did you mean entity?"),
    ("return moonbase.object.is_deleted(context:insert('Person').is_delete)", "did you mean is_deleted?"),
    ("return context:has_changes(1)", "has_changes is a value here and no function: read it as .has_changes"),
    ("local flag = true flag()", "attempt to call a boolean value (local 'flag')"),
    ("local text = 'a' text()", "attempt to call a string value (local 'text')"),
    (
      "context:insert('Person').has_changes = true",
      "has_changes of an object tells about it, and is no property of Person"
    ),
    ("return context:insert('Person', { age = 3 }):age()", "age is a value here and no function: read it as .age"),
    ("return moonbase.model.entites", "moonbase.model has no 'entites'; did you mean entities?"),
    (
      "return moonbase.model.entities.Person.attributes.age.tpye",
      "an attribute of moonbase.model has no 'tpye'; did you mean type?"
    ),
    (
      "context:insert('Person').age = '12'",
      "Person.age: takes an Integer 16, not string '12'; make a number of the text"
    ),
    ("context:insert('Person').age = ''", "takes an Integer 16, not string ''; make a number of the text"),
    (
      "context:upsert('Department', { 'employees' }, { employees = {} })",
      "upsert: Department.employees leads to several objects, and a key is an attribute or leads to one"
    ),
    ("moonbase.opne {}", "moonbase has no 'opne'; did you mean open?"),
    ("return moonbase.contxt", "moonbase has no 'contxt'; did you mean context?"),
    ("moonbase.parallel()", "moonbase has no 'parallel'"),
    ("context:insert('Person', { firstName = print })", "Person.firstName: a function cannot be stored"),
    ("context:insert('Person').lastName = '\\xff'", "Person.lastName: the text is not UTF-8"),
    ("context:insert('Employee').lastName = '\\xff'", "Person.lastName: the text is not UTF-8"),
    ("context:insert('Person'):set_primitive('lastName', '\\xff')", "Person.lastName: the text is not UTF-8"),
    ("context:find('Person', { lastName = '\\xff' })", "Person.lastName: the text is not UTF-8"),
    ("context:fetch('Person'):where('lastName = %@', '\\xff'):count()", "bytes that are no UTF-8 text are no string"),
    ("context:insert('Person').department = print", "Person.department: a function cannot be stored"),
    ("context:fetch('Person'):where('lastName = %@', print)", "bad argument #2 to 'where' (a function"),
    ("context:fetch('Person'):where('lastName = Ann'):all()", "a text is written in quotes: 'Ann'"),
    ("context:insert('Person'):set_primitive('lastNam', 1)", "did you mean lastName?"),
    ("context:insert('Department', { 'Ann' })", "Department: value 1 of the table has no name"),
    ("context:insert('Department', { 'Ann' })", "values are named, as in { name = ... }"),
    ("context:insert('Department', { [true] = 1 })", "the table has a boolean as a key"),
    (
      "context:insert('Department', 'Ann')", "(a table of values by name is expected, as in { name = ... }, got string)"
    ),
    ("context:insert { name = 'Ann' }", "(the name of an entity is expected, in quotes, as in"),
    ("context:fetch(Department)", "(the name of an entity is expected, in quotes, as in"),
    ("context:find('Department', 'Ann')", "(a table of values by name is expected, as in { name = ... }, got string)"),
    (
      "context:upsert('Department', 'name', {})",
      "(a list of property names is expected, as in { \"name\" }, got string)"
    ),
    ("context:upsert('Department', { 'name', 3 }, {})", "a list of property names is expected"),
    ("context:delete({ 1 })", "(a list of objects is expected, and its element 1 is a number)"),
    ("context:insert('Person').friends:add({ {} })", "(a list of objects is expected, and its element 1 is a table)"),
    ("context:delete(context:fetch('Person'))", "(an object is expected, got fetch request: give the objects that"),
    ("context:fetch('Person'):orderby('age')", "a fetch request has no 'orderby'; did you mean sort?"),
    ("context:insert('Person').active = 1", "Person.active: takes a boolean, not integer 1; give true or false"),
    ("context:insert('Person').active = 'yes'", "takes a boolean, not string 'yes'; give true or false"),
    ("moonbase.date('2020-13-01')", "bad argument #1 to 'date' ('2020-13-01' is no date of the forms 2024-02-29, "),
    ("moonbase:date('2020-01-01')", "moonbase.date is no method: call it with '.', not with ':'"),
    ("moonbase.date.pars('2020-01-01')", "moonbase.date has no 'pars'; did you mean parse?"),
    ("moonbase.uri.prse('a:b')", "moonbase.uri has no 'prse'; did you mean parse?"),
    ("moonbase.date.prse('2020-01-01')", "moonbase.date has no 'prse'; did you mean parse?"),
    ("moonbase.object.ids()", "moonbase.object has no 'ids'; did you mean id?"),
    ("moonbase()", "moonbase is a table of functions"),
    ("moonbase:uuid()", "moonbase.uuid is no method: call it with '.', not with ':'"),
    (
      "context:fetch('Person'):where { lastName = 'Ann' }", "(a predicate is expected, as in \"name = %@\" with a value"
    ),
    (
      "context:fetch('Person'):dictionaries('age')", "(a table of key paths is expected, as in { \"age\" }, got string)"
    ),
    ("context:insert('Person').id = 1", "id is a method of every object, and no property of Person: it is only called"),
    ("moonbase.decimal(1.5)", "a float has no exact digits, so write them as text, as in \"1.5\""),
    ("local x = moonbase.decimal('1') + 0.1", "a float has no exact digits, so write them as text, as in \"0.1\""),
    ("for p in context:fetch('Person'):all() do end", "for index, element in ipairs(list) do"),
    ("context:fetch('Person'):sort('age DESC'):all()", "“age DESC”: write -age to sort in descending order"),
    ("context:fetch('Person'):sort('age', 'lastName ascending'):all()", "write lastName, which ascends"),
    ("context:fetch('Person'):group_by('age'):all()", "all gives objects, and group_by makes groups of them: call"),
    ("context:fetch('Person'):group_by('age'):first()", "call dictionaries { ... }, or leave group_by out"),
    ("context:fetch('Person'):group_by('age'):ids()", "ids gives objects, and group_by makes groups"),
    ("context:fetch('Person'):group_by('age'):count()", "count gives objects, and group_by makes groups"),
    ("for p in context:fetch('Person'):group_by('age'):each() do end", "each gives objects, and group_by makes"),
    ("context:fetch('Person'):having('age > 1'):all()", "call dictionaries { ... }, or leave having out"),
    ("context:save('x')", "bad argument #1 to 'save' (it takes no argument, got string)"),
    ("context:insert('Person', {}, 1)", "bad argument #3 to 'insert' (it takes 2 arguments at most, got number)"),
    ("context:fetch('Person', 'age = 1')", "bad argument #2 to 'fetch' (it takes 1 argument at most, got string)"),
    ("context:fetch('Person'):all(1)", "bad argument #1 to 'all' (it takes no argument, got number)"),
    ("context:fetch('Person'):limit(1, 2)", "bad argument #2 to 'limit' (it takes 1 argument at most, got number)"),
    ("context:insert('Person'):id(1)", "bad argument #1 to 'id' (it takes no argument, got number)"),
    ("moonbase.object.id(context:insert('Person'), 1)", "bad argument #2 to 'id' (it takes 1 argument at most"),
    ("local d = context:insert('Department') d.employees:all(1)", "bad argument #1 to 'all' (it takes no argument"),
    ("context:insert('Department').employees:add()", "bad argument #1 to 'add' (object expected, got no value)"),
    ("context:insert('Department').employees:remove()", "bad argument #1 to 'remove' (object expected, got no value)"),
    ("context:fetch('Person'):sort()", "bad argument #1 to 'sort' (string expected, got no value)"),
    ("context:fetch('Person'):prefetch()", "bad argument #1 to 'prefetch' (string expected, got no value)"),
    ("context:fetch('Person'):group_by()", "bad argument #1 to 'group_by' (string expected, got no value)"),
    (
      "context:insert('Person'):set_primitive('age')",
      "bad argument #2 to 'set_primitive' (value expected, got no value)"
    ),
    ("context:insert('Person'):validate('age')", "bad argument #2 to 'validate' (value expected, got no value)"),
    ("moonbase.date.now(1)", "bad argument #1 to 'now' (it takes no argument, got number)"),
    ("moonbase.uuid(moonbase.uuid():key(), 1)", "bad argument #2 to 'uuid' (it takes 1 argument at most"),
    ("moonbase.uuid():key(1)", "bad argument #1 to 'key' (it takes no argument, got number)"),
    ("moonbase.progress(1, 'x', 2)", "bad argument #3 to 'progress' (it takes 2 arguments at most, got number)"),
    (
      "local d = context:insert('Department') d.employees.add(d)",
      "(relationship expected, got Department: call it with ':', not with '.')"
    ),
    (
      "local d = context:insert('Department') d.employees = context:insert('Employee')",
      "Department.employees: a to-many relationship takes a list of objects, not a single object"
    ),
  ]

  /// What other libraries call otherwise.
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

  @Test(arguments: slips.indices) func aSlipSaysWhatToWrite(_ index: Int) throws {
    let slip = Self.slips[index]
    let outcome = try ScriptBench().run("local context = moonbase.context\n\(slip.code)")
    #expect(outcome.status == 1)
    #expect(outcome.message?.contains(slip.message) == true, "\(outcome)")
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
    // What is not surely a field is not called one.
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

  /// What a script compares or calculates is named with the attribute that it comes from, where the line tells it.
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

  /// A hook's author reads the name that stands in the script.
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
